package stats

import (
	"testing"
	"time"

	"github.com/servemark/servemark/internal/bench"
)

// chunksAt are token chunks at the given milliseconds.
func chunksAt(channel bench.Channel, ms ...int) []bench.Chunk {
	var out []bench.Chunk
	for _, at := range ms {
		out = append(out, bench.Chunk{At: bench.At(time.Duration(at) * time.Millisecond), Channel: channel})
	}
	return out
}

// vllmRun is two streamed chat replies under a cap of one at a rate; the second waits for the first.
func vllmRun(strict bool) (*bench.Plan, []bench.Record) {
	ms := func(n int) bench.Instant { return bench.At(time.Duration(n) * time.Millisecond) }
	plan := &bench.Plan{
		Spec: bench.Spec{Dialect: bench.DialectVLLM, Strict: strict, Target: bench.Target{API: bench.APIChat, Stream: true},
			Load: bench.LoadSpec{Rate: 2, Concurrency: 1}, SLOs: []bench.SLO{{Metric: "ttft", Max: 150 * time.Millisecond}},
			VLLM: &bench.VLLMReport{Percentiles: []float64{50, 99.9}}},
		Requests: []bench.Request{{ID: 0, InputTokens: bench.Counted(10), OutputTokens: 4}, {ID: 1, InputTokens: bench.Counted(10), OutputTokens: 4}},
	}
	a := bench.NewRecord(0)
	a.Due, a.Admitted, a.Sent, a.Done, a.Streamed = ms(0), ms(0), ms(0), ms(520), true
	a.Chunks = append(chunksAt(bench.ChannelReasoning, 100), chunksAt(bench.ChannelContent, 300, 500)...)
	a.Usage = bench.Usage{Prompt: bench.Counted(12), Completion: bench.Counted(5)}
	b := bench.NewRecord(1)
	b.Due, b.Admitted, b.Sent, b.Done, b.Streamed = ms(200), ms(521), ms(531), ms(1151), true
	b.Chunks = append(chunksAt(bench.ChannelContent, 731, 931), chunksAt(bench.ChannelRefusal, 1131)...)
	b.Usage = bench.Usage{Prompt: bench.Counted(12), Completion: bench.Counted(3)}
	return plan, []bench.Record{a, b}
}

func milli(m bench.Measure) int {
	v, ok := m.Get()
	if !ok {
		return -1
	}
	return int(v*1000 + 0.5)
}

func TestStrictVLLM(t *testing.T) {
	plan, records := vllmRun(true)
	s := Strict(plan, records)
	if in, out := s.InputTokens.Or(-1), s.OutputTokens.Or(-1); in != 24 || out != 8 {
		t.Errorf("tokens = %d in, %d out, want the server's 24 and 8", in, out)
	}
	// E2E: 500 and 931-531 = 400, for a refusal is no token; ITL: 200, 200, 200; TPOT: 400/4 and 200/2.
	for _, x := range []struct {
		what string
		got  float64
		want float64
	}{{"E2E", s.E2E.Mean, 0.450}, {"TTFT", s.TTFT.Mean, 0.150}, {"ITL", s.ITL.Mean, 0.2}, {"TPOT", s.TPOT.Mean, 0.1}, {"duration", s.Duration.Seconds(), 1.151}} {
		if d := x.got - x.want; d > 1e-9 || d < -1e-9 {
			t.Errorf("%s = %v, want %v", x.what, x.got, x.want)
		}
	}
	if s.ITL.N != 3 || s.PeakConcurrency != 2 || milli(s.PeakOutputRate) != 5000 {
		t.Errorf("%d gaps, peak of %d requests and %v tokens in a bin; want 3, 2 (both touch the first second) and 5", s.ITL.N, s.PeakConcurrency, s.PeakOutputRate)
	}
	if s.Goodput == nil || s.Goodput.Good != 1 {
		t.Errorf("goodput = %+v, want one good request: 100 ms keeps the limit, 200 ms does not", s.Goodput)
	}
	none := records[0]
	none.Usage.Completion = bench.Unknown
	if got := Strict(plan, []bench.Record{none}).OutputTokens.Or(-1); got != 1 {
		t.Errorf("without usage and tokenizer %d output tokens, want 1", got)
	}
}

func TestVLLMFigures(t *testing.T) {
	for _, tc := range []struct {
		strict               bool
		e2e, queue, with     int // medians in ms
		gaps                 int
		without, unscheduled bool
	}{
		{strict: true, e2e: 450, queue: 166, with: 616, gaps: 3},  // 0 and 331; 500 and 731
		{strict: false, e2e: 550, queue: 161, with: 711, gaps: 6}, // 0 and 321; E2E 500 and 600 with the refusal; a gap for each of 5-1 + 3-1 tokens
	} {
		plan, records := vllmRun(tc.strict)
		f := VLLM(plan, records)
		median := func(d bench.Distribution) int { q, _ := d.Quantile(50); return int(q.Value*1000 + 0.5) }
		if median(f.E2E) != tc.e2e || median(f.Queue) != tc.queue || median(f.WithQueue) != tc.with || f.ITL.N != tc.gaps {
			t.Errorf("strict %v: E2E %d, queue %d, both %d ms, %d gaps; want %d, %d, %d, %d", tc.strict, median(f.E2E), median(f.Queue), median(f.WithQueue), f.ITL.N, tc.e2e, tc.queue, tc.with, tc.gaps)
		}
		if _, ok := f.TTFT.Quantile(99.9); !ok || len(f.TTFT.Quantiles) != 2 {
			t.Errorf("strict %v: quantiles %v, want 50 and 99.9 alone", tc.strict, f.TTFT.Quantiles)
		}
		plan.Spec.Load.Concurrency = 0
		if f := VLLM(plan, records); f.Queue.Measured() || f.WithQueue.Measured() {
			t.Errorf("strict %v: a wait without a cap: %+v", tc.strict, f.Queue)
		}
	}
}

func TestVLLMPooling(t *testing.T) {
	plan := &bench.Plan{Spec: bench.Spec{Dialect: bench.DialectVLLM, Strict: true, Target: bench.Target{API: bench.APIEmbeddings}},
		Requests: []bench.Request{{ID: 0, Prompt: bench.Prompt{Texts: []string{"a", "b", "c"}}}}}
	rec := bench.NewRecord(0)
	rec.Admitted, rec.Sent, rec.Done = 0, 0, bench.At(80*time.Millisecond)
	rec.Usage = bench.Usage{Prompt: bench.Counted(9), Completion: bench.Counted(0)}
	records := []bench.Record{rec}
	f, s := VLLM(plan, records), Strict(plan, records)
	if f.Inputs != 3 || f.E2E.Mean != 0.08 || s.OutputTokens.Or(-1) != 0 || s.InputTokens.Or(-1) != 9 || s.TPOT.Measured() {
		t.Errorf("inputs %d, E2E %v, %v output and %v input tokens, TPOT %v; want 3, 80 ms, 0, 9, none", f.Inputs, f.E2E.Mean, s.OutputTokens, s.InputTokens, s.TPOT)
	}
	plan.Spec.Target.API = bench.APIRerank
	if f := VLLM(plan, records); f.Inputs != 2 {
		t.Errorf("a query and two documents are %d inputs, want 2", f.Inputs)
	}
}
