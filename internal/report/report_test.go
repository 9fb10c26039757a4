package report

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/servemark/servemark/internal/bench"
)

var update = flag.Bool("update", false, "write the golden files anew")

// golden compares text with testdata/name.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got; go test -update writes it anew):\n%s", name, diff)
	}
}

// dist is a distribution whose figures tell which is which.
func dist(n int, base float64) bench.Distribution {
	d := bench.Distribution{N: n, Mean: base, Std: base / 10, Min: base / 2, Max: base * 3}
	for i, p := range []float64{50, 90, 95, 99} {
		q := bench.Quantile{P: p, Value: base * (1 + float64(i)/10), Low: bench.Measured(base * (0.9 + float64(i)/10))}
		if p < 99 || n >= 368 {
			q.High = bench.Measured(base * (1.1 + float64(i)/10))
		}
		d.Quantiles = append(d.Quantiles, q)
	}
	return d
}

func spec() bench.Spec {
	return bench.Spec{
		Dialect: bench.DialectSGLang,
		Target:  bench.Target{BaseURL: "http://localhost:8000", Backend: "sglang-oai", API: bench.APICompletions, Stream: true},
		Model:   bench.Model{Served: "glm-5", Tokenizer: "org/glm-5"},
		Dataset: bench.DatasetSpec{Name: "random", Rows: 32, InputTokens: 256, OutputTokens: 128},
		Seed:    42,
	}
}

// full is a run in which everything was measured, with a schedule, a cap, SLOs and failures.
func full() *Run {
	s := spec()
	s.Load = bench.LoadSpec{Rate: 5, Concurrency: 8}
	s.SLOs = []bench.SLO{{Metric: "ttft", Max: 250 * time.Millisecond}, {Metric: "e2el", Max: 1500 * time.Millisecond}}
	s.CacheReport = true
	m, n := bench.Measured, bench.Counted
	itl, gap := dist(3000, 0.01), dist(1500, 0.02)
	itl.Pooled, gap.Pooled = true, true
	return &Run{
		Plan: &bench.Plan{Spec: s, Source: "embedded corpus, exact lengths", Notes: []string{"--temperature has no effect here"},
			Fingerprint: "0123abcd", Repaired: 3},
		Server:  bench.Server{Engine: bench.EngineSGLang, Version: "0.5.23", Info: map[string]any{"model_path": "/m", "tp_size": 8}},
		Started: time.Date(2026, 11, 5, 10, 30, 0, 0, time.UTC), Version: "v0.1.0",
		Summary: bench.Summary{
			Planned: 32, Sent: 32, Completed: 29, Failed: 3, Resent: 1, Replaced: 2, MalformedCount: 4, Duration: 6500 * time.Millisecond,
			InputTokens: n(8000), InputSource: bench.TokensByServer, InputByTokenizer: n(7424), InputTemplated: n(8000),
			OutputTokens: n(3712), OutputSource: bench.TokensByServer, ReasoningTokens: n(100), Retokenized: n(3700),
			CachedTokens: n(800), CachedStated: 28, ChunkTokens: "the server's running usage in each chunk",
			RequestRate: m(4.4615), InputRate: m(1230.77), OutputRate: m(571.08), TotalRate: m(1801.85),
			Concurrency: m(5.35), PeakConcurrency: 8, PeakOutputRate: m(900),
			Steady:  &bench.Steady{From: 1e9, To: 4e9, AtLeast: 8, RequestRate: m(5), OutputRate: m(640)},
			PerUser: dist(29, 100), TTFT: dist(29, 0.1), FirstAnswer: dist(29, 0.3), E2E: dist(29, 1.2), TPOT: dist(29, 0.0087), ITL: itl,
			ChunkGap: gap, Connect: dist(8, 0.0004), TTFTFromDue: dist(29, 0.2), AnswerFromDue: dist(29, 0.4), E2EFromDue: dist(29, 1.3),
			Lag: dist(3000, 0.00004), SharedStamps: m(0.0004), Health: &bench.Health{Engine: "net/http", KernelReads: 2990, UserReads: 10,
				Unstamped: 7, Implausible: 3, ClockError: 60, ClockSteps: 1, BacklogSamples: 900, BacklogWaiting: 9, BacklogMax: 450,
				Wall: 6500 * time.Millisecond, CPU: 650 * time.Millisecond, CPUWait: 120 * time.Millisecond, Cores: 2, GCCycles: 3,
				GCPause: 210 * time.Microsecond, Mallocs: 4000, PeakRSS: 31_500_000},
			ClientQueue: dist(32, 0.1), Lateness: dist(32, 0.0002), Scheduled: true, AskedRate: m(5.1), AchievedRate: m(4.9),
			Failures: []bench.FailureGroup{
				{Kind: bench.FailStatus, Status: 429, Message: "{\"error\":\"slow down\x1b[31m\"}\nretry", Count: 2},
				{Kind: bench.FailServer, Status: 200, Message: "EngineCore stopped", Count: 1}},
			Goodput: &bench.Goodput{Good: 20, Rate: m(3.0769), Attainment: m(0.625),
				ByMetric: map[string]bench.Measure{"ttft": m(0.75), "e2el": m(0.65625)}},
			Verdict: bench.Verdict{Level: bench.Suspect, Causes: []string{"errors: 3 of 32 requests failed (9.4 %)"}},
			Notes:   []string{"1 of 29 answers came without the server's usage"},
		},
	}
}

// bare is a run in which nothing succeeded.
func bare() *Run {
	return &Run{
		Plan:    &bench.Plan{Spec: spec(), Fingerprint: "0123abcd"},
		Started: time.Date(2026, 11, 5, 10, 30, 0, 0, time.UTC), Version: "v0.1.0",
		Summary: bench.Summary{Planned: 3, Sent: 2, Failed: 2, Cancelled: 1, Partial: true, Duration: 20 * time.Millisecond,
			InputTokens: bench.Counted(0), InputSource: bench.TokensUnknown, OutputTokens: bench.Counted(0), OutputSource: bench.TokensUnknown,
			RequestRate: bench.Measured(0), PeakConcurrency: 2,
			Failures: []bench.FailureGroup{{Kind: bench.FailStatus, Status: 500, Message: "scripted: out of memory", Count: 2}},
			Verdict:  bench.Verdict{Level: bench.Invalid, Causes: []string{"nothing measured: none of 2 requests succeeded"}}},
	}
}

// strict is full with the original's figures under the original's labels.
func strict() *Run {
	r := full()
	r.Plan.Spec.Strict = true
	r.Strict = &bench.Summary{Completed: 29, Duration: 7 * time.Second, InputTokens: bench.Counted(7424), OutputTokens: bench.Counted(3712),
		E2E: dist(29, 1.9), TTFT: dist(29, 0.1), TPOT: dist(29, 0.014), ITL: dist(29, 0.02), PeakConcurrency: 16, Goodput: r.Summary.Goodput}
	return r
}

func TestGoldenText(t *testing.T) {
	long := full()
	long.Summary.Goals = []bench.GoalResult{
		{Goal: bench.Goal{Name: "throughput", Op: bench.AtLeast, Bound: 1000, Unit: "tok/s"}, Value: bench.Measured(571.08)},
		{Goal: bench.Goal{Name: "single stream", Op: bench.AtLeast, Bound: 90, Unit: "tok/s"}, Value: bench.Measured(100), Met: true},
		{Goal: bench.Goal{Name: "peak", Op: bench.AtLeast, Bound: 1, Unit: "tok/s"}, Met: true}}
	unscheduled := full()
	unscheduled.Summary.Scheduled, unscheduled.Plan.Spec.Load, unscheduled.Plan.Spec.SLOs = false, bench.LoadSpec{}, nil
	unscheduled.Summary.Goodput, unscheduled.Plan.Spec.CacheReport = nil, false
	unscheduled.Summary.TTFT = dist(400, 0.1)
	for name, f := range map[string]func(*bytes.Buffer) error{
		"block_full.txt":        func(b *bytes.Buffer) error { return SGLangBlock(b, full()) },
		"block_unscheduled.txt": func(b *bytes.Buffer) error { return SGLangBlock(b, unscheduled) },
		"block_bare.txt":        func(b *bytes.Buffer) error { return SGLangBlock(b, bare()) },
		"block_strict.txt":      func(b *bytes.Buffer) error { return SGLangBlock(b, strict()) },
		"text_full.txt":         func(b *bytes.Buffer) error { return Text(b, long) },
		"text_bare.txt":         func(b *bytes.Buffer) error { return Text(b, bare()) },
	} {
		var b bytes.Buffer
		if err := f(&b); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		golden(t, name, b.String())
		if strings.ContainsAny(b.String(), "\x1b\x07") {
			t.Errorf("%s: holds a control character from a server", name)
		}
	}
}

// Whoever searches for a label of the original finds its line alone.
func TestOriginalLabelsStandOnce(t *testing.T) {
	var b bytes.Buffer
	if err := Text(&b, full()); err != nil {
		t.Fatal(err)
	}
	_, rest, ok := strings.Cut(b.String(), " Serving Benchmark Result ")
	original, beside, ok2 := strings.Cut(rest, besideTitle)
	if !ok || !ok2 {
		t.Fatalf("the report lacks a title:\n%s", b.String())
	}
	before := b.String()[:strings.Index(b.String(), " Serving Benchmark Result ")]
	labels := 0
	for line := range strings.Lines(original) {
		label, _, ok := strings.Cut(line, ":")
		if !ok {
			continue
		}
		labels++
		words, _, _ := strings.Cut(label, " (")
		if words = strings.TrimSpace(words); strings.Contains(beside, words) || strings.Contains(before, words) {
			t.Errorf("label %q of the original stands outside its block", words)
		}
	}
	if labels < 40 {
		t.Errorf("looked at %d labels, want all", labels)
	}
}

func TestGoldenLines(t *testing.T) {
	for name, r := range map[string]*Run{"line_full.json": full(), "line_bare.json": bare(), "line_strict.json": strict()} {
		b, err := SGLangLine(r)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if bytes.ContainsAny(b, "\n\r") {
			t.Errorf("%s: the line has a line end", name)
		}
		var pretty bytes.Buffer
		if err := json.Indent(&pretty, b, "", " "); err != nil {
			t.Errorf("%s: not legal JSON: %v", name, err)
		}
		golden(t, name, pretty.String()+"\n")
	}
	var b bytes.Buffer
	if err := JSON(&b, full()); err != nil || !json.Valid(b.Bytes()) {
		t.Errorf("JSON(full) = %v, valid %v", err, json.Valid(b.Bytes()))
	}
	golden(t, "native_full.json", b.String())
}

// The original's keys, in its order, as its result file of version 0.5.23 has them.
func TestOriginalKeysInOrder(t *testing.T) {
	want := strings.Fields(`tag backend dataset_name request_rate max_concurrency sharegpt_output_len random_input_len
		random_output_len random_range_ratio server_info duration completed total_input_tokens total_input_text_tokens
		total_input_vision_tokens total_output_tokens total_output_tokens_retokenized request_throughput input_throughput
		output_throughput total_throughput mean_e2e_latency_ms median_e2e_latency_ms std_e2e_latency_ms p90_e2e_latency_ms
		p95_e2e_latency_ms p99_e2e_latency_ms mean_ttft_ms median_ttft_ms std_ttft_ms p90_ttft_ms p95_ttft_ms p99_ttft_ms
		mean_tpot_ms median_tpot_ms std_tpot_ms p90_tpot_ms p95_tpot_ms p99_tpot_ms mean_itl_ms median_itl_ms std_itl_ms
		p90_itl_ms p95_itl_ms p99_itl_ms concurrency accept_length max_output_tokens_per_s max_concurrent_requests
		goodput_slos_ms request_goodput slo_attainment slo_attainment_by_metric cache_report`)
	b, err := SGLangLine(full())
	if err != nil {
		t.Fatal(err)
	}
	if got := keys(t, b); len(got) < len(want) || !cmp.Equal(want, got[:len(want)]) {
		t.Errorf("keys (-want +got):\n%s", cmp.Diff(want, got[:min(len(want), len(got))]))
	}
	seen := map[string]bool{}
	for _, k := range keys(t, b) {
		if seen[k] {
			t.Errorf("key %s stands twice", k)
		}
		seen[k] = true
	}
}

// keys returns the keys of a JSON object in their order.
func keys(t *testing.T, object []byte) []string {
	t.Helper()
	dec := json.NewDecoder(bytes.NewReader(object))
	if _, err := dec.Token(); err != nil {
		t.Fatal(err)
	}
	var out []string
	for dec.More() {
		k, err := dec.Token()
		if err != nil {
			t.Fatal(err)
		}
		var skip json.RawMessage
		if err := dec.Decode(&skip); err != nil {
			t.Fatal(err)
		}
		out = append(out, k.(string))
	}
	return out
}

func TestDetails(t *testing.T) {
	r := bare()
	ok, failed, cancelled, stripped := bench.NewRecord(0), bench.NewRecord(1), bench.NewRecord(2), bench.NewRecord(3)
	ok.Sent, ok.Text, ok.Chunks = 5e8, "a <b> & c", []bench.Chunk{{At: 1}}
	failed.Fail(bench.FailStatus, "busy")
	cancelled.Cancelled = true
	stripped.Chunks = ok.Chunks
	r.Records = []bench.Record{stripped, failed, ok, cancelled}
	r.Figures = []bench.Figures{
		{ID: 0, Input: bench.Counted(7), Output: bench.Counted(3), TTFT: bench.Measured(0.25), E2E: bench.Measured(0.5), ITL: []float64{0.125, 0.125}},
		{ID: 1, Input: bench.Counted(8), Output: bench.Counted(0)}, {ID: 2, Output: bench.Counted(0)}, {ID: 3}}
	b, err := SGLangLine(r)
	if err != nil {
		t.Fatal(err)
	}
	_, tail, _ := bytes.Cut(b, []byte(`"input_lens"`))
	want := `:[7,8,null,null],"output_lens":[3,0,0,null],"ttfts":[0.25,null,null,null],"itls":[[0.125,0.125],[],[],[]],` +
		`"generated_texts":["a <b> & c","","",null],"errors":["","HTTP status: busy","cancelled",""],"request_ids":[0,1,2,3],` +
		`"start_times":[0.5,null,null,null],"latencies":[0.5,null,null,null]}`
	if string(tail) != want {
		t.Errorf("details = %s\nwant      %s", tail, want)
	}
	r.Figures[0].ID = 9
	if _, err := SGLangLine(r); err == nil {
		t.Error("SGLangLine(figures of another request) = nil error")
	}
	r.Figures = r.Figures[:2]
	if _, err := SGLangLine(r); err == nil {
		t.Error("SGLangLine(too few figures) = nil error")
	}
}
