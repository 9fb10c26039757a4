package endpoint

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/servemark/servemark/internal/bench"
)

func endpointFor(t testing.TB, api bench.API) *Endpoint {
	t.Helper()
	for _, s := range speakers {
		if s.api == api {
			return s.endpoint(t)
		}
	}
	t.Fatalf("no speaker of %s", api)
	return nil
}

// delta is a chat event with one delta, and usage where c is not negative.
func delta(d string, c int) string {
	usage := ""
	if c >= 0 {
		usage = fmt.Sprintf(`,"usage":{"prompt_tokens":7,"completion_tokens":%d}`, c)
	}
	return `{"choices":[{"index":0,"delta":` + d + `,"finish_reason":null}]` + usage + `}`
}

const chatEnd = `{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`

func TestChannelsAndTokens(t *testing.T) {
	for _, tc := range []struct {
		name   string
		api    bench.API
		events []string
		// want is one word a chunk: channel/tokens.
		want   string
		source bench.ChunkTokens
		text   string
	}{
		{"role, empty and usage chunks bear no token", bench.APIChat, []string{
			delta(`{"role":"assistant","content":""}`, -1), delta(`{"content":null}`, -1), delta(`{"content":"a"}`, -1), delta(`{"content":""}`, -1), chatEnd,
			`{"choices":[],"usage":{"prompt_tokens":1,"completion_tokens":2}}`}, "content/0", "", "a"},
		{"thoughts by three names", bench.APIChat, []string{
			delta(`{"reasoning_content":"a","content":null}`, -1), delta(`{"reasoning":"b"}`, -1), delta(`{"thinking":"c"}`, -1),
			delta(`{"reasoning_content":null,"content":"d"}`, -1), chatEnd},
			"thinking/0 thinking/0 thinking/0 content/0", "", "abcd"},
		{"the same thought under two names counts once", bench.APIChat, []string{
			delta(`{"reasoning":"b","reasoning_content":"b"}`, -1), delta(`{"reasoning":"c","reasoning_details":[{"type":"reasoning.text","text":"c"}]}`, -1),
			delta(`{"reasoning_details":[{"type":"reasoning.summary","summary":"d"}]}`, -1), delta(`{"reasoning_details":[{"type":"reasoning.encrypted","data":"xx"}]}`, -1), chatEnd},
			"thinking/0 thinking/0 thinking/0", "", "bcd"},
		{"tool calls", bench.APIChat, []string{
			delta(`{"content":null,"tool_calls":[{"index":0,"id":"x","type":"function","function":{"name":"tide","arguments":""}}]}`, -1),
			delta(`{"tool_calls":[{"index":0,"function":{"arguments":"{"}}]}`, -1), delta(`{"tool_calls":[]}`, -1), delta(`{"tool_calls":[{"index":0,"function":{"arguments":""}}]}`, -1),
			delta(`{"function_call":{"name":"f"}}`, -1), delta(`{"tool_calls":[{"type":"custom","custom":{"input":"x"}}]}`, -1), chatEnd},
			"tool/0 tool/0 tool/0 tool/0", "", ""},
		{"refusal", bench.APIChat, []string{delta(`{"refusal":"no"}`, -1), delta(`{"content":"x","refusal":null}`, -1), chatEnd}, "refusal/0 content/0", "", "nox"},
		{"content in typed parts", bench.APIChat, []string{
			delta(`{"content":[{"type":"thinking","thinking":[{"type":"text","text":"hm"}]}]}`, -1), delta(`{"content":[{"type":"text","text":"yes"}]}`, -1), chatEnd},
			"thinking/0 content/0", "", "hmyes"},
		{"two choices", bench.APIChat, []string{
			`{"choices":[{"index":0,"delta":{"content":"a"}},{"index":1,"delta":{"content":"b"}}]}`, `{"choices":[{"index":1,"delta":{"content":"c"}}]}`, chatEnd},
			"content/0 content/0", "", "abc"},
		{"running usage", bench.APIChat, []string{
			delta(`{"role":"assistant","content":""}`, 0), delta(`{"content":"a"}`, 1), delta(`{"content":""}`, 2), delta(`{"content":"b c"}`, 4), delta(`{"content":"d"}`, 5), chatEnd},
			"content/1 content/3 content/1", bench.ChunkTokensUsage, "ab cd"},
		{"usage in the last content chunk only", bench.APIChat, []string{
			delta(`{"content":"a"}`, -1), delta(`{"content":"b"}`, 2), chatEnd}, "content/0 content/0", "", "ab"},
		{"running usage that ends", bench.APIChat, []string{
			delta(`{"content":"a"}`, 1), delta(`{"content":"b"}`, -1), chatEnd}, "content/0 content/0", "", "ab"},
		{"token ids", bench.APICompletions, []string{
			`{"choices":[{"index":0,"text":"","token_ids":[5],"finish_reason":null}]}`, `{"choices":[{"index":0,"text":"日","token_ids":[6,7]}]}`,
			`{"choices":[{"index":0,"text":"","token_ids":[],"finish_reason":"stop"}]}`}, "ids/1 content/2", bench.ChunkTokensIDs, "日"},
		{"sglang, all text each time", bench.APIGenerate, []string{
			`{"text":" Par","output_ids":[812],"meta_info":{"finish_reason":null,"completion_tokens":1}}`,
			`{"text":" Paris is","output_ids":[812,77,5],"meta_info":{"finish_reason":null,"completion_tokens":3}}`,
			`{"text":" Paris is","output_ids":[812,77,5],"meta_info":{"finish_reason":{"type":"length","length":3},"completion_tokens":3}}`},
			"content/1 content/2", bench.ChunkTokensUsage, " Paris is"},
		{"sglang, increments", bench.APIGenerate, []string{
			`{"text":" ha","output_ids":[8],"meta_info":{"completion_tokens":1}}`, `{"text":" ha","output_ids":[8],"meta_info":{"completion_tokens":2}}`,
			`{"text":" ha ha","output_ids":[8,8],"meta_info":{"completion_tokens":4}}`,
			`{"text":"","output_ids":[],"meta_info":{"finish_reason":{"type":"stop"},"completion_tokens":4}}`},
			"content/1 content/1 content/2", bench.ChunkTokensUsage, " ha ha ha ha"},
		{"sglang, increments without ids", bench.APIGenerate, []string{
			`{"text":"one","meta_info":{"completion_tokens":1}}`, `{"text":" two","meta_info":{"completion_tokens":2}}`,
			`{"text":" three","meta_info":{"finish_reason":"stop","completion_tokens":3}}`},
			"content/1 content/1 content/1", bench.ChunkTokensUsage, "one two three"},
		{"sglang, ids only", bench.APIGenerate, []string{
			`{"output_ids":[8],"meta_info":{"completion_tokens":1}}`, `{"output_ids":[8,9,10],"meta_info":{"completion_tokens":3,"finish_reason":{"type":"stop"}}}`},
			"ids/1 ids/2", bench.ChunkTokensUsage, ""},
		{"sglang, a step that shows no text", bench.APIGenerate, []string{
			`{"text":"","output_ids":[8],"meta_info":{"completion_tokens":1}}`, `{"text":"日","output_ids":[8,9],"meta_info":{"completion_tokens":2,"finish_reason":{"type":"stop"}}}`},
			"ids/1 content/1", bench.ChunkTokensUsage, "日"},
	} {
		e := endpointFor(t, tc.api)
		rec, _ := play(e, 200, eventStream, sse("\n", append(tc.events, "[DONE]")...), 0, nil)
		var got []string
		for _, c := range rec.Chunks {
			name := [...]string{"content", "thinking", "tool", "refusal", "ids"}[c.Channel]
			got = append(got, fmt.Sprintf("%s/%d", name, c.Tokens))
		}
		if !rec.OK() || strings.Join(got, " ") != tc.want || rec.ChunkTokens != tc.source || rec.Text != tc.text {
			t.Errorf("%s: failure %+v, chunks %v by %q, text %q; want %s by %q, %q", tc.name, rec.Failure, got, rec.ChunkTokens, rec.Text, tc.want, tc.source, tc.text)
		}
	}
}

func TestUsage(t *testing.T) {
	for _, tc := range []struct {
		api   bench.API
		event string
		want  string // prompt completion reasoning cached
	}{
		{bench.APIChat, `{"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":5,"prompt_tokens_details":null,"reasoning_tokens":2,"completion_tokens_details":{"reasoning_tokens":3}}}`, "9 5 3 n/a"},
		{bench.APIChat, `{"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":5,"prompt_tokens_details":{"cached_tokens":4},"reasoning_tokens":2}}`, "9 5 2 4"},
		{bench.APIChat, `{"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":5,"prompt_tokens_details":{"cached_tokens":null}}}`, "9 5 n/a n/a"},
		{bench.APIChat, `{"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":5,"prompt_tokens_details":{"cached_tokens":0}}}`, "9 5 n/a 0"},
		{bench.APIChat, `{"choices":[],"usage":{"prompt_tokens":"9","completion_tokens":5.0,"prompt_cache_hit_tokens":3}}`, "9 5 n/a 3"},
		{bench.APIChat, `{"choices":[],"usage":{"prompt_tokens":[9],"completion_tokens":5,"cached_tokens":-1}}`, "n/a 5 n/a n/a"},
		{bench.APIChat, `{"choices":[{"index":0,"delta":{},"finish_reason":"stop","usage":{"prompt_tokens":9,"completion_tokens":5,"cached_tokens":1}}]}`, "9 5 n/a 1"},
		{bench.APIChat, `{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}],"x_groq":{"usage":{"prompt_tokens":9,"completion_tokens":5}}}`, "9 5 n/a n/a"},
		{bench.APIChat, `{"choices":[],"sglext":{"cached_tokens_details":{"device":3,"host":2}},"usage":{"prompt_tokens":9,"completion_tokens":5,"prompt_tokens_details":null}}`, "9 5 n/a 5"},
		{bench.APIChat, `{"choices":[],"usage":{"prompt_tokens":1,"prompt_tokens":9,"completion_tokens":5}}`, "9 5 n/a n/a"},
		{bench.APIGenerate, `{"text":"x","meta_info":{"prompt_tokens":9,"completion_tokens":5,"cached_tokens":4,"reasoning_tokens":1,"finish_reason":{"type":"stop"}}}`, "9 5 1 4"},
	} {
		rec, _ := play(endpointFor(t, tc.api), 200, eventStream, sse("\n", tc.event, "[DONE]"), 0, nil)
		u := rec.Usage
		if got := fmt.Sprint(u.Prompt, " ", u.Completion, " ", u.Reasoning, " ", u.Cached); got != tc.want || !rec.OK() {
			t.Errorf("usage of %s = %s, failure %+v; want %s", tc.event, got, rec.Failure, tc.want)
		}
	}
}

func TestMalformedEventsAreCountedNotFatal(t *testing.T) {
	a := delta(`{"content":"a"}`, -1)
	body := "data: : keepalive\n\ndata:\n\ndata: {\"choices\":[{\n\ndata: null\n\ndata: 7\n\nevent: ping\n\n" + sse("\n", a, chatEnd, "[DONE]")
	rec, _ := play(endpointFor(t, bench.APIChat), 200, eventStream, body, 0, nil)
	if !rec.OK() || rec.Malformed != 5 || len(rec.Chunks) != 1 {
		t.Errorf("failure %+v, %d malformed, %d chunks; want a success, 5, 1", rec.Failure, rec.Malformed, len(rec.Chunks))
	}
}

func TestSeveralDataLines(t *testing.T) {
	body := "data: {\"choices\":[\ndata: {\"index\":0,\ndata:\"delta\":{\"content\":\"a\"}}]}\n\n" + sse("\n", chatEnd, "[DONE]")
	for n := range 30 {
		rec, _ := play(endpointFor(t, bench.APIChat), 200, eventStream, body, n, nil)
		if !rec.OK() || rec.Text != "a" {
			t.Fatalf("pieces of %d: failure %+v, text %q", n, rec.Failure, rec.Text)
		}
	}
}

func TestEventTimes(t *testing.T) {
	rec := bench.NewRecord(0)
	d := endpointFor(t, bench.APIChat).Decoder(&rec)
	d.Head(200, eventStream)
	a, b := delta(`{"content":"a"}`, -1), delta(`{"content":"b"}`, -1)
	d.Feed([]byte("data: "+a[:10]), 1)
	d.Feed([]byte(a[10:]+"\n"), 2) // the token is known here
	d.Feed([]byte("\ndata: "+b+"\n\ndata: "+b+"\n\n"), 3)
	d.Feed([]byte(sse("\n", chatEnd, "[DONE]")), 4)
	d.End(nil)
	var at []bench.Instant
	size := 0
	for _, c := range rec.Chunks {
		at = append(at, c.At)
		size += int(c.Bytes)
	}
	if diff := cmp.Diff([]bench.Instant{2, 3, 3}, at); diff != "" {
		t.Errorf("chunk times (-want +got):\n%s", diff)
	}
	if want := len("data: \n\n")*3 + len(a) + 2*len(b); size != want {
		t.Errorf("chunks' bytes = %d, want %d", size, want)
	}
}

func TestNothingIsReadBehindTheEnd(t *testing.T) {
	body := sse("\n", delta(`{"content":"a"}`, -1), chatEnd, "[DONE]", `{"error":"late"}`, delta(`{"content":"b"}`, -1))
	for _, n := range []int{0, 1, 7} {
		rec, terminal := play(endpointFor(t, bench.APIChat), 200, eventStream, body, n, nil)
		if !terminal || !rec.OK() || rec.Text != "a" {
			t.Errorf("pieces of %d: terminal %v, failure %+v, text %q", n, terminal, rec.Failure, rec.Text)
		}
	}
}

func TestLongEvents(t *testing.T) {
	pad := strings.Repeat("x", 4<<20)
	long := strings.Replace(delta(`{"content":"a"}`, -1), "{", `{"pad":"`+pad+`",`, 1)
	rec, _ := play(endpointFor(t, bench.APIChat), 200, eventStream, sse("\n", long, chatEnd, "[DONE]"), 1000, nil)
	if !rec.OK() || len(rec.Chunks) != 1 || rec.Chunks[0].Bytes < 4<<20 {
		t.Errorf("an event of 4 MiB: failure %+v, %d chunks", rec.Failure, len(rec.Chunks))
	}
	for _, head := range []string{`data: {"pad":"`, `{"pad":"`} {
		rec := bench.NewRecord(0)
		d := endpointFor(t, bench.APIChat).Decoder(&rec)
		d.Head(200, eventStream)
		stopped := d.Feed([]byte(head), 1)
		fed := 0
		for piece := []byte(pad); !stopped && fed < 2*maxEvent; fed += len(piece) {
			stopped = d.Feed(piece, 2)
		}
		d.End(nil)
		if kind, message := failure(rec); !stopped || kind != bench.FailMalformed || !strings.Contains(message, "64 MiB") {
			t.Errorf("%s without end: stopped %v after %d bytes, failure %q %q; want 64 MiB named", head, stopped, fed, kind, message)
		}
	}
}

func TestCancelledIsNoFailure(t *testing.T) {
	rec := bench.NewRecord(0)
	rec.Cancelled = true
	d := endpointFor(t, bench.APIChat).Decoder(&rec)
	d.Head(200, http.Header{})
	d.End(errReset)
	if rec.Failure != nil {
		t.Errorf("failure %+v of a cancelled record, want none", rec.Failure)
	}
}

func TestNoHead(t *testing.T) {
	rec := bench.NewRecord(0)
	endpointFor(t, bench.APIChat).Decoder(&rec).End(errReset)
	if kind, _ := failure(rec); kind != bench.FailReset || rec.Status != 0 {
		t.Errorf("End without a head: failure %q, status %d; want %q, 0", kind, rec.Status, bench.FailReset)
	}
}

func TestServerWordsAreBounded(t *testing.T) {
	long := strings.Repeat("日本", 400)
	rec, _ := play(endpointFor(t, bench.APIChat), 500, nil, `{"error":{"message":"`+long+`"}}`, 0, nil)
	if _, message := failure(rec); len(message) > maxWords || !strings.HasPrefix(message, "日本") || !strings.HasSuffix(message, "…") || strings.ContainsRune(message, '\ufffd') {
		t.Errorf("message of %d bytes: %q", len(message), message)
	}
}
