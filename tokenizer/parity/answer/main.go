// Command answer encodes and decodes for parity.py: it reads one JSON object a line and answers one a line.
//
//	{"open": "FILE"}                     -> {"vocab": hash of all tokens, "size": …, "added": …} or {"error": …}
//	{"text": "base64 of bytes"}          -> {"ids": […], "special": […]}
//	{"ids": […]}                         -> {"decode": …, "skip": …, "stream": …}
package main

import (
	"bufio"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"github.com/servemark/servemark/tokenizer"
)

type question struct {
	Open string   `json:"open"`
	Text *string  `json:"text"`
	IDs  []uint32 `json:"ids"`
}

type answer struct {
	IDs     []uint32 `json:"ids,omitempty"`
	Special []uint32 `json:"special,omitempty"`
	Decode  string   `json:"decode"`
	Skip    string   `json:"skip"`
	Stream  string   `json:"stream"`
	Vocab   string   `json:"vocab,omitempty"`
	Size    int      `json:"size,omitempty"`
	Added   int      `json:"added,omitempty"`
	Error   string   `json:"error,omitempty"`
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "answer:", err)
		os.Exit(1)
	}
}

func run() error {
	in := bufio.NewReaderSize(os.Stdin, 1<<20)
	out := bufio.NewWriterSize(os.Stdout, 1<<20)
	var t *tokenizer.Tokenizer
	for enc := json.NewEncoder(out); ; {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return out.Flush()
		}
		var q question
		if err := json.Unmarshal(line, &q); err != nil {
			return err
		}
		var a answer
		switch {
		case q.Open != "":
			if t, err = tokenizer.Open(q.Open); err == nil {
				a = answer{Vocab: vocabHash(t), Size: t.VocabSize(), Added: t.NumSpecial()}
			}
		case t == nil:
			err = fmt.Errorf("no tokenizer is open")
		case q.Text != nil:
			a, err = encode(t, *q.Text)
		default:
			a, err = decode(t, q.IDs)
		}
		if err != nil {
			a.Error = err.Error()
		}
		if err := enc.Encode(a); err != nil {
			return err
		}
		if in.Buffered() == 0 {
			if err := out.Flush(); err != nil {
				return err
			}
		}
	}
}

// vocabHash hashes "id token" for each token, by id and then by text.
func vocabHash(t *tokenizer.Tokenizer) string {
	h := sha256.New()
	for _, e := range t.Vocab() {
		fmt.Fprintf(h, "%d %s\n", e.ID, e.Token)
	}
	return hex.EncodeToString(h.Sum(nil))
}

func encode(t *tokenizer.Tokenizer, text string) (a answer, err error) {
	b, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return a, err
	}
	if a.IDs, err = t.Encode(string(b), false); err != nil {
		return a, err
	}
	a.Special, err = t.Encode(string(b), true)
	return a, err
}

func decode(t *tokenizer.Tokenizer, ids []uint32) (a answer, err error) {
	if a.Decode, err = t.Decode(ids, false); err != nil {
		return a, err
	}
	if a.Skip, err = t.Decode(ids, true); err != nil {
		return a, err
	}
	d := t.NewDecoder(false)
	var s strings.Builder
	for _, id := range ids {
		part, err := d.Add(id)
		if err != nil {
			return a, err
		}
		s.WriteString(part)
	}
	rest, err := d.Flush()
	a.Stream = s.String() + rest
	return a, err
}
