package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/term"

	"github.com/servemark/servemark/internal/bench"
	"github.com/servemark/servemark/internal/report"
)

// console is where a command talks: results to out, faults and progress to err.
type console struct {
	out, err io.Writer
	// terminal is true where err is a screen that can be redrawn.
	terminal bool
	getenv   func(string) string
}

func newConsole(out io.Writer) *console {
	return &console{out: out, err: os.Stderr, getenv: os.Getenv, terminal: term.IsTerminal(int(os.Stderr.Fd()))}
}

// say prints a line of result. What stands in it from servers, files or users is escaped by its room or by safe.
func (c *console) say(format string, args ...any) { fmt.Fprintf(c.out, format+"\n", args...) }

// warn prints a line beside the results.
func (c *console) warn(format string, args ...any) { fmt.Fprintf(c.err, format+"\n", args...) }

// safe escapes control characters of a text that comes from outside.
func safe(s string) string { return report.Escape(s) }

// refuse prints every fault of a command and returns the exit code.
func (c *console) refuse(command string, code int, faults []string) int {
	when := "nothing was sent"
	switch {
	case slices.Contains([]string{"report", "compare", "explain", "tokenize", "sim"}, command):
		when = "" // they ask nobody
	case code == exitUsage:
		when = "nothing was asked of any server"
	}
	return c.refuseWhen(command, code, when, faults)
}

// refuseWhen is refuse with what had happened by then; "" tells nothing of it.
func (c *console) refuseWhen(command string, code int, when string, faults []string) int {
	if when != "" {
		when = ", " + when
	}
	c.warn("servemark %s: %s%s:", command, bench.Number(len(faults), "fault"), when)
	for _, f := range faults {
		for i, line := range strings.Split(f, "\n") {
			mark := "  - "
			if i > 0 {
				mark = "    "
			}
			c.warn("%s%s", mark, report.Sentence(line))
		}
	}
	if code == exitUsage {
		c.warn("See servemark %s --help.", command)
	}
	return code
}

// unwritten is the exit code where an answer could not be written. What is wrong with the output itself is told once, by Main.
func (c *console) unwritten(command string, err error) int {
	if out, ok := c.out.(*checked); ok && out.err != nil {
		return exitFailed
	}
	return c.refuse(command, exitFailed, []string{err.Error()})
}

// faultLines turns faults of a command line into lines, each said once.
func faultLines(faults []fault) []string {
	var lines []string
	seen := map[string]bool{}
	for _, f := range faults {
		if s := f.String(); !seen[s] {
			seen[s] = true
			lines = append(lines, s)
		}
	}
	return lines
}

// checked remembers that a write failed: a report that nobody could read is no success.
type checked struct {
	w io.Writer
	// gone is called when nobody reads any more.
	gone func()
	err  error
}

func (c *checked) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	if err != nil && c.err == nil {
		if c.err = err; errors.Is(err, syscall.EPIPE) {
			c.gone()
		}
	}
	return n, err
}
