package endpoint

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/servemark/servemark/internal/bench"
)

// Replies of a real llama.cpp server, byte for byte (testdata/llamacpp-…/record.py tells how they were made).
func TestRecordedLlamaCpp(t *testing.T) {
	for _, tc := range []struct {
		name   string
		api    bench.API
		chunks int
		usage  string // prompt completion
		finish string
		text   string // how it begins
		fails  string // the failure's words
		whole  bool
	}{
		{name: "chat-stream", api: bench.APIChat, chunks: 12, usage: "37 12", finish: "length", text: "1. Blue: The "},
		{name: "chat-whole", api: bench.APIChat, chunks: 1, usage: "37 12", finish: "length", text: "1. Blue: The ", whole: true},
		{name: "chat-stop", api: bench.APIChat, chunks: 70, usage: "37 71", finish: "stop", text: "1. Blue: The "},
		{name: "completions-stream", api: bench.APICompletions, chunks: 12, usage: "3 12", finish: "length", text: " "},
		{name: "completions-ids", api: bench.APICompletions, chunks: 12, usage: "3 12", finish: "length", text: " "},
		{name: "completions-whole", api: bench.APICompletions, chunks: 1, usage: "3 12", finish: "length", text: " ", whole: true},
		{name: "usage-unasked-stream", api: bench.APICompletions, chunks: 3, usage: "3 3", finish: "length", text: " "},
		{name: "error-400", api: bench.APIChat, fails: "'messages' is required", whole: true},
		{name: "error-too-long", api: bench.APICompletions, fails: "request (3001 tokens) exceeds the available context size (2048 tokens)", whole: true},
		{name: "error-404", api: bench.APIChat, fails: "File Not Found (asked: POST http://h:1/p/v1/chat/completions)", whole: true},
	} {
		res, body := recorded(t, tc.name)
		for _, n := range []int{0, 1, 100} {
			rec, terminal := play(endpointFor(t, tc.api), res.StatusCode, res.Header, string(body), n, nil)
			kind, words := failure(rec)
			if tc.fails != "" {
				if kind != bench.FailStatus || !strings.HasPrefix(words, tc.fails) || rec.Status != res.StatusCode {
					t.Errorf("%s: failure %q %q, want %q", tc.name, kind, words, tc.fails)
				}
				continue
			}
			usage := fmt.Sprint(rec.Usage.Prompt, " ", rec.Usage.Completion)
			if !rec.OK() || rec.Malformed != 0 || len(rec.Chunks) != tc.chunks || usage != tc.usage || rec.Finish != tc.finish ||
				!strings.HasPrefix(rec.Text, tc.text) || rec.Streamed == tc.whole || terminal == tc.whole {
				t.Errorf("%s in pieces of %d: failure %q, %d malformed, %d chunks, usage %s, finish %q, text %.20q, streamed %v, terminal %v; want %+v",
					tc.name, n, words, rec.Malformed, len(rec.Chunks), usage, rec.Finish, rec.Text, rec.Streamed, terminal, tc)
			}
		}
	}
}

// The recorded answers of the tokenize routes.
func TestRecordedTokenizer(t *testing.T) {
	routes := map[string]string{}
	for _, name := range []string{"tokenize", "detokenize"} {
		_, body := recorded(t, name)
		routes["/"+name] = string(body)
	}
	_, models := recorded(t, "models")
	routes["/v1/models"] = string(models)
	f := newFake(t, routes, nil)
	tok, err := NewTokenizer(context.Background(), f.Client(), f.URL, TokenizerOptions{Engine: bench.EngineLlamaCpp})
	if err != nil {
		t.Fatal(err)
	}
	ids, err := tok.Encode("The sea is blue.", false)
	text, err2 := tok.Decode([]uint32{504, 4164, 314}, false)
	if err != nil || err2 != nil || !slices.Equal(ids, []uint32{504, 3426, 314, 4461, 30}) || text != "The Read is" || tok.VocabSize() != 49152 || tok.NumSpecial() != 0 {
		t.Errorf("ids %v, %v, text %q, %v, vocabulary %d, %d special", ids, err, text, err2, tok.VocabSize(), tok.NumSpecial())
	}
}
