package dataset

import (
	"math"
	"time"

	"github.com/servemark/servemark/internal/bench"
	"github.com/servemark/servemark/internal/pyrand"
)

// thinkSeed keeps the draws of think times apart from those of arrivals, which come from the same seed.
const thinkSeed = 0x7468696e

// think is how long after the answer before it the next turn is due.
func (j *job) think() time.Duration {
	d := &j.spec.Dataset
	if d.ThinkSpread == bench.ThinkFixed {
		return d.ThinkTime
	}
	if j.thoughts == nil {
		j.thoughts = pyrand.NewNumPy(uint32(j.spec.Seed) ^ thinkSeed)
	}
	if d.ThinkSpread == bench.ThinkUniform {
		return d.ThinkTime + time.Duration(math.Round(j.thoughts.Float64()*float64(d.ThinkMost-d.ThinkTime)))
	}
	return time.Duration(math.Round(j.thoughts.Exponential(float64(d.ThinkTime))))
}
