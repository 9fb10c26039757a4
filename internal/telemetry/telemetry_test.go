package telemetry

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/servemark/servemark/internal/bench"
)

var values = cmp.AllowUnexported(bench.Measure{}, bench.Count{})

func TestParse(t *testing.T) {
	got := parse("# HELP x help {\n# TYPE x counter\nx 1\ny{a=\"b\"} 2.5e3 1700000000\nz{a=\"q\\\"uo\\\\te\\n}\",b=\"\",} +Inf\nbroken{a=\"b\nbroken\nbroken x\n{} 1\n")
	want := []series{{"x", map[string]string{}, 1}, {"y", map[string]string{"a": "b"}, 2500}}
	if len(got) != 3 || cmp.Diff(want, got[:2], cmp.AllowUnexported(series{})) != "" || got[2].labels["a"] != "q\"uo\\te\n}" {
		t.Errorf("parse = %+v, want %+v and z with an escaped label", got, want)
	}
}

// FuzzParse: never panics, and reads the same from twice the page, twice.
func FuzzParse(f *testing.F) {
	for _, s := range []string{"x 1", "x{a=\"b\"} 1 2", "x{", "x{a", "x{a=\"\\", "x{a=\"b\"}", "{} 1", "x NaN"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, page string) {
		n := len(parse(page))
		if got := len(parse(page + "\n" + page)); got != 2*n {
			t.Errorf("parse(%q) has %d series, of the page twice %d", page, n, got)
		}
		read(page)
		readLoads([]byte(page))
	})
}

const vllmPage = `vllm:num_requests_running{engine="0"} 3
vllm:num_requests_running{engine="1"} 4
vllm:num_requests_waiting{engine="0"} 2
vllm:kv_cache_usage_perc{engine="0"} 0.5
vllm:kv_cache_usage_perc{engine="1"} 1
vllm:generation_tokens_total{engine="0"} 100
vllm:generation_tokens_total{engine="1"} 50
vllm:num_preemptions_total{engine="0"} 7
vllm:time_to_first_token_seconds_bucket{engine="0",le="0.1"} 2
vllm:time_to_first_token_seconds_bucket{engine="1",le="0.1"} 1
vllm:time_to_first_token_seconds_bucket{engine="0",le="+Inf"} 4
vllm:time_to_first_token_seconds_sum{engine="0"} 1.5
vllm:time_to_first_token_seconds_count{engine="0"} 4
`

func TestRead(t *testing.T) {
	r, ok := read(vllmPage)
	m := bench.Measured
	want := reading{source: "GET /metrics, vllm",
		counters: bench.Counters{OutputTokens: m(150), Preemptions: m(7), TTFT: bench.Total{Sum: m(1.5), Count: m(4), Buckets: []bench.Bucket{{Bound: 0.1, Count: 3}}}},
		gauges:   bench.Gauges{Running: m(7), Waiting: m(2), KVUse: m(0.75), Preemptions: m(7)}}
	if diff := cmp.Diff(want, r, values, cmp.AllowUnexported(reading{})); !ok || diff != "" {
		t.Errorf("read (-want +got):\n%s", diff)
	}
	if _, ok := read("go_goroutines 5\n"); ok {
		t.Error("read of a page without a family = ok")
	}
	r, ok = readLoads([]byte(`{"loads":[{"num_running_reqs":1,"num_waiting_reqs":2,"token_usage":0.4,"queues":{"retracted":3}},{"num_running_reqs":1,"num_waiting_reqs":0,"token_usage":0.6}]}`))
	gauges := bench.Gauges{Running: m(2), Waiting: m(2), KVUse: m(0.5), Preemptions: m(3)}
	if diff := cmp.Diff(gauges, r.gauges, values); !ok || diff != "" {
		t.Errorf("readLoads (-want +got):\n%s", diff)
	}
	power, joules := readGPUs("DCGM_FI_DEV_POWER_USAGE{gpu=\"0\"} 300\nDCGM_FI_DEV_POWER_USAGE{gpu=\"1\"} 200\nDCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION{gpu=\"0\"} 5000\n")
	if power != m(500) || joules != m(5) {
		t.Errorf("readGPUs = %v, %v, want 500 W, 5 J", power, joules)
	}
}

// TestSampler listens to a server whose counters grow, and to its GPUs; the key goes to the server only.
func TestSampler(t *testing.T) {
	var n, leaked atomic.Int64
	mux := http.NewServeMux()
	mux.HandleFunc("/metrics", func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "k" {
			http.Error(w, "no", http.StatusUnauthorized)
			return
		}
		fmt.Fprintf(w, "sglang:generation_tokens_total %d\nsglang:num_running_reqs 2\n", 10*n.Add(1))
	})
	mux.HandleFunc("/gpu", func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "" {
			leaked.Add(1)
		}
		io.WriteString(w, "DCGM_FI_DEV_POWER_USAGE 100\n")
	})
	srv := httptest.NewServer(mux)
	defer srv.Close()
	o := Options{BaseURL: srv.URL, GPUs: srv.URL + "/gpu", Client: srv.Client(), Apply: func(h http.Header) { h.Set("Authorization", "k") }}
	s, server, gpus, ok := Open(t.Context(), o)
	if !ok || server != nil || gpus != nil {
		t.Fatalf("Open: %v, %v", server, gpus)
	}
	s.Start(t.Context(), time.Now())
	got := s.Stop(t.Context())
	grew, known := grown(got.Before.OutputTokens, got.After.OutputTokens)
	if !known || grew < 10 || len(got.Samples) < 1 || leaked.Load() != 0 || got.Source != "GET /metrics, sglang" {
		t.Errorf("counter grew %v, %d samples, source %q, key leaked to the exporter %d times; want ≥ 10, ≥ 1, sglang, 0", grew, len(got.Samples), got.Source, leaked.Load())
	}
	if p := got.Samples[len(got.Samples)-1].Power; p != bench.Measured(100) {
		t.Errorf("power = %v, want 100", p)
	}
	o.GPUs, o.Metrics = "", srv.URL+"/nowhere"
	if _, server, gpus, ok := Open(t.Context(), o); ok || gpus != nil || server == nil || !strings.Contains(server.Error(), "404") {
		t.Errorf("Open of a page that is not there = %v, %v, %v, want status 404", server, gpus, ok)
	}
	o.BaseURL, o.GPUs, o.Metrics = srv.URL+"/none", srv.URL+"/gpu", ""
	if _, server, gpus, ok := Open(t.Context(), o); !ok || server == nil || gpus != nil {
		t.Errorf("Open of a server without pages beside a GPU's = %v, %v, %v; want the GPU's alone", server, gpus, ok)
	}
}

// TestFindings provokes each finding alone; none says anything without its evidence.
func TestFindings(t *testing.T) {
	m := bench.Measured
	total := func(sum, n float64) bench.Total { return bench.Total{Sum: m(sum), Count: m(n)} }
	gauges := func(kv, waiting float64) []bench.Gauges {
		return []bench.Gauges{{KVUse: m(kv), Waiting: m(waiting)}, {KVUse: m(kv / 2), Waiting: m(0)}}
	}
	sum := func(ttft float64) *bench.Summary {
		return &bench.Summary{TTFT: bench.Distribution{N: 100, Mean: ttft}, TPOT: bench.Distribution{N: 100, Mean: 0.01}, OutputTokens: bench.Counted(1000), Duration: 10 * time.Second}
	}
	late := sum(0.01)
	late.Lateness = bench.Distribution{N: 1000, Quantiles: []bench.Quantile{{P: 99, Value: 0.02, Low: m(0.015)}}}
	for _, row := range []struct {
		name string
		t    *bench.Telemetry
		s    *bench.Summary
		want string // "" for none
	}{
		{"nothing listened to", nil, sum(1), ""},
		{"all is well", &bench.Telemetry{Before: bench.Counters{TTFT: total(0, 0), Queue: total(0, 0), Preemptions: m(4)}, After: bench.Counters{TTFT: total(4, 100), Queue: total(1.2, 100), Preemptions: m(4)}, Samples: gauges(0.5, 0)}, sum(0.041), ""},
		{"preemptions", &bench.Telemetry{Before: bench.Counters{Preemptions: m(1)}, After: bench.Counters{Preemptions: m(42)}, Samples: gauges(1, 9)}, sum(1), "41 requests lost their KV.*pool was full.*up to 9 requests waited"},
		{"server started anew", &bench.Telemetry{Before: bench.Counters{Preemptions: m(50)}, After: bench.Counters{Preemptions: m(1)}}, sum(1), ""},
		{"full pool", &bench.Telemetry{Samples: gauges(0.99, 3)}, sum(1), "KV pool was full: 99 %"},
		{"queue", &bench.Telemetry{Before: bench.Counters{TTFT: total(5, 10), Queue: total(1, 10)}, After: bench.Counters{TTFT: total(105, 110), Queue: total(81, 110)}}, sum(1), "first tokens wait: 80 %"},
		{"cold prefill", &bench.Telemetry{Before: bench.Counters{TTFT: total(0, 0), Queue: total(0, 0), CachedTokens: m(0), PromptTokens: m(0)},
			After: bench.Counters{TTFT: total(50, 100), Queue: total(1, 100), CachedTokens: m(10), PromptTokens: m(1000)}}, sum(0.5), "first tokens are prefill.*cold, 1.0 %"},
		{"warm cache", &bench.Telemetry{Before: bench.Counters{CachedTokens: m(5), PromptTokens: m(10)}, After: bench.Counters{CachedTokens: m(805), PromptTokens: m(1010)}}, sum(0.01), "cache was warm: 80.0 %"},
		{"time on the way", &bench.Telemetry{Before: bench.Counters{TTFT: total(0, 0)}, After: bench.Counters{TTFT: total(10, 100)}}, sum(0.15), "between server and client.*100 ms.*150 ms.*50 ms"},
		{"acceptance", &bench.Telemetry{Before: bench.Counters{Drafts: m(0), Accepted: m(0)}, After: bench.Counters{Drafts: m(100), Accepted: m(150)}}, sum(1), "2.50 tokens per verification"},
		{"others", &bench.Telemetry{Before: bench.Counters{OutputTokens: m(0)}, After: bench.Counters{OutputTokens: m(2000)}}, sum(1), "others use the server: it made 2000"},
		{"late client", nil, late, "this client was late"},
		{"energy", &bench.Telemetry{Before: bench.Counters{Energy: m(100)}, After: bench.Counters{Energy: m(2100)}, Samples: []bench.Gauges{{Power: m(200)}}}, sum(1), "200 W: 0.5 output tokens per joule, 2 J per token .the energy counter"},
		{"slow scrape", &bench.Telemetry{Slowest: 2 * time.Second}, sum(1), "took 2s to answer a scrape"},
	} {
		got := Findings(row.t, row.s)
		switch {
		case row.want == "" && len(got) != 0, row.want != "" && len(got) != 1:
			t.Errorf("%s: Findings = %q, want %q alone", row.name, got, row.want)
		case row.want != "" && !matches(row.want, got[0]):
			t.Errorf("%s: Findings = %q, want %q", row.name, got[0], row.want)
		}
	}
}

// matches reports whether the parts of want, which .* separates, stand in a text in that order; a lone dot is any character.
func matches(want, text string) bool {
	for _, part := range strings.Split(want, ".*") {
		i := strings.Index(text, part)
		if i < 0 {
			i = strings.Index(strings.ReplaceAll(text, "(", "."), part)
		}
		if i < 0 {
			return false
		}
		text = text[i+len(part):]
	}
	return true
}
