package plan

import (
	"math"
	"time"

	"github.com/servemark/servemark/internal/bench"
	"github.com/servemark/servemark/internal/dataset"
)

// gamma draws gaps of mean 1/rate from a gamma distribution of shape Burstiness; 1 is Poisson's process.
func gamma(requests []*bench.Request, s *bench.Spec, rnd dataset.Streams, each func(i int)) {
	b := s.Load.Burstiness
	spread(requests, s, each, func(rate float64) float64 { return rnd.NumPy.Gamma(b, 1/(rate*b)) })
}

// spread makes due times of gaps that are asked for one by one, each with the rate that holds for its request. In vLLM's
// dialect the first request waits its gap too and, unless the rate ramps, all times are stretched so that the last is due at
// exactly n/rate (vllm/benchmarks/serve.py, get_request). Elsewhere the first request is due at 0.
func spread(requests []*bench.Request, s *bench.Spec, each func(i int), gap func(rate float64) float64) {
	due := make([]float64, len(requests))
	at := 0.0
	for i := range requests {
		each(i)
		g := gap(rateAt(s.Load, i, len(requests)))
		if s.Dialect == bench.DialectVLLM {
			at += g
			due[i] = at
		} else {
			due[i] = at
			at += g
		}
	}
	scale := 1.0
	if s.Dialect == bench.DialectVLLM && s.Load.RampUp == nil && at > 0 {
		scale = float64(len(requests)) / s.Load.Rate / at
	}
	for i := range requests {
		requests[i].Due = bench.Instant(math.Round(due[i] * scale * float64(time.Second)))
	}
}

// rateAt is the rate that holds for request i of n.
func rateAt(l bench.LoadSpec, i, n int) float64 {
	r := l.RampUp
	if r == nil {
		return l.Rate
	}
	done := float64(i) / float64(max(n-1, 1))
	if r.Exponential {
		return r.Start * math.Pow(r.End/r.Start, done)
	}
	return r.Start + (r.End-r.Start)*done
}
