package experiment

import (
	"math"
	"math/rand/v2"

	"github.com/servemark/servemark/internal/bench"
)

// Synthetic makes a plan of token counts without prompts, for engines that need none: lengths from the Spec's random data set and
// arrivals from its load, drawn from the seed (Poisson where there is a rate). It is not the plan that package plan would draw.
func Synthetic(spec bench.Spec, seed int64) *bench.Plan {
	rng := rand.New(rand.NewPCG(uint64(seed), 0x5e4f))
	d := spec.Dataset
	length := func(most int) int {
		least := max(int(float64(most)*d.RangeRatio), 1)
		return least + rng.IntN(max(most-least, 0)+1)
	}
	p := &bench.Plan{Spec: spec, Source: "token counts only, for the simulated engine", Requests: make([]bench.Request, d.Rows)}
	at := 0.0
	for i := range p.Requests {
		due := bench.Never
		if rate := spec.Load.Rate; rate > 0 {
			due = bench.Instant(math.Round(at * 1e9))
			at += rng.ExpFloat64() / rate
		}
		p.Requests[i] = bench.Request{ID: i, Due: due, InputTokens: bench.Counted(length(d.InputTokens)), OutputTokens: length(d.OutputTokens)}
	}
	p.Seal()
	return p
}
