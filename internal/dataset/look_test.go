package dataset

import (
	"strings"
	"testing"

	"github.com/servemark/servemark/internal/bench"
)

// TestLook: what is wrong with a file is known without tokenizer and template.
func TestLook(t *testing.T) {
	mooncake := func(s *bench.Spec) { s.Dataset.Mooncake = &bench.Mooncake{Slowdown: 1, Rounds: 1} }
	templated := func(s *bench.Spec) { s.Dataset.ApplyTemplate = true }
	line := `{"timestamp":0,"input_length":5000000,"output_length":3,"hash_ids":[1]}` + "\n"
	for _, tt := range []struct {
		name, content string
		vllm          bool
		change        func(*bench.Spec)
		note, fault   string
	}{
		{"custom", `{"conversations":[{"content":"a"},{"content":"b"}]}`, false, nil, "", ""},
		{"custom", "nothing\n" + `{"conversations":[{"content":"a"},{"content":"b"}]}`, false, templated, "skipped 1 row: 1 × not valid JSON", ""},
		{"custom", "nothing", false, templated, "", "no usable row (conversations of "},
		{"custom", "nothing\n" + `{"prompt":"a"}`, true, templated, "skipped 1 row: 1 × not valid JSON", ""},
		{"custom", `{"text":"a"}`, true, templated, "", `no "prompt" text`},
		{"sharegpt", `[{"conversations":[`, false, nil, "", "incomplete"},
		{"sharegpt", `[]`, true, nil, "", "no usable row"},
		{"openai", "{}", false, nil, "", "no list of messages"},
		{"mooncake", line, false, mooncake, "", ""}, // no prompt of so many tokens is made
		{"mooncake", line + "{}", false, mooncake, "", "no timestamp"},
		{"agentic-trace", "[]", false, nil, "", "conversations"},
		{"random", `[{"conversations":[]}]`, false, nil, "", "fewer than two turns (row 1)"},
	} {
		path := file(t, "data", tt.content)
		change := func(s *bench.Spec) {
			s.Dataset.Path = path
			if tt.change != nil {
				tt.change(s)
			}
		}
		s := spec(tt.name, change)
		if tt.vllm {
			s = vllmSpec(tt.name, change)
		}
		note, err := Look(s, &Inputs{})
		fault := ""
		if err != nil {
			fault = err.Error()
		}
		if (note == "") != (tt.note == "") || !strings.Contains(note, tt.note) || (fault == "") != (tt.fault == "") || !strings.Contains(fault, tt.fault) {
			t.Errorf("Look(%s of %q) = %q, %q; want %q, %q", tt.name, tt.content, note, fault, tt.note, tt.fault)
		}
	}
	if note, err := Look(spec("random", nil), &Inputs{}); note != "" || err != nil {
		t.Errorf("Look(no file) = %q, %v; want nothing", note, err)
	}
}
