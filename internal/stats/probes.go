package stats

import "github.com/servemark/servemark/internal/bench"

// ProbeFigures describe requests asked beside the load.
type ProbeFigures struct {
	Completed, Failed int
	// E2E is stated at the percentiles 50 and 99, in seconds.
	E2E bench.Distribution
}

// Probes describes them; one that the end of the run cut off counts as neither.
func Probes(records []bench.Record) ProbeFigures {
	var out ProbeFigures
	e2e := sample{only: []float64{50, 99}}
	for i := range records {
		rec := &records[i]
		switch {
		case rec.Cancelled:
		case rec.Failure != nil:
			out.Failed++
		default:
			out.Completed++
			e2e.add(seconds(rec.Sent, lastToken(rec)))
		}
	}
	out.E2E = e2e.describe()
	return out
}
