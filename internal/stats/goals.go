package stats

import (
	"time"

	"github.com/servemark/servemark/internal/bench"
)

// judged are the three latencies that SLOs limit, in seconds.
type judged struct{ ttft, tpot, e2e bench.Measure }

// judged returns each success's latencies as goodput counts them: from due where that is the run's headline, else from sent.
func (r *run) judged() []judged {
	out := make([]judged, 0, len(r.replies))
	for i := range r.replies {
		rep := &r.replies[i]
		j := judged{rep.ttft, rep.tpot, rep.e2e}
		if rec := rep.rec; r.headlineFromDue() && rec.Due.Known() {
			j.e2e = seconds(rec.Due, lastToken(rec))
			if rep.ttft.Known() {
				j.ttft = seconds(rec.Due, rec.FirstChunk())
			}
		}
		out = append(out, j)
	}
	return out
}

// keeps reports whether a latency is within an SLO; what was not measured is. An SLO on an unknown metric keeps nothing, so
// that it cannot pass unseen.
func (j judged) keeps(slo bench.SLO) bool {
	var m bench.Measure
	switch slo.Metric {
	case "ttft":
		m = j.ttft
	case "tpot":
		m = j.tpot
	case "e2el":
		m = j.e2e
	default:
		return false
	}
	x, ok := m.Get()
	return !ok || x <= slo.Max.Seconds()
}

// goodput counts the successes that keep every SLO; nil where there is no SLO. Attainment is over tried, the requests sent
// that were not cancelled.
func goodput(slos []bench.SLO, successes []judged, tried int, run time.Duration) *bench.Goodput {
	if len(slos) == 0 {
		return nil
	}
	g := &bench.Goodput{ByMetric: map[string]bench.Measure{}}
	met := make([]int, len(slos))
	for _, j := range successes {
		good := true
		for i, slo := range slos {
			if j.keeps(slo) {
				met[i]++
			} else {
				good = false
			}
		}
		if good {
			g.Good++
		}
	}
	if run > 0 {
		g.Rate = bench.Measured(float64(g.Good) / run.Seconds())
	}
	share := func(n int) bench.Measure {
		if tried <= 0 {
			return bench.Measure{}
		}
		return bench.Measured(float64(n) / float64(tried))
	}
	g.Attainment = share(g.Good)
	for i, slo := range slos {
		g.ByMetric[slo.Metric] = share(met[i])
	}
	return g
}

// reachGoals compares figures with goals. A goal on a figure that was not measured counts as met; its Value stays unmeasured,
// so that a report can say so.
func reachGoals(goals []bench.Goal, s *bench.Summary, outside map[string]bench.Measure) []bench.GoalResult {
	var out []bench.GoalResult
	for _, g := range goals {
		m, given := outside[g.Metric]
		if !given {
			m = Figure(s, g.Metric)
		}
		x, ok := m.Get()
		out = append(out, bench.GoalResult{Goal: g, Value: m, Met: !ok || x >= g.AtLeast})
	}
	return out
}

// Figure returns the figure of a Summary that a goal names: a rate by its key in JSON, or "single_stream", the median over
// requests of output tokens ÷ E2E in tokens per second. An unknown name is not measured; KnownFigure tells it apart.
func Figure(s *bench.Summary, name string) bench.Measure {
	switch name {
	case "request_throughput":
		return s.RequestRate
	case "input_throughput":
		return s.InputRate
	case "output_throughput":
		return s.OutputRate
	case "total_throughput":
		return s.TotalRate
	case "peak_output_throughput":
		return s.PeakOutputRate
	case "concurrency":
		return s.Concurrency
	case "single_stream":
		if q, ok := s.PerUser.Quantile(50); ok {
			return bench.Measured(q.Value)
		}
	}
	return bench.Measure{}
}

// KnownFigure reports whether a goal may name the figure.
func KnownFigure(name string) bool {
	switch name {
	case "request_throughput", "input_throughput", "output_throughput", "total_throughput", "peak_output_throughput",
		"concurrency", "single_stream":
		return true
	}
	return false
}
