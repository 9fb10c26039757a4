package endpoint

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/servemark/servemark/internal/bench"
)

// frames are single events of every known shape, legal and not.
func frames(t testing.TB) []string {
	t.Helper()
	out := []string{
		delta(`{"role":"assistant","content":""}`, -1), delta(`{"content":"a\u00e9\ud834\udd1e\n"}`, 3), delta(`{"reasoning_content":null,"content":"x"}`, -1),
		delta(`{"reasoning":"b","reasoning_content":"b"}`, -1), delta(`{"content":"a","content":"b"}`, -1), delta(`{"tool_calls":[],"content":"a"}`, -1),
		delta(`{"tool_calls":[{"function":{"name":"f","arguments":"{"}}]}`, -1), delta(`{"Content":"a"}`, -1), delta(`{"c\u006fntent":"a"}`, -1),
		delta(`{"content":"\ud834x\udd1e"}`, -1), delta("{\"content\":\"\xff\xc3\"}", -1), delta(`{"content":["x"]}`, -1), delta(`{"refusal":null,"function_call":null}`, -1),
		`{"choices":[{"index":0,"text":"x","token_ids":[1,2],"finish_reason":"length","stop_reason":null}]}`, `{"choices":[{"text":"x","delta":{"content":"y"}}]}`,
		`{"choices":[],"usage":{"prompt_tokens":9,"total_tokens":14,"completion_tokens":5,"prompt_tokens_details":{"cached_tokens":3},"completion_tokens_details":{"reasoning_tokens":2}}}`,
		`{"choices":null,"usage":{"prompt_tokens":1e2,"completion_tokens":"5","cached_tokens":07}}`, `{"choices":[],"usage":{"prompt_tokens":-0,"completion_tokens":1234567890123}}`,
		`{"error":null,"object":"error"}`, `{"error":{"message":"x"}}`, `{"error":""}`, `{"type":"error"}`, `{"choices":[{"error":{"message":"x"},"delta":{"content":""}}]}`,
		`{"text":"a","output_ids":[1,[2],{}],"meta_info":{"completion_tokens":3,"finish_reason":{"type":"stop"},"cached_tokens":null}}`,
		`{"text":null,"output_ids":null,"meta_info":{"completion_tokens":3,"finish_reason":null}}`, `{"text":"a"} x`, `{"a":1,}`, `{`, `null`, `[]`, `{"a":"\q"}`, `{"a":01}`, "{\"a\":\"\x01\"}",
		`{"text":"a","meta_info":{"completion_tokens":3,"spec_verify_ct":2,"cached_tokens_details":{"device":4,"host":0,"x":1}}}`,
		`{"text":"a","meta_info":{"completion_tokens":3,"cached_tokens_details":{"device":4,"storage":1,"storage_backend":"nixl"}}}`,
		`{"sglext":null,"x_groq":{"usage":{"completion_tokens":4}}}`, strings.Repeat(`{"a":`, 80) + "1" + strings.Repeat("}", 80),
	}
	files, err := filepath.Glob("testdata/llamacpp-*/*.http")
	if err != nil || len(files) == 0 {
		t.Fatalf("no recorded replies: %v", err)
	}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(b)) {
			if data, ok := strings.CutPrefix(strings.TrimSpace(line), "data: "); ok {
				out = append(out, data)
			}
		}
	}
	return out
}

// equalFrames compares what two readers made of one event.
func equalFrames(t *testing.T, data []byte, native bool) {
	t.Helper()
	var fast, slow frame
	if !fast.quick(data, native, true) {
		return
	}
	if err := slow.reference(data, native, true); err != nil {
		t.Fatalf("quick reads %q, reference says %v", data, err)
	}
	if diff := cmp.Diff(slow, fast, cmp.AllowUnexported(frame{}, bench.Count{}), cmpEmpty); diff != "" {
		t.Fatalf("native %v, %q (-reference +quick):\n%s", native, data, diff)
	}
	var mute frame
	if !mute.quick(data, native, false) {
		t.Fatalf("quick is sure of %q only where text is wanted", data)
	}
	if mute.answer, mute.thinking, fast.answer, fast.thinking = nil, nil, nil, nil; !cmp.Equal(mute, fast, cmp.AllowUnexported(frame{}, bench.Count{})) {
		t.Fatalf("native %v, %q: without text %+v, with text %+v", native, data, mute, fast)
	}
}

var cmpEmpty = cmp.FilterValues(func(a, b []byte) bool { return len(a) == 0 && len(b) == 0 }, cmp.Ignore())

// The quick reader either is not sure or reads what the reference reads.
func FuzzQuickEqualsReference(f *testing.F) {
	for _, s := range frames(f) {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		equalFrames(t, data, false)
		equalFrames(t, data, true)
	})
}

// Common events must not take the slow way.
func TestQuickIsSureOfCommonEvents(t *testing.T) {
	var f frame
	for _, data := range frames(t) {
		if strings.Contains(data, "chatcmpl") && !f.quick([]byte(data), false, true) {
			t.Errorf("quick is not sure of %s", data)
		}
	}
	for _, tc := range []struct {
		data   string
		native bool
	}{
		{`{"id":"9f","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"reasoning_content":null,"role":"assistant","content":""},"logprobs":null,"finish_reason":null,"matched_stop":null}]}`, false},
		{`{"id":"9f","choices":[{"index":0,"delta":{"reasoning_content":"Let me "},"logprobs":null,"finish_reason":null,"matched_stop":null}]}`, false},
		{`{"id":"9f","choices":[{"index":0,"delta":{"reasoning_content":null,"content":"日本"},"finish_reason":null}],"usage":null}`, false},
		{`{"id":"9f","choices":[{"index":0,"delta":{"role":"assistant","content":"","tool_calls":[],"refusal":null}}]}`, false},
		{`{"id":"9f","choices":[],"usage":{"prompt_tokens":9,"total_tokens":14,"completion_tokens":5,"prompt_tokens_details":null,"reasoning_tokens":2,"completion_tokens_details":{"reasoning_tokens":2}}}`, false},
		{`{"text":" Par","output_ids":[812],"meta_info":{"id":"r1","finish_reason":null,"prompt_tokens":7,"completion_tokens":1,"cached_tokens":4,"weight_version":"default"}}`, true},
	} {
		if !f.quick([]byte(tc.data), tc.native, true) {
			t.Errorf("quick(native %v) is not sure of %s", tc.native, tc.data)
		}
	}
}

// Whatever the bytes, how they were cut into pieces does not matter, and a Record keeps its laws.
func FuzzAnyChunking(f *testing.F) {
	all := frames(f)
	for i, s := range speakers {
		good := s.stream("stop", true, "a", "é", "c")
		f.Add([]byte(sse("\n", good...)), uint8(3), uint8(i))
		f.Add([]byte("\xef\xbb\xbf \r:\r\n"+sse("\r\n", good...)), uint8(1), uint8(i))
		f.Add([]byte(sse("\r", all...)), uint8(5), uint8(i))
		f.Add([]byte(s.whole("a", "stop", 1, 2)), uint8(7), uint8(i))
		f.Add([]byte("event: error\ndata:x\ndata: y\n\nerror: z\nerror\n{\"error\":1}\n \n\r\r"), uint8(1), uint8(i))
		f.Add([]byte(" \ndata: [DONE]\n\n"), uint8(1), uint8(i))
	}
	f.Fuzz(func(t *testing.T, body []byte, n uint8, which uint8) {
		s := speakers[int(which)%len(speakers)]
		for _, h := range []string{"text/event-stream", "application/json", ""} {
			want, terminal := play(s.endpoint(t), 200, map[string][]string{"Content-Type": {h}}, string(body), 0, nil)
			got, again := play(s.endpoint(t), 200, map[string][]string{"Content-Type": {h}}, string(body), 1+int(n), nil)
			if diff := cmp.Diff(want, got, ignoreTimes); diff != "" || terminal != again {
				t.Fatalf("%q as %q in pieces of %d: terminal %v, %v (-one piece +pieces):\n%s", body, h, 1+int(n), terminal, again, diff)
			}
			sum := 0
			for _, c := range want.Chunks {
				sum += int(c.Bytes)
			}
			if sum > len(body)+len(want.Chunks) {
				t.Fatalf("%q: chunks of %d bytes in a body of %d", body, sum, len(body))
			}
		}
	})
}

// A body that parseBody takes apart comes out of render as the same JSON value, also in Python's form.
func FuzzBodyRoundTrip(f *testing.F) {
	for _, s := range []string{`{}`, `{"a":1,"b":[true,null,{"c":"é \u00e9 \ud834\udd1e"}],"a":2.50}`, `{"a" : "x, y: z"}`, `{"":{}}`, `[1]`, `{"a":1}{`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		b, err := parseBody(raw)
		if err != nil || b == nil {
			return
		}
		var want any
		if err := json.Unmarshal(raw, &want); err != nil {
			t.Fatalf("parseBody takes %q, which is not JSON: %v", raw, err)
		}
		for _, python := range []bool{false, true} {
			var got any
			if err := json.Unmarshal(b.render(python), &got); err != nil || !cmp.Equal(want, got) {
				t.Fatalf("%q renders (python %v) as %q: %v", raw, python, b.render(python), err)
			}
		}
	})
}
