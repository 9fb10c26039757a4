package plan

import (
	"github.com/servemark/servemark/internal/bench"
	"github.com/servemark/servemark/internal/dataset"
)

// poisson draws exponential gaps of mean 1/rate. Due times are sums of exact gaps from the start of the clock, so that no
// rounding adds up. One gap is drawn a request, the last one's going unused, as in sglang.bench_serving.
func poisson(requests []*bench.Request, s *bench.Spec, rnd dataset.Streams, each func(i int)) {
	spread(requests, s, each, func(rate float64) float64 { return rnd.NumPy.Exponential(1 / rate) })
}
