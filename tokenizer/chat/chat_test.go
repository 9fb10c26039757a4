package chat

import (
	"bufio"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// fixture is one conversation and what transformers makes of it.
type fixture struct {
	Template string                     `json:"template"`
	Case     string                     `json:"case"`
	Messages json.RawMessage            `json:"messages"`
	Tools    json.RawMessage            `json:"tools"`
	Prompt   bool                       `json:"add_generation_prompt"`
	Kwargs   map[string]json.RawMessage `json:"kwargs"`
	BOS      *string                    `json:"bos_token"`
	EOS      *string                    `json:"eos_token"`
	Expected *string                    `json:"expected"`
	Error    string                     `json:"error"`
}

func (f fixture) input() Input {
	in := Input{Messages: f.Messages, Tools: f.Tools, AddGenerationPrompt: f.Prompt, Extra: f.Kwargs,
		Special: map[string]string{}, Now: time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)}
	if f.BOS != nil {
		in.Special["bos_token"] = *f.BOS
	}
	if f.EOS != nil {
		in.Special["eos_token"] = *f.EOS
	}
	return in
}

func fixtures(tb testing.TB) []fixture {
	tb.Helper()
	file, err := os.Open("testdata/cases.jsonl.gz")
	if err != nil {
		tb.Fatal(err)
	}
	defer file.Close()
	z, err := gzip.NewReader(file)
	if err != nil {
		tb.Fatal(err)
	}
	var out []fixture
	lines := bufio.NewScanner(z)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var f fixture
		if err := json.Unmarshal(lines.Bytes(), &f); err != nil {
			tb.Fatal(err)
		}
		out = append(out, f)
	}
	if err := lines.Err(); err != nil {
		tb.Fatal(err)
	}
	return out
}

func template(tb testing.TB, name string) *Template {
	tb.Helper()
	source, err := os.ReadFile(filepath.Join("testdata", "templates", name+".jinja"))
	if err != nil {
		tb.Fatal(err)
	}
	tm, err := Parse(string(source))
	if err != nil {
		tb.Fatal(err)
	}
	return tm
}

func TestTemplatesOfModels(t *testing.T) {
	templates := map[string]*Template{}
	all := fixtures(t)
	for _, f := range all {
		if templates[f.Template] == nil {
			templates[f.Template] = template(t, f.Template)
		}
		got, err := templates[f.Template].Render(context.Background(), f.input())
		switch {
		case f.Expected != nil && (err != nil || got != *f.Expected):
			t.Errorf("%s, %s: Render = %q, %v, want %q", f.Template, f.Case, got, err, *f.Expected)
		case f.Expected == nil && err == nil:
			t.Errorf("%s, %s: Render = %q, want the error %s", f.Template, f.Case, got, f.Error)
		case f.Expected == nil && strings.HasPrefix(f.Error, "TemplateError: "):
			var raised *RaisedError
			if want := strings.TrimPrefix(f.Error, "TemplateError: "); !errors.As(err, &raised) || raised.Message != want {
				t.Errorf("%s, %s: error = %v, want the template's own %q", f.Template, f.Case, err, want)
			}
		}
	}
	if len(all) < 300 {
		t.Errorf("only %d cases, want all of the file", len(all))
	}
}

const turns = `{% for m in messages %}[{{ m.role }}]{{ m.content }}{% endfor %}{% if add_generation_prompt %}[assistant]{% endif %}`

func TestRender(t *testing.T) {
	hello := `[{"role":"user","content":"hi "}]`
	for _, tc := range []struct {
		name, source string
		in           Input
		want, fails  string
	}{
		{name: "plain", source: turns, in: Input{Messages: json.RawMessage(hello), AddGenerationPrompt: true}, want: "[user]hi [assistant]"},
		{name: "no messages", source: turns, in: Input{}, fails: "at least one message"},
		{name: "empty", source: turns, in: Input{Messages: json.RawMessage(`[]`)}, fails: "at least one message"},
		{name: "not an array", source: turns, in: Input{Messages: json.RawMessage(`{}`)}, fails: "at least one message"},
		{name: "not an object", source: turns, in: Input{Messages: json.RawMessage(`["x"]`)}, fails: "message 0"},
		{name: "broken", source: turns, in: Input{Messages: json.RawMessage(`[{]`)}, fails: "messages is not JSON"},
		{name: "tools absent are none", source: "{{ tools is none }}{{ documents is none }}", in: Input{Messages: json.RawMessage(hello)}, want: "TrueTrue"},
		{name: "tools no array", source: turns, in: Input{Messages: json.RawMessage(hello), Tools: json.RawMessage(`{}`)}, fails: "tools must be"},
		{name: "documents", source: "{% for d in documents %}{{ d.title }}={{ d | tojson }}{% endfor %}",
			in: Input{Messages: json.RawMessage(hello), Documents: json.RawMessage(`[{"title":"T","text":"é","a":1.0}]`)}, want: `T={"title": "T", "text": "é", "a": 1.0}`},
		{name: "documents of texts", source: turns, in: Input{Messages: json.RawMessage(hello), Documents: json.RawMessage(`["x"]`)}, fails: "element 0"},
		{name: "null keys are dropped", source: "{{ messages[0].tool_calls is defined }}", in: Input{Messages: json.RawMessage(`[{"role":"user","tool_calls":null}]`)}, want: "False"},
		{name: "reasoning under every name", source: "{{ messages[0].thinking }}{{ messages[0].reasoning_content }}{{ messages[0]|list }}",
			in: Input{Messages: json.RawMessage(`[{"role":"a","reasoning":"R"}]`)}, want: "RR['thinking', 'role', 'reasoning', 'reasoning_content']"},
		{name: "extra wins over special", source: "{{ bos_token }}{{ eos_token }}{{ x }}", in: Input{Messages: json.RawMessage(hello),
			Special: map[string]string{"bos_token": "<s>", "eos_token": "</s>"}, Extra: map[string]json.RawMessage{"bos_token": json.RawMessage(`"B"`), "x": json.RawMessage(`false`)}}, want: "B</s>False"},
		{name: "extra must not hide messages", source: turns, in: Input{Messages: json.RawMessage(hello), Extra: map[string]json.RawMessage{"messages": json.RawMessage(`[]`)}}, fails: "its own place"},
		{name: "the clock", source: "{{ strftime_now('%d %b %Y') }}", in: Input{Messages: json.RawMessage(hello), Now: time.Date(2024, 7, 6, 0, 0, 0, 0, time.UTC)}, want: "06 Jul 2024"},
		{name: "raised", source: "{{ raise_exception('no system role') }}", in: Input{Messages: json.RawMessage(hello)}, fails: `"no system role"; change the messages`},
		{name: "raised at length", source: "{{ raise_exception('x' * 10**6) }}", in: Input{Messages: json.RawMessage(hello)}, fails: "xx\" and 998000 bytes more; change"},
		{name: "both ends", source: turns, in: Input{Messages: json.RawMessage(hello), AddGenerationPrompt: true, ContinueFinalMessage: true}, fails: "set one of the two"},
		{name: "no end", source: "{% for x in range(100000) %}{% for y in range(100000) %}{% endfor %}{% endfor %}", in: Input{Messages: json.RawMessage(hello), Limits: Limits{Steps: 10_000}}, fails: "too many steps"},
		{name: "no memory", source: "{{ 'x' * 10**9 }}", in: Input{Messages: json.RawMessage(hello)}, fails: "too much text"},
	} {
		tm, err := Parse(tc.source)
		if err != nil {
			t.Fatal(err)
		}
		got, err := tm.Render(context.Background(), tc.in)
		if got != tc.want || (err == nil) != (tc.fails == "") || err != nil && !strings.Contains(err.Error(), tc.fails) {
			t.Errorf("%s: Render = %q, %v, want %q, %q", tc.name, got, err, tc.want, tc.fails)
		}
	}
}

func TestContinueFinalMessage(t *testing.T) {
	chat := func(content string) json.RawMessage {
		return json.RawMessage(`[{"role":"user","content":"q"},{"role":"assistant","content":` + content + `}]`)
	}
	const (
		kept    = `{% for m in messages %}<{{ m.role }}>{{ m.content }}<end>{% endfor %}`
		trimmed = `{% for m in messages %}<{{ m.role }}>{{ m.content|trim }}<end>{% endfor %}`
		parts   = `{% for m in messages %}{% if m.content is string %}{{ m.content }}{% else %}{% for p in m.content %}{{ p.text }};{% endfor %}{% endif %}{% endfor %}`
	)
	for _, tc := range []struct{ name, source, content, want, fails string }{
		{name: "kept", source: kept, content: `"Sure: "`, want: "<user>q<end><assistant>Sure: "},
		{name: "trimmed", source: trimmed, content: `" Sure: "`, want: "<user>q<end><assistant>Sure:"},
		{name: "last text part", source: parts, content: `[{"text":"a"},{"text":"b"},{"image":1}]`, want: "qa;b"},
		{name: "no text", source: parts, content: `[{"image":1}]`, fails: "no text to continue"},
		{name: "null", source: kept, content: `null`, fails: "no text to continue"},
		{name: "not shown", source: `{{ messages[0].content }}`, content: `"x"`, fails: "does not show all"},
		{name: "cut", source: `{{ messages[1].content[:2] }}`, content: `"xyz"`, fails: "does not show all"},
		{name: "no content at all", source: `{{ messages|length }}`, content: `"x"`, fails: "shows no content"},
	} {
		tm, err := Parse(tc.source)
		if err != nil {
			t.Fatal(err)
		}
		got, err := tm.Render(context.Background(), Input{Messages: chat(tc.content), ContinueFinalMessage: true})
		if got != tc.want || (err == nil) != (tc.fails == "") || err != nil && !strings.Contains(err.Error(), tc.fails) {
			t.Errorf("%s: Render = %q, %v, want %q, %q", tc.name, got, err, tc.want, tc.fails)
		}
	}
}

func TestParseNamesLineAndCure(t *testing.T) {
	_, err := Parse("a\n{% if x %}\n{% endfor %}")
	if err == nil || !strings.Contains(err.Error(), "line 3") || !strings.Contains(err.Error(), "give another template") {
		t.Errorf("Parse of a broken template = %v, want its line and a cure", err)
	}
}

func TestOneTemplateManyGoroutines(t *testing.T) {
	tm := template(t, "GLM-5.2")
	var cases []fixture
	for _, f := range fixtures(t) {
		if f.Template == "GLM-5.2" && f.Expected != nil {
			cases = append(cases, f)
		}
	}
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for _, f := range cases {
				if got, err := tm.Render(context.Background(), f.input()); err != nil || got != *f.Expected {
					t.Errorf("%s, beside others: Render = %q, %v, want %q", f.Case, got, err, *f.Expected)
				}
			}
		})
	}
	wg.Wait()
}

func BenchmarkRender(b *testing.B) {
	seen := map[string]bool{}
	for _, f := range fixtures(b) {
		if f.Expected == nil || len(f.Tools) < 10 || seen[f.Template] {
			continue
		}
		seen[f.Template] = true
		tm, in := template(b, f.Template), f.input()
		b.Run(f.Template, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(*f.Expected)))
			for b.Loop() {
				if _, err := tm.Render(context.Background(), in); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkParse(b *testing.B) {
	source, err := os.ReadFile("testdata/templates/gpt-oss-20b.jinja")
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(source)))
	for b.Loop() {
		if _, err := Parse(string(source)); err != nil {
			b.Fatal(err)
		}
	}
}
