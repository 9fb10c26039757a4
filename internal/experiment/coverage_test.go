package experiment

import (
	"context"
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/servemark/servemark/internal/bench"
	"github.com/servemark/servemark/internal/sim/engine"
	"github.com/servemark/servemark/internal/sim/virtual"
	"github.com/servemark/servemark/internal/stats"
)

// world is a simulated deployment with a workload and a goal whose true capacity can be computed by brute force.
type world struct {
	name    string
	engine  engine.Params
	goal    bench.Goal
	in, out int
	ratio   float64
	start   float64
	// draw makes lengths in place of in, out and ratio; slos are those of an attainment goal; whole loads are requests in flight.
	draw  func(rng *rand.Rand) (in, out int)
	slos  []bench.SLO
	whole bool
	// truth is the capacity found by bisection over runs of truthRequests, see TestTruth; wide is the mean width of the interval
	// (high ÷ low − 1) that the search is to stay below.
	truth, wide float64
}

// worlds are three engines that bend in different ways: four places with fixed times (a queue), continuous batching with chunked
// prompts (vLLM's schedule) and prompt-first batches with a small KV pool (SGLang's).
func worlds() []world {
	return []world{
		{name: "four places", engine: engine.Params{TTFT: 40 * time.Millisecond, ITL: 5 * time.Millisecond, MaxSeqs: 4}, in: 16, out: 32, ratio: 0, start: 1, truth: 21.35, wide: 0.3,
			goal: bench.Goal{Name: "p90 ttft < 100ms", Metric: "ttft", Statistic: "p90", Op: bench.LessThan, Bound: 0.1}},
		{name: "continuous batching", engine: engine.Params{Schedule: engine.VLLM, MaxSeqs: 32,
			Step: engine.StepModel{Base: 8, PerSeq: 0.2, PerToken: 0.05, Overlap: 0.2, Noise: 0.05}}, in: 256, out: 24, ratio: 0.25, start: 1, truth: 67.5, wide: 0.3,
			goal: bench.Goal{Name: "p95 ttft < 200ms", Metric: "ttft", Statistic: "p95", Op: bench.LessThan, Bound: 0.2}},
		{name: "prompts first", engine: engine.Params{Schedule: engine.SGLang, MaxSeqs: 16, KVTokens: 4096,
			Step: engine.StepModel{Base: 10, PerSeq: 0.1, PerToken: 0.06, Overlap: 0.3, Noise: 0.05}}, in: 200, out: 32, ratio: 0.5, start: 1, truth: 29.03, wide: 0.3,
			goal: bench.Goal{Name: "mean e2e < 1s", Metric: "e2e", Statistic: "mean", Op: bench.LessThan, Bound: 1}},
	}
}

// plan asks requests at a load.
func (w *world) plan(load float64, requests int, seed int64) *bench.Plan {
	spec := bench.Spec{Dialect: bench.DialectNative, Target: bench.Target{Stream: true}, Load: bench.LoadSpec{Rate: load}, SLOs: w.slos,
		Dataset: bench.DatasetSpec{Rows: requests, InputTokens: w.in, OutputTokens: w.out, RangeRatio: w.ratio}}
	if w.whole {
		spec.Load = bench.LoadSpec{Concurrency: int(load)}
	}
	p := Synthetic(spec, seed)
	if w.draw != nil {
		w.drawn(p, seed)
	}
	return p
}

// run sends a plan through the engine in virtual time, to its end.
func (w *world) run(t testing.TB, p *bench.Plan) []bench.Record {
	t.Helper()
	return w.observe(t, p, nil)
}

// observe does so for as long as there is hope.
func (w *world) observe(t testing.TB, p *bench.Plan, o *stats.Outlook) []bench.Record {
	t.Helper()
	e := w.engine
	e.Seed = uint64(p.Requests[len(p.Requests)-1].Due) // the engine's own noise is another one in every run
	if w.whole {
		e.Seed, _ = strconv.ParseUint(p.Fingerprint[:16], 16, 64)
	}
	r, err := virtual.New(virtual.Options{Engine: e})
	if err != nil {
		t.Fatal(err)
	}
	records, err := Observe(context.Background(), p, o, r.Run)
	if err != nil {
		t.Fatal(err)
	}
	return records
}

// search looks for the capacity as slo does, overloaded trials ended early.
func (w *world) search(t testing.TB, seed int64) Found {
	return w.searchWith(t, seed, w.observe)
}

func (w *world) searchWith(t testing.TB, seed int64, observe func(testing.TB, *bench.Plan, *stats.Outlook) []bench.Record) Found {
	t.Helper()
	s := Search{Goals: []bench.Goal{w.goal}, Start: w.start, Whole: w.whole, Tolerance: 0.1, MaxRequests: 60_000, Seed: seed,
		Trial: func(_ context.Context, load float64, requests int, seed int64, o *stats.Outlook) (*bench.Plan, []bench.Record, error) {
			p := w.plan(load, requests, seed)
			return p, observe(t, p, o), nil
		}}
	f, err := s.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// value is the goal's share or mean at a rate over one very long run, its ramp-up left out.
func (w *world) value(t testing.TB, rate float64, requests int) (value, target float64, upper bool) {
	p := w.plan(rate, requests, 4242)
	e := stats.Judge([]bench.Goal{w.goal}, []stats.Judged{{Plan: p, Records: w.run(t, p)}}, 0.01, 1)[0]
	return e.Value, e.Target, e.Target == w.goal.Bound
}

// long skips a test that needs minutes.
func long(t *testing.T) {
	t.Helper()
	if os.Getenv("SERVEMARK_LONG") == "" {
		t.Skip("needs minutes: hundreds of experiments in virtual time; SERVEMARK_LONG=1 runs it")
	}
}

const truthRequests = 100_000

// TestTruth finds each world's capacity by bisection over long runs and holds the written one against it.
func TestTruth(t *testing.T) {
	long(t)
	for _, w := range worlds() {
		low, high := w.start, w.start*400
		for high/low > 1.002 {
			mid := math.Sqrt(low * high)
			n := truthRequests
			if high/low > 1.2 {
				n = 20_000
			}
			value, target, upper := w.value(t, mid, n)
			if (value >= target) != upper {
				low = mid
			} else {
				high = mid
			}
		}
		got := math.Sqrt(low * high)
		t.Logf("%s: capacity %.3f requests per second", w.name, got)
		if math.Abs(got/w.truth-1) > 0.006 {
			t.Errorf("%s: capacity by brute force = %.3f, the tests take %.3f", w.name, got, w.truth)
		}
	}
}

// TestSearchHolds: the interval of the search holds the true capacity in at least 90 of 100 runs.
func TestSearchHolds(t *testing.T) {
	runs := repeats(1)
	for _, w := range worlds() {
		held, confirmed, requests := 0, 0, 0
		var width float64
		for seed := range runs {
			f := w.search(t, int64(seed)*1000)
			low, ok := f.Low.Get()
			high, too := f.High.Get()
			if !ok || !too {
				for _, st := range f.Steps {
					e := st.Evidence[0]
					t.Logf("%s %v: %d requests, eff %.0f, %.4f (%.4f to %.4f, target %.4f) %s", st.Purpose, st.Load, st.Requests, e.Effective, e.Value, e.Low, e.High, e.Target, st.Standing)
				}
				t.Errorf("%s, seed %d: interval %v to %v, want both ends (%s)", w.name, seed, f.Low, f.High, f.Stopped)
				continue
			}
			if low <= w.truth && w.truth <= high {
				held++
			} else {
				t.Logf("%s, seed %d: %v to %v", w.name, seed, low, high)
			}
			if f.Confirmed {
				confirmed++
			}
			width += (high/low - 1) / float64(runs)
			requests += f.Requests
		}
		t.Logf("%s: %d of %d intervals hold %.2f requests per second; mean width %.1f %%, %d requests each, %d confirmed", w.name, held, runs, w.truth, 100*width, requests/runs, confirmed)
		if runs == 100 && (held < 90 || width > w.wide) {
			t.Errorf("%s: %d of %d intervals hold the capacity with a mean width of %.1f %%; want at least 90 in 100 and at most %.0f %%", w.name, held, runs, 100*width, 100*w.wide)
		}
	}
}
