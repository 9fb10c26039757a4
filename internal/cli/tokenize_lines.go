package cli

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// Bounds of what is tokenized together.
const (
	linesAtOnce = 512
	bytesAtOnce = 1 << 20
)

// encodesAll is a tokenizer that takes many texts together. Beside an error come the ids of the texts before the one
// that failed, or none where that is not known.
type encodesAll interface {
	EncodeAll(texts []string, special bool) ([][]uint32, error)
}

// tokenizeLines answers one line for each line: the form for programs. Lines that have come in are tokenized together;
// one that has come alone is answered at once, so that a program may wait for each answer.
func tokenizeLines(out *bufio.Writer, t encodesAll, in io.Reader, special bool) error {
	q := &textQueue{lines: bufio.NewReaderSize(in, bytesAtOnce)}
	enc := json.NewEncoder(out)
	for {
		texts, readErr := q.next()
		all, err := t.EncodeAll(texts, special)
		for _, ids := range all {
			if ids == nil {
				ids = []uint32{}
			}
			if err := enc.Encode(map[string][]uint32{"ids": ids}); err != nil {
				return err
			}
		}
		switch {
		case err != nil && len(all) == 0 && len(texts) > 1: // a server does not say which
			return fmt.Errorf("lines %d to %d: %w", q.at[0], q.at[len(texts)-1], err)
		case err != nil:
			return fmt.Errorf("line %d: %w", q.at[len(all)], err)
		case readErr == io.EOF:
			return nil
		case readErr != nil:
			return readErr
		}
		if err := out.Flush(); err != nil {
			return err
		}
	}
}

// textQueue reads JSON strings, one a line. Empty lines are passed over.
type textQueue struct {
	lines *bufio.Reader
	n     int   // lines read
	at    []int // numbers of the lines of the texts that next gave last
}

// next waits for a line and returns its text and those of the lines that are there with it. Beside an error, which is
// io.EOF at the end, come the texts before it.
func (q *textQueue) next() (texts []string, err error) {
	q.at = q.at[:0]
	for size := 0; err == nil && size < bytesAtOnce && len(texts) < linesAtOnce; {
		var line []byte
		line, err = q.lines.ReadBytes('\n')
		if err != nil && err != io.EOF {
			return texts, err
		}
		q.n++
		if line = bytes.TrimSpace(line); len(line) > 0 {
			text, wrong := jsonText(line)
			if wrong != nil {
				return texts, fmt.Errorf("line %d is not a JSON string: %w", q.n, wrong)
			}
			texts, q.at, size = append(texts, text), append(q.at, q.n), size+len(text)
		}
		here, _ := q.lines.Peek(q.lines.Buffered())
		if len(texts) > 0 && !bytes.Contains(here, []byte("\n")) {
			break
		}
	}
	return texts, err
}

func jsonText(line []byte) (string, error) {
	var text *string
	err := json.Unmarshal(line, &text)
	var of *json.UnmarshalTypeError
	switch {
	case errors.As(err, &of):
		return "", fmt.Errorf("it is a JSON %s", of.Value)
	case err != nil:
		return "", err
	}
	if text == nil {
		return "", errors.New("it is null")
	}
	return *text, nil
}
