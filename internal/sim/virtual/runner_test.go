package virtual

import (
	"context"
	"errors"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/servemark/servemark/internal/bench"
	"github.com/servemark/servemark/internal/sim/engine"
)

var fixed = engine.Params{TTFT: 40 * time.Millisecond, ITL: 10 * time.Millisecond}

func planOf(n, in, out int, load bench.LoadSpec, gap time.Duration) *bench.Plan {
	p := &bench.Plan{Spec: bench.Spec{Target: bench.Target{Stream: true}, Load: load}}
	for i := range n {
		due := bench.Never
		if gap > 0 {
			due = bench.At(time.Duration(i) * gap)
		}
		p.Requests = append(p.Requests, bench.Request{ID: i, Due: due, InputTokens: bench.Counted(in), OutputTokens: out})
	}
	return p
}

func runAll(t *testing.T, o Options, p *bench.Plan) []bench.Record {
	t.Helper()
	r, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	var list []bench.Record
	if err := r.Run(t.Context(), p, func(rec bench.Record) error { list = append(list, rec); return nil }); err != nil {
		t.Fatal(err)
	}
	return list
}

func TestRecordsAreExact(t *testing.T) {
	o := Options{Engine: fixed, OneWay: 3 * time.Millisecond}
	list := runAll(t, o, planOf(3, 10, 3, bench.LoadSpec{Rate: 10}, 100*time.Millisecond))
	ms := func(n int) bench.Instant { return bench.At(time.Duration(n) * time.Millisecond) }
	for i, got := range list {
		t0 := 100 * i
		want := bench.NewRecord(i)
		want.Due, want.Admitted, want.Sent, want.Written, want.Header = ms(t0), ms(t0), ms(t0), ms(t0), ms(t0+6)
		want.Done, want.Status, want.Finish, want.Streamed, want.Connection.Reused = ms(t0+66), 200, "length", true, true
		want.Usage = bench.Usage{Prompt: bench.Counted(10), Completion: bench.Counted(3)}
		want.ChunkTokens = bench.ChunkTokensUsage
		for k := range 3 {
			want.Chunks = append(want.Chunks, bench.Chunk{At: ms(t0 + 46 + 10*k), Tokens: 1})
		}
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(bench.Count{})); diff != "" {
			t.Errorf("record %d (-want +got):\n%s", i, diff)
		}
	}
}

func TestConcurrencyIsAWindow(t *testing.T) {
	list := runAll(t, Options{Engine: fixed}, planOf(10, 5, 7, bench.LoadSpec{Concurrency: 3}, 0))
	open, peak := 0, 0
	for at := bench.Instant(0); at <= list[len(list)-1].Done; at += bench.At(time.Millisecond) {
		open = 0
		for _, r := range list {
			if r.Admitted <= at && at < r.Done {
				open++
			}
		}
		peak = max(peak, open)
	}
	if len(list) != 10 || peak != 3 || list[9].Done != bench.At(400*time.Millisecond) {
		t.Errorf("%d records, peak %d, end %v; want 10, 3, 400 ms (four rounds of 100)", len(list), peak, list[len(list)-1].Done)
	}
}

func TestLoadLimits(t *testing.T) {
	for _, tt := range []struct {
		name          string
		load          bench.LoadSpec
		ok, late, all int
	}{
		{"duration admits nothing later", bench.LoadSpec{Rate: 10, Duration: 250 * time.Millisecond}, 3, 0, 3},
		{"whole-request deadline", bench.LoadSpec{RequestTimeout: 60 * time.Millisecond}, 0, 10, 10},
		{"silence deadline", bench.LoadSpec{IdleTimeout: 30 * time.Millisecond}, 0, 10, 10},
		{"silence deadline that holds", bench.LoadSpec{IdleTimeout: 41 * time.Millisecond}, 10, 0, 10},
	} {
		gap := time.Duration(0)
		if tt.load.Rate > 0 {
			gap = 100 * time.Millisecond
		}
		ok, late := 0, 0
		list := runAll(t, Options{Engine: fixed}, planOf(10, 5, 7, tt.load, gap))
		for _, r := range list {
			switch {
			case r.OK():
				ok++
			case r.Failure.Kind == bench.FailTimeout:
				late++
			}
		}
		if ok != tt.ok || late != tt.late || len(list) != tt.all {
			t.Errorf("%s: %d ok, %d timed out of %d records; want %d, %d of %d", tt.name, ok, late, len(list), tt.ok, tt.late, tt.all)
		}
	}
}

func TestTooLongIsARecord(t *testing.T) {
	list := runAll(t, Options{Engine: fixed, ContextLen: 11}, planOf(1, 5, 7, bench.LoadSpec{}, 0))
	if len(list) != 1 || list[0].Status != 400 || list[0].OK() {
		t.Errorf("a request too long gave %+v, want one record of a refusal with 400", list)
	}
}

func TestEndsEarly(t *testing.T) {
	r, err := New(Options{Engine: fixed})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var ok, cancelled int
	err = r.Run(ctx, planOf(10, 5, 7, bench.LoadSpec{Rate: 50}, 20*time.Millisecond), func(rec bench.Record) error {
		if rec.Cancelled {
			cancelled++
			return nil
		}
		if ok++; ok == 2 {
			cancel()
		}
		return nil
	})
	if err != nil || ok != 2 || cancelled == 0 || ok+cancelled > 10 {
		t.Errorf("Run = %v with %d done and %d cancelled, want nil, 2 and the rest in flight", err, ok, cancelled)
	}
	boom := errors.New("boom")
	if err := r.Run(t.Context(), planOf(3, 5, 7, bench.LoadSpec{}, 0), func(bench.Record) error { return boom }); !errors.Is(err, boom) {
		t.Errorf("Run = %v, want the error of emit", err)
	}
	if err := r.Run(t.Context(), &bench.Plan{Requests: []bench.Request{{}}}, nil); err == nil {
		t.Error("Run of a request without token counts = nil, want an error")
	}
}

// BenchmarkRun100k is the stated speed: 100,000 requests of 256 tokens in and 128 out on a batching engine.
func BenchmarkRun100k(b *testing.B) {
	p := planOf(100_000, 256, 128, bench.LoadSpec{Rate: 20}, 0)
	rng, at := rand.New(rand.NewPCG(1, 2)), time.Duration(0)
	for i := range p.Requests {
		at += time.Duration(rng.ExpFloat64() * 50e6)
		p.Requests[i].Due = bench.At(at)
	}
	r, err := New(Options{Engine: engine.Params{Schedule: engine.VLLM,
		Step: engine.StepModel{Base: 7, PerSeq: 0.01, PerContext: 5.6e-5, PerToken: 0.03, Overlap: 0.2}}})
	if err != nil {
		b.Fatal(err)
	}
	n := 0
	for b.Loop() {
		if err := r.Run(b.Context(), p, func(bench.Record) error { n++; return nil }); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "requests/s")
}
