package plan

import (
	"github.com/servemark/servemark/internal/bench"
	"github.com/servemark/servemark/internal/dataset"
)

// constant leaves 1/rate between any two requests.
func constant(requests []*bench.Request, s *bench.Spec, _ dataset.Streams, each func(i int)) {
	spread(requests, s, each, func(rate float64) float64 { return 1 / rate })
}
