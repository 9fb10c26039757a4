package endpoint

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/servemark/servemark/internal/bench"
)

// A speaker writes what a server of one protocol sends. The contract below holds for every one of them.
type speaker struct {
	api bench.API
	// token is the data of an event with a new piece of text, the n-th (from 1); soFar is all text including it.
	token func(piece, soFar string, n int) string
	// finish are the events after n tokens, [DONE] not among them.
	finish func(reason, text string, prompt, n int) []string
	// whole is the reply in one body.
	whole func(text, reason string, prompt, n int) string
	// asked finds prompt and output limit in a request body.
	asked func(body map[string]any) (prompt any, limit any)
}

var speakers = []speaker{
	{
		api: bench.APIChat,
		token: func(piece, _ string, _ int) string {
			return fmt.Sprintf(`{"id":"c","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":%q},"finish_reason":null}]}`, piece)
		},
		finish: func(reason, _ string, prompt, n int) []string {
			return []string{
				fmt.Sprintf(`{"id":"c","choices":[{"index":0,"delta":{},"finish_reason":%q}]}`, reason),
				fmt.Sprintf(`{"id":"c","choices":[],"usage":{"prompt_tokens":%d,"completion_tokens":%d}}`, prompt, n),
			}
		},
		whole: func(text, reason string, prompt, n int) string {
			return fmt.Sprintf("{\n \"choices\":[{\"index\":0,\"message\":{\"role\":\"assistant\",\"content\":%q},\"finish_reason\":%q}],\n"+
				" \"usage\":{\"prompt_tokens\":%d,\"completion_tokens\":%d}}\n", text, reason, prompt, n)
		},
		asked: func(b map[string]any) (any, any) {
			return b["messages"].([]any)[0].(map[string]any)["content"], b["max_completion_tokens"]
		},
	},
	{
		api: bench.APICompletions,
		token: func(piece, _ string, _ int) string {
			return fmt.Sprintf(`{"id":"c","object":"text_completion","choices":[{"index":0,"text":%q,"logprobs":null,"finish_reason":null}]}`, piece)
		},
		finish: func(reason, _ string, prompt, n int) []string {
			return []string{
				fmt.Sprintf(`{"id":"c","choices":[{"index":0,"text":"","finish_reason":%q}]}`, reason),
				fmt.Sprintf(`{"id":"c","choices":[],"usage":{"prompt_tokens":%d,"completion_tokens":%d}}`, prompt, n),
			}
		},
		whole: func(text, reason string, prompt, n int) string {
			return fmt.Sprintf(`{"choices":[{"text":%q,"finish_reason":%q}],"usage":{"prompt_tokens":%d,"completion_tokens":%d}}`, text, reason, prompt, n)
		},
		asked: func(b map[string]any) (any, any) { return b["prompt"], b["max_tokens"] },
	},
	{
		api: bench.APIResponses,
		token: func(piece, _ string, n int) string {
			return fmt.Sprintf(`{"type":"response.output_text.delta","item_id":"i","output_index":0,"content_index":0,"delta":%q,"sequence_number":%d}`, piece, n)
		},
		finish: func(reason, _ string, prompt, n int) []string {
			kind := map[string]string{"completed": "response.completed", "incomplete": "response.incomplete"}
			status, why := responseStatus(reason)
			return []string{fmt.Sprintf(`{"type":%q,"response":{"object":"response","error":null,"status":%q,"incomplete_details":%s,"usage":{"input_tokens":%d,"output_tokens":%d}}}`,
				kind[status], status, why, prompt, n)}
		},
		whole: func(text, reason string, prompt, n int) string {
			status, why := responseStatus(reason)
			return fmt.Sprintf(`{"object":"response","error":null,"status":%q,"incomplete_details":%s,"output":[{"type":"reasoning","summary":[]},{"type":"message","content":[{"type":"output_text","text":%q}]}],`+
				`"usage":{"input_tokens":%d,"output_tokens":%d}}`, status, why, text, prompt, n)
		},
		asked: func(b map[string]any) (any, any) { return b["input"], b["max_output_tokens"] },
	},
	{
		api: bench.APIGenerate,
		token: func(_, soFar string, n int) string {
			return fmt.Sprintf(`{"text":%q,"meta_info":{"finish_reason":null,"prompt_tokens":7,"completion_tokens":%d,"cached_tokens":4}}`, soFar, n)
		},
		finish: func(reason, text string, prompt, n int) []string {
			return []string{fmt.Sprintf(`{"text":%q,"meta_info":{"finish_reason":{"type":%q},"prompt_tokens":%d,"completion_tokens":%d}}`, text, reason, prompt, n)}
		},
		whole: func(text, reason string, prompt, n int) string {
			return fmt.Sprintf(`{"text":%q,"meta_info":{"finish_reason":{"type":%q},"prompt_tokens":%d,"completion_tokens":%d}}`, text, reason, prompt, n)
		},
		asked: func(b map[string]any) (any, any) {
			return b["text"], b["sampling_params"].(map[string]any)["max_new_tokens"]
		},
	},
}

// responseStatus is the Responses API's way to tell why an answer ended.
func responseStatus(reason string) (status, details string) {
	switch reason {
	case "stop":
		return "completed", "null"
	case "length":
		return "incomplete", `{"reason":"max_output_tokens"}`
	}
	return "incomplete", fmt.Sprintf(`{"reason":%q}`, reason)
}

// sse frames events as a stream, with the line end given.
func sse(eol string, data ...string) string {
	var s strings.Builder
	for _, d := range data {
		s.WriteString("data: " + d + eol + eol)
	}
	return s.String()
}

// stream is a reply of the pieces, then the finish; done adds [DONE].
func (s speaker) stream(reason string, done bool, pieces ...string) []string {
	var events []string
	text := ""
	for i, p := range pieces {
		text += p
		events = append(events, s.token(p, text, i+1))
	}
	events = append(events, s.finish(reason, text, 7, len(pieces))...)
	if done {
		events = append(events, "[DONE]")
	}
	return events
}

func (s speaker) endpoint(t testing.TB) *Endpoint {
	t.Helper()
	e, err := New(Options{API: s.api, Served: "m", BaseURL: "http://h:1/p", Stream: true, KeepText: true, Body: bench.BodySpec{IgnoreEOS: true, TopP: 1}})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

var eventStream = http.Header{"Content-Type": {"text/event-stream; charset=utf-8"}}

// play feeds a body in pieces of n bytes (0: all at once), the k-th at instant k+1, and returns the record and whether
// the terminal event was seen.
func play(e bench.Protocol, status int, h http.Header, body string, n int, cause error) (rec bench.Record, terminal bool) {
	rec = bench.NewRecord(0)
	d := e.Decoder(&rec)
	d.Head(status, h)
	if n == 0 {
		n = max(1, len(body))
	}
	buf := make([]byte, n)
	for i := 0; i < len(body) && !terminal; i += n {
		k := copy(buf, body[i:])
		terminal = d.Feed(buf[:k], bench.Instant(i/n+1))
		clear(buf) // the decoder must not keep what it was lent
	}
	if terminal {
		cause = nil
	}
	d.End(cause)
	return rec, terminal
}

func failure(r bench.Record) (bench.FailureKind, string) {
	if r.Failure == nil {
		return "", ""
	}
	return r.Failure.Kind, r.Failure.Message
}

func TestContract(t *testing.T) {
	for _, s := range speakers {
		t.Run(string(s.api), func(t *testing.T) {
			t.Run("encode", s.testEncode)
			t.Run("replies", s.testReplies)
			t.Run("any chunking", s.testChunking)
		})
	}
}

func (s speaker) testEncode(t *testing.T) {
	m, err := s.endpoint(t).Encode(&bench.Request{Prompt: bench.Prompt{Text: "one \"two\" <3>\n日"}, OutputTokens: 9})
	if err != nil {
		t.Fatal(err)
	}
	var b map[string]any
	if err := json.Unmarshal(m.Body, &b); err != nil {
		t.Fatalf("body %s: %v", m.Body, err)
	}
	if prompt, limit := s.asked(b); prompt != "one \"two\" <3>\n日" || limit != 9.0 {
		t.Errorf("Encode asks %q for %v tokens, want the prompt and 9", prompt, limit)
	}
	if b["stream"] != true || m.Header.Get("Accept") != "text/event-stream" || m.Header.Get("Accept-Encoding") != "identity" || m.Header.Get("Content-Type") != "application/json" {
		t.Errorf("Encode: stream %v, header %v", b["stream"], m.Header)
	}
}

func (s speaker) testReplies(t *testing.T) {
	good := s.stream("length", true, "one", " two", " 三")
	oops := `{"error":{"message":"engine stopped","type":"InternalServerError","code":500}}`
	for _, tc := range []struct {
		name     string
		status   int
		header   http.Header
		body     string
		cause    error
		kind     bench.FailureKind
		words    string // part of the failure's message
		chunks   int
		text     string
		usage    string
		whole    bool
		terminal bool
	}{
		{name: "success", body: sse("\n", good...), chunks: 3, text: "one two 三", usage: "7 3", terminal: true},
		{name: "CRLF", body: sse("\r\n", good...), chunks: 3, text: "one two 三", usage: "7 3", terminal: true},
		{name: "CR", body: sse("\r", good...), chunks: 3, text: "one two 三", usage: "7 3", terminal: true},
		{name: "no [DONE]", body: sse("\n", s.stream("stop", false, "one", " two")...), chunks: 2, text: "one two", usage: "7 2", terminal: s.api != bench.APIGenerate},
		{name: "no last blank line", body: strings.TrimRight(sse("\n", s.stream("stop", false, "a")...), "\n"), chunks: 1, text: "a", usage: "7 1"},
		{name: "comments, pings, other fields", body: ":\n\n: ping\n\nevent: message\nid: 4\nretry: 9\n" + sse("\n", good...), chunks: 3, text: "one two 三", usage: "7 3", terminal: true},
		{name: "byte order mark", body: "\xef\xbb\xbf" + sse("\n", good...), chunks: 3, text: "one two 三", usage: "7 3", terminal: true},
		{name: "no blank after data:", body: strings.ReplaceAll(sse("\n", good...), "data: ", "data:"), chunks: 3, text: "one two 三", usage: "7 3", terminal: true},
		{name: "trailing blanks", body: sse(" \n", good...), chunks: 3, text: "one two 三", usage: "7 3", terminal: true},
		{name: "whole body", header: http.Header{"Content-Type": {"application/json"}}, body: s.whole("one two", "stop", 7, 2), chunks: 1, text: "one two", usage: "7 2", whole: true},
		{name: "whole body under a stream's type", body: s.whole("one two", "stop", 7, 2), chunks: 1, text: "one two", usage: "7 2", whole: true},
		{name: "whole body cut", body: s.whole("one two", "stop", 7, 2)[:40], kind: bench.FailMalformed, words: "not one JSON object", whole: true},
		{name: "whole body with an error", body: oops, kind: bench.FailServer, words: "engine stopped", whole: true},
		{name: "error in mid-stream", body: sse("\n", s.token("a", "a", 1), oops, "[DONE]"), kind: bench.FailServer, words: "engine stopped", chunks: 1, text: "a", terminal: true},
		{name: "error event", body: sse("\n", s.token("a", "a", 1)) + "event: error\ndata: out of memory\n\n", kind: bench.FailServer, words: "out of memory", chunks: 1, text: "a"},
		{name: "error field", body: sse("\n", s.token("a", "a", 1)) + "error: {\"code\":500,\"message\":\"slot lost\"}\n\n", kind: bench.FailServer, words: "slot lost", chunks: 1, text: "a"},
		{name: "bare JSON line", body: sse("\n", s.token("a", "a", 1)) + oops + "\n\n", kind: bench.FailServer, words: "engine stopped", chunks: 1, text: "a"},
		{name: "error object named so", body: sse("\n", `{"object":"error","message":"no such model","code":404}`), kind: bench.FailServer, words: "no such model"},
		{name: "abort", body: sse("\n", s.stream("abort", true, "a")...), kind: bench.FailAborted, words: "abort", chunks: 1, text: "a", usage: "7 1", terminal: true},
		{name: "finish error", body: sse("\n", s.stream("error", true, "a")...), kind: bench.FailServer, words: "error", chunks: 1, text: "a", usage: "7 1", terminal: true},
		{name: "cut", body: sse("\n", good[:2]...), kind: bench.FailTruncated, words: "without a finish reason", chunks: 2, text: "one two"},
		{name: "cut by a reset", body: sse("\n", good[:2]...), cause: errReset, kind: bench.FailReset, words: "cut the connection", chunks: 2, text: "one two"},
		{name: "reset after the finish", body: sse("\n", s.stream("stop", false, "a")[:2]...), cause: errReset, chunks: 1, text: "a", terminal: s.api == bench.APIResponses},
		{name: "nothing", body: "", kind: bench.FailEmpty, words: "empty body"},
		{name: "only an end", body: sse("\n", "[DONE]"), kind: bench.FailEmpty, words: "without a token", terminal: true},
		{name: "finish without text", body: sse("\n", s.finish("stop", "", 7, 2)...) + sse("\n", "[DONE]"), usage: "7 2", terminal: true},
		{name: "finish without work", body: sse("\n", s.finish("stop", "", 7, 0)...), kind: bench.FailEmpty, words: "without a token", usage: "7 0", terminal: s.api != bench.APIGenerate},
		{name: "a page", header: http.Header{"Content-Type": {"text/html"}}, body: "<html><title>log in</title></html>", kind: bench.FailMalformed, words: "log in", whole: true},
		{name: "compressed", header: http.Header{"Content-Encoding": {"gzip"}}, body: "\x1f\x8b\x08", kind: bench.FailMalformed, words: "compressed", whole: true},
		{name: "429", status: 429, body: `{"error":{"message":"slow down"}}`, kind: bench.FailStatus, words: "slow down", whole: true},
		{name: "501 page", status: 501, header: http.Header{"Content-Type": {"text/html"}}, body: "<!DOCTYPE HTML>\n<html><head>\n<title>Error response</title>", kind: bench.FailStatus, words: `a web page, "Error response"`, whole: true},
		{name: "429 with a time", status: 429, header: http.Header{"Retry-After": {"7"}}, body: "no", kind: bench.FailStatus, words: "no (Retry-After: 7 s)", whole: true},
		{name: "503 with a date", status: 503, header: http.Header{"Date": {"Sun, 06 Nov 1994 08:49:37 GMT"}, "Retry-After": {"Sun, 06 Nov 1994 08:50:37 GMT"}},
			kind: bench.FailStatus, words: "Service Unavailable (Retry-After: 60 s)", whole: true},
		{name: "503 with words", status: 503, header: http.Header{"Retry-After": {"soon"}}, kind: bench.FailStatus, words: "(Retry-After: soon)", whole: true},
		{name: "500 detail", status: 500, body: `{"detail":[{"loc":["body","prompt"],"msg":"field required"}]}`, kind: bench.FailStatus, words: "body.prompt: field required", whole: true},
		{name: "502 text", status: 502, body: "\n upstream died \nmore", kind: bench.FailStatus, words: "upstream died", whole: true},
		{name: "401 string", status: 401, body: `{"error":"Unauthorized"}`, kind: bench.FailStatus, words: "Unauthorized", whole: true},
		{name: "503 nothing", status: 503, kind: bench.FailStatus, words: "Service Unavailable", whole: true},
		{name: "404", status: 404, body: `{"message":"no route"}`, kind: bench.FailStatus, words: "no route (asked: POST http://h:1/p" + s.endpoint(t).Path(), whole: true},
	} {
		if tc.status == 0 {
			tc.status = 200
		}
		if tc.header == nil {
			tc.header = eventStream
		}
		rec, terminal := play(s.endpoint(t), tc.status, tc.header, tc.body, 0, tc.cause)
		kind, message := failure(rec)
		usage := ""
		if rec.Usage.Completion.Known() {
			usage = rec.Usage.Prompt.String() + " " + rec.Usage.Completion.String()
		}
		if tc.usage == "" && tc.chunks > 0 && (s.api == bench.APIGenerate || s.api == bench.APIResponses) {
			usage = "" // one counts in every event, the other in the event that finishes
		}
		if kind != tc.kind || !strings.Contains(message, tc.words) || len(rec.Chunks) != tc.chunks || rec.Text != tc.text ||
			usage != tc.usage || rec.Streamed == (tc.whole || tc.body == "") || terminal != tc.terminal || rec.Status != tc.status {
			t.Errorf("%s: failure %q %q, %d chunks, text %q, usage %q, streamed %v, terminal %v, status %d\nwant    %q %q, %d, %q, %q, %v, %v, %d",
				tc.name, kind, message, len(rec.Chunks), rec.Text, usage, rec.Streamed, terminal, rec.Status,
				tc.kind, tc.words, tc.chunks, tc.text, tc.usage, !tc.whole, tc.terminal, tc.status)
		}
	}
}

// ignoreTimes compares records apart from the instants of chunks.
var ignoreTimes = cmp.Options{cmpopts.IgnoreFields(bench.Chunk{}, "At"), cmp.AllowUnexported(bench.Count{}), cmpopts.EquateEmpty()}

func (s speaker) testChunking(t *testing.T) {
	body := "\xef\xbb\xbf:\r\n\r\n" + sse("\r\n", s.stream("length", true, "one", "\u2028two", "\n")...)
	want, _ := play(s.endpoint(t), 200, eventStream, body, 0, nil)
	if !want.OK() || len(want.Chunks) != 3 {
		t.Fatalf("in one piece: %+v", want)
	}
	for n := 1; n < len(body); n++ {
		got, _ := play(s.endpoint(t), 200, eventStream, body, n, nil)
		if diff := cmp.Diff(want, got, ignoreTimes); diff != "" {
			t.Fatalf("in pieces of %d bytes (-one piece +pieces):\n%s", n, diff)
		}
	}
}

// errReset is what a read says when the peer has reset the connection.
var errReset error = &net.OpError{Op: "read", Net: "tcp", Err: os.NewSyscallError("read", syscall.ECONNRESET)}
