package report

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/servemark/servemark/internal/bench"
	"github.com/servemark/servemark/internal/stats"
)

// vllmRun is full in vLLM's dialect, with everything that its client can show.
func vllmRun() *Run {
	r := full()
	s := &r.Plan.Spec
	s.Dialect, s.Target.Backend, s.CacheReport = bench.DialectVLLM, "openai", false
	s.Model = bench.Model{Asked: "org/glm-5", Served: "glm-5", Tokenizer: "org/glm-5"}
	s.Load.Arrival, s.Load.Burstiness = bench.ArrivalGamma, 0.5
	s.VLLM = &bench.VLLMReport{Metrics: []string{"ttft", "tpot", "itl", "e2el", "client_queue_time", "e2el_including_client_queue"},
		Percentiles: []float64{90, 99.9}, Label: "night", Metadata: [][2]string{{"tp", "8"}, {"label", "mine"}}, Detailed: true}
	at := func(base float64) bench.Distribution {
		d := dist(29, base)
		d.Quantiles = []bench.Quantile{{P: 90, Value: base * 1.1}, {P: 99.9, Value: base * 1.4}}
		return d
	}
	r.VLLM = &stats.VLLMFigures{TTFT: at(0.1), TPOT: at(0.0087), ITL: at(0.01), E2E: at(1.2), Queue: at(0.05), WithQueue: at(1.25), Inputs: 29,
		Medians: map[string]bench.Measure{"ttft": bench.Measured(0.1), "tpot": bench.Measured(0.0087), "itl": bench.Measured(0.01),
			"e2el": bench.Measured(1.2), "client_queue_time": bench.Measured(0.05), "e2el_including_client_queue": bench.Measured(1.25)}}
	probe := func(id int, ms int, failed bool) bench.Record {
		rec := bench.NewRecord(id)
		rec.Sent, rec.Done, rec.Streamed = 0, bench.At(time.Duration(ms)*time.Millisecond), true
		rec.Chunks = []bench.Chunk{{At: rec.Done}}
		if failed {
			rec.Fail(bench.FailStatus, "busy")
		}
		return rec
	}
	r.Observed = bench.Observed{
		Probes:      []bench.Record{probe(0, 20, false), probe(1, 40, false), probe(2, 0, true)},
		Speculation: &bench.Speculation{Drafts: 100, DraftTokens: bench.Counted(300), Accepted: bench.Counted(150), AcceptLength: bench.Measured(2.5), ByPosition: []float64{0.9, 0.6}},
	}
	rec := bench.NewRecord(0)
	rec.Due, rec.Admitted, rec.Sent, rec.Done, rec.Text = 0, bench.At(2*time.Millisecond), bench.At(3*time.Millisecond), bench.At(time.Second), "hi"
	r.Records = []bench.Record{rec}
	r.Figures = []bench.Figures{{ID: 0, Input: bench.Counted(256), Output: bench.Counted(2), TTFT: bench.Measured(0.1), E2E: bench.Measured(0.9), ITL: []float64{0.8}}}
	return r
}

// pooled is a run of embeddings, in the dialect of r.
func pooled(r *Run) *Run {
	r.Plan.Spec.Target.API, r.Plan.Spec.SLOs, r.Plan.Spec.CacheReport = bench.APIEmbeddings, nil, false
	r.Summary.Goodput, r.Summary.OutputTokens = nil, bench.Counted(0)
	if v := r.Plan.Spec.VLLM; v != nil {
		v.Metrics, r.Observed = []string{"e2el"}, bench.Observed{}
	}
	return r
}

func TestDialectGoldens(t *testing.T) {
	levels := full()
	levels.Summary.CachedBy = bench.CacheLevels{Device: bench.Counted(500), Host: bench.Counted(200), Storage: bench.Counted(100), Backend: "mooncake"}
	levels.Summary.AcceptLength = bench.Measured(2.25)
	for name, f := range map[string]func(*bytes.Buffer) error{
		"vllm_full.txt":     func(b *bytes.Buffer) error { return VLLMBlock(b, vllmRun()) },
		"vllm_pooling.txt":  func(b *bytes.Buffer) error { return VLLMBlock(b, pooled(vllmRun())) },
		"block_levels.txt":  func(b *bytes.Buffer) error { return SGLangBlock(b, levels) },
		"block_pooling.txt": func(b *bytes.Buffer) error { return SGLangBlock(b, pooled(full())) },
	} {
		var b bytes.Buffer
		if err := f(&b); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		head, _, _ := strings.Cut(b.String(), besideTitle) // what follows is the same in every dialect
		golden(t, name, head)
	}
	for name, r := range map[string]*Run{"vllm_full.json": vllmRun(), "vllm_pooling.json": pooled(vllmRun())} {
		b, err := VLLMResult(r)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var pretty bytes.Buffer
		if err := json.Indent(&pretty, b, "", " "); err != nil {
			t.Errorf("%s: not legal JSON: %v", name, err)
		}
		head, _, _ := strings.Cut(pretty.String(), ` "servemark": {`)
		golden(t, name, head+"\n")
	}
}

// The original's keys of a saved result, detailed, in its order (0.33).
func TestVLLMKeysInOrder(t *testing.T) {
	want := strings.Fields(`date endpoint_type backend label model_id tokenizer_id num_prompts tp request_rate burstiness max_concurrency duration completed failed
		total_input_tokens total_output_tokens request_throughput request_goodput output_throughput total_token_throughput input_lens output_lens ttfts itls latencies start_times
		queue_times generated_texts errors max_output_tokens_per_s max_concurrent_requests rtfx probe_completed probe_failed probe_median_e2el_ms probe_p99_e2el_ms probe_max_e2el_ms
		spec_decode_acceptance_rate spec_decode_acceptance_length spec_decode_num_drafts spec_decode_draft_tokens spec_decode_accepted_tokens spec_decode_per_position_acceptance_rates
		mean_ttft_ms median_ttft_ms std_ttft_ms p90_ttft_ms p99.9_ttft_ms`)
	b, err := VLLMResult(vllmRun())
	if err != nil {
		t.Fatal(err)
	}
	got := keys(t, b)
	if len(got) < len(want) {
		t.Fatalf("%d keys, want at least %d", len(got), len(want))
	}
	for i, k := range want {
		if got[i] != k {
			t.Fatalf("key %d is %s, want %s, in %q", i, got[i], k, got)
		}
	}
	if last := got[len(got)-1]; last != "servemark" {
		t.Errorf("the last key is %s, want all of servemark's own under servemark", last)
	}
}

func TestVLLMFileName(t *testing.T) {
	now := time.Date(2026, 11, 5, 10, 30, 9, 0, time.UTC)
	for _, tc := range []struct {
		change func(*bench.Spec)
		want   string
	}{
		{func(*bench.Spec) {}, "night-5.0qps-concurrency8-glm-5-20261105-103009.json"},
		{func(s *bench.Spec) { s.Load, s.VLLM.Label = bench.LoadSpec{}, "" }, "openai-infqps-glm-5-20261105-103009.json"},
		{func(s *bench.Spec) {
			s.Load = bench.LoadSpec{RampUp: &bench.RampUp{Start: 1, End: 20}}
			s.Model.Asked = "/models/x/"
		},
			"night-ramp-up-linear-1qps-20qps-x-20261105-103009.json"},
	} {
		s := vllmRun().Plan.Spec
		tc.change(&s)
		if got := VLLMFileName(&s, now); got != tc.want {
			t.Errorf("VLLMFileName = %s, want %s", got, tc.want)
		}
	}
}

func TestRampEvents(t *testing.T) {
	r := vllmRun()
	r.Plan.Spec.Load = bench.LoadSpec{RampUp: &bench.RampUp{Start: 1, End: 3}}
	for i := range 5 {
		r.Plan.Requests = append(r.Plan.Requests, bench.Request{ID: i, Due: bench.At(time.Duration(i) * time.Second)})
	}
	got := rampEvents(r)
	if len(got) != 3 || got[1].RPS != 2 || got[1].Timestamp != "2026-11-05T10:30:02.000000" || got[2].Timestamp != "2026-11-05T10:30:04.000000" {
		t.Errorf("rampEvents = %+v, want 1 at once, 2 with request 2 and 3 with request 4", got)
	}
}

func TestPlot(t *testing.T) {
	var b bytes.Buffer
	if err := Plot(&b, []float64{0, 50, 100}, 2*time.Second); err != nil {
		t.Fatal(err)
	}
	want := "Output tokens per second, in steps of 2s:\n" +
		"      0s | 0\n      2s |" + strings.Repeat("#", 25) + " 50\n      4s |" + strings.Repeat("#", 50) + " 100\n"
	if b.String() != want {
		t.Errorf("Plot =\n%swant\n%s", b.String(), want)
	}
	b.Reset()
	if Plot(&b, nil, 0); !strings.Contains(b.String(), "cannot be drawn") {
		t.Errorf("Plot of nothing = %q, want the reason", b.String())
	}
}

func TestToolFigures(t *testing.T) {
	var b bytes.Buffer
	err := ToolFigures(&b, "aiperf", []stats.ToolFigure{
		{Word: "ttft", Name: "p50 TTFT", Unit: "ms", Value: bench.Measured(12.345), Rule: "a rule"},
		{Word: "ttft", Name: "p99 TTFT", Unit: "ms", Value: bench.Measured(20), Rule: "a rule"},
		{Word: "itl", Name: "p50 ITL", Unit: "ms", Why: "n/a without saved text", Rule: "another"}})
	if err != nil {
		t.Fatal(err)
	}
	want := "As AIPerf 0.13 defines them, from this run's records:\n\nttft: a rule\n" +
		"  p50 TTFT                               12.35 ms\n  p99 TTFT                               20 ms\nitl: another\n" +
		"  p50 ITL                                n/a without saved text\n"
	if b.String() != want {
		t.Errorf("ToolFigures =\n%s\nwant\n%s", b.String(), want)
	}
}
