package plan

import (
	"math"
	"time"

	"github.com/servemark/servemark/internal/bench"
	"github.com/servemark/servemark/internal/dataset"
)

// stages draws a Poisson process whose rate changes from stage to stage, exactly: a process of rate 1 is laid along the number
// of requests expected so far, and read back as time. Requests beyond the last stage go on at its rate; the run's duration
// leaves them out.
func stages(requests []*bench.Request, s *bench.Spec, rnd dataset.Streams, each func(i int)) {
	expected := 0.0
	for i, r := range requests {
		each(i)
		expected += rnd.NumPy.Exponential(1)
		r.Due = bench.Instant(math.Round(timeOf(s.Load.Stages, expected) * float64(time.Second)))
	}
}

// timeOf is the time, in seconds, at which so many requests are expected to have come.
func timeOf(stages []bench.Stage, expected float64) float64 {
	at := 0.0
	for i, st := range stages {
		n := st.Rate * st.For.Seconds()
		if expected <= n || i == len(stages)-1 {
			return at + expected/st.Rate
		}
		expected -= n
		at += st.For.Seconds()
	}
	return at
}
