package dataset

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/servemark/servemark/internal/bench"
)

const chatRows = `{"messages":[{"role":"user","content":"ab"}],"max_tokens":7,"temperature":0.2,"model":"x","stream":false}
{"messages":[{"role":"user","content":"abc"}],"max_completion_tokens":9,"tools":[{"type":"function","name":"é"}]}

{"messages":[]}
{"messages":[{"role":"user","content":"abcd"}],"max_tokens":null,"seed":1,"seed":2}
{"messages":[{"role":"user","content":"x"}],"max_tokens":"many"}
{"broken`

func TestOpenAIRows(t *testing.T) {
	type row struct {
		Messages, Extra string
		Output, Input   int
	}
	tool := len("<s><user>abc<assistant>") + 1 + len(`[{"type": "function", "name": "\u00e9"}]`)
	messages := func(content string) string { return `[{"role":"user","content":"` + content + `"}]` }
	for _, tc := range []struct {
		name   string
		change func(*bench.Spec)
		want   []row
	}{
		{"all", func(s *bench.Spec) { s.Dataset.Rows = 0 }, []row{
			{messages("ab"), `{"temperature":0.2}`, 7, len("<s><user>ab<assistant>")},
			{messages("abc"), `{"tools":[{"type":"function","name":"é"}]}`, 9, tool},
			{messages("abcd"), `{"seed":2}`, 256, len("<s><user>abcd<assistant>")},
		}},
		{"one", func(s *bench.Spec) { s.Dataset.Rows = 1 }, []row{{messages("ab"), `{"temperature":0.2}`, 7, len("<s><user>ab<assistant>")}}},
		{"strict", func(s *bench.Spec) { s.Dataset.Rows, s.Strict = 2, true }, []row{
			{messages("ab"), `{"temperature":0.2,"stream":false}`, 7, len("<s><user>ab<assistant>")},
			{messages("abc"), `{"tools":[{"type":"function","name":"é"}]}`, 256, tool},
		}},
		{"fixed output", func(s *bench.Spec) { s.Dataset.Rows, s.Dataset.FixedOutput = 1, 3 }, []row{{messages("ab"), `{"temperature":0.2}`, 3, len("<s><user>ab<assistant>")}}},
	} {
		set := must(t, spec("openai", func(s *bench.Spec) {
			s.Target.API, s.Dataset.Path = bench.APIChat, file(t, "o.jsonl", chatRows)
			tc.change(s)
		}), Inputs{Tokenizer: newGreedy(1, ""), Template: plainTemplate})
		var got []row
		for _, r := range set.Requests {
			got = append(got, row{string(r.Prompt.Messages), string(r.Extra), r.OutputTokens, r.InputTokens.Or(-1)})
		}
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.name, diff)
		}
		if tc.name == "all" {
			notes := strings.Join(set.Notes, "\n")
			for _, want := range []string{`1 row with a "stream" of its own`, "not valid JSON", "line 7", "no list of messages", "not a whole number"} {
				if !strings.Contains(notes, want) {
					t.Errorf("notes lack %q:\n%s", want, notes)
				}
			}
		}
	}
}

func TestOpenAIWithoutTemplateIsNotCounted(t *testing.T) {
	set := must(t, spec("openai", func(s *bench.Spec) {
		s.Target.API, s.Dataset.Path, s.Dataset.Rows = bench.APIChat, file(t, "o.jsonl", chatRows), 1
	}), Inputs{Tokenizer: newGreedy(1, "")})
	if r := set.Requests[0]; r.InputTokens.Known() || r.TemplatedTokens.Known() {
		t.Errorf("tokens = %v, templated %v; want both unknown without a template", r.InputTokens, r.TemplatedTokens)
	}
	if notes := strings.Join(set.Notes, "\n"); !strings.Contains(notes, "no chat template") {
		t.Errorf("notes = %q, want one that says why tokens are unknown", notes)
	}
}

func TestPythonJSON(t *testing.T) {
	for _, tc := range []struct{ in, want string }{
		{`{"a":[1,2.50,true,null],"b":{}}`, `{"a": [1, 2.50, true, null], "b": {}}`},
		{"{ \"a\" :\n\t1 }", `{"a": 1}`},
		{`["é","𝄞","a:b, c","\"\\"]`, `["\u00e9", "\ud834\udd1e", "a:b, c", "\"\\"]`},
	} {
		if got := pythonJSON(json.RawMessage(tc.in)); got != tc.want {
			t.Errorf("pythonJSON(%s) = %s, want %s", tc.in, got, tc.want)
		}
	}
}
