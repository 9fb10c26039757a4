package experiment

import (
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/servemark/servemark/internal/bench"
	"github.com/servemark/servemark/internal/sim/engine"
)

// Seeds of the held-out checks, disjoint from those of the other tests and from each other.
const (
	heldOutSeeds = 5_000_000
	freshSeeds   = 6_000_000
	flightSeeds  = 7_000_000
	edgeSeeds    = 8_500_000
	truthSeeds   = 9_000_000
)

// bell draws whole numbers from a log-normal distribution, cut at most.
func bell(rng *rand.Rand, median, sigma float64, most int) int {
	return min(max(int(math.Round(median*math.Exp(sigma*rng.NormFloat64()))), 1), most)
}

// heldOut are deployments that the search's rules were not made with: other engines, lengths with long tails or two humps, and
// other kinds of goals. Their truths come from TestHeldOutTruth.
func heldOut() []world {
	return []world{
		{name: "chat, p99 ttft", start: 1, truth: 54.92,
			engine: engine.Params{Schedule: engine.VLLM, MaxSeqs: 64, TokenBudget: 2048, KVTokens: 60_000,
				Step: engine.StepModel{Base: 7, PerSeq: 0.05, PerContext: 2e-4, PerToken: 0.03, PerArea: 1e-6, Overlap: 0.2, Noise: 0.02}},
			draw: func(rng *rand.Rand) (in, out int) { return bell(rng, 180, 0.8, 2000), bell(rng, 40, 0.6, 200) },
			goal: bench.Goal{Name: "p99 ttft < 300ms", Metric: "ttft", Statistic: "p99", Op: bench.LessThan, Bound: 0.3}},
		{name: "laptop, p90 e2e", start: 0.1, truth: 3.081,
			engine: engine.Params{Schedule: engine.Slots, MaxSeqs: 4, Step: engine.StepModel{Base: 20, PerSeq: 1.5, PerToken: 0.8, Overlap: 0.5, Noise: 0.1}},
			draw: func(rng *rand.Rand) (in, out int) {
				if rng.Float64() < 0.8 {
					return 20 + rng.IntN(40), 10 + rng.IntN(20)
				}
				return 300 + rng.IntN(300), 20 + rng.IntN(40)
			},
			goal: bench.Goal{Name: "p90 e2e < 3s", Metric: "e2e", Statistic: "p90", Op: bench.LessThan, Bound: 3}},
		{name: "decoding, p95 tpot", start: 2, truth: 27.78,
			engine: engine.Params{Schedule: engine.SGLang, MaxSeqs: 128, KVTokens: 50_000,
				Step: engine.StepModel{Base: 5, PerSeq: 0.3, PerToken: 0.02, Overlap: 0.1, Noise: 0.03}},
			draw: func(rng *rand.Rand) (in, out int) { return bell(rng, 100, 0.5, 600), 20 + rng.IntN(60) },
			goal: bench.Goal{Name: "p95 tpot < 18ms", Metric: "tpot", Statistic: "p95", Op: bench.LessThan, Bound: 0.018}},
		{name: "long prompts, p95 itl", start: 0.5, truth: 2.956,
			engine: engine.Params{Schedule: engine.VLLM, MaxSeqs: 48, TokenBudget: 512, KVTokens: 80_000,
				Step: engine.StepModel{Base: 10, PerSeq: 0.1, PerToken: 0.06, PerArea: 2e-6, Overlap: 0.3, Noise: 0.04}},
			draw: func(rng *rand.Rand) (in, out int) { return bell(rng, 600, 1, 4000), bell(rng, 30, 0.9, 300) },
			goal: bench.Goal{Name: "p95 itl < 40ms", Metric: "itl", Statistic: "p95", Op: bench.LessThan, Bound: 0.04}},
		{name: "speculative, attainment", start: 1, truth: 26.2,
			engine: engine.Params{Schedule: engine.VLLM, MaxSeqs: 24, KVTokens: 20_000, SpecDepth: 3, SpecAccept: 0.6,
				Step: engine.StepModel{Base: 12, PerSeq: 0.2, PerToken: 0.04, Overlap: 0.2, Noise: 0.05, Draft: 1}},
			draw: func(rng *rand.Rand) (in, out int) { return 50 + rng.IntN(400), bell(rng, 50, 0.5, 250) },
			slos: []bench.SLO{{Metric: "ttft", Max: 250 * time.Millisecond}, {Metric: "e2el", Max: 1500 * time.Millisecond}},
			goal: bench.Goal{Name: "slo_attainment >= 90%", Metric: "slo_attainment", Op: bench.AtLeast, Bound: 0.9}},
		{name: "in flight, p90 e2e", start: 1, truth: 44, whole: true,
			engine: engine.Params{Schedule: engine.SGLang, MaxSeqs: 200, KVTokens: 100_000,
				Step: engine.StepModel{Base: 8, PerSeq: 0.15, PerContext: 1e-4, PerToken: 0.03, Overlap: 0.2, Noise: 0.05}},
			draw: func(rng *rand.Rand) (in, out int) { return bell(rng, 150, 0.7, 1200), bell(rng, 40, 0.5, 160) },
			goal: bench.Goal{Name: "p90 e2e < 2s", Metric: "e2e", Statistic: "p90", Op: bench.LessThan, Bound: 2}},
	}
}

// fresh are a second set, with other goals on token times: nothing in the method was changed in sight of their outcomes.
func fresh() []world {
	return []world{
		{name: "mixed chunks, p95 itl", start: 0.5, truth: 5.601,
			engine: engine.Params{Schedule: engine.SGLang, MaxSeqs: 64, TokenBudget: 1024, KVTokens: 100_000, MixedChunk: true,
				Step: engine.StepModel{Base: 9, PerSeq: 0.12, PerContext: 3e-4, PerToken: 0.05, Overlap: 0.2, Noise: 0.03}},
			draw: func(rng *rand.Rand) (in, out int) {
				if rng.Float64() < 0.7 {
					return bell(rng, 120, 0.6, 800), bell(rng, 60, 0.7, 400)
				}
				return 1500 + rng.IntN(1500), 5 + rng.IntN(15)
			},
			goal: bench.Goal{Name: "p95 itl < 45ms", Metric: "itl", Statistic: "p95", Op: bench.LessThan, Bound: 0.045}},
		{name: "agents, p99 e2e", start: 1, truth: 19.149,
			engine: engine.Params{Schedule: engine.VLLM, MaxSeqs: 40, KVTokens: 30_000,
				Step: engine.StepModel{Base: 6, PerSeq: 0.1, PerToken: 0.04, PerArea: 1e-6, Overlap: 0.4, Noise: 0.1}},
			draw: func(rng *rand.Rand) (in, out int) { return bell(rng, 400, 1.1, 5000), bell(rng, 25, 1, 200) },
			goal: bench.Goal{Name: "p99 e2e < 4s", Metric: "e2e", Statistic: "p99", Op: bench.LessThan, Bound: 4}},
		{name: "eight slots, p95 ttft", start: 0.5, truth: 3.787,
			engine: engine.Params{Schedule: engine.Slots, MaxSeqs: 8, Step: engine.StepModel{Base: 15, PerSeq: 2, PerToken: 0.3, Overlap: 0.3, Noise: 0.05}},
			draw:   func(rng *rand.Rand) (in, out int) { return 100 + rng.IntN(300), bell(rng, 30, 0.5, 120) },
			goal:   bench.Goal{Name: "p95 ttft < 1s", Metric: "ttft", Statistic: "p95", Op: bench.LessThan, Bound: 1}},
		{name: "speculative, p90 tpot", start: 2, truth: 27.325,
			engine: engine.Params{Schedule: engine.SGLang, MaxSeqs: 100, KVTokens: 60_000, SpecDepth: 2, SpecAccept: 0.7,
				Step: engine.StepModel{Base: 9, PerSeq: 0.25, PerToken: 0.03, Overlap: 0.2, Noise: 0.04, Draft: 0.8}},
			draw: func(rng *rand.Rand) (in, out int) { return bell(rng, 200, 0.4, 800), 15 + rng.IntN(70) },
			goal: bench.Goal{Name: "p90 tpot < 15ms", Metric: "tpot", Statistic: "p90", Op: bench.LessThan, Bound: 0.015}},
		{name: "in flight, attainment", start: 1, truth: 68, whole: true,
			engine: engine.Params{Schedule: engine.VLLM, MaxSeqs: 128, TokenBudget: 1024, KVTokens: 120_000,
				Step: engine.StepModel{Base: 8, PerSeq: 0.2, PerContext: 1e-4, PerToken: 0.025, Overlap: 0.2, Noise: 0.04}},
			draw: func(rng *rand.Rand) (in, out int) { return bell(rng, 250, 0.8, 2000), bell(rng, 45, 0.6, 200) },
			slos: []bench.SLO{{Metric: "ttft", Max: 400 * time.Millisecond}, {Metric: "tpot", Max: 30 * time.Millisecond}},
			goal: bench.Goal{Name: "slo_attainment >= 95%", Metric: "slo_attainment", Op: bench.AtLeast, Bound: 0.95}},
	}
}

// inFlight are a third set, of numbers in flight only: nothing in the method was changed in sight of their outcomes either.
func inFlight() []world {
	return []world{
		{name: "sglang in flight, p95 ttft", start: 1, truth: 111, whole: true,
			engine: engine.Params{Schedule: engine.SGLang, MaxSeqs: 96, KVTokens: 60_000,
				Step: engine.StepModel{Base: 10, PerSeq: 0.1, PerToken: 0.04, PerArea: 1e-6, Overlap: 0.3, Noise: 0.05}},
			draw: func(rng *rand.Rand) (in, out int) { return bell(rng, 300, 0.6, 1500), bell(rng, 35, 0.7, 200) },
			goal: bench.Goal{Name: "p95 ttft < 600ms", Metric: "ttft", Statistic: "p95", Op: bench.LessThan, Bound: 0.6}},
		{name: "slots in flight, p90 e2e", start: 1, truth: 22, whole: true,
			engine: engine.Params{Schedule: engine.Slots, MaxSeqs: 16, Step: engine.StepModel{Base: 25, PerSeq: 1, PerToken: 0.5, Overlap: 0.3, Noise: 0.08}},
			draw:   func(rng *rand.Rand) (in, out int) { return 30 + rng.IntN(270), bell(rng, 40, 0.4, 120) },
			goal:   bench.Goal{Name: "p90 e2e < 6s", Metric: "e2e", Statistic: "p90", Op: bench.LessThan, Bound: 6}},
		{name: "vllm in flight, p90 tpot", start: 2, truth: 72, whole: true,
			engine: engine.Params{Schedule: engine.VLLM, MaxSeqs: 256, TokenBudget: 2048, KVTokens: 150_000,
				Step: engine.StepModel{Base: 6, PerSeq: 0.1, PerContext: 2e-4, PerToken: 0.03, Overlap: 0.2, Noise: 0.03}},
			draw: func(rng *rand.Rand) (in, out int) { return bell(rng, 200, 0.8, 1500), 20 + rng.IntN(80) },
			goal: bench.Goal{Name: "p90 tpot < 25ms", Metric: "tpot", Statistic: "p90", Op: bench.LessThan, Bound: 0.025}},
		{name: "speculative in flight, attainment", start: 1, truth: 44, whole: true,
			engine: engine.Params{Schedule: engine.VLLM, MaxSeqs: 64, KVTokens: 40_000, SpecDepth: 3, SpecAccept: 0.65,
				Step: engine.StepModel{Base: 11, PerSeq: 0.25, PerToken: 0.03, Overlap: 0.3, Noise: 0.06, Draft: 0.9}},
			draw: func(rng *rand.Rand) (in, out int) { return 40 + rng.IntN(500), bell(rng, 60, 0.6, 300) },
			slos: []bench.SLO{{Metric: "ttft", Max: 300 * time.Millisecond}, {Metric: "e2el", Max: 2 * time.Second}},
			goal: bench.Goal{Name: "slo_attainment >= 90%", Metric: "slo_attainment", Op: bench.AtLeast, Bound: 0.9}},
	}
}

// reached is the share of a very long run within the goal's bound, its first fiftieth left out, by the definitions in docs/metrics.md and
// straight from the records: nothing of the code that judges goals takes part.
func (w *world) reached(t testing.TB, load float64, requests int, seed int64) (share, target float64) {
	target = w.goal.Bound
	if digits, ok := strings.CutPrefix(w.goal.Statistic, "p"); ok {
		p, _ := strconv.ParseFloat(digits, 64)
		target = p / 100
	}
	var inside, all float64
	for _, r := range w.run(t, w.plan(load, requests, seed)) {
		from := r.Due
		if w.whole {
			from = r.Sent
		}
		n := r.Usage.Completion.Or(0)
		ttft, e2e, tpot := r.FirstChunk().Sub(from).Seconds(), r.LastChunk().Sub(from).Seconds(), 0.0
		if n > 1 {
			tpot = r.LastChunk().Sub(r.FirstChunk()).Seconds() / float64(n-1)
		}
		good := true
		switch {
		case r.ID < requests/50, w.goal.Metric == "tpot" && n < 2:
			continue
		case w.goal.Metric == "itl":
			for i := 1; i < len(r.Chunks); i++ {
				tokens := float64(r.Chunks[i].Tokens)
				if all += tokens; r.Chunks[i].At.Sub(r.Chunks[i-1].At).Seconds()/tokens < w.goal.Bound {
					inside += tokens
				}
			}
			continue
		case w.goal.Metric == "slo_attainment":
			for _, slo := range w.slos {
				good = good && map[string]float64{"ttft": ttft, "tpot": tpot, "e2el": e2e}[slo.Metric] <= slo.Max.Seconds()
			}
		default:
			good = map[string]float64{"ttft": ttft, "tpot": tpot, "e2e": e2e}[w.goal.Metric] < w.goal.Bound
		}
		if all++; good {
			inside++
		}
	}
	return inside / all, target
}

// meets reports whether such a run meets the goal.
func (w *world) meets(t testing.TB, load float64, requests int, seed int64) bool {
	share, target := w.reached(t, load, requests, seed)
	return share >= target
}

// capacity is the largest load that meets the goal, by bisection over runs with one seed.
func (w *world) capacity(t testing.TB, low, high, precision float64, requests int, seed int64) float64 {
	for high/low > 1+precision && (!w.whole || high-low > 1) {
		mid := math.Sqrt(low * high)
		if w.whole {
			mid = math.Round((low + high) / 2)
		}
		if w.meets(t, mid, requests, seed) {
			low = mid
		} else {
			high = mid
		}
	}
	if w.whole {
		return low
	}
	return math.Sqrt(low * high)
}

// TestHeldOutTruth holds the written capacities of the held-out worlds against runs of 40,000 requests 5 % below and above. Where
// SERVEMARK_LONG is a number above 1 it finds them anew: as the mean of bisections over four runs of 100,000.
func TestHeldOutTruth(t *testing.T) {
	long(t)
	for _, w := range slices.Concat(heldOut(), fresh(), inFlight()) {
		t.Run(w.name, func(t *testing.T) {
			t.Parallel()
			if sized(0, 1) == 1 {
				below, above := 0.95*w.truth, 1.05*w.truth
				if w.whole {
					below, above = math.Floor(below), math.Ceil(above)
				}
				if !w.meets(t, below, 40_000, truthSeeds) || w.meets(t, above, 40_000, truthSeeds) {
					a, target := w.reached(t, below, 40_000, truthSeeds)
					b, _ := w.reached(t, above, 40_000, truthSeeds)
					t.Errorf("%s: %.4f of the requests are within the bound at %.3f and %.4f at %.3f, want at least %.2f only at the first", w.name, a, below, b, above, target)
				}
				return
			}
			mean, doubt := w.bruteForce(t)
			t.Logf("%s: capacity %.3f, standard error %.2f %%", w.name, mean, 100*doubt)
			if math.Abs(mean/w.truth-1) > 0.01 {
				t.Errorf("%s: capacity by brute force = %.3f, the tests take %.3f", w.name, mean, w.truth)
			}
		})
	}
}

// bruteForce returns the mean of the capacities of long runs with several seeds, and its standard error as a share.
func (w *world) bruteForce(t testing.TB) (mean, doubt float64) {
	const seeds, requests = 4, 100_000
	high := w.start
	for w.meets(t, high, 5_000, truthSeeds) {
		high *= 2
	}
	rough := w.capacity(t, w.start/2, high, 0.03, 10_000, truthSeeds)
	var sum, squares float64
	for i := range seeds {
		c := w.capacity(t, rough/1.08, rough*1.08, 0.004, requests, truthSeeds+1+int64(i))
		sum += c
		squares += c * c
	}
	mean = sum / seeds
	return mean, math.Sqrt(math.Max(squares/seeds-mean*mean, 0)/(seeds-1)) / mean
}

// outcome is what many searches of one world came to.
type outcome struct {
	held, below, above, open, confirmed, requests, trials int
	width                                                 float64 // sum over those with both ends
	simulated                                             time.Duration
}

// TestSearchHoldsHeldOut: on engines, lengths, goals and seeds that the search was not made with, its interval holds the true capacity
// in at least 90 of 100 runs.
func TestSearchHoldsHeldOut(t *testing.T) { holds(t, heldOut(), heldOutSeeds, 0.9) }

// TestSearchHoldsFresh is the same with the second set.
func TestSearchHoldsFresh(t *testing.T) { holds(t, fresh(), freshSeeds, 0.9) }

// TestSearchHoldsInFlight is the same with the third set.
func TestSearchHoldsInFlight(t *testing.T) { holds(t, inFlight(), flightSeeds, 0.9) }

// TestSearchAtTheEdge is the hardest case: a load that is tried lies a mere 0.3 % above the capacity, so that only chance can tell it from
// one that holds, and every time it is called met the interval misses the capacity, by those 0.3 %. That happens more often than the
// doubt allowed: a run in which the rare jam does not occur looks less dependent than it is.
func TestSearchAtTheEdge(t *testing.T) {
	long(t)
	var list []world
	for _, w := range heldOut() {
		if w.name == "chat, p99 ttft" || w.name == "speculative, attainment" {
			w.start = 8 * 1.003 * w.truth
			list = append(list, w)
		}
	}
	holds(t, list, edgeSeeds, 0.7)
}

// holds wants the interval to hold the capacity in a share of 100 searches, or in a little less of fewer.
func holds(t *testing.T, worlds []world, from int64, least float64) {
	runs := sized(1, 10)
	if runs == 1 {
		worlds = worlds[1:2] // a quick one
	}
	for _, w := range worlds {
		t.Run(w.name, func(t *testing.T) {
			t.Parallel()
			var o outcome
			for i := range runs {
				f := w.search(t, from+int64(i)*1000)
				o.add(&f, w.truth)
			}
			n := float64(runs)
			t.Logf("%s: %d of %d intervals hold %.4g (%d below it, %d above, %d without both ends); mean width %.1f %%, %.0f requests in %.1f trials, %.0f s of load each, %d confirmed",
				w.name, o.held, runs, w.truth, o.below, o.above, o.open, 100*o.width/math.Max(n-float64(o.open), 1), float64(o.requests)/n, float64(o.trials)/n, o.simulated.Seconds()/n, o.confirmed)
			least := least
			if runs < 100 {
				least -= 0.15 // of 10 searches that hold in 95 of 100, more than two miss in one case of eighty
			}
			if float64(o.held) < least*n || float64(o.open) > 0.1*n {
				t.Errorf("%s: %d of %d intervals hold the capacity and %d have no two ends; want at least %.1f and at most %.0f", w.name, o.held, runs, o.open, least*n, 0.1*n)
			}
		})
	}
}

func (o *outcome) add(f *Found, truth float64) {
	low, ok := f.Low.Get()
	high, too := f.High.Get()
	switch {
	case !ok || !too:
		o.open++
	default:
		o.width += high/low - 1
	}
	switch { // an end that is not there excludes nothing
	case ok && low > truth:
		o.above++
	case too && high < truth:
		o.below++
	default:
		o.held++
	}
	if f.Confirmed {
		o.confirmed++
	}
	o.requests += f.Requests
	o.trials += len(f.Steps)
	o.simulated += f.Simulated
}

// drawn replaces a plan's lengths by those of the world.
func (w *world) drawn(p *bench.Plan, seed int64) {
	rng := rand.New(rand.NewPCG(uint64(seed), 0x1e46))
	for i := range p.Requests {
		in, out := w.draw(rng)
		p.Requests[i].InputTokens, p.Requests[i].OutputTokens = bench.Counted(in), out
	}
	p.Seal()
}
