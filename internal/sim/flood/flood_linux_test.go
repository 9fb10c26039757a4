package flood

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

func start(t testing.TB, c Config) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- Serve(ctx, l, c) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("Serve = %v", err)
		}
	})
	return "http://" + l.Addr().String()
}

func fetch(t testing.TB, method, url, body string) string {
	t.Helper()
	q, err := http.NewRequest(method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
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

func TestStreamsAreWhole(t *testing.T) {
	for _, c := range []Config{{}, {PerEvent: 3}, {PerWrite: 4}, {PerEvent: 3, PerWrite: 5}, {ITL: time.Millisecond, Align: true}} {
		url := start(t, c)
		per := max(c.PerEvent, 1)
		for path, end := range map[string]string{"/v1/chat/completions": `"completion_tokens":10`, "/v1/completions": `"completion_tokens":10`, "/generate": "[DONE]"} {
			for range 3 { // on one kept connection
				body := fetch(t, "POST", url+path, `{"stream":true,"max_tokens":10,"stream_options":{"include_usage":true}}`)
				events, words := 0, 0
				for line := range strings.SplitSeq(body, "\n\n") {
					payload, ok := strings.CutPrefix(line, "data: ")
					if !ok || payload == "[DONE]" {
						continue
					}
					if !json.Valid([]byte(payload)) {
						t.Errorf("%+v %s: %q is not JSON", c, path, payload)
					}
					if n := strings.Count(payload, " the"); n > 0 {
						words += n
						events++
					}
				}
				if words != 10 || events != (10+per-1)/per || !strings.Contains(body, end) || !strings.HasSuffix(body, "data: [DONE]\n\n") {
					t.Errorf("%+v %s: %d words in %d events: %q", c, path, words, events, body)
				}
			}
		}
		var s Stats
		if err := json.Unmarshal([]byte(fetch(t, "GET", url+"/sim/flood", "")), &s); err != nil || s.Streams != 9 || s.Tokens != 90 || s.Active != 0 || s.Peak != 1 {
			t.Errorf("%+v: stats %+v, %v; want 9 streams of 10 tokens, one at a time", c, s, err)
		}
	}
}

func TestPacing(t *testing.T) {
	url := start(t, Config{TTFT: 20 * time.Millisecond, ITL: 5 * time.Millisecond})
	began := time.Now()
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() { fetch(t, "POST", url+"/generate", `{"stream":true,"sampling_params":{"max_new_tokens":11}}`) })
	}
	wg.Wait()
	if took := time.Since(began); took < 70*time.Millisecond || took > 2*time.Second {
		t.Errorf("11 tokens took %v, want 70 ms and not much more", took)
	}
}

func TestAlignedDeadlinesLieOnTheGrid(t *testing.T) {
	x := &loop{c: Config{ITL: 10, Align: true}}
	for in, want := range map[time.Duration]time.Duration{0: 0, 1: 10, 10: 10, 11: 20, 99: 100} {
		if got := x.align(in); got != want {
			t.Errorf("align(%d) = %d, want %d", in, got, want)
		}
	}
	x.c.Align = false
	if got := x.align(7); got != 7 {
		t.Errorf("unaligned 7 became %d", got)
	}
}

// TestSlowReaderGetsEverything lets the socket fill up before reading.
func TestSlowReaderGetsEverything(t *testing.T) {
	for _, itl := range []time.Duration{0, 100 * time.Microsecond} {
		url := start(t, Config{PerWrite: 50, ITL: itl})
		conn, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		body := `{"stream":true,"max_tokens":40000}`
		if _, err := fmt.Fprintf(conn, "POST /v1/completions HTTP/1.1\r\nContent-Length: %d\r\n\r\n%s", len(body), body); err != nil {
			t.Fatal(err)
		}
		time.Sleep(100 * time.Millisecond)
		resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(resp.Body)
		if n := strings.Count(string(b), " the"); err != nil || n != 40000 {
			t.Errorf("ITL %v: %d words, %v; want 40000", itl, n, err)
		}
		_ = conn.Close()
	}
}

func TestRefusals(t *testing.T) {
	url := start(t, Config{})
	for body, want := range map[string]string{"{": "not valid", `{"stream":false,"max_tokens":3}`: " the the the"} {
		if got := fetch(t, "POST", url+"/v1/completions", body); !strings.Contains(got, want) {
			t.Errorf("POST %s = %s, want %q", body, got, want)
		}
	}
	if got := fetch(t, "GET", url+"/nothing", ""); !strings.Contains(got, "Not Found") {
		t.Errorf("GET /nothing = %s", got)
	}
	if err := (Config{TTFT: -1, Align: true}).Validate(); err == nil || strings.Count(err.Error(), "\n") != 1 {
		t.Errorf("Validate = %v, want two faults", err)
	}
}

// BenchmarkDrain sends a flood to a client in the same process that throws everything away: it shows the server's side
// only together with the reading of the same bytes.
func BenchmarkDrain(b *testing.B) {
	for _, per := range []int{1, 16} {
		b.Run(strconv.Itoa(per), func(b *testing.B) {
			url := start(b, Config{PerWrite: per})
			events := 0
			for b.Loop() {
				var wg sync.WaitGroup
				for range 16 {
					wg.Go(func() { fetch(b, "POST", url+"/v1/completions", `{"stream":true,"max_tokens":1000}`) })
				}
				wg.Wait()
				events += 16000
			}
			b.ReportMetric(float64(events)/b.Elapsed().Seconds(), "events/s")
		})
	}
}

// TestLive serves for measurements from another process: FLOOD_LIVE=address FLOOD_CONFIG='{"ITL":20000000}'.
func TestLive(t *testing.T) {
	address := os.Getenv("FLOOD_LIVE")
	if address == "" {
		t.Skip("serves only when FLOOD_LIVE names an address")
	}
	var c Config
	if err := json.Unmarshal([]byte(os.Getenv("FLOOD_CONFIG")), &c); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	if err := Serve(t.Context(), l, c); err != nil {
		t.Fatal(err)
	}
}
