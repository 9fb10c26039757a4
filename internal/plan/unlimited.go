package plan

import (
	"github.com/servemark/servemark/internal/bench"
	"github.com/servemark/servemark/internal/dataset"
)

// unlimited has no schedule: a request is due when it gets a slot.
func unlimited(requests []*bench.Request, _ *bench.Spec, _ dataset.Streams, each func(i int)) {
	for i := range requests {
		each(i)
		requests[i].Due = bench.Never
	}
}
