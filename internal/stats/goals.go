package stats

import (
	"math"
	"strconv"
	"strings"
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
func (r *run) reachGoals(goals []bench.Goal, s *bench.Summary, outside map[string]bench.Measure) []bench.GoalResult {
	var out []bench.GoalResult
	for _, g := range goals {
		res := bench.GoalResult{Goal: g}
		if m, given := outside[g.Metric]; given {
			res.Value, res.Low, res.High = m, outside[g.Metric+lowEnd], outside[g.Metric+highEnd]
		} else {
			r.value(&res, s)
		}
		x, ok := res.Value.Get()
		res.Met = !ok || g.Op.Holds(x, g.Bound)
		out = append(out, res)
	}
	return out
}

// Ends of the interval of a figure that was measured outside the run, behind its name.
const (
	lowEnd  = ".low"
	highEnd = ".high"
)

// AloneFigures are the single_stream figures of a stage at concurrency 1, for Options.Figures: the median speed of its requests
// and the ends of its interval.
func AloneFigures(alone *bench.Summary) map[string]bench.Measure {
	const name = "single_stream"
	out := map[string]bench.Measure{name: Figure(alone, name)}
	if q, ok := alone.PerUser.Quantile(50); ok {
		out[name+lowEnd], out[name+highEnd] = q.Low, q.High
	}
	return out
}

// value fills in what was reached and its interval.
func (r *run) value(res *bench.GoalResult, s *bench.Summary) {
	m, ok := MetricNamed(res.Goal.Metric)
	switch {
	case !ok, m.Name == "single_stream" && s.PeakConcurrency > 1: // that stream was not alone
	case m.Spread:
		r.statistic(res, m, s)
	default:
		res.Value = m.Figure(s)
		r.figureInterval(res, s)
	}
}

// statistic fills in the mean, an end or a percentile of a distribution.
func (r *run) statistic(res *bench.GoalResult, m Metric, s *bench.Summary) {
	d := m.Values(s, r.headlineFromDue())
	if !d.Measured() {
		return
	}
	switch res.Goal.Statistic {
	case "mean":
		res.Value = bench.Measured(d.Mean)
		if low, high, ok := meanInterval(batchMeans(r.series(m.Name))); ok {
			res.Low, res.High = bench.Measured(low), bench.Measured(high)
		}
	case "min":
		res.Value = bench.Measured(d.Min)
	case "max":
		res.Value = bench.Measured(d.Max)
	default:
		p, ok := Percentile(res.Goal.Statistic)
		if !ok {
			return
		}
		q, ok := d.Quantile(p)
		if !ok {
			q, ok = r.rarePercentile(m.Name, p)
		}
		if ok {
			res.Value, res.Low, res.High = bench.Measured(q.Value), q.Low, q.High
		}
	}
}

// Percentile reads "p99" or "p99.9"; 0 and 100 are ends, not percentiles.
func Percentile(s string) (p float64, ok bool) {
	digits, ok := strings.CutPrefix(s, "p")
	if !ok {
		return 0, false
	}
	p, err := strconv.ParseFloat(digits, 64)
	return p, err == nil && p > 0 && p < 100
}

// rarePercentile computes a percentile that a Distribution does not state.
func (r *run) rarePercentile(metric string, p float64) (bench.Quantile, bool) {
	in := sample{series: true, asked: p}
	for _, x := range r.series(metric) {
		in.addTimes(x, 1)
	}
	if metric == "itl" || metric == "chunk_gap" {
		in.series, in.pooled = false, true
	}
	d := in.describe()
	return d.Quantile(p)
}

// series is a metric's value of each success, in the order of ids; nil for a metric that has none. Token times of one request
// follow each other.
func (r *run) series(metric string) []float64 {
	var out []float64
	add := func(m bench.Measure) {
		if x, ok := m.Get(); ok {
			out = append(out, x)
		}
	}
	due := r.headlineFromDue()
	for i := range r.replies {
		rep := &r.replies[i]
		from := rep.rec.Sent
		if due && rep.rec.Due.Known() {
			from = rep.rec.Due
		}
		switch metric {
		case "ttft":
			add(measuredIf(rep.ttft, seconds(from, rep.rec.FirstChunk())))
		case "first_answer":
			add(measuredIf(rep.answer, seconds(from, rep.rec.FirstAnswer())))
		case "e2e":
			add(seconds(from, lastToken(rep.rec)))
		case "ttft_from_sent":
			add(rep.ttft)
		case "e2e_from_sent":
			add(rep.e2e)
		case "tpot":
			add(rep.tpot)
		case "per_user":
			add(rep.speed())
		case "itl":
			rep.eachITL(func(x float64, n int64) {
				for range min(n, maxTokensPerChunk) {
					out = append(out, x)
				}
			})
		case "chunk_gap":
			rep.eachGap(func(x float64) { out = append(out, x) })
		}
	}
	return out
}

func measuredIf(known, m bench.Measure) bench.Measure {
	if !known.Known() {
		return bench.Measure{}
	}
	return m
}

// speed is the reply's output tokens ÷ E2E.
func (r *reply) speed() bench.Measure {
	n, known := r.output.Get()
	x, ok := r.e2e.Get()
	if !known || !ok || x <= 0 {
		return bench.Measure{}
	}
	return bench.Measured(float64(n) / x)
}

// figureInterval bounds the rates of the run by when their units came, and shares by how many requests they are of.
func (r *run) figureInterval(res *bench.GoalResult, s *bench.Summary) {
	switch res.Goal.Metric {
	case "output_throughput", "request_throughput":
		from, to, ok := r.span()
		if !ok {
			return
		}
		in, known := arrivals(r.replies)
		if res.Goal.Metric == "request_throughput" || !known {
			in = r.ends(res.Goal.Metric == "output_throughput")
		}
		if low, high, ok := rateInterval(in, int64(from), int64(to)); ok {
			res.Low, res.High = bench.Measured(math.Max(low, 0)), bench.Measured(high)
		}
	case "error_rate":
		n := s.Failed + s.Completed
		low, high := shareInterval(float64(s.Failed), float64(n))
		if n > 0 {
			res.Low, res.High = bench.Measured(low), bench.Measured(high)
		}
	case "single_stream":
		if q, ok := s.PerUser.Quantile(50); ok {
			res.Low, res.High = q.Low, q.High
		}
	}
}

// ends are the ends of successes, each standing for its tokens or for itself.
func (r *run) ends(tokens bool) []arrival {
	var out []arrival
	for i := range r.replies {
		rep := &r.replies[i]
		n := 1
		if tokens {
			n = rep.output.Or(0)
		}
		if rep.rec.Done.Known() {
			out = append(out, arrival{rep.rec.Done, int64(n)})
		}
	}
	return out
}

// Figure returns the figure of a Summary that has one number, by its name in Metrics; any other name is not measured.
func Figure(s *bench.Summary, name string) bench.Measure {
	m, _ := MetricNamed(name)
	return m.Figure(s)
}
