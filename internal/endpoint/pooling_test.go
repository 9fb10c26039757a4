package endpoint

import (
	"net/http"
	"strings"
	"testing"

	"github.com/servemark/servemark/internal/bench"
)

var jsonHead = http.Header{"Content-Type": {"application/json"}}

// TestPooledReplies: a vector or score is the evidence of work, the whole body that of an end.
func TestPooledReplies(t *testing.T) {
	for _, tc := range []struct {
		api    bench.API
		status int
		body   string
		kind   bench.FailureKind
		words  string
		prompt bench.Count
	}{
		{bench.APIEmbeddings, 200, `{"object":"list","data":[{"index":0,"embedding":[0.1,-2e-3]},{"index":1,"embedding":"AAAA"}],"usage":{"prompt_tokens":9,"total_tokens":9}}`, "", "", bench.Counted(9)},
		{bench.APIEmbeddings, 200, `{"object":"list","data":[]}`, bench.FailEmpty, "without a vector", bench.Unknown},
		{bench.APIEmbeddings, 200, `{"object":"list","data":[{"embedding":[]}]}`, bench.FailEmpty, "without a vector", bench.Unknown},
		{bench.APIEmbeddings, 200, `{"object":"error","message":"too long"}`, bench.FailServer, "too long", bench.Unknown},
		{bench.APIEmbeddings, 200, `{"data":[{"embedding":[0.1`, bench.FailMalformed, "not one JSON object", bench.Unknown},
		{bench.APIEmbeddings, 413, `{"error":{"message":"batch too large"}}`, bench.FailStatus, "batch too large", bench.Unknown},
		{bench.APIRerank, 200, `{"id":"r","results":[{"index":0,"relevance_score":0.5}],"usage":{"total_tokens":31}}`, "", "", bench.Counted(31)},
		{bench.APIRerank, 200, " [{\"score\":0.9,\"index\":1,\"meta_info\":{\"prompt_tokens\":8}},{\"score\":0,\"index\":0,\"meta_info\":{\"prompt_tokens\":5}}]\n", "", "", bench.Counted(13)},
		{bench.APIRerank, 200, `[{"score":0.9,"index":1}]`, "", "", bench.Unknown},
		{bench.APIRerank, 200, `[]`, bench.FailEmpty, "without a vector", bench.Unknown},
		{bench.APIRerank, 200, `[{"score":0.9`, bench.FailMalformed, "not one JSON object", bench.Unknown},
		{bench.APIEmbeddings, 200, `[{"embedding":[0.1]}]`, bench.FailMalformed, "not one JSON object", bench.Unknown},
		{bench.APIRerank, 200, `{"id":"r","results":[]}`, bench.FailEmpty, "without a vector", bench.Unknown},
	} {
		e, err := New(Options{API: tc.api, Served: "m", Stream: true})
		if err != nil {
			t.Fatal(err)
		}
		rec, _ := play(e, tc.status, jsonHead, tc.body, 5, nil)
		kind, message := failure(rec)
		if kind != tc.kind || !strings.Contains(message, tc.words) || len(rec.Chunks) != 0 || rec.Streamed || rec.Usage.Prompt != tc.prompt {
			t.Errorf("%s %s: failure %q %q, %d chunks, streamed %v, %v prompt tokens; want %q %q, none, false, %v",
				tc.api, tc.body, kind, message, len(rec.Chunks), rec.Streamed, rec.Usage.Prompt, tc.kind, tc.words, tc.prompt)
		}
		if n, known := rec.Usage.Completion.Get(); rec.OK() && (!known || n != 0) {
			t.Errorf("%s %s: %v output tokens, want 0, known", tc.api, tc.body, rec.Usage.Completion)
		}
	}
}

// TestTritonReplies: nothing but the end of the body ends a stream.
func TestTritonReplies(t *testing.T) {
	piece := func(s string) string { return `data: {"model_name":"ensemble","text_output":"` + s + `"}` + "\n\n" }
	for _, tc := range []struct {
		name   string
		body   string
		cause  error
		kind   bench.FailureKind
		chunks int
		text   string
	}{
		{"clean end", piece("a") + piece(" b"), nil, "", 2, "a b"},
		{"empty pieces", piece("a") + piece(""), nil, "", 1, "a"},
		{"cut", piece("a"), errReset, bench.FailReset, 1, "a"},
		{"error", piece("a") + "data: {\"error\":\"in ensemble: out of memory\"}\n\n", nil, bench.FailServer, 1, "a"},
		{"nothing", ": \n\n", nil, bench.FailTruncated, 0, ""},
	} {
		e, err := New(Options{API: bench.APITriton, KeepText: true})
		if err != nil {
			t.Fatal(err)
		}
		rec, terminal := play(e, 200, eventStream, tc.body, 3, tc.cause)
		kind, message := failure(rec)
		if kind != tc.kind || len(rec.Chunks) != tc.chunks || rec.Text != tc.text || terminal || rec.Usage.Completion.Known() {
			t.Errorf("%s: failure %q %q, %d chunks, text %q, usage %v; want %q, %d, %q, none", tc.name, kind, message, len(rec.Chunks), rec.Text, rec.Usage, tc.kind, tc.chunks, tc.text)
		}
	}
}

// TestResponsesChannels: each kind of delta is output of its own kind, and the last event tells usage in parts.
func TestResponsesChannels(t *testing.T) {
	e, err := New(Options{API: bench.APIResponses, Served: "m", Stream: true, KeepText: true})
	if err != nil {
		t.Fatal(err)
	}
	body := sse("\n", `{"type":"response.created","response":{"object":"response","error":null,"usage":null}}`,
		`{"type":"response.reasoning_text.delta","delta":"hm"}`, `{"type":"response.output_text.delta","delta":"a"}`,
		`{"type":"response.refusal.delta","delta":"no"}`, `{"type":"response.function_call_arguments.delta","delta":"{"}`,
		`{"type":"response.output_text.done","text":"a"}`,
		`{"type":"response.completed","response":{"status":"completed","usage":{"input_tokens":5,"output_tokens":4,"input_tokens_details":{"cached_tokens":3},"output_tokens_details":{"reasoning_tokens":1}}}}`)
	rec, terminal := play(e, 200, eventStream, body, 0, nil)
	var got []bench.Channel
	for _, c := range rec.Chunks {
		got = append(got, c.Channel)
	}
	want := []bench.Channel{bench.ChannelReasoning, bench.ChannelContent, bench.ChannelRefusal, bench.ChannelTool}
	if len(got) != 4 || got[0] != want[0] || got[1] != want[1] || got[2] != want[2] || got[3] != want[3] || rec.Text != "hmano" || !terminal || !rec.OK() ||
		rec.Usage.Cached.Or(-1) != 3 || rec.Usage.Reasoning.Or(-1) != 1 || rec.Finish != "stop" {
		t.Errorf("channels %v, text %q, terminal %v, usage %+v, finish %q, failure %v; want %v, \"hmano\", cached 3, reasoning 1, stop", got, rec.Text, terminal, rec.Usage, rec.Finish, rec.Failure, want)
	}
	failed, _ := play(e, 200, eventStream, sse("\n", `{"type":"response.failed","response":{"status":"failed","error":{"code":"server_error","message":"engine died"}}}`), 0, nil)
	if kind, words := failure(failed); kind != bench.FailServer || !strings.Contains(words, "engine died") {
		t.Errorf("response.failed: %q %q, want the server's words", kind, words)
	}
}

// TestCacheLevels: SGLang tells cached tokens by level, beside the text on the OpenAI routes and in meta_info on its own.
func TestCacheLevels(t *testing.T) {
	levels := `{"device":5,"host":2,"storage":1,"storage_backend":"mooncake"}`
	for api, event := range map[bench.API]string{
		bench.APICompletions: `{"choices":[{"text":"a","finish_reason":"stop"}],"sglext":{"cached_tokens_details":` + levels + `}}`,
		bench.APIGenerate:    `{"text":"a","meta_info":{"completion_tokens":1,"cached_tokens":8,"spec_verify_ct":3,"cached_tokens_details":` + levels + `,"finish_reason":{"type":"stop"}}}`,
	} {
		e, err := New(Options{API: api, Served: "m", Stream: true})
		if err != nil {
			t.Fatal(err)
		}
		rec, _ := play(e, 200, eventStream, sse("\n", event, "[DONE]"), 0, nil)
		want := bench.CacheLevels{Device: bench.Counted(5), Host: bench.Counted(2), Storage: bench.Counted(1), Backend: "mooncake"}
		if rec.Usage.CachedBy != want || rec.Usage.Cached.Or(-1) != 8 {
			t.Errorf("%s: cached %v by level %+v, want 8 by %+v", api, rec.Usage.Cached, rec.Usage.CachedBy, want)
		}
		if api == bench.APIGenerate && rec.Usage.Verifies.Or(-1) != 3 {
			t.Errorf("verifies = %v, want 3", rec.Usage.Verifies)
		}
	}
}
