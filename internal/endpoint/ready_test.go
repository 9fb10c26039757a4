package endpoint

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/servemark/servemark/internal/bench"
)

func TestReady(t *testing.T) {
	for _, tc := range []struct {
		name    string
		answers []int // statuses, the last one for ever
		key     string
		timeout time.Duration
		want    string // part of the error; "" is ready
		said    string // part of what was reported
		atOnce  bool   // less than a second
	}{
		{name: "ready", answers: []int{200}, timeout: time.Minute, atOnce: true},
		{name: "no such route", answers: []int{404}, timeout: time.Minute, atOnce: true},
		{name: "loading, then ready", answers: []int{503, 200}, timeout: time.Minute, said: "HTTP 503: scripted words"},
		{name: "key missing", answers: []int{401}, timeout: time.Minute, want: "set OPENAI_API_KEY", atOnce: true},
		{name: "key wrong", answers: []int{403}, key: "bad-key-12345", timeout: time.Minute, want: "the key that is sent is wrong or not allowed (key from OPENAI_API_KEY", atOnce: true},
		{name: "never ready", answers: []int{503}, timeout: time.Second, want: "not ready after 1s: GET ", said: "scripted words"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			var n atomic.Int64
			var head http.Header
			f := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path != "/p/v1/models" {
					t.Errorf("asked %s", r.URL.Path)
				}
				head = r.Header
				w.WriteHeader(tc.answers[min(int(n.Add(1)), len(tc.answers))-1])
				io.WriteString(w, `{"error":{"message":"scripted words"}}`)
			}))
			defer f.Close()
			var said []string
			start := time.Now()
			auth := AuthFromEnv(func(name string) string { return map[string]string{"OPENAI_API_KEY": tc.key}[name] }, http.Header{"X-Team": {"a"}})
			err := Ready(context.Background(), f.Client(), f.URL+"/p", auth, tc.timeout, func(cause string) { said = append(said, cause) })
			took := time.Since(start)
			if tc.want == "" && err != nil || tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want) || strings.Contains(err.Error(), "bad-key")) {
				t.Errorf("Ready = %v, want %q", err, tc.want)
			}
			if tc.atOnce && took > 900*time.Millisecond || !strings.Contains(strings.Join(said, "\n"), tc.said) || tc.said == "" && len(said) > 0 {
				t.Errorf("Ready took %s and said %q; want %q", took, said, tc.said)
			}
			if head.Get("X-Team") != "a" {
				t.Errorf("the extra header was not sent: %v", head)
			}
		})
	}
}

func TestReadyWaitsForAPortAndNotForAName(t *testing.T) {
	t.Parallel()
	f := httptest.NewServer(http.NotFoundHandler())
	f.Close() // nobody listens there now
	var said []string
	err := Ready(context.Background(), http.DefaultClient, f.URL, Auth{}, 1200*time.Millisecond, func(cause string) { said = append(said, cause) })
	if err == nil || len(said) != 1 || !strings.Contains(said[0], "connection refused") || !strings.Contains(err.Error(), "connection refused") {
		t.Errorf("Ready of a closed port = %v, said %q; want the cause once and in the error", err, said)
	}
	start := time.Now()
	err = Ready(context.Background(), &http.Client{Transport: &http.Transport{}}, "http://servemark.invalid:1", Auth{}, time.Minute, func(string) {})
	if err == nil || !strings.Contains(err.Error(), "servemark.invalid") || time.Since(start) > 30*time.Second {
		t.Errorf("Ready of a name that does not exist = %v after %s, want the name in an error at once", err, time.Since(start))
	}
}

func TestReadyStopsWithItsContext(t *testing.T) {
	t.Parallel()
	f := newFake(t, map[string]string{"/v1/models": "503 {}"}, nil)
	ctx, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
	defer cancel()
	start := time.Now()
	if err := Ready(ctx, f.Client(), f.URL, Auth{}, time.Minute, func(string) {}); err == nil || time.Since(start) > 3*time.Second {
		t.Errorf("Ready = %v after %s, want the context's error at once", err, time.Since(start))
	}
}

func TestFlush(t *testing.T) {
	for _, tc := range []struct {
		engine bench.Engine
		routes map[string]string
		asked  string
		want   string
	}{
		{bench.EngineSGLang, map[string]string{"/flush_cache": "Cache flushed."}, "POST /flush_cache?timeout=60", ""},
		{bench.EngineVLLM, map[string]string{"/reset_prefix_cache": ""}, "POST /reset_prefix_cache", ""},
		{bench.EngineVLLM, nil, "POST /reset_prefix_cache", "VLLM_SERVER_DEV_MODE=1"},
		{bench.EngineLMDeploy, nil, "POST /flush_cache", "run without --flush-cache"},
		{bench.EngineSGLang, map[string]string{"/flush_cache": `400 {"message":"requests are running"}`}, "POST /flush_cache?timeout=60", "requests are running"},
	} {
		f := newFake(t, tc.routes, nil)
		err := Flush(context.Background(), f.Client(), f.URL, tc.engine, Auth{}, time.Minute)
		if len(f.asked) != 1 || f.asked[0] != tc.asked || (err == nil) != (tc.want == "") || err != nil && !strings.Contains(err.Error(), tc.want) {
			t.Errorf("Flush(%s) = %v, asked %v; want %q, %s", tc.engine, err, f.asked, tc.want, tc.asked)
		}
	}
}
