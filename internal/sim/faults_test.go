package sim

import (
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

const streamAsk = `{"model":"sim","prompt":"the river","max_tokens":12,"ignore_eos":true,"stream":true}`

// tryPost returns what a client sees: status, body as far as it came, and the error of reading it.
func tryPost(url, body string) (int, http.Header, string, error) {
	c := &http.Client{Timeout: 3 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := c.Post(url, "application/json", strings.NewReader(body))
	if err != nil {
		return 0, nil, "", err
	}
	defer func() { _ = resp.Body.Close() }()
	b, err := io.ReadAll(resp.Body)
	return resp.StatusCode, resp.Header, string(b), err
}

func TestFaultsAsAClientSeesThem(t *testing.T) {
	for _, tt := range []struct {
		fault  string
		status int
		frames int  // events with text before the end
		ends   bool // an end marker came
		broken bool // reading failed
		words  string
	}{
		{"refuse:at=1", 0, 0, false, true, ""},
		{"429:at=1,retry-after=1500ms", 429, 0, false, false, "too many requests"},
		{"503:at=1", 503, 0, false, false, "cannot take requests"},
		{"slow-start:at=1,delay=30ms", 200, 12, true, false, ""},
		{"error-frame:at=1,after=5", 200, 5, true, false, `"error":{`},
		{"eof:at=1,after=5", 200, 5, false, false, ""},
		{"reset:at=1,after=5", 200, 5, false, true, ""},
		{"stall:at=1,after=5,delay=40ms", 200, 12, true, false, ""},
		{"slow-bytes:at=1,delay=1us", 200, 12, true, false, ""},
		{"split-utf8:at=1", 200, 12, true, false, "é"},
		{"garbage:at=1,after=5", 200, 12, true, false, `{"con`},
		{"429:at=2", 200, 12, true, false, ""},
	} {
		f, err := ParseFault(tt.fault)
		if err != nil {
			t.Fatalf("ParseFault(%q) = %v", tt.fault, err)
		}
		s, url := start(t, Config{Faults: []Fault{f}, ITL: time.Millisecond})
		began := time.Now()
		status, header, body, err := tryPost(url+"/v1/completions", streamAsk)
		frames, ends := strings.Count(body, `"text":"`), strings.Contains(body, "[DONE]")
		if status != tt.status || (err != nil) != tt.broken || frames != tt.frames && !(f.Kind == FaultReset && frames < tt.frames) || ends != tt.ends || !strings.Contains(body, tt.words) || !utf8.ValidString(body) {
			t.Errorf("%s: status %d, error %v, %d frames, end %v, body %q; want %d, %v, %d, %v, %q", tt.fault, status, err, frames, ends, body,
				tt.status, tt.broken, tt.frames, tt.ends, tt.words)
		}
		if f.RetryAfter > 0 && header.Get("Retry-After") != "2" {
			t.Errorf("%s: Retry-After %q, want 2", tt.fault, header.Get("Retry-After"))
		}
		if took := time.Since(began); took < f.Delay && f.Kind != FaultSlowBytes {
			t.Errorf("%s: took %v, want at least %v", tt.fault, took, f.Delay)
		}
		if status, _, body, err := tryPost(url+"/v1/completions", streamAsk); f.At[0] == 1 && (status != 200 || err != nil || !strings.Contains(body, "[DONE]")) {
			t.Errorf("%s: the next request gave %d, %v", tt.fault, status, err)
		}
		s.driver.wait()
	}
}

func TestSplitTextsKeepTheirTokens(t *testing.T) {
	s, url := start(t, Config{Faults: []Fault{{Kind: FaultSplit, Rate: 1}}})
	_, _, body, err := tryPost(url+"/v1/completions", strings.Replace(streamAsk, "12", "60", 1))
	if err != nil {
		t.Fatal(err)
	}
	list, _ := events(t, body)
	var text strings.Builder
	for _, e := range list {
		for _, c := range e.Choices {
			text.WriteString(c.Text)
		}
	}
	if n := len(s.tok.Encode(text.String())); n != 60 || !strings.HasPrefix(text.String(), accents) {
		t.Errorf("text %q has %d tokens, want 60 and the accents first", text.String(), n)
	}
}

func TestCrashEndsTheServer(t *testing.T) {
	s := testServer(t, Config{Faults: []Fault{{Kind: FaultCrash, At: []int{3}}}})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- s.Serve(t.Context(), l) }()
	url := "http://" + l.Addr().String() + "/v1/completions"
	for n := 1; n <= 3; n++ {
		if status, _, _, err := tryPost(url, streamAsk); (err == nil) != (n < 3) {
			t.Errorf("request %d: status %d, error %v; want only the third to fail", n, status, err)
		}
	}
	if err := <-served; !errors.Is(err, ErrCrashed) {
		t.Errorf("Serve = %v, want %v", err, ErrCrashed)
	}
	if _, _, _, err := tryPost(url, streamAsk); err == nil {
		t.Error("the crashed server still answers")
	}
}

func TestFaultRateIsSeeded(t *testing.T) {
	count := func(seed uint64) (n int, which []int) {
		for k := 1; k <= 10000; k++ {
			if (Fault{Kind: FaultBusy, Rate: 0.1}).takes(seed, 0, k) {
				n++
				which = append(which, k)
			}
		}
		return n, which
	}
	a, first := count(1)
	_, again := count(1)
	_, other := count(2)
	if a < 900 || a > 1100 || !cmp.Equal(first, again) || cmp.Equal(first, other) {
		t.Errorf("rate 0.1 took %d of 10000; same seed same: %v, other seed other: %v", a, cmp.Equal(first, again), !cmp.Equal(first, other))
	}
}

func TestParseFault(t *testing.T) {
	got, err := ParseFault("stall:at=3+7,after=10,delay=5ms,rate=0.5")
	want := Fault{Kind: FaultStall, At: []int{3, 7}, After: 10, Delay: 5 * time.Millisecond, Rate: 0.5}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("ParseFault: %v, (-want +got):\n%s", err, diff)
	}
	for _, bad := range []string{"", "boom:rate=1", "reset", "reset:at=0", "reset:rate=2", "reset:rate=x", "reset:speed=1", "reset:at=1,after=-1", "reset:at=x", "429:at=1,after=3", "eof:at=1,delay=3s", "refuse:at=1,retry-after=3s"} {
		if _, err := ParseFault(bad); err == nil {
			t.Errorf("ParseFault(%q) = nil, want an error", bad)
		}
	}
}

func TestFaultsOnWholeReplies(t *testing.T) {
	ask := strings.Replace(streamAsk, `,"stream":true`, "", 1)
	for fault, want := range map[string]struct {
		status int
		broken bool
	}{
		"error-frame:at=1": {500, false}, "eof:at=1": {200, false}, "reset:at=1": {0, true}, "stall:at=1,delay=5ms": {200, false}, "garbage:at=1": {200, false},
	} {
		f, err := ParseFault(fault)
		if err != nil {
			t.Fatal(err)
		}
		_, url := start(t, Config{Faults: []Fault{f}})
		status, _, body, err := tryPost(url+"/v1/completions", ask)
		if status != want.status || (err != nil) != want.broken {
			t.Errorf("%s: %d, %v, %q; want %+v", fault, status, err, body, want)
		}
	}
}
