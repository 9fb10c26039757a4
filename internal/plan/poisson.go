package plan

import (
	"math"
	"time"

	"github.com/servemark/servemark/internal/bench"
	"github.com/servemark/servemark/internal/dataset"
)

// poisson draws exponential gaps of mean 1/rate. The first request is due at 0. Due times are sums of exact gaps from
// the start of the clock, so that no rounding adds up. One gap is drawn a request, the last one's going unused, as in
// sglang.bench_serving.
func poisson(requests []bench.Request, load bench.LoadSpec, rnd dataset.Streams) {
	at := 0.0
	for i := range requests {
		requests[i].Due = bench.Instant(math.Round(at * float64(time.Second)))
		at += rnd.NumPy.Exponential(1 / load.Rate)
	}
}
