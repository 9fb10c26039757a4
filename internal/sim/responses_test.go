package sim

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/servemark/servemark/internal/sim/engine"
)

// eventNames lists the events of a stream, deltas of one kind in a row as one.
func eventNames(body string) []string {
	var list []string
	for line := range strings.SplitSeq(body, "\n") {
		name, ok := strings.CutPrefix(line, "event: response.")
		if ok && !(strings.HasSuffix(name, ".delta") && len(list) > 0 && list[len(list)-1] == name) {
			list = append(list, name)
		}
	}
	return list
}

// responseOf is the response object: a whole body, or what the last event of a stream carries.
func responseOf(t *testing.T, body string) (o struct {
	ID, Model, Status string
	Max               *int `json:"max_output_tokens"`
	Output            []struct{ Type, Name, Arguments string }
	Usage             struct {
		In     int `json:"input_tokens"`
		InWhat struct {
			Cached int `json:"cached_tokens"`
		} `json:"input_tokens_details"`
		Out     int `json:"output_tokens"`
		OutWhat struct {
			Think int `json:"reasoning_tokens"`
		} `json:"output_tokens_details"`
	}
}) {
	t.Helper()
	raw := []byte(body)
	if i := strings.LastIndex(body, "data: "); i >= 0 {
		var e struct{ Response json.RawMessage }
		if err := json.Unmarshal([]byte(body[i+6:]), &e); err != nil {
			t.Fatalf("%s: %v", body[i:], err)
		}
		raw = e.Response
	}
	if err := json.Unmarshal(raw, &o); err != nil {
		t.Fatalf("%s: %v", raw, err)
	}
	return o
}

func TestResponsesInOrder(t *testing.T) {
	message := []string{"output_item.added", "content_part.added", "output_text.delta", "output_text.done", "content_part.done", "output_item.done"}
	thought := []string{"output_item.added", "content_part.added", "reasoning_text.delta", "reasoning_text.done", "content_part.done", "output_item.done"}
	summary := []string{"output_item.added", "reasoning_summary_part.added", "reasoning_summary_text.delta", "reasoning_summary_text.done", "reasoning_summary_part.done", "output_item.done"}
	call := []string{"output_item.added", "function_call_arguments.delta", "function_call_arguments.done", "output_item.done"}
	const tools = `,"tools":[{"type":"function","name":"f","parameters":{}}],"tool_choice":`
	for _, tt := range []struct {
		name    string
		flavour Flavour
		think   int
		extra   string
		want    [][]string
		last    string
		tokens  int
	}{
		{"vLLM", VLLM, 0, `,"max_output_tokens":20,"ignore_eos":true`, [][]string{message}, "completed", 20},
		{"vLLM, reasoning", VLLM, 5, `,"max_output_tokens":20,"ignore_eos":true`, [][]string{thought, message}, "completed", 20},
		{"vLLM, reasoning alone", VLLM, 20, `,"max_output_tokens":20,"ignore_eos":true`, [][]string{thought}, "completed", 20},
		{"vLLM, call", VLLM, 0, tools + `"required"`, [][]string{call}, "completed", 0},
		{"SGLang gives two tokens fewer", SGLang, 0, `,"max_output_tokens":20`, [][]string{message}, "incomplete", 18},
		{"SGLang, summary", SGLang, 4, `,"max_output_tokens":20,"reasoning":{"summary":"auto"}`, [][]string{summary, message}, "incomplete", 18},
		{"SGLang knows no ignore_eos", SGLang, 0, `,"max_output_tokens":5000,"ignore_eos":true`, [][]string{message}, "completed", 0},
		{"SGLang, named call", SGLang, 0, tools + `{"type":"function","name":"f"}`, [][]string{call}, "completed", 0},
	} {
		s, url := start(t, Config{Flavour: tt.flavour, ReasoningTokens: tt.think, AnswerTokens: 100})
		code, body := post(t, url+"/v1/responses", `{"model":"sim","input":"the old man","stream":true`+tt.extra+`}`)
		want := slices.Concat([]string{"created", "in_progress"}, slices.Concat(tt.want...), []string{tt.last})
		got := eventNames(body)
		if code != 200 || !slices.Equal(got, want) || strings.Contains(body, "[DONE]") {
			t.Errorf("%s: %d, events %v, want %v and no end marker", tt.name, code, got, want)
			continue
		}
		o, x := responseOf(t, body), s.Truths()[0]
		if o.Usage.In != x.Prompt || o.Usage.Out != x.Output || o.Usage.OutWhat.Think != x.Reasoning || tt.tokens > 0 && x.Output != tt.tokens || o.ID != x.RID || !strings.HasPrefix(o.ID, "resp_") {
			t.Errorf("%s: %+v, the truth is %d in, %d out, %d reasoning, %s; %d out were wanted", tt.name, o, x.Prompt, x.Output, x.Reasoning, x.RID, tt.tokens)
		}
		if last := o.Output[len(o.Output)-1]; last.Type == "function_call" && (last.Name != "f" || !json.Valid([]byte(last.Arguments))) {
			t.Errorf("%s: call %+v, want f with JSON", tt.name, last)
		}
		code, whole := post(t, url+"/v1/responses", `{"model":"sim","input":"the old man"`+tt.extra+`}`)
		if w := responseOf(t, whole); code != 200 || w.Usage != o.Usage || w.Status != o.Status || len(w.Output) != len(o.Output) {
			t.Errorf("%s: not streamed %d %+v, streamed %+v", tt.name, code, w, o)
		}
	}
}

// TestResponsesPromptIsTheChats: the same words are the same prompt on both routes, instructions as the system's message.
func TestResponsesPromptIsTheChats(t *testing.T) {
	s, url := start(t, Config{Flavour: VLLM})
	post(t, url+"/v1/chat/completions", `{"model":"sim","messages":[{"role":"system","content":"be \"brief\""},{"role":"user","content":"the river"},
		{"role":"assistant","content":"the city"},{"role":"user","content":"why"}],"max_tokens":9,"ignore_eos":true}`)
	post(t, url+"/v1/responses", `{"model":"sim","instructions":"be \"brief\"","input":[{"role":"user","content":[{"type":"input_text","text":"the river"}]},{"type":"reasoning","summary":[]},
		{"type":"message","role":"assistant","content":[{"type":"output_text","text":"the city"}]},{"role":"user","content":"why"}],"max_output_tokens":9,"ignore_eos":true}`)
	if list := s.Truths(); len(list) != 2 || list[0].Prompt != list[1].Prompt {
		t.Errorf("truths %+v, want two with equal prompts", list)
	}
	_, body := post(t, url+"/v1/responses", `{"input":[{"type":"function_call","name":"f","arguments":"{}","call_id":"c"},{"type":"function_call_output","call_id":"c","output":"42"}],"max_output_tokens":3}`)
	if o := responseOf(t, body); o.Status != "incomplete" || o.Model != "sim" || *o.Max != 3 {
		t.Errorf("a tool's answer: %s", body)
	}
}

func TestResponsesRefusals(t *testing.T) {
	for _, tt := range []struct {
		flavour Flavour
		body    string
		status  int
		want    string
	}{
		{VLLM, `{"model":"x","input":"a"}`, 404, "\"message\":\"The model `x` does not exist.\",\"param\":\"model\",\"type\":\"NotFoundError\""},
		{SGLang, `{"model":"x","input":"a"}`, 404, `{"error":{"code":404,"message":"The model 'x' does not exist","param":"model","type":"invalid_request_error"}}`},
		{SGLang, `{"input":"a","max_output_tokens":3}`, 200, `"status":"incomplete"`},
		{SGLang, `{"model":"sim:anything","input":"a","max_output_tokens":3}`, 200, `"model":"sim:anything"`},
		{SGLang, `{"model":"fr","input":"a","max_output_tokens":3}`, 200, `"model":"fr"`},
		{VLLM, `{"model":"fr","input":"a","max_output_tokens":3}`, 200, `"model":"fr"`},
		{SGLang, `{"input":"a","max_output_tokens":2}`, 400, `"type":"invalid_request_error"`},
		{SGLang, `{"input":"a","previous_response_id":"resp_1"}`, 400, `"param":"previous_response_id"`},
		{VLLM, `{"input":"a","previous_response_id":"resp_1"}`, 404, "not found"},
		{VLLM, `{"input":"a","previous_response_id":"x"}`, 400, "resp_"},
		{VLLM, `{"input":"a","background":true}`, 400, "store"},
		{VLLM, `{"input":[]}`, 400, "empty list"},
		{VLLM, `{}`, 400, "input is required"},
		{VLLM, `{"input":7}`, 400, "text or a list"},
		{VLLM, `{"input":[{"type":"computer_call"}]}`, 400, "computer_call"},
		{VLLM, `{"input":[{"content":"x"}]}`, 400, "no role"},
		{VLLM, `{"input":"a","max_output_tokens":200000}`, 400, "maximum context length"},
		{VLLM, `{"input":"a","tool_choice":"required"}`, 400, "no tools"},
		{VLLM, `{"input":`, 400, "not valid"},
		{LlamaCpp, `{"input":"a"}`, 404, "File Not Found"},
	} {
		c := Config{Flavour: tt.flavour}
		if tt.flavour != LlamaCpp {
			c.Adapters = twoAdapters
		}
		_, url := start(t, c)
		if code, body := post(t, url+"/v1/responses", tt.body); code != tt.status || !strings.Contains(body, tt.want) {
			t.Errorf("%s %s: %d %s; want %d, %q", tt.flavour, tt.body, code, body, tt.status, tt.want)
		}
	}
}

// TestResponsesOpenAtOnce: the first events leave on acceptance, which a client must not take for a token.
func TestResponsesOpenAtOnce(t *testing.T) {
	_, url := start(t, Config{Flavour: VLLM, TTFT: 300 * time.Millisecond})
	code, body := postStream(t, url+"/v1/responses", `{"input":"x","max_output_tokens":2,"stream":true}`)
	buf := make([]byte, 1<<14)
	n, err := body.Read(buf)
	if err != nil || code != http.StatusOK || !strings.Contains(string(buf[:n]), "response.created") || strings.Contains(string(buf[:n]), "delta") {
		t.Errorf("the first read has %q, %v; want response.created without a delta", buf[:n], err)
	}
}

func TestResponsesFailInMidStream(t *testing.T) {
	_, url := start(t, Config{Faults: []Fault{{Kind: FaultError, At: []int{1}, After: 2}}})
	_, body := post(t, url+"/v1/responses", `{"input":"x","max_output_tokens":9,"stream":true}`)
	names := eventNames(body)
	if len(names) < 3 || names[len(names)-1] != "failed" || strings.Count(body, "output_text.delta\n") != 2 || !strings.Contains(body, `"status":"failed"`) {
		t.Errorf("events %v in %s; want two deltas and response.failed", names, body)
	}
}

func TestResponsesUsageCanBeLeftOut(t *testing.T) {
	_, url := start(t, Config{Flavour: VLLM, Usage: UsageNever})
	if _, body := post(t, url+"/v1/responses", `{"input":"x","max_output_tokens":3}`); !strings.Contains(body, `"usage":null`) {
		t.Errorf("usage never: %s", body)
	}
	s, url := start(t, Config{Flavour: VLLM, Engine: &engine.Params{Schedule: engine.VLLM, PrefixCache: true, PageSize: 2}})
	for range 2 {
		_, body := post(t, url+"/v1/responses", `{"input":"the river the river","max_output_tokens":3}`)
		list := s.Truths()
		if o, x := responseOf(t, body), list[len(list)-1]; o.Usage.InWhat.Cached != x.Cached || len(list) == 2 && x.Cached == 0 {
			t.Errorf("request %d: %d cached tokens told, the truth is %d", len(list), o.Usage.InWhat.Cached, x.Cached)
		}
	}
}
