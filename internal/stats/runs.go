package stats

import (
	"math"

	"github.com/servemark/servemark/internal/bench"
)

// RunSpread is how one number differs between runs that were meant to be alike.
type RunSpread struct {
	Name      string    `json:"name"`
	Dimension Dimension `json:"-"`
	// Values are the runs', in order; a run that did not measure it has none.
	Values []float64 `json:"values"`
	Mean   float64   `json:"mean"`
	// Deviation is the sample standard deviation between runs; it is not measured of one run.
	Deviation bench.Measure `json:"deviation"`
	// Low and High bound the mean of such runs at 95 %, by Student's distribution with the runs as its units.
	Low  bench.Measure `json:"low"`
	High bench.Measure `json:"high"`
}

// Between is what several runs say together.
type Between struct {
	Runs  int                `json:"runs"`
	Rows  []RunSpread        `json:"rows"`
	Goals []bench.GoalResult `json:"goals,omitempty"`
}

// headlines are the numbers by which runs are compared and shown, in order.
var headlines = []struct{ metric, statistic string }{
	{"output_throughput", ""}, {"request_throughput", ""}, {"total_throughput", ""}, {"per_user", "p50"},
	{"ttft", "mean"}, {"ttft", "p50"}, {"ttft", "p99"}, {"tpot", "mean"}, {"itl", "p50"}, {"itl", "p99"}, {"e2e", "p50"}, {"e2e", "p99"}, {"error_rate", ""},
}

// BetweenRuns describes the spread of runs, and holds goals against the mean of the runs' values with the interval between runs:
// a run is one unit, however many requests it has. A goal that names a stage measured outside the Summary (single_stream of runs
// that were not alone) is taken from the runs' own results.
func BetweenRuns(runs []bench.Summary, goals []bench.Goal) Between {
	b := Between{Runs: len(runs)}
	for _, h := range headlines {
		if row := spreadOf(runs, h.metric, h.statistic); len(row.Values) > 0 {
			b.Rows = append(b.Rows, row)
		}
	}
	for i, g := range goals {
		row := RunSpread{}
		for k := range runs {
			if i < len(runs[k].Goals) {
				if x, ok := runs[k].Goals[i].Value.Get(); ok {
					row.Values = append(row.Values, x)
				}
			}
		}
		row.describe()
		res := bench.GoalResult{Goal: g, Low: row.Low, High: row.High, Met: true}
		if len(row.Values) > 0 {
			res.Value, res.Met = bench.Measured(row.Mean), g.Op.Holds(row.Mean, g.Bound)
		}
		b.Goals = append(b.Goals, res)
	}
	return b
}

// spreadOf collects one number of each run.
func spreadOf(runs []bench.Summary, metric, statistic string) RunSpread {
	m, _ := MetricNamed(metric)
	row := RunSpread{Name: NumberName(metric, statistic), Dimension: m.Dimension}
	for i := range runs {
		if x, ok := Number(&runs[i], m, statistic).Get(); ok {
			row.Values = append(row.Values, x)
		}
	}
	row.describe()
	return row
}

// NumberName is how a metric with its statistic is written: "p99 ttft".
func NumberName(metric, statistic string) string {
	if statistic == "" {
		return metric
	}
	return statistic + " " + metric
}

// Number returns a metric, or one statistic of a Spread metric, of a run. Percentiles are those that a Distribution states.
func Number(s *bench.Summary, m Metric, statistic string) bench.Measure {
	if !m.Spread {
		return m.Figure(s)
	}
	d := m.Values(s, s.Scheduled)
	if !d.Measured() {
		return bench.Measure{}
	}
	switch statistic {
	case "mean":
		return bench.Measured(d.Mean)
	case "min":
		return bench.Measured(d.Min)
	case "max":
		return bench.Measured(d.Max)
	}
	p, _ := Percentile(statistic)
	if q, ok := d.Quantile(p); ok {
		return bench.Measured(q.Value)
	}
	return bench.Measure{}
}

func (row *RunSpread) describe() {
	if len(row.Values) == 0 {
		return
	}
	row.Mean = average(row.Values)
	if low, high, ok := meanInterval(row.Values); ok {
		row.Deviation = bench.Measured(math.Sqrt(sampleVariance(row.Values)))
		row.Low, row.High = bench.Measured(low), bench.Measured(high)
	}
}
