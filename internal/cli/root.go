package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
)

// Main runs the program and returns its exit code. args[0] is the name it was called by: a link named bench_serving is the
// drop-in of that name.
func Main(args []string) int {
	ctx, stop := interruptible()
	defer stop()
	out := &checked{w: os.Stdout, gone: stop}
	c := newConsole(out)
	code := execute(ctx, c, args)
	switch {
	case out.err == nil:
		return code
	case !errors.Is(out.err, syscall.EPIPE):
		c.warn("servemark: the output could not be written: %v", out.err)
	case code == exitInterrupted:
		c.warn("servemark: nobody reads the output any more: ended as by Ctrl-C")
	default:
		c.warn("servemark: nobody reads the output any more: it is not whole")
	}
	return worse(code, exitFailed)
}

// interruptible returns a context that the first Ctrl-C, SIGTERM or closed terminal ends; the second ends the process. A reader
// of the output that goes away is told by the write, not by a signal that kills.
func interruptible() (context.Context, func()) {
	ctx, cancel := context.WithCancel(context.Background())
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) { // under nohup it is
		signal.Notify(signals, syscall.SIGHUP)
	}
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	go func() {
		<-signals
		cancel()
		<-signals
		os.Exit(exitInterrupted)
	}()
	return ctx, func() { signal.Stop(signals); cancel() }
}

// execute picks the command. Every command parses its own flags, so that all faults of a line are told at once.
func execute(ctx context.Context, c *console, args []string) int {
	words := args[1:]
	if name := strings.TrimSuffix(filepath.Base(args[0]), ".exe"); name == "bench_serving" {
		words = append([]string{"bench_serving"}, words...)
	} else if len(words) > 0 && isServerAddress(words[0]) {
		words = append([]string{"run"}, words...)
	}
	code := exitOK
	root := &cobra.Command{
		Use: "servemark", Short: "Benchmarks LLM servers: does it work, and how well?", Version: version(),
		Long: "servemark benchmarks LLM servers: does it work, and how well does it work?\n\n" +
			"Start with `servemark demo` (no server needed) or `servemark run http://localhost:8000`.\n\n" + exitHelp,
		SilenceErrors: true, SilenceUsage: true,
		CompletionOptions: cobra.CompletionOptions{HiddenDefaultCmd: true},
	}
	root.SetOut(c.out)
	root.SetErr(c.err)
	root.SetArgs(words)
	root.SetVersionTemplate("servemark {{.Version}}\n")
	root.SetHelpCommand(&cobra.Command{Use: "help [command]", Short: "The flags of a command",
		RunE: func(_ *cobra.Command, rest []string) error { return c.helpFor(root, rest) }})
	for _, cmd := range commands() {
		root.AddCommand(&cobra.Command{
			Use: cmd.name + " " + cmd.operands, Short: cmd.short, DisableFlagParsing: true,
			RunE: func(_ *cobra.Command, rest []string) error { code = cmd.start(ctx, c, rest); return nil },
		})
	}
	if err := root.ExecuteContext(ctx); err != nil {
		for i, line := range strings.Split(strings.TrimSpace(err.Error()), "\n") {
			if line = strings.TrimSpace(line); line != "" {
				c.warn("%s%s", []string{"servemark: ", "  "}[min(i, 1)], safe(line))
			}
		}
		c.warn("See servemark --help.")
		return exitUsage
	}
	return code
}

// helpFor prints the help of the command that words name, or of the program.
func (c *console) helpFor(root *cobra.Command, words []string) error {
	if len(words) == 0 {
		return root.Help()
	}
	for _, cmd := range commands() {
		if cmd.name == words[0] {
			cmd.help(c)
			return nil
		}
	}
	return fmt.Errorf("there is no command %q", words[0])
}

// command is one subcommand: parse its line, tell all faults, act.
type command struct {
	name, operands, short string
	// long comes after the first line of its help.
	long  string
	table []flagDef
	// underscores lets _ stand for - in the names of flags.
	underscores bool
	act         func(ctx context.Context, c *console, a *arguments) int
}

// commands lists them in the order of --help.
func commands() []command {
	return []command{demoCommand(), runCommand(), sglangCommand(), vllmCommand(), simCommand(), reportCommand(), explainCommand(), sweepCommand(), sloCommand(), compareCommand(), tokenizeCommand()}
}

// start parses a line and acts.
func (cmd command) start(ctx context.Context, c *console, args []string) int {
	if cmd.underscores {
		args = dashed(args)
	}
	a := parse(cmd.table, args)
	if a.help {
		cmd.help(c)
		return exitOK
	}
	return cmd.act(ctx, c, a)
}

// dashed writes the names of flags with dashes; values stay.
func dashed(args []string) []string {
	out := slices.Clone(args)
	for i, arg := range out {
		if strings.HasPrefix(arg, "--") {
			name, value, has := strings.Cut(arg, "=")
			out[i] = strings.ReplaceAll(name, "_", "-")
			if has {
				out[i] += "=" + value
			}
		}
	}
	return out
}

// help prints a command's flags.
func (cmd command) help(c *console) {
	c.say("%s\n\nUsage: servemark %s", cmd.short, strings.TrimSpace(cmd.name+" "+cmd.operands))
	if cmd.long != "" {
		c.say("\n%s", cmd.long)
	}
	c.say("\nFlags:")
	for _, d := range cmd.table {
		left := "--" + d.name
		if d.arity != aritySwitch && d.arity != arityHelp {
			left += " " + placeholder(&d)
		}
		right := d.help
		if d.choices != nil {
			right = strings.TrimPrefix(right+" ("+strings.Join(d.choices, ", ")+")", " ")
		}
		if len(d.preset) > 0 && d.preset[0] != "" {
			right = strings.TrimPrefix(right+" [default "+strings.Join(d.preset, " ")+"]", " ")
		}
		c.say("  %-34s %s", left, right)
	}
	c.say("\n%s", exitHelp)
}

// isServerAddress reports whether a first word is a server and not a command.
func isServerAddress(s string) bool {
	if strings.HasPrefix(s, "http://") || strings.HasPrefix(s, "https://") {
		return true
	}
	host, port, ok := strings.Cut(s, ":")
	if end := strings.IndexByte(s, ']'); strings.HasPrefix(s, "[") && end > 0 { // IPv6
		host = s[:end+1]
		port, ok = strings.CutPrefix(s[end+1:], ":")
	}
	return ok && host != "" && port != "" && strings.Trim(strings.SplitN(port, "/", 2)[0], "0123456789") == ""
}

// buildVersion is set by the linker for releases.
var buildVersion string

// version is the release, else the commit it was built from.
func version() string {
	if buildVersion != "" {
		return buildVersion
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		if v := info.Main.Version; v != "" && v != "(devel)" {
			return strings.TrimPrefix(v, "v")
		}
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" && len(s.Value) >= 12 {
				return fmt.Sprintf("devel-%s", s.Value[:12])
			}
		}
	}
	return "devel"
}
