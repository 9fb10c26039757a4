package stats

import (
	"time"

	"github.com/servemark/servemark/internal/bench"
)

// maxSeconds bounds the seconds of OutputPerSecond; a longer run is told in longer steps.
const maxSeconds = 60

// OutputPerStep returns the output tokens of each step of a run, per second, and how long a step is: a second, or more where
// the run is longer than a minute. It is empty where tokens cannot be laid on instants.
func OutputPerStep(plan *bench.Plan, records []bench.Record) (rates []float64, step time.Duration) {
	r := gather(plan, records)
	in, known := arrivals(r.replies)
	all := stays(r.records)
	if !known || len(in) == 0 || len(all) == 0 {
		return nil, 0
	}
	start, end := all[0].from, all[0].to
	for _, s := range all {
		start, end = min(start, s.from), max(end, s.to)
	}
	step = time.Second
	for end.Sub(start) > maxSeconds*step {
		step += time.Second
	}
	rates = make([]float64, int(end.Sub(start)/step)+1)
	for _, a := range in {
		if k := int(a.at.Sub(start) / step); k >= 0 && k < len(rates) {
			rates[k] += float64(a.tokens)
		}
	}
	last := end.Sub(start) - time.Duration(len(rates)-1)*step
	for k := range rates {
		width := step
		if k == len(rates)-1 && len(rates) > 1 && last < step/10 {
			return rates[:k], step // a sliver says nothing
		}
		if k == len(rates)-1 {
			width = last
		}
		rates[k] /= width.Seconds()
	}
	return rates, step
}
