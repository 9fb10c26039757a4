package report

import (
	"errors"
	"fmt"
	"time"

	"github.com/servemark/servemark/internal/bench"
)

// errorCancelled stands in the errors of a request that the user ended.
const errorCancelled = "cancelled"

// columns are lists with one value for each request, in the order of request ids. Times are in seconds, starts from the
// start of the run.
type columns struct {
	ids                              []int
	inputs, outputs, cached          []bench.Count
	ttfts, latencies, starts, queues []bench.Measure
	itls                             [][]float64
	texts                            []*string
	errors                           []string
	levels                           []*bench.CacheLevels
}

// columnsOf lays the Run's figures and records side by side.
func columnsOf(r *Run) (columns, error) {
	records := make(map[int]*bench.Record, len(r.Records))
	for i := range r.Records {
		records[r.Records[i].ID] = &r.Records[i]
	}
	c := newColumns(len(r.Figures))
	for i := range r.Figures {
		f := &r.Figures[i]
		rec := records[f.ID]
		if rec == nil {
			return c, errors.New("report: figures and records are of different requests")
		}
		c.ids[i], c.inputs[i], c.outputs[i], c.ttfts[i], c.latencies[i] = f.ID, f.Input, f.Output, f.TTFT, f.E2E
		c.itls[i] = orEmpty(f.ITL)
		c.cached[i] = rec.Usage.Cached
		if rec.Usage.CachedBy != (bench.CacheLevels{}) {
			c.levels[i] = &rec.Usage.CachedBy
		}
		if rec.Sent.Known() {
			c.starts[i] = bench.Measured(time.Duration(rec.Sent).Seconds())
		}
		if wait, ok := bench.Elapsed(rec.Due, rec.Admitted); ok {
			c.queues[i] = bench.Measured(wait.Seconds())
		}
		if rec.Text != "" || len(rec.Chunks) == 0 || r.Plan.Spec.KeepText {
			c.texts[i] = &rec.Text // else the journal has no texts
		}
		switch {
		case rec.Cancelled:
			c.errors[i] = errorCancelled
		case rec.Failure != nil:
			c.errors[i] = fmt.Sprintf("%s: %s", rec.Failure.Kind, rec.Failure.Message)
		}
	}
	return c, nil
}

func newColumns(n int) columns {
	return columns{
		ids: make([]int, n), inputs: make([]bench.Count, n), outputs: make([]bench.Count, n), cached: make([]bench.Count, n),
		ttfts: make([]bench.Measure, n), latencies: make([]bench.Measure, n), starts: make([]bench.Measure, n), queues: make([]bench.Measure, n),
		itls: make([][]float64, n), texts: make([]*string, n), errors: make([]string, n), levels: make([]*bench.CacheLevels, n),
	}
}
