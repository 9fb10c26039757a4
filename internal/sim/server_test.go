package sim

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

func testServer(t *testing.T, c Config) *Server {
	t.Helper()
	s, err := New(c)
	if err != nil {
		t.Fatalf("New(%+v) = %v", c, err)
	}
	return s
}

func start(t *testing.T, c Config) (*Server, string) {
	t.Helper()
	s := testServer(t, c)
	h := httptest.NewServer(s.Handler())
	t.Cleanup(func() {
		h.Close()
		s.driver.wait()
	})
	return s, h.URL
}

func post(t *testing.T, url, body string) (int, string) {
	t.Helper()
	resp, err := http.Post(url, "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(b)
}

// event is one chunk in the union of the shapes the server writes.
type event struct {
	Text    string
	Choices []struct {
		Index int
		Text  string
		Delta struct {
			Role, Content, Reasoning string
			ReasoningContent         string `json:"reasoning_content"`
			ToolCalls                []struct {
				Function struct{ Name, Arguments string }
			} `json:"tool_calls"`
		}
		FinishReason string `json:"finish_reason"`
		TokenIDs     []int  `json:"token_ids"`
	}
	Usage *struct {
		Prompt     int `json:"prompt_tokens"`
		Completion int `json:"completion_tokens"`
		Total      int `json:"total_tokens"`
	}
	Meta struct {
		Finish     any `json:"finish_reason"`
		Completion int `json:"completion_tokens"`
		Prompt     int `json:"prompt_tokens"`
	} `json:"meta_info"`
	OutputIDs []int `json:"output_ids"`
	Timings   map[string]float64
}

func events(t *testing.T, body string) (list []event, done bool) {
	t.Helper()
	for frame := range strings.SplitSeq(strings.TrimSpace(body), "\n\n") {
		payload, ok := strings.CutPrefix(frame, "data: ")
		if !ok {
			t.Fatalf("frame %q has no data", frame)
		}
		if payload == "[DONE]" {
			done = true
			continue
		}
		var e event
		if err := json.Unmarshal([]byte(payload), &e); err != nil {
			t.Fatalf("frame %q: %v", payload, err)
		}
		list = append(list, e)
	}
	return list, done
}

func TestChatStreamCountsExactly(t *testing.T) {
	for _, f := range []Flavour{SGLang, VLLM, LlamaCpp} {
		for _, share := range []float64{0, 0.4, 1} {
			s, url := start(t, Config{Flavour: f, ServedModel: "glm-5", ReasoningShare: share})
			code, body := post(t, url+"/v1/chat/completions", `{"model":"glm-5","messages":[{"role":"user","content":"the old man"}],
				"max_tokens":40,"ignore_eos":true,"stream":true,"stream_options":{"include_usage":true}}`)
			if code != 200 {
				t.Fatalf("%s: status %d: %s", f, code, body)
			}
			list, done := events(t, body)
			var think, said strings.Builder
			finish, frames := "", 0
			for _, e := range list {
				for _, c := range e.Choices {
					think.WriteString(c.Delta.Reasoning + c.Delta.ReasoningContent)
					said.WriteString(c.Delta.Content)
					finish += c.FinishReason
					if c.Delta.Content+c.Delta.Reasoning+c.Delta.ReasoningContent != "" {
						frames++
					}
				}
			}
			last := list[len(list)-1].Usage
			if !done || finish != "length" || last == nil || last.Completion != 40 || last.Total != 40+last.Prompt || frames != 40 {
				t.Errorf("%s share %v: done %v, finish %q, usage %+v, %d frames; want true, length, 40 tokens, 40 frames", f, share, done, finish, last, frames)
			}
			if got := len(s.tok.Encode(think.String() + said.String())); got != 40 {
				t.Errorf("%s share %v: Encode(reasoning + content) has %d tokens, want 40", f, share, got)
			}
			if got, want := len(s.tok.Encode(think.String())), int(40*share); got != want {
				t.Errorf("%s share %v: reasoning has %d tokens, want %d", f, share, got, want)
			}
			if want := len(s.tok.Encode("<|user|>\nthe old man\n<|assistant|>\n")); last != nil && last.Prompt != want {
				t.Errorf("%s: prompt tokens = %d, want %d", f, last.Prompt, want)
			}
		}
	}
}

func TestWholeRepliesSayWhatStreamsSay(t *testing.T) {
	for _, f := range []Flavour{SGLang, VLLM, LlamaCpp} {
		_, url := start(t, Config{Flavour: f})
		const ask = `{"model":"sim","prompt":"the river","max_tokens":30,"stream":%}`
		_, streamed := post(t, url+"/v1/completions", strings.Replace(ask, "%", "true", 1))
		_, whole := post(t, url+"/v1/completions", strings.Replace(ask, "%", "false", 1))
		list, _ := events(t, streamed)
		var text strings.Builder
		for _, e := range list {
			for _, c := range e.Choices {
				text.WriteString(c.Text)
			}
		}
		var one event
		if err := json.Unmarshal([]byte(whole), &one); err != nil {
			t.Fatalf("%s: %v in %s", f, err, whole)
		}
		frames := 30
		if f == LlamaCpp { // the finish reason has a frame of its own
			frames++
		}
		if one.Choices[0].Text != text.String() || one.Usage.Completion != 30 || len(list) != frames {
			t.Errorf("%s: whole text %q (%d tokens), streamed %q in %d frames", f, one.Choices[0].Text, one.Usage.Completion, text.String(), len(list))
		}
	}
}

func TestGenerateIsCumulative(t *testing.T) {
	_, url := start(t, Config{})
	_, body := post(t, url+"/generate", `{"text":"the river","sampling_params":{"max_new_tokens":5,"ignore_eos":true},"stream":true}`)
	list, done := events(t, body)
	if !done || len(list) != 5 {
		t.Fatalf("got %d frames, done %v, want 5, true", len(list), done)
	}
	for i, e := range list {
		if e.Meta.Completion != i+1 || len(e.OutputIDs) != i+1 || i > 0 && !strings.HasPrefix(e.Text, list[i-1].Text) {
			t.Errorf("frame %d = %+v, want %d tokens and the text so far", i, e, i+1)
		}
	}
	if _, body = post(t, url+"/generate", `{"input_ids":[[65,66],[67]],"sampling_params":{"max_new_tokens":3,"ignore_eos":true}}`); !strings.HasPrefix(body, "[{") {
		t.Errorf("a batch gave %s, want a list", body)
	}
}

func TestPromptForms(t *testing.T) {
	_, url := start(t, Config{Flavour: VLLM})
	for prompt, want := range map[string][2]int{
		`" the river"`: {2, 1}, `[" the river"," the"]`: {3, 2}, `[65,66,67]`: {3, 1}, `[[65],[66,67]]`: {3, 2},
	} {
		_, body := post(t, url+"/v1/completions", `{"model":"sim","max_tokens":2,"ignore_eos":true,"prompt":`+prompt+`}`)
		var e event
		if err := json.Unmarshal([]byte(body), &e); err != nil || e.Usage == nil {
			t.Fatalf("prompt %s: %v in %s", prompt, err, body)
		}
		if e.Usage.Prompt != want[0] || len(e.Choices) != want[1] {
			t.Errorf("prompt %s: %d prompt tokens, %d choices, want %v", prompt, e.Usage.Prompt, len(e.Choices), want)
		}
	}
}

func TestStopTextsEndAnswers(t *testing.T) {
	s, url := start(t, Config{})
	_, body := post(t, url+"/v1/completions", `{"model":"sim","prompt":"the","max_tokens":60,"ignore_eos":true}`)
	var full, cut event
	if err := json.Unmarshal([]byte(body), &full); err != nil {
		t.Fatal(err)
	}
	words := strings.Fields(full.Choices[0].Text)
	stop := words[9] + " " + words[10]
	_, body = post(t, url+"/v1/completions", `{"model":"sim","prompt":"the","max_tokens":60,"ignore_eos":true,"stop":"`+stop+`"}`)
	if err := json.Unmarshal([]byte(body), &cut); err != nil {
		t.Fatal(err)
	}
	text := cut.Choices[0].Text
	if !strings.HasPrefix(full.Choices[0].Text, text) || strings.Contains(text, stop) || cut.Choices[0].FinishReason != "stop" {
		t.Errorf("stop %q: text %q, finish %q", stop, text, cut.Choices[0].FinishReason)
	}
	if want := len(s.tok.Encode(text + stop)); cut.Usage.Completion != want {
		t.Errorf("stop %q: %d tokens counted, want %d", stop, cut.Usage.Completion, want)
	}
}

func TestToolCallArgumentsAreJSON(t *testing.T) {
	for _, f := range []Flavour{SGLang, VLLM, LlamaCpp} {
		s, url := start(t, Config{Flavour: f})
		_, body := post(t, url+"/v1/chat/completions", `{"model":"sim","messages":[{"role":"user","content":"x"}],"stream":true,"stream_options":{"include_usage":true},
			"tools":[{"type":"function","function":{"name":"look"}}],"tool_choice":"required"}`)
		list, _ := events(t, body)
		name, args, finish := "", "", ""
		for _, e := range list {
			for _, c := range e.Choices {
				finish += c.FinishReason
				for _, call := range c.Delta.ToolCalls {
					name += call.Function.Name
					args += call.Function.Arguments
				}
			}
		}
		if name != "look" || !json.Valid([]byte(args)) || finish != "tool_calls" {
			t.Errorf("%s: call %q(%s), finish %q", f, name, args, finish)
		}
		if got, want := list[len(list)-1].Usage.Completion, len(s.tok.Encode(args)); got != want {
			t.Errorf("%s: %d tokens counted, want %d", f, got, want)
		}
	}
}

func TestContinuousUsageCountsEveryToken(t *testing.T) {
	_, url := start(t, Config{Flavour: VLLM})
	_, body := post(t, url+"/v1/completions", `{"model":"sim","prompt":"the","max_tokens":6,"ignore_eos":true,"stream":true,"return_token_ids":true,
		"stream_options":{"include_usage":true,"continuous_usage_stats":true}}`)
	list, _ := events(t, body)
	for i, e := range list[:6] {
		if e.Usage == nil || e.Usage.Completion != i+1 || len(e.Choices[0].TokenIDs) != 1 {
			t.Errorf("frame %d: usage %+v, ids %v, want %d tokens and one id", i, e.Usage, e.Choices[0].TokenIDs, i+1)
		}
	}
}

func TestRefusalsAreTheEngines(t *testing.T) {
	for _, tt := range []struct {
		flavour    Flavour
		path, body string
		status     int
		words      string
	}{
		{SGLang, "/v1/chat/completions", `{"model":"other","messages":[{"role":"user","content":"x"}]}`, 404, `"NotFoundError"`},
		{VLLM, "/v1/chat/completions", `{"model":"other","messages":[{"role":"user","content":"x"}]}`, 404, "The model `other` does not exist."},
		{LlamaCpp, "/v1/chat/completions", `{"model":"other","messages":[{"role":"user","content":"x"}],"max_tokens":1}`, 200, `"content"`},
		{SGLang, "/v1/completions", `{"model":"sim","prompt":"the old man went","max_tokens":100}`, 400, "maximum context length of 50 tokens"},
		{VLLM, "/v1/completions", `{"model":"sim","prompt":"the old man went","max_tokens":100}`, 400, "maximum context length is 50 tokens"},
		{SGLang, "/v1/completions", `{"model":"sim","prompt":"!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!"}`, 400, "longer than the model's context length (50 tokens)"},
		{LlamaCpp, "/v1/completions", `{"model":"sim","prompt":"!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!"}`, 400, "exceed_context_size_error"},
		{SGLang, "/v1/completions", `{"model":`, 400, "not valid"},
		{VLLM, "/v1/completions", `{"model":"sim","prompt":"x","max_tokens":0}`, 400, "max_tokens must be at least 1, got 0."},
		{VLLM, "/v1/completions", `{"model":"sim","prompt":"x","max_tokens":"ten"}`, 400, "not valid"},
		{VLLM, "/v1/completions", `{"model":"sim","prompt":"x","n":2}`, 400, "n must be 1"},
		{VLLM, "/v1/completions", `{"model":"sim","prompt":[999999]}`, 400, "out of vocabulary"},
		{VLLM, "/v1/chat/completions", `{"model":"sim","messages":[]}`, 400, "at least one message"},
		{SGLang, "/v1/nothing", `{}`, 404, "Not Found"},
		{SGLang, "/v1/models", `{}`, 405, "Method Not Allowed"},
		{LlamaCpp, "/generate", `{}`, 404, "File Not Found"},
	} {
		_, url := start(t, Config{Flavour: tt.flavour, MaxModelLen: 50})
		if code, body := post(t, url+tt.path, tt.body); code != tt.status || !strings.Contains(body, tt.words) {
			t.Errorf("%s POST %s %s = %d %s, want %d with %q", tt.flavour, tt.path, tt.body, code, body, tt.status, tt.words)
		}
	}
}

func TestKeyIsAskedForWhereTheEngineAsks(t *testing.T) {
	for _, tt := range []struct {
		flavour Flavour
		path    string
		status  int
	}{
		{SGLang, "/health", 200}, {SGLang, "/model_info", 401}, {SGLang, "/v1/models", 401},
		{VLLM, "/version", 200}, {VLLM, "/v1/models", 401}, {LlamaCpp, "/health", 200}, {LlamaCpp, "/props", 401},
	} {
		_, url := start(t, Config{Flavour: tt.flavour, APIKey: "k"})
		for key, want := range map[string]int{"": tt.status, "Bearer k": 200, "Bearer no": tt.status} {
			q, _ := http.NewRequest(http.MethodGet, url+tt.path, nil)
			q.Header.Set("Authorization", key)
			resp, err := http.DefaultClient.Do(q)
			if err != nil {
				t.Fatal(err)
			}
			_ = resp.Body.Close()
			if resp.StatusCode != want {
				t.Errorf("%s GET %s with %q = %d, want %d", tt.flavour, tt.path, key, resp.StatusCode, want)
			}
		}
	}
}

func TestTokenizeRoundTrip(t *testing.T) {
	for f, ask := range map[Flavour]string{SGLang: `{"prompt":"the river"}`, VLLM: `{"model":"sim","prompt":"the river"}`, LlamaCpp: `{"content":"the river"}`} {
		s, url := start(t, Config{Flavour: f})
		_, body := post(t, url+"/tokenize", ask)
		var got struct{ Tokens []int }
		if err := json.Unmarshal([]byte(body), &got); err != nil || len(got.Tokens) != len(s.tok.Encode("the river")) {
			t.Errorf("%s tokenize = %s, %v", f, body, err)
		}
		ids, _ := json.Marshal(got)
		if _, back := post(t, url+"/detokenize", strings.ToLower(string(ids))); !strings.Contains(back, `"the river"`) {
			t.Errorf("%s detokenize(%s) = %s", f, ids, back)
		}
	}
}

// TestTimelineIsAbsolute checks the planned instants of a paced stream to the nanosecond, and that none left early.
func TestTimelineIsAbsolute(t *testing.T) {
	s, url := start(t, Config{TTFT: 30 * time.Millisecond, ITL: 3 * time.Millisecond})
	var kept *reply
	s.truth.onClose = func(r *reply) { kept = r }
	post(t, url+"/v1/completions", `{"model":"sim","prompt":"the","max_tokens":20,"ignore_eos":true,"stream":true}`)
	s.driver.wait()
	a := kept.answers[0]
	for k, at := range a.Planned {
		if want := kept.accepted + 30*time.Millisecond + time.Duration(k)*3*time.Millisecond; at != want {
			t.Errorf("token %d planned at %v, want %v", k, at, want)
		}
		if a.flushed[k] < at {
			t.Errorf("token %d left at %v, before its instant %v", k, a.flushed[k], at)
		}
	}
}

func TestServeEndsCleanly(t *testing.T) {
	s := testServer(t, Config{TTFT: time.Hour})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- s.Serve(ctx, l) }()
	resp, err := http.Post("http://"+l.Addr().String()+"/v1/completions", "application/json", strings.NewReader(`{"model":"sim","prompt":"x","stream":true}`))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	cancel()
	select {
	case err := <-served:
		if err != nil {
			t.Errorf("Serve = %v, want nil", err)
		}
	case <-time.After(5 * time.Second):
		t.Fatal("Serve did not end within 5 s of its context")
	}
	if _, err := bufio.NewReader(resp.Body).ReadString(0); err == nil {
		t.Error("the stream under way went on after the server had ended")
	}
}

func TestValidateReportsEveryFault(t *testing.T) {
	err := Config{Flavour: "x", TTFT: -1, ITL: -1, ReasoningShare: 2, ReasoningTokens: 3, MaxModelLen: -1}.Validate()
	for _, want := range []string{"flavour", "TTFT", "ITL", "outside 0..1", "take one", "context length"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Validate = %v, want it to mention %q", err, want)
		}
	}
}

// postStream returns the status and the body as it comes.
func postStream(t *testing.T, url, body string) (int, io.Reader) {
	t.Helper()
	resp, err := http.Post(url, "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = resp.Body.Close() })
	return resp.StatusCode, resp.Body
}

func getWithKey(t *testing.T, url, key string) string {
	t.Helper()
	q, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	q.Header.Set("Authorization", "Bearer "+key)
	resp, err := http.DefaultClient.Do(q)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
