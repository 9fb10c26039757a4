package stats

import (
	"slices"
	"testing"

	"github.com/servemark/servemark/internal/bench"
)

// The original's reading of replies that servemark reads otherwise.
func TestStrictReply(t *testing.T) {
	late := success(0, 0, 5, 100, 160, 200)
	late.Done = 300 * msec
	uncounted := success(0, 0, 0, 100, 200)
	uncounted.Usage.Completion = bench.Unknown
	native := success(0, 0, 6, 100, 160, 200, 240)
	native.ChunkTokens = bench.ChunkTokensUsage
	for i, n := range []uint16{2, 3, 0, 1} {
		native.Chunks[i].Tokens = n
	}
	tool := success(0, 0, 4, 100, 150, 200)
	tool.Chunks[0].Channel = bench.ChannelTool
	whole := success(0, 0, 5)
	whole.Streamed, whole.Done = false, 400*msec
	for _, row := range []struct {
		name            string
		rec             bench.Record
		api             bench.API
		output          int
		ttft, e2e, tpot float64 // tpot < 0: not measured
		itl             []float64
	}{
		{"latency to the last line", late, bench.APIChat, 5, .1, .3, .05, []float64{.06, .04}},
		{"without usage the asked length", uncounted, bench.APICompletions, 8, .1, .2, .1 / 7, []float64{.1}},
		{"native: gap by tokens, the first chunk is one", native, bench.APIGenerate, 6, .1, .24, .028, []float64{.02, .02, .02, .08}},
		{"tool calls are no tokens", tool, bench.APIChat, 4, .15, .2, .05 / 3, []float64{.05}},
		{"not streamed", whole, bench.APIChat, 5, .4, .4, -1, nil},
	} {
		f := strictReply(&row.rec, &bench.Request{OutputTokens: 8}, row.api)
		if n := f.output.Or(-1); n != row.output {
			t.Errorf("%s: output = %d, want %d", row.name, n, row.output)
		}
		wantMeasure(t, row.name+": TTFT", f.ttft, row.ttft)
		wantMeasure(t, row.name+": E2E", f.e2e, row.e2e)
		if row.tpot >= 0 {
			wantMeasure(t, row.name+": TPOT", f.tpot, row.tpot)
		} else if f.tpot.Known() {
			t.Errorf("%s: TPOT = %v, want not measured", row.name, f.tpot)
		}
		if !slices.EqualFunc(f.itl, row.itl, close) {
			t.Errorf("%s: ITL = %v, want %v", row.name, f.itl, row.itl)
		}
	}
}

func TestStrictTotals(t *testing.T) {
	p := planOf(3, 8)
	p.Spec.Target.API = bench.APICompletions
	counted, uncounted, failed := success(0, 500*msec, 5, 100, 200), success(1, 500*msec, 0, 100, 200), success(2, 500*msec, 5, 100)
	counted.Usage.Prompt, counted.Admitted = bench.Counted(99), 0
	counted.Retokenized, uncounted.Retokenized = bench.Counted(6), bench.Counted(7)
	uncounted.Usage.Completion = bench.Unknown
	failed.Fail(bench.FailReset, "reset")
	failed.Done = 2000 * msec
	s := Strict(p, []bench.Record{counted, uncounted, failed})
	if s.InputTokens != bench.Counted(20) || s.OutputTokens != bench.Counted(13) || s.Retokenized != bench.Counted(13) {
		t.Errorf("input, output, retokenized = %v, %v, %v; want the data set's 20, 5 + the asked 8, 13", s.InputTokens, s.OutputTokens, s.Retokenized)
	}
	want(t, "duration", s.Duration.Seconds(), 2)
	wantMeasure(t, "output rate", s.OutputRate, 6.5)
	wantMeasure(t, "concurrency", s.Concurrency, 0.2)
	if s.Completed != 2 || s.Failed != 1 || s.PeakConcurrency != 2 {
		t.Errorf("completed, failed, peak = %d, %d, %d; want 2, 1, 2", s.Completed, s.Failed, s.PeakConcurrency)
	}
}

// Bins begin with the first success; a request is counted in each bin it touches.
func TestStrictBins(t *testing.T) {
	// Never more than two at once, but all three touch the second second; five chunks fall into it.
	records := []bench.Record{success(0, 700*msec, 2, 100, 1100), success(1, 1700*msec, 2, 50, 100), success(2, 1900*msec, 2, 100, 500)}
	s := Strict(planOf(3, 2), records)
	if ours := Summarize(planOf(3, 2), records, Options{}); s.PeakConcurrency != 3 || ours.PeakConcurrency != 2 {
		t.Errorf("strict peak concurrency = %d, ours %d, want 3 and 2", s.PeakConcurrency, ours.PeakConcurrency)
	}
	wantMeasure(t, "strict peak output", s.PeakOutputRate, 5)
}
