package endpoint

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/servemark/servemark/internal/bench"
)

func TestBodies(t *testing.T) {
	hi := bench.Prompt{Text: "hé <&>"}
	messages := bench.Prompt{Messages: json.RawMessage(`[{"role": "user", "content": "x"}]`)}
	ids := bench.Prompt{IDs: []uint32{1, 20}}
	ignore := bench.BodySpec{IgnoreEOS: true, TopP: 1, LogprobStart: -1}
	with := func(change func(*bench.BodySpec)) bench.BodySpec {
		b := ignore
		change(&b)
		return b
	}
	for _, tc := range []struct {
		name   string
		o      Options
		prompt bench.Prompt
		row    string
		want   string // the body, or "error: …"
	}{
		{"chat", Options{API: bench.APIChat, Engine: bench.EngineSGLang, Stream: true, Body: ignore}, hi, "",
			`{"model":"m","messages":[{"role":"user","content":"hé <&>"}],"max_completion_tokens":8,"stream":true,"stream_options":{"include_usage":true},"temperature":0.0,"ignore_eos":true}`},
		{"chat of an unknown server gets the limit under both names", Options{API: bench.APIChat, Body: ignore}, hi, "",
			`{"model":"m","messages":[{"role":"user","content":"hé <&>"}],"max_completion_tokens":8,"max_tokens":8,"stream":false,"temperature":0.0,"ignore_eos":true}`},
		{"OpenAI's cloud takes one name and no ignore_eos", Options{API: bench.APIChat, BaseURL: "https://api.openai.com", Body: bench.BodySpec{}}, hi, "",
			`{"model":"m","messages":[{"role":"user","content":"hé <&>"}],"max_completion_tokens":8,"stream":false,"temperature":0.0}`},
		{"messages pass untouched", Options{API: bench.APIChat, Engine: bench.EngineVLLM, Body: ignore}, messages, "",
			`{"model":"m","messages":[{"role": "user", "content": "x"}],"max_completion_tokens":8,"stream":false,"temperature":0.0,"ignore_eos":true}`},
		{"ids to chat", Options{API: bench.APIChat}, ids, "", "error: token ids cannot be sent to /v1/chat/completions"},
		{"completions", Options{API: bench.APICompletions, Stream: true, Body: ignore}, hi, "",
			`{"model":"m","prompt":"hé <&>","max_tokens":8,"stream":true,"stream_options":{"include_usage":true},"temperature":0.0,"ignore_eos":true}`},
		{"completions of ids", Options{API: bench.APICompletions, Body: ignore}, ids, "",
			`{"model":"m","prompt":[1,20],"max_tokens":8,"stream":false,"temperature":0.0,"ignore_eos":true}`},
		{"messages to completions", Options{API: bench.APICompletions}, messages, "", "error: chat messages cannot be sent to /v1/completions"},
		{"log probabilities", Options{API: bench.APICompletions, Body: with(func(b *bench.BodySpec) { b.Logprobs, b.TopLogprobs = true, 3 })}, hi, "",
			`{"model":"m","prompt":"hé <&>","max_tokens":8,"stream":false,"temperature":0.0,"ignore_eos":true,"logprobs":3}`},
		{"extra wins in its old place, the row's over the user's", Options{API: bench.APICompletions, Body: with(func(b *bench.BodySpec) {
			b.Extra = json.RawMessage(`{"temperature": 0.5, "max_tokens": 99, "seed": 1, "top_k": 2}`)
		})}, hi, `{"seed":7,"ignore_eos":false}`,
			`{"model":"m","prompt":"hé <&>","max_tokens":99,"stream":false,"temperature":0.5,"seed":7,"top_k":2,"ignore_eos":false}`},
		{"cache details and fake prefill", Options{API: bench.APICompletions, Body: with(func(b *bench.BodySpec) { b.CacheDetails, b.FakePrefill = true, true })}, hi, "",
			`{"model":"m","prompt":"hé <&>","max_tokens":8,"stream":false,"temperature":0.0,"ignore_eos":true,"return_cached_tokens_details":true,"bootstrap_host":"2.2.2.2","bootstrap_room":0}`},
		{"a broken row", Options{API: bench.APICompletions}, hi, `[1]`, "error: its own body fields are not a JSON object"},
		{"strict chat", Options{API: bench.APIChat, Strict: true, Stream: true, Body: ignore}, hi, "",
			`{"model": "m", "messages": [{"role": "user", "content": "h\u00e9 <&>"}], "max_completion_tokens": 8, "stream": true, "temperature": 0.0, "ignore_eos": true}`},
		{"strict completions", Options{API: bench.APICompletions, Strict: true, Stream: true, Body: bench.BodySpec{}}, bench.Prompt{Text: "\x01\u007f\"\\/\n𝄞"}, `{"a": [1,{"b":"c:d, e"}]}`,
			`{"model": "m", "prompt": "\u0001\u007f\"\\/\n\ud834\udd1e", "best_of": 1, "max_tokens": 8, "stream": true, "temperature": 0.0, "ignore_eos": false, "a": [1, {"b": "c:d, e"}]}`},
		{"generate", Options{API: bench.APIGenerate, Stream: true, Body: ignore}, hi, "",
			`{"text":"hé <&>","sampling_params":{"temperature":0.0,"max_new_tokens":8,"ignore_eos":true},"stream":true,"lora_path":null,"return_logprob":false,"return_routed_experts":false,"logprob_start_len":-1}`},
		{"generate with everything", Options{API: bench.APIGenerate, Body: with(func(b *bench.BodySpec) {
			b.Temperature, b.TopP, b.Logprobs, b.TopLogprobs, b.TokenIDLogprobs, b.RoutedExperts = 0.7, 0.9, true, 2, []int{5, 6}, true
			b.Extra = json.RawMessage(`{"top_logprobs_num":9,"temperature":1}`)
		})}, ids, "",
			`{"input_ids":[1,20],"sampling_params":{"temperature":0.7,"max_new_tokens":8,"ignore_eos":true,"top_p":0.9},"stream":false,"lora_path":null,"return_logprob":true,"return_routed_experts":true,"logprob_start_len":-1,"top_logprobs_num":2,"temperature":1,"token_ids_logprob":[5,6]}`},
		{"vLLM's completions", Options{API: bench.APICompletions, Dialect: bench.DialectVLLM, Stream: true, Body: with(func(b *bench.BodySpec) { b.Extra = json.RawMessage(`{"top_p":0.9}`) })}, hi, "",
			`{"model":"m","prompt":"hé <&>","repetition_penalty":1.0,"max_tokens":8,"stream":true,"stream_options":{"include_usage":true},"ignore_eos":true,"top_p":0.9}`},
		{"vLLM's completions, strict", Options{API: bench.APICompletions, Dialect: bench.DialectVLLM, Stream: true, Strict: true}, bench.Prompt{Text: "x"}, "",
			`{"model": "m", "prompt": "x", "repetition_penalty": 1.0, "max_tokens": 8, "logprobs": null, "stream": true, "stream_options": {"include_usage": true}}`},
		{"vLLM's completions with log probabilities", Options{API: bench.APICompletions, Dialect: bench.DialectVLLM, Body: bench.BodySpec{Logprobs: true}}, ids, "",
			`{"model":"m","prompt":[1,20],"repetition_penalty":1.0,"max_tokens":8,"logprobs":0,"stream":false}`},
		{"vLLM's chat", Options{API: bench.APIChat, Dialect: bench.DialectVLLM, Stream: true}, hi, "",
			`{"model":"m","messages":[{"role":"user","content":[{"type":"text","text":"hé <&>"}]}],"max_completion_tokens":8,"stream":true,"stream_options":{"include_usage":true}}`},
		{"responses", Options{API: bench.APIResponses, Dialect: bench.DialectVLLM, Stream: true, Body: ignore}, hi, "",
			`{"model":"m","input":"hé <&>","max_output_tokens":8,"stream":true,"store":false,"ignore_eos":true}`},
		{"ids to responses", Options{API: bench.APIResponses}, ids, "", "error: token ids cannot be sent to /v1/responses"},
		{"embeddings", Options{API: bench.APIEmbeddings, Stream: true, Body: ignore}, hi, "", `{"input":"hé <&>","model":"m"}`},
		{"vLLM's embeddings", Options{API: bench.APIEmbeddings, Dialect: bench.DialectVLLM}, bench.Prompt{Texts: []string{"a", "b"}}, "",
			`{"model":"m","input":["a","b"],"truncate_prompt_tokens":-1}`},
		{"rerank", Options{API: bench.APIRerank, Dialect: bench.DialectVLLM}, bench.Prompt{Texts: []string{"q", "d", "e"}}, "",
			`{"model":"m","query":"q","documents":["d","e"],"truncate_prompt_tokens":-1}`},
		{"rerank of a text", Options{API: bench.APIRerank}, hi, "", "error: takes a query and documents"},
		{"Triton", Options{API: bench.APITriton, Body: ignore}, hi, "",
			`{"accumulate_tokens":true,"text_input":"hé <&>","temperature":1e-06,"top_p":1.0,"max_tokens":8,"stream":true,"min_length":8,"end_id":1048576}`},
		{"Triton with its own ends", Options{API: bench.APITriton, Strict: true}, bench.Prompt{Text: "x"}, `{"end_id":2}`,
			`{"accumulate_tokens": true, "text_input": "x", "temperature": 1e-06, "top_p": 1.0, "max_tokens": 8, "stream": true, "end_id": 2}`},
		{"ids to Triton", Options{API: bench.APITriton}, ids, "", "error: token ids cannot be sent to /v2/models/ensemble/generate_stream; send text"},
		{"Truss", Options{API: bench.APITruss, Stream: true, Body: ignore}, hi, "",
			`{"model":"m","prompt":"hé <&>","max_tokens":8,"stream":true,"stream_options":{"include_usage":true},"temperature":0.0,"ignore_eos":true}`},
		{"Truss, strict", Options{API: bench.APITruss, Strict: true, Stream: true, Body: ignore}, bench.Prompt{Text: "x"}, "",
			`{"model": "m", "prompt": "x", "temperature": 0.0, "best_of": 1, "max_tokens": 8, "stream": true, "ignore_eos": true}`},
		{"several texts to completions", Options{API: bench.APICompletions}, bench.Prompt{Texts: []string{"a"}}, "", "error: several texts cannot be sent to /v1/completions"},
	} {
		tc.o.Served = "m"
		e, err := New(tc.o)
		if err != nil {
			t.Errorf("%s: New: %v", tc.name, err)
			continue
		}
		m, err := e.Encode(&bench.Request{Prompt: tc.prompt, OutputTokens: 8, Extra: json.RawMessage(tc.row)})
		if words, ok := strings.CutPrefix(tc.want, "error: "); ok {
			if err == nil || !strings.Contains(err.Error(), words) {
				t.Errorf("%s: Encode = %s, error %v; want error %q", tc.name, m.Body, err, words)
			}
			continue
		}
		if err != nil || string(m.Body) != tc.want {
			t.Errorf("%s: Encode =\n%s, error %v; want\n%s", tc.name, m.Body, err, tc.want)
		}
	}
}

func TestNewRefuses(t *testing.T) {
	for _, tc := range []struct {
		o    Options
		want string
	}{
		{Options{API: "chat"}, "no model name"},
		{Options{API: "grpc", Served: "m"}, `unknown API "grpc"`},
		{Options{API: "chat", Served: "m", Body: bench.BodySpec{Extra: json.RawMessage(`[1]`)}}, "extra request body"},
		{Options{API: "chat", Served: "m", Body: bench.BodySpec{Extra: json.RawMessage(`{"a":1} x`)}}, "something follows"},
	} {
		if _, err := New(tc.o); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("New(%+v) = %v, want %q", tc.o, err, tc.want)
		}
	}
}

func TestAdapterPathAndRequestID(t *testing.T) {
	r := &bench.Request{ID: 12, Prompt: bench.Prompt{Text: "x"}, OutputTokens: 8, Adapter: "a1", RoutingKey: "g1"}
	for _, tc := range []struct {
		o    Options
		want string
	}{
		{Options{API: bench.APICompletions, Stream: true}, `{"model":"a1","prompt":"x","max_tokens":8,"stream":true,"stream_options":{"include_usage":true},"temperature":0.0,"lora_path":"a1"}`},
		{Options{API: bench.APIChat, Dialect: bench.DialectVLLM}, `{"model":"a1","messages":[{"role":"user","content":[{"type":"text","text":"x"}]}],"max_completion_tokens":8,"stream":false}`},
		{Options{API: bench.APIGenerate}, `{"text":"x","sampling_params":{"temperature":0.0,"max_new_tokens":8,"ignore_eos":false},"stream":false,"lora_path":"a1","return_logprob":false,"return_routed_experts":false,"logprob_start_len":0}`},
		{Options{API: bench.APIEmbeddings}, `{"input":"x","model":"a1","lora_path":"a1"}`},
	} {
		tc.o.Served, tc.o.Path, tc.o.RequestIDPrefix = "m", "/other", "run-7-"
		e, err := New(tc.o)
		if err != nil {
			t.Fatal(err)
		}
		m, err := e.Encode(r)
		if err != nil || string(m.Body) != tc.want || m.Path != "/other" || m.Header.Get("X-Request-Id") != "run-7-12" || m.Header.Get("X-SMG-Routing-Key") != "g1" {
			t.Errorf("%s: Encode = %s to %s as %q, error %v; want\n%s to /other as run-7-12", tc.o.API, m.Body, m.Path, m.Header.Get("X-Request-Id"), err, tc.want)
		}
	}
}

func TestNoTokensAsked(t *testing.T) {
	r := &bench.Request{ID: 4, Prompt: bench.Prompt{Text: "x"}}
	if m, err := endpointFor(t, bench.APIChat).Encode(r); err == nil || !strings.Contains(err.Error(), "request 4 asks for an answer of 0 tokens") {
		t.Errorf("Encode of a request for 0 tokens = %s, %v; want an error", m.Body, err)
	}
}

func TestAmend(t *testing.T) {
	named := []byte(`{"error":{"message":"Unrecognized request argument: stream_options"}}`)
	e := endpointFor(t, bench.APICompletions)
	m, err := e.Encode(&bench.Request{Prompt: bench.Prompt{Text: "x"}, OutputTokens: 8})
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		status  int
		refusal string
		ok      bool
	}{{400, string(named), true}, {422, string(named), true}, {500, string(named), false}, {400, `{"error":"no such model"}`, false}} {
		got, ok := e.Amend(m, tc.status, []byte(tc.refusal))
		if want := strings.Replace(string(m.Body), `,"stream_options":{"include_usage":true}`, "", 1); ok != tc.ok || ok && string(got.Body) != want {
			t.Errorf("Amend(%d, %s) = %s, %v; want %s, %v", tc.status, tc.refusal, got.Body, ok, want, tc.ok)
		}
	}
	again, _ := e.Amend(m, 400, named)
	if _, ok := e.Amend(again, 400, named); ok {
		t.Error("Amend changes an amended message once more")
	}
	m.Body = []byte(`{"stream_options":{"include_usage":true,"x":1}}`)
	if _, ok := e.Amend(m, 400, named); ok {
		t.Error("Amend takes away what the user wrote")
	}
}

func TestAuth(t *testing.T) {
	env := func(pairs ...string) func(string) string {
		return func(name string) string {
			for i := 0; i < len(pairs); i += 2 {
				if pairs[i] == name {
					return pairs[i+1]
				}
			}
			return ""
		}
	}
	for _, tc := range []struct {
		getenv func(string) string
		extra  http.Header
		want   string
		from   string
	}{
		{env(), nil, "", ""},
		{env("OPENAI_API_KEY", "k-123456789", "API_KEY", "z"), nil, "Bearer k-123456789", "OPENAI_API_KEY"},
		{env("API_KEY", "k-123456789"), nil, "k-123456789", "API_KEY"},
		{env("OPENAI_API_KEY", "k-123456789"), http.Header{"authorization": {"Mine"}}, "Mine", "OPENAI_API_KEY"},
	} {
		a := AuthFromEnv(tc.getenv, tc.extra)
		h := http.Header{}
		a.Apply(h)
		if got := h.Get("Authorization"); got != tc.want || a.From() != tc.from || a.Present() != (tc.want != "") {
			t.Errorf("Authorization = %q from %q, present %v; want %q from %q", got, a.From(), a.Present(), tc.want, tc.from)
		}
		if shown := fmt.Sprintf("%v %+v %#v %s", a, a, a, a); strings.Contains(shown, "k-123456789") {
			t.Errorf("printing an Auth shows the key: %s", shown)
		}
	}
}
