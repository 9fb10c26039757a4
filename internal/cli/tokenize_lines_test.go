package cli

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
)

// lengths tokenizes a text to its length and fails on "bad".
type lengths struct{ calls int }

func (l *lengths) EncodeAll(texts []string, _ bool) ([][]uint32, error) {
	l.calls++
	var all [][]uint32
	for _, t := range texts {
		if t == "bad" {
			return all, errors.New("is bad")
		}
		if t == "" {
			all = append(all, nil)
			continue
		}
		all = append(all, []uint32{uint32(len(t))})
	}
	return all, nil
}

func TestTokenizeLines(t *testing.T) {
	var many strings.Builder
	var answers strings.Builder
	for i := range 2000 {
		fmt.Fprintf(&many, "%q\n", strings.Repeat("x", i%7+1))
		fmt.Fprintf(&answers, `{"ids":[%d]}`+"\n", i%7+1)
	}
	for _, c := range []struct{ in, want, err string }{
		{"", "", ""},
		{"\"ab\"\n\n \"\"  \n\"abc\"", `{"ids":[2]}` + "\n" + `{"ids":[]}` + "\n" + `{"ids":[3]}` + "\n", ""},
		{many.String(), answers.String(), ""},
		{"\"a\"\n\n\"bad\"\n\"b\"\n", `{"ids":[1]}` + "\n", "line 3: is bad"},
		{"\"bad\"\n\"b\"\n", "", "lines 1 to 2: is bad"},
		{"\"bad\"\n", "", "line 1: is bad"},
		{"\"a\"\nnull\n", `{"ids":[1]}` + "\n", "line 2 is not a JSON string: it is null"},
		{"\"a\"\n7", `{"ids":[1]}` + "\n", "line 2 is not a JSON string: it is a JSON number"},
	} {
		var b strings.Builder
		out := bufio.NewWriter(&b)
		err := tokenizeLines(out, &lengths{}, strings.NewReader(c.in), false)
		out.Flush()
		if b.String() != c.want || (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("tokenizeLines(%.40q) = %.80q, %v, want %.80q, %q", c.in, b.String(), err, c.want, c.err)
		}
	}
}

// TestTokenizeLinesAnswersEach asks as a program does that waits for each answer before its next question.
func TestTokenizeLinesAnswersEach(t *testing.T) {
	questions, ask := io.Pipe()
	answer, answers := io.Pipe()
	done := make(chan error, 1)
	tok := &lengths{}
	go func() {
		out := bufio.NewWriter(answers)
		err := tokenizeLines(out, tok, questions, false)
		out.Flush()
		answers.Close()
		done <- err
	}()
	lines := bufio.NewReader(answer)
	for n := 1; n <= 3; n++ {
		if _, err := fmt.Fprintf(ask, "%q\n", strings.Repeat("x", n)); err != nil {
			t.Fatal(err)
		}
		got, err := lines.ReadString('\n')
		if want := fmt.Sprintf("{\"ids\":[%d]}\n", n); err != nil || got != want {
			t.Fatalf("answer %d = %q, %v, want %q", n, got, err, want)
		}
	}
	ask.Close()
	if err := <-done; err != nil || tok.calls < 3 {
		t.Errorf("tokenizeLines: %v after %d calls", err, tok.calls)
	}
}
