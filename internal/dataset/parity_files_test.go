package dataset

import (
	"bytes"
	"encoding/json"
	"reflect"
	"testing"

	"github.com/servemark/servemark/internal/bench"
)

// fileReference is one run of the original's data set code on the file of its kind in testdata/seed_parity.
type fileReference struct {
	Kind    string
	Seed    int64
	Options struct {
		Rows         int    `json:"num_prompts"`
		FixedOutput  int    `json:"sharegpt_output_len"`
		ContextLimit int    `json:"sharegpt_context_len"`
		Suffix       string `json:"prompt_suffix"`
		Template     bool   `json:"apply_chat_template"`
		Rounds       int
	}
	Rows []struct {
		Prompt    json.RawMessage
		PromptLen int `json:"prompt_len"`
		OutputLen int `json:"output_len"`
		Extra     json.RawMessage
	}
}

// TestSameRowsAsSGLangOfFiles: custom, openai and mooncake give the original's rows, the row's own fields included.
func TestSameRowsAsSGLangOfFiles(t *testing.T) {
	tok := tokenizers(t, "gpt2")["gpt2"]
	dec := json.NewDecoder(bytes.NewReader(unzip(t, "testdata/seed_parity/files.jsonl.gz")))
	compared := 0
	for dec.More() {
		var ref fileReference
		if err := dec.Decode(&ref); err != nil {
			t.Fatal(err)
		}
		s := &bench.Spec{Dialect: bench.DialectSGLang, Strict: true, Seed: ref.Seed, Target: bench.Target{API: bench.APIChat}}
		s.Dataset = bench.DatasetSpec{Name: ref.Kind, Path: "testdata/seed_parity/" + ref.Kind + ".jsonl", Rows: ref.Options.Rows, FixedOutput: ref.Options.FixedOutput,
			ContextLimit: ref.Options.ContextLimit, PromptSuffix: ref.Options.Suffix, ApplyTemplate: ref.Options.Template}
		if ref.Kind == "mooncake" {
			s.Dataset.Mooncake = &bench.Mooncake{Rounds: ref.Options.Rounds}
		}
		set, err := build(s, Inputs{Tokenizer: tok, Template: plainTemplate, BOS: "<s>"})
		if err != nil {
			t.Errorf("%s seed %d: %v", ref.Kind, ref.Seed, err)
			continue
		}
		if len(set.Requests) != len(ref.Rows) {
			t.Errorf("%s %+v: %d rows, want %d", ref.Kind, ref.Options, len(set.Requests), len(ref.Rows))
			continue
		}
		for i, want := range ref.Rows {
			compared++
			got := set.Requests[i]
			prompt := any(got.Prompt.Text)
			if got.Prompt.Messages != nil {
				prompt = value(t, got.Prompt.Messages)
			}
			extra := json.RawMessage("{}")
			if got.Extra != nil {
				extra = got.Extra
			}
			if got.InputTokens.Or(-1) != want.PromptLen || got.OutputTokens != want.OutputLen || !reflect.DeepEqual(prompt, value(t, want.Prompt)) ||
				!reflect.DeepEqual(value(t, extra), value(t, want.Extra)) {
				t.Errorf("%s %+v: row %d = %v (%v in, %d out, extra %s), want %s (%d in, %d out, extra %s)", ref.Kind, ref.Options, i,
					prompt, got.InputTokens, got.OutputTokens, extra, want.Prompt, want.PromptLen, want.OutputLen, want.Extra)
			}
		}
	}
	if compared < 80 {
		t.Errorf("%d rows compared, want those of ten runs", compared)
	}
}

func value(t *testing.T, b []byte) (v any) {
	t.Helper()
	if err := json.Unmarshal(b, &v); err != nil {
		t.Fatalf("%s: %v", b, err)
	}
	return v
}
