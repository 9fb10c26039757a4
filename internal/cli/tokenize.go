package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/servemark/servemark/internal/bench"
	"github.com/servemark/servemark/internal/doctor"
)

var tokenizeTable = []flagDef{
	{name: "help", arity: arityHelp, help: "this text"},
	{name: "tokenizer", help: "file, folder, org/name or a server's address, http://HOST:PORT (required)"},
	{name: "compare", help: "a second tokenizer, to show where the two part"},
	{name: "model", help: "name to ask a server for (default: what it serves)"},
	{name: "header", arity: arityMany, repeat: true, help: "extra header KEY=VALUE for a server; a key is taken from OPENAI_API_KEY or API_KEY"},
	{name: "decode", arity: aritySwitch, help: "read token ids and print their text"},
	{name: "no-special", arity: aritySwitch, help: "without the tokens put around a text"},
	{name: "jsonl", arity: aritySwitch, help: `read one JSON string a line and answer {"ids":[…]} a line`},
	{name: "count", arity: aritySwitch, help: "print the number of tokens only"},
}

// tokenizeCommand shows what a tokenizer makes of a text.
func tokenizeCommand() command {
	return command{
		name: "tokenize", operands: "--tokenizer T [FILE]", short: "Text to token ids and back, with any tokenizer source",
		long:  "Reads FILE, or the standard input. Prints id and piece of each token, then the count and whether decoding gives the text back.",
		table: tokenizeTable,
		act:   func(ctx context.Context, c *console, a *arguments) int { return c.tokenize(ctx, a) },
	}
}

func (c *console) tokenize(ctx context.Context, a *arguments) int {
	if a.text("tokenizer") == "" {
		a.wrong("tokenizer", "is required", "give a tokenizer.json, its folder, org/name or a server's address")
	}
	access := c.serverAccess(a)
	if len(a.rest) > 1 {
		a.faults = append(a.faults, fault{what: fmt.Sprintf("takes one file, got %d", len(a.rest)), cure: "a text itself is given on the standard input"})
	}
	modes := 0
	for _, m := range []string{"compare", "decode", "jsonl", "count"} {
		if a.typed(m) {
			modes++
		}
	}
	if modes > 1 {
		a.faults = append(a.faults, fault{what: "--compare, --decode, --jsonl and --count exclude each other", cure: "choose one"})
	}
	if a.on("decode") && a.on("no-special") {
		a.wrong("no-special", "has no effect with --decode", "leave it out")
	}
	if len(a.faults) > 0 {
		return c.refuse("tokenize", exitUsage, faultLines(a.faults))
	}
	done := make(chan error, 1)
	go func() { done <- c.tokenizeWith(ctx, a, access) }() // reading a terminal or a pipe cannot be interrupted; the process ends beside it
	var err error
	select {
	case err = <-done:
	case <-ctx.Done():
	}
	if ctx.Err() != nil {
		return exitInterrupted
	}
	if err != nil {
		return c.refuse("tokenize", exitRefused, strings.Split(err.Error(), "\n"))
	}
	return exitOK
}

func (c *console) tokenizeWith(ctx context.Context, a *arguments, access doctor.ServerAccess) error {
	var open []tokenSource
	var errs []error
	for _, name := range []string{"tokenizer", "compare"} {
		if source := a.text(name); source != "" {
			t, err := c.openSource(ctx, bench.TokenizerSource(source), access)
			if err != nil {
				err = errors.New(access.Auth.Redact(err.Error()))
			}
			open, errs = append(open, t), append(errs, err)
		}
	}
	in := io.Reader(os.Stdin)
	if len(a.rest) == 1 {
		f, err := os.Open(a.rest[0])
		if err == nil {
			defer f.Close()
		} else {
			err = unusable(a.rest[0], err, "FILE is a file with the text; a text itself is given on the standard input: echo 'some text' | servemark tokenize …")
		}
		in, errs = f, append(errs, err)
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	out := bufio.NewWriter(c.out)
	defer out.Flush()
	special := !a.on("no-special")
	if a.on("jsonl") {
		return tokenizeLines(out, open[0], in, special)
	}
	raw, err := io.ReadAll(in)
	if err != nil {
		return unusable(in.(*os.File).Name(), err, "name a file with a text")
	}
	switch {
	case a.on("decode"):
		return decodeIDs(out, open[0], string(raw))
	case a.on("count"):
		ids, err := open[0].Encode(string(raw), special)
		if err == nil {
			fmt.Fprintln(out, len(ids))
		}
		return err
	case len(open) == 2:
		return compareTokens(out, open, string(raw), special)
	}
	return showTokens(out, open[0], string(raw), special)
}

// decodeIDs reads ids, bare or as a JSON array, and prints their text; an id that the vocabulary lacks is refused.
func decodeIDs(out io.Writer, t tokenSource, raw string) error {
	if raw = strings.TrimSpace(raw); strings.HasPrefix(raw, "[") != strings.HasSuffix(raw, "]") {
		return errors.New("the list of ids has one bracket of two: it may be cut off")
	}
	var ids []uint32
	for _, word := range strings.FieldsFunc(raw, func(r rune) bool { return strings.ContainsRune(" \t\r\n,[]", r) }) {
		n, err := pyInt(word)
		if err != nil || n < 0 || n > 1<<31 {
			return fmt.Errorf("%q is not a token id: ids are whole numbers from 0, parted by blanks or commas", word)
		}
		if t.lacks(uint32(n)) {
			return fmt.Errorf("the tokenizer has no token %d; it has %d: are the ids another model's?", n, t.VocabSize())
		}
		ids = append(ids, uint32(n))
	}
	text, err := t.Decode(ids, false)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(out, text)
	return err
}

func showTokens(out io.Writer, t tokenSource, text string, special bool) error {
	start := time.Now()
	ids, err := t.Encode(text, special)
	if err != nil {
		return err
	}
	spent := time.Since(start)
	pieces, err := t.pieces(ids)
	if err != nil {
		return err
	}
	for i, id := range ids {
		mark := ""
		if t.IsSpecial(id) {
			mark = "  special"
		}
		fmt.Fprintf(out, "%8d  %s%s\n", id, safe(pieces[i]), mark)
	}
	back, err := t.Decode(ids, true)
	same := "gives the text back"
	switch {
	case errors.Is(err, errors.ErrUnsupported):
		same = "fails: " + safe(err.Error())
	case err != nil:
		return err
	case back != text:
		same = "does not give the text back"
	}
	fmt.Fprintf(out, "%s, %s, %s; decoding %s; %s\n", bench.Number(len(ids), "token"), bench.Number(len(text), "byte"), bench.Number(len([]rune(text)), "rune"), same, spent.Round(time.Microsecond))
	return nil
}

// compareTokens shows the counts of two tokenizers and the first place where they part.
func compareTokens(out io.Writer, two []tokenSource, text string, special bool) error {
	var ids [2][]uint32
	for i, t := range two {
		var err error
		if ids[i], err = t.Encode(text, special); err != nil {
			return err
		}
	}
	fmt.Fprintf(out, "%d and %s\n", len(ids[0]), bench.Number(len(ids[1]), "token"))
	at := 0
	for at < min(len(ids[0]), len(ids[1])) && ids[0][at] == ids[1][at] {
		at++
	}
	if at == len(ids[0]) && at == len(ids[1]) {
		fmt.Fprintln(out, "the same ids")
		return nil
	}
	fmt.Fprintf(out, "they part at token %d:\n", at)
	for i, t := range two {
		fmt.Fprintf(out, "  %s:", []string{"first", "second"}[i])
		parting := ids[i][min(at, len(ids[i])):min(at+8, len(ids[i]))]
		pieces, err := t.pieces(parting)
		if err != nil {
			return err
		}
		for n, id := range parting {
			fmt.Fprintf(out, " %d %q", id, pieces[n])
		}
		fmt.Fprintln(out)
	}
	return nil
}
