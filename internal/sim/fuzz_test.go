package sim

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func FuzzParseFault(f *testing.F) {
	for _, s := range []string{"429:rate=0.1,retry-after=2s", "reset:at=3+7,after=10", "eof", "stall:delay=,at=1", ":::", "eof:rate=NaN"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if got, err := ParseFault(text); err == nil && got.validate() != nil {
			t.Errorf("ParseFault(%q) = %+v without an error, which is not valid: %v", text, got, got.validate())
		}
	})
}

// FuzzBodies sends any body to the generation routes: the answer is whole and legal JSON, and a refusal names its cause.
func FuzzBodies(f *testing.F) {
	for _, s := range []string{
		`{"model":"sim","prompt":"x","max_tokens":2}`, `{"model":"sim","prompt":[[1,2],"a"],"max_tokens":1}`, `{"model":"sim","prompt":[1.5]}`,
		`{"model":"sim","messages":[{"role":"user","content":[{"type":"text","text":"a"},{"type":"image_url"}]}],"max_tokens":1}`,
		`{"model":"sim","messages":[{"role":"user","content":7}]}`, `{"text":["a","b"],"sampling_params":{"max_new_tokens":3,"stop":["the"]}}`,
		`{"input_ids":[],"sampling_params":null}`, `{"model":"sim","input":"","stop":{}}`, `{"prompt":null,"max_tokens":1e9}`, "null", "[]", "\x00",
		`{"model":"sim","messages":[{"role":"user"}],"tools":[{"function":{"name":"\"\\"}}],"tool_choice":"required","max_tokens":3}`,
		`{"model":"sim","prompt":"x","stop":"","min_tokens":-5,"stream_interval":-1,"max_tokens":3}`,
		`{"model":"sim","prompt":["x","y"],"lora_path":[null,"a"],"max_tokens":3}`, `{"model":"sim:a","prompt":"x","lora_path":{},"max_tokens":3}`,
		`{"input":[{"role":"user","content":"x"},{"type":"function_call","name":"\""}],"max_output_tokens":5,"stream":true,"reasoning":{"summary":"auto"}}`,
		`{"input":"x","tools":[{"type":"function","name":"f"}],"tool_choice":{"name":"f"},"stream":true,"instructions":"\u0000"}`,
		`{"query":"a b","documents":["b","a"],"top_n":9}`, `{"query":[1],"items":[[2],[3]],"label_token_ids":[4]}`,
	} {
		f.Add(s)
	}
	s, err := New(Config{MaxModelLen: 64, AnswerTokens: 4, Adapters: []Adapter{{Name: "a"}}, ReasoningTokens: 1})
	if err != nil {
		f.Fatal(err)
	}
	h := s.Handler()
	f.Fuzz(func(t *testing.T, body string) {
		for _, path := range []string{"/v1/completions", "/v1/chat/completions", "/generate", "/v1/embeddings", "/tokenize", "/detokenize",
			"/v1/responses", "/v1/rerank", "/v1/score"} {
			w := httptest.NewRecorder()
			h.ServeHTTP(w, httptest.NewRequest(http.MethodPost, path, strings.NewReader(body)))
			got := w.Body.String()
			if ct := w.Header().Get("Content-Type"); strings.HasPrefix(ct, "text/event-stream") {
				_, last, _ := strings.Cut(got[strings.LastIndex(strings.TrimSpace(got), "\n\n")+1:], "event: response.")
				if !strings.HasSuffix(got, "data: [DONE]\n\n") && !strings.HasPrefix(last, "completed\n") && !strings.HasPrefix(last, "incomplete\n") {
					t.Errorf("POST %s %q streamed %q without an end", path, body, got)
				}
				continue
			}
			if !json.Valid([]byte(got)) || w.Code != 200 && !strings.Contains(got, "message") {
				t.Errorf("POST %s %q = %d %q", path, body, w.Code, got)
			}
		}
	})
}
