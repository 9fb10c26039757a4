package chat

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestFromConfig(t *testing.T) {
	for _, tc := range []struct {
		name, in           string
		templates, special map[string]string
		fails              string
	}{
		{name: "empty", in: `{}`},
		{name: "one", in: `{"chat_template":"T","bos_token":"<s>","eos_token":{"content":"</s>","lstrip":false},"pad_token":null,"add_bos_token":true,"model_max_length":1}`,
			templates: map[string]string{"default": "T"}, special: map[string]string{"bos_token": "<s>", "eos_token": "</s>"}},
		{name: "named", in: `{"chat_template":[{"name":"default","template":"D"},{"name":"tool_use","template":"T"}]}`,
			templates: map[string]string{"default": "D", "tool_use": "T"}},
		{name: "extra tokens", in: `{"chat_template":null,"extra_special_tokens":{"image_token":"<img>","boi":{"content":"<b>"}},"additional_special_tokens":["x"]}`,
			special: map[string]string{"image_token": "<img>", "boi": "<b>"}},
		{name: "extra tokens as a list", in: `{"extra_special_tokens":["a"]}`},
		{name: "no JSON", in: `{"chat_template":`, fails: "not a JSON object"},
		{name: "number", in: `{"chat_template":3}`, fails: "neither a text nor a list"},
		{name: "nameless", in: `{"chat_template":[{"template":"D"}]}`, fails: "element 0"},
	} {
		c, err := FromConfig([]byte(tc.in))
		if tc.fails != "" {
			if err == nil || !strings.Contains(err.Error(), tc.fails) {
				t.Errorf("FromConfig(%s) = %v, want an error with %q", tc.name, err, tc.fails)
			}
			continue
		}
		if tc.templates == nil {
			tc.templates = map[string]string{}
		}
		if tc.special == nil {
			tc.special = map[string]string{}
		}
		if diff := cmp.Diff([]map[string]string{tc.templates, tc.special}, []map[string]string{c.Templates, c.Special}); err != nil || diff != "" {
			t.Errorf("FromConfig(%s): %v (-want +got):\n%s", tc.name, err, diff)
		}
	}
}

func TestAddFile(t *testing.T) {
	files := map[string]string{
		"tokenizer_config.json":                 `{"chat_template":[{"name":"default","template":"config"},{"name":"rag","template":"config rag"}],"eos_token":"<e>"}`,
		"chat_template.json":                    `{"chat_template":"json"}`,
		"chat_template.jinja":                   "jinja",
		"additional_chat_templates/tools.jinja": "jinja tools",
		"special_tokens_map.json":               `{"eos_token":"<late>","bos_token":{"content":"<b>"}}`,
	}
	for _, tc := range []struct {
		names string
		want  map[string]string
	}{
		{"tokenizer_config.json", map[string]string{"default": "config", "rag": "config rag"}},
		{"tokenizer_config.json chat_template.json", map[string]string{"default": "json"}},
		{"chat_template.json tokenizer_config.json", map[string]string{"default": "json"}},
		{"chat_template.jinja chat_template.json tokenizer_config.json", map[string]string{"default": "jinja"}},
		{"tokenizer_config.json additional_chat_templates/tools.jinja chat_template.jinja", map[string]string{"default": "jinja", "tools": "jinja tools"}},
	} {
		c := &Config{Templates: map[string]string{}, Special: map[string]string{}}
		for name := range strings.FieldsSeq(tc.names) {
			if err := c.AddFile(name, []byte(files[name])); err != nil {
				t.Errorf("AddFile(%s) = %v", name, err)
			}
		}
		if diff := cmp.Diff(tc.want, c.Templates); diff != "" {
			t.Errorf("AddFile(%s) (-want +got):\n%s", tc.names, diff)
		}
	}
	c, err := FromConfig([]byte(files["tokenizer_config.json"]))
	if err != nil {
		t.Fatal(err)
	}
	if err := c.AddFile("special_tokens_map.json", []byte(files["special_tokens_map.json"])); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]string{"eos_token": "<e>", "bos_token": "<b>"}, c.Special); diff != "" {
		t.Errorf("special tokens (-want +got):\n%s", diff)
	}
	if err := c.AddFile("config.json", []byte("{}")); err == nil {
		t.Error("AddFile(config.json) = nil, want an error")
	}
}

func TestSource(t *testing.T) {
	two := &Config{Templates: map[string]string{"default": "D", "tool_use": "T"}}
	one := &Config{Templates: map[string]string{"default": "D"}}
	odd := &Config{Templates: map[string]string{"rag": "R"}}
	for _, tc := range []struct {
		c     *Config
		name  string
		tools bool
		want  string
		fails string
	}{
		{c: two, want: "D"}, {c: two, tools: true, want: "T"}, {c: two, name: "default", tools: true, want: "D"},
		{c: one, tools: true, want: "D"}, {c: one, name: "tool_use", fails: "it has default"},
		{c: odd, name: "rag", want: "R"}, {c: odd, fails: `named "default"; it has rag`},
		{c: &Config{}, fails: "hold no chat template"},
	} {
		got, err := tc.c.Source(tc.name, tc.tools)
		if got != tc.want || (err == nil) != (tc.fails == "") || err != nil && !strings.Contains(err.Error(), tc.fails) {
			t.Errorf("Source(%q, %v) of %v = %q, %v, want %q, %q", tc.name, tc.tools, tc.c.Templates, got, err, tc.want, tc.fails)
		}
	}
}
