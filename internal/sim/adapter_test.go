package sim

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/servemark/servemark/internal/sim/engine"
)

var twoAdapters = []Adapter{{Name: "sql", Path: "org/sql-lora"}, {Name: "fr"}}

func TestAdaptersAreListedWithTheirParent(t *testing.T) {
	for f, roots := range map[Flavour][3]string{VLLM: {"org/base", "org/sql-lora", "fr"}, SGLang: {"glm-5", "org/sql-lora", "fr"}} {
		_, url := start(t, Config{Flavour: f, ServedModel: "glm-5", Model: "org/base", Adapters: twoAdapters})
		var got struct {
			Data []struct {
				ID, Root string
				Parent   *string
				Owner    string `json:"owned_by"`
				MaxLen   *int   `json:"max_model_len"`
			}
		}
		if err := json.Unmarshal([]byte(get(t, url+"/v1/models")), &got); err != nil || len(got.Data) != 3 {
			t.Fatalf("%s: /v1/models has %d entries, %v; want the base and two adapters", f, len(got.Data), err)
		}
		for i, want := range []string{"glm-5", "sql", "fr"} {
			m := got.Data[i]
			child := m.Parent != nil && *m.Parent == "glm-5" && m.MaxLen == nil
			base := m.Parent == nil && m.MaxLen != nil
			if m.ID != want || m.Root != roots[i] || m.Owner != string(f) || i == 0 != base || i > 0 != child {
				t.Errorf("%s: entry %d is %+v; want %q with root %q, of %q, base %v", f, i, m, want, roots[i], f, i == 0)
			}
		}
	}
}

// TestAdaptersAreSummoned asks in every way that a server takes, and in some that it refuses.
func TestAdaptersAreSummoned(t *testing.T) {
	const words = `"prompt":"the river","max_tokens":3`
	for _, tt := range []struct {
		name    string
		flavour Flavour
		path    string
		body    string
		status  int
		want    string // in the body
		adapter string
	}{
		{"vLLM, by name", VLLM, "/v1/completions", `{"model":"sql",` + words + `}`, 200, `"model":"sql"`, "sql"},
		{"vLLM, base", VLLM, "/v1/completions", `{"model":"sim",` + words + `}`, 200, `"model":"sim"`, ""},
		{"vLLM, chat", VLLM, "/v1/chat/completions", `{"model":"fr","messages":[{"role":"user","content":"x"}],"max_tokens":2}`, 200, `"model":"fr"`, "fr"},
		{"vLLM, unknown", VLLM, "/v1/completions", `{"model":"de",` + words + `}`, 404, "{\"error\":{\"code\":404,\"message\":\"The model `de` does not exist.\",\"param\":\"model\",\"type\":\"NotFoundError\"}}", ""},
		{"vLLM has no lora_path", VLLM, "/v1/completions", `{"model":"sim","lora_path":"sql",` + words + `}`, 200, `"model":"sim"`, ""},
		{"vLLM, tokenize", VLLM, "/tokenize", `{"model":"sql","prompt":"the river"}`, 200, `"count":3`, ""},
		{"SGLang, colon", SGLang, "/v1/completions", `{"model":"sim:sql",` + words + `}`, 200, `"model":"sim:sql"`, "sql"},
		{"SGLang, lora_path", SGLang, "/v1/completions", `{"model":"sim","lora_path":"fr",` + words + `}`, 200, `"model":"sim"`, "fr"},
		{"SGLang, as its benchmark asks", SGLang, "/v1/completions", `{"model":"sql","lora_path":"sql",` + words + `}`, 200, `"model":"sql"`, "sql"},
		{"SGLang, a bare name is only a name", SGLang, "/v1/completions", `{"model":"sql",` + words + `}`, 200, `"model":"sql"`, ""},
		{"SGLang, colon before lora_path", SGLang, "/v1/completions", `{"model":"sim:sql","lora_path":"de",` + words + `}`, 200, `"model":"sim:sql"`, "sql"},
		{"SGLang, null", SGLang, "/v1/completions", `{"model":"sim","lora_path":null,` + words + `}`, 200, `"model":"sim"`, ""},
		{"SGLang, unknown model", SGLang, "/v1/completions", `{"model":"de",` + words + `}`, 404, `"code":404`, ""},
		{"SGLang, unknown base", SGLang, "/v1/completions", `{"model":"other:sql",` + words + `}`, 404, `"code":404`, ""},
		{"SGLang, unknown adapter", SGLang, "/v1/completions", `{"model":"sim:de",` + words + `}`, 400, `"type":"BadRequestError"`, ""},
		{"SGLang, one each", SGLang, "/v1/completions", `{"model":"sim","lora_path":[null,"fr"],"prompt":["the","river"],"max_tokens":2}`, 200, `"index":1`, "fr"},
		{"SGLang, own route", SGLang, "/generate", `{"text":"the river","lora_path":"sql","sampling_params":{"max_new_tokens":2}}`, 200, `"meta_info"`, "sql"},
		{"SGLang, own route, unknown", SGLang, "/generate", `{"text":"the river","lora_path":"de"}`, 400, `{"error":{"message":"LoRA adapter that was never loaded: de`, ""},
		{"SGLang, embeddings", SGLang, "/v1/embeddings", `{"model":"sim","lora_path":"sql","input":"the river"}`, 200, `"embedding"`, "sql"},
	} {
		s, url := start(t, Config{Flavour: tt.flavour, Adapters: twoAdapters})
		code, body := post(t, url+tt.path, tt.body)
		adapter := ""
		if list := s.Truths(); len(list) > 0 {
			adapter = list[len(list)-1].Adapter
		}
		if code != tt.status || !strings.Contains(body, tt.want) || adapter != tt.adapter {
			t.Errorf("%s: %d %s by adapter %q; want %d, %q, %q", tt.name, code, body, adapter, tt.status, tt.want, tt.adapter)
		}
	}
}

func TestWithoutAdaptersNoneIsAsked(t *testing.T) {
	_, url := start(t, Config{})
	if code, body := post(t, url+"/v1/completions", `{"model":"sim","lora_path":"sql","prompt":"x"}`); code != 400 || !strings.Contains(body, "launched without LoRA") {
		t.Errorf("lora_path without adapters: %d %s, want 400 and the reason", code, body)
	}
	_, url = start(t, Config{ServedModel: "s3://bucket/glm", Adapters: twoAdapters})
	for model, want := range map[string]int{"s3://bucket/glm": 200, "s3://bucket/glm:fr": 200, "s3://bucket/glm:de": 400, "s3://other": 404} {
		if code, body := post(t, url+"/v1/completions", `{"model":"`+model+`","prompt":"x","max_tokens":1}`); code != want {
			t.Errorf("model %s: %d %s, want %d", model, code, body, want)
		}
	}
}

// TestAdaptersShareNoPrefix: KV that one adapter computed is of no use to another, or to the base model.
func TestAdaptersShareNoPrefix(t *testing.T) {
	s, url := start(t, Config{Flavour: VLLM, Adapters: twoAdapters, Engine: &engine.Params{Schedule: engine.VLLM, PrefixCache: true, PageSize: 4}})
	prompt := strings.TrimSpace(strings.Repeat("the river ", 10))
	texts := map[string]bool{}
	for i, tt := range []struct {
		model  string
		cached int
	}{{"sim", 0}, {"sql", 0}, {"fr", 0}, {"sql", 20}, {"sim", 20}} {
		_, body := post(t, url+"/v1/completions", `{"model":"`+tt.model+`","prompt":"`+prompt+`","max_tokens":12,"ignore_eos":true}`)
		var got struct {
			Choices []struct{ Text string }
		}
		if err := json.Unmarshal([]byte(body), &got); err != nil {
			t.Fatal(err)
		}
		texts[got.Choices[0].Text] = true
		if x := s.Truths()[i]; x.Cached != tt.cached || x.Prompt != 21 {
			t.Errorf("request %d to %s: %d of %d prompt tokens cached, want %d of 21", i, tt.model, x.Cached, x.Prompt, tt.cached)
		}
	}
	if len(texts) != 3 {
		t.Errorf("%d different answers to one prompt, want one each of the base and two adapters", len(texts))
	}
}

func TestAdaptersAreChecked(t *testing.T) {
	for _, tt := range []struct {
		c    Config
		want string
	}{
		{Config{Flavour: LlamaCpp, Adapters: twoAdapters}, "not served with the flavour llamacpp"},
		{Config{Adapters: []Adapter{{Name: "sim"}}}, `called "sim"`},
		{Config{Adapters: []Adapter{{Name: "a"}, {Name: "a"}}}, `called "a"`},
		{Config{Adapters: []Adapter{{Path: "x"}}}, "has no name"},
	} {
		if err := tt.c.Validate(); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("Validate(%+v) = %v, want %q", tt.c.Adapters, err, tt.want)
		}
	}
	for text, want := range map[string]Adapter{"a": {Name: "a"}, "a=b": {Name: "a", Path: "b"}, "a=b=c": {Name: "a", Path: "b=c"}} {
		if got, err := ParseAdapter(text); got != want || err != nil {
			t.Errorf("ParseAdapter(%q) = %+v, %v, want %+v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "=b", "a="} {
		if _, err := ParseAdapter(text); err == nil {
			t.Errorf("ParseAdapter(%q) = nil, want an error", text)
		}
	}
	p, err := ReadPreset(strings.NewReader(`{"base":"dense-8b-h100","adapters":[{"name":"sql","path":"org/sql"}]}`))
	if c := p.Config(); err != nil || len(c.Adapters) != 1 || c.Adapters[0].Path != "org/sql" {
		t.Errorf("a preset's adapters are %+v, %v; want sql of org/sql", c.Adapters, err)
	}
}
