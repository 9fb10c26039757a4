package experiment

import (
	"math"
	"os"
	"strconv"
	"testing"

	"github.com/servemark/servemark/internal/bench"
	"github.com/servemark/servemark/internal/stats"
)

// repeats is how many experiments a coverage test makes: 100, or a few where minutes are not allowed.
func repeats(few int) int {
	if os.Getenv("SERVEMARK_LONG") == "" {
		return few
	}
	return 100
}

// sized is how many experiments a check makes that takes long even for a few: few where minutes are not allowed, some with
// SERVEMARK_LONG=1, and as many as SERVEMARK_LONG says where it is a larger number.
func sized(few, some int) int {
	switch n, err := strconv.Atoi(os.Getenv("SERVEMARK_LONG")); {
	case os.Getenv("SERVEMARK_LONG") == "":
		return few
	case err == nil && n > 1:
		return n
	}
	return some
}

// closed makes a plan with a fixed number of requests in flight.
func (w *world) closed(flight, requests int, seed int64) *bench.Plan {
	p := w.plan(0, requests, seed)
	p.Spec.Load = bench.LoadSpec{Concurrency: flight}
	return p
}

// slower is the same engine with every step and time stretched.
func (w world) slower(by float64) *world {
	s := &w.engine.Step
	s.Base, s.PerSeq, s.PerContext, s.PerToken, s.PerArea = s.Base*by, s.PerSeq*by, s.PerContext*by, s.PerToken*by, s.PerArea*by
	return &w
}

func (w *world) summary(t testing.TB, p *bench.Plan) bench.Summary {
	records := w.run(t, p)
	return stats.Summarize(p, records, stats.Options{})
}

// runsPerSide and requestsPerRun are the size at which a change of 5 % is to be found.
const (
	runsPerSide    = 5
	requestsPerRun = 200
)

// TestCompareFindsWhatIsThere: equal sides show no difference in 90 of 100 comparisons, and a change of 5 % is found in 85.
func TestCompareFindsWhatIsThere(t *testing.T) {
	n := repeats(2)
	w := worlds()[1]
	w.engine.Seed = 1
	five := w.slower(1.05)
	quiet, found := 0, 0
	for i := range n {
		var a, b, c []bench.Summary
		for k := range runsPerSide {
			seed := int64(1000*i + k)
			a = append(a, w.summary(t, w.closed(8, requestsPerRun, seed)))
			b = append(b, w.summary(t, w.closed(8, requestsPerRun, seed+300)))
			c = append(c, five.summary(t, five.closed(8, requestsPerRun, seed+600)))
		}
		out := stats.Compare(a, [][]bench.Summary{b}, "output_throughput", "", false)
		if out[0].Headline.Says == stats.NoDifference {
			quiet++
		}
		if out = stats.Compare(a, [][]bench.Summary{c}, "output_throughput", "", false); out[0].Headline.Says == stats.Worse {
			found++
		}
	}
	t.Logf("%d runs of %d requests a side: no difference seen in %d of %d equal ones, 5 %% found in %d of %d", runsPerSide, requestsPerRun, quiet, n, found, n)
	if n == 100 && (quiet < 90 || found < 85) || found == 0 {
		t.Errorf("no difference seen in %d of %d equal comparisons and 5 %% found in %d; want at least 90 %% and 85 %%", quiet, n, found)
	}
}

// TestCompareEqualQueues: where the requests of a run hang together most, in a queue at 60 % load, equal sides stay equal.
func TestCompareEqualQueues(t *testing.T) {
	n := repeats(3)
	w := worlds()[0]
	quiet, any := 0, 0
	for i := range n {
		var a, b []bench.Summary
		for k := range runsPerSide {
			seed := int64(1000*i + k)
			a = append(a, w.summary(t, w.plan(0.6*w.saturation(), 500, seed)))
			b = append(b, w.summary(t, w.plan(0.6*w.saturation(), 500, seed+300)))
		}
		c := stats.Compare(a, [][]bench.Summary{b}, "ttft", "mean", false)[0]
		if c.Headline.Says == stats.NoDifference {
			quiet++
		}
		for _, d := range c.Others {
			if d.Says == stats.Better || d.Says == stats.Worse {
				any++
				break
			}
		}
	}
	t.Logf("no difference seen in %d of %d equal queues; some other number differed in %d", quiet, n, any)
	if n == 100 && (quiet < 90 || any > 10) || quiet == 0 {
		t.Errorf("no difference seen in %d of %d equal queues, some other number differed in %d; want at least 90 %% and at most 10 %%", quiet, n, any)
	}
}

// saturation is the rate at which four places are always busy: 40 ms and 15.5 gaps of 5 ms each on average.
func (w *world) saturation() float64 { return 4 / 0.1175 }

// TestQuantileIntervals: nominal 95 % intervals of quantiles hold the true ones, at low, middle and high load.
func TestQuantileIntervals(t *testing.T) {
	w := worlds()[0]
	n, requests := repeats(2), 2000
	if n < 100 {
		requests = 400
	}
	for _, load := range []struct {
		name  string
		share float64
		least int // of 100
	}{{"low", 0.3, 90}, {"middle", 0.6, 90}, {"high", 0.85, 88}} {
		rate := load.share * w.saturation()
		long := w.summary(t, w.plan(rate, 50*requests, 99))
		runs := make([]bench.Summary, n)
		for i := range runs {
			runs[i] = w.summary(t, w.plan(rate, requests, int64(i)))
		}
		for _, p := range []float64{50, 90, 99} {
			truth, _ := long.E2EFromDue.Quantile(p)
			held, open := 0, 0
			for i := range runs {
				q, _ := runs[i].E2EFromDue.Quantile(p)
				low, ok := q.Low.Get()
				high, too := q.High.Get()
				if !ok || !too {
					open++
				}
				if (!ok || low <= truth.Value) && (!too || truth.Value <= high) {
					held++
				}
			}
			t.Logf("%s load, p%.0f of %d requests: %d of %d intervals hold %.4f s, %d of them open", load.name, p, requests, held, n, truth.Value, open)
			if held*100 < load.least*n && n == 100 {
				t.Errorf("%s load, p%.0f: %d of %d intervals hold the true %v, want at least %d %%", load.name, p, held, n, truth.Value, load.least)
			}
		}
	}
}

// TestSteadyStateCut: without the ramp-up the mean of E2E is nearer to where it settles than that of the whole run, which starts on
// an idle engine, at low, middle and high load.
func TestSteadyStateCut(t *testing.T) {
	w := worlds()[1]
	n := repeats(3)
	for _, flight := range []int{4, 16, 64} {
		long := w.summary(t, w.closed(flight, 200*n, 7))
		truth := long.SteadyState.E2E.Mean
		var whole, window, cut float64
		reached := 0
		for i := range n {
			s := w.summary(t, w.closed(flight, 10*flight+100, int64(i)))
			whole += s.E2E.Mean / float64(n)
			if s.SteadyState == nil || !s.SteadyState.Reached {
				continue
			}
			reached++
			window += s.SteadyState.E2E.Mean
			cut += float64(s.SteadyState.CutBefore) / float64(s.E2E.N)
		}
		if reached == 0 {
			t.Errorf("%d in flight: no run of %d settled", flight, n)
			continue
		}
		window, cut = window/float64(reached), cut/float64(reached)
		t.Logf("%d in flight: %d of %d runs settled, %.0f %% cut; E2E settles at %.4f s, whole runs say %+.1f %%, windows %+.1f %%", flight, reached, n, 100*cut, truth, 100*(whole/truth-1), 100*(window/truth-1))
		worst := 0.15 // of a few runs
		if n == 100 {
			worst = math.Max(0.02, math.Abs(whole/truth-1))
		}
		if n == 100 && reached < 85 || math.Abs(window/truth-1) > worst {
			t.Errorf("%d in flight: %d of %d runs settled at %+.1f %% of the truth, whole runs at %+.1f %%; want 85 in 100, and the window no worse", flight, reached, n, 100*(window/truth-1), 100*(whole/truth-1))
		}
	}
}
