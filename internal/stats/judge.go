package stats

import (
	"fmt"
	"math"
	"slices"

	"github.com/servemark/servemark/internal/bench"
)

// Standing is what the evidence says of a goal at one load.
type Standing int

// The standings.
const (
	Open   Standing = iota // not enough seen to tell
	Met                    // met beyond the stated doubt
	Missed                 // missed beyond the stated doubt
)

func (s Standing) String() string { return [...]string{"open", "met", "missed"}[s] }

// Evidence is what runs at one load say of one goal. A percentile goal is a share: "p99 ttft < 500ms" holds where at least 99 %
// of requests are below 500 ms, failed ones counting as not; so the question is about a share of requests, whatever the
// latencies are like.
type Evidence struct {
	Goal bench.Goal `json:"goal"`
	// Requests were judged, worth Effective independent ones.
	Requests  int     `json:"requests"`
	Effective float64 `json:"effective_n"`
	// Value is the share of requests within the bound, or the mean for a goal on a mean; Target what it must reach (a share at least,
	// a mean as the goal compares). Low and High bound it with the doubt allowed.
	Value    float64  `json:"value"`
	Target   float64  `json:"target"`
	Low      float64  `json:"low"`
	High     float64  `json:"high"`
	Standing Standing `json:"standing"`
	// BestCase is true where the last run was ended early by this goal: Value is then the best that could have come of it, all that was
	// not answered being taken as perfect.
	BestCase bool `json:"best_case,omitempty"`

	// overflows is true where a run has not settled and the second half of it is past the bound of a mean by a factor of
	// overflow: a queue that grows without end.
	overflows bool
}

// When a run counts as overflowing.
const (
	overflow      = 2
	leastOverflow = 200
)

// Judged are runs of one load with what they were asked.
type Judged struct {
	Plan    *bench.Plan
	Records []bench.Record
}

// CheckJudgeable reports why a goal cannot be searched for: more load has to make it worse.
func CheckJudgeable(g bench.Goal) error {
	m, ok := MetricNamed(g.Metric)
	switch {
	case !ok:
		return fmt.Errorf("%s: no such metric", g.Name)
	case g.Metric == "error_rate" && g.Op.Upper(), g.Metric == "slo_attainment" && !g.Op.Upper():
		return nil
	case !m.Spread || g.Metric == "lateness" || g.Metric == "client_queue":
		return fmt.Errorf("%s: %s does not say how much load is too much; give a limit on latency (p99 ttft < 500ms), on speed per user (p50 per_user >= 20) or error_rate <= 1%%", g.Name, g.Metric)
	case m.More == g.Op.Upper():
		return fmt.Errorf("%s: more load only helps this goal; turn the comparison round", g.Name)
	case g.Statistic == "min" || g.Statistic == "max":
		return fmt.Errorf("%s: the more requests are sent, the further out their %s lies; take a percentile", g.Name, g.Statistic)
	}
	return nil
}

// Judge weighs what runs at one load say of each goal, each side of every interval being wrong with at most the probability
// doubt. The ramp-up of each run is left out, and requests count by what they are worth as independent ones. Of runs with a fixed
// number in flight as many are left out at both ends: the first all start at once, the last see the load fall.
//
// A queue that grows slowly, or one long jam, cannot be told from chance in a short run, whose own correlations then look harmless:
// no goal is met before a run had least requests, and shorter ones count for less against a goal too.
func Judge(goals []bench.Goal, runs []Judged, doubt float64, least int) []Evidence {
	gathered := make([]*run, len(runs))
	for i, r := range runs {
		gathered[i] = gather(r.Plan, r.Records)
	}
	out := make([]Evidence, len(goals))
	for i, g := range goals {
		e := Evidence{Goal: g, Low: math.Inf(-1), High: math.Inf(1)}
		var sum, weight, worth, longest float64
		var means []float64
		for _, r := range gathered {
			scores, values := r.scores(g)
			if len(scores) == 0 {
				continue
			}
			n := float64(len(scores))
			effective := n / math.Max(correlationTime(scores), correlationTime(clipped(values, g)))
			if half := average(scores[len(scores)/2:]); len(scores) >= leastOverflow && effective < leastBatches*batchTimes {
				e.overflows = e.overflows || g.Op.Upper() && half > overflow*g.Bound || !g.Op.Upper() && half < g.Bound/overflow
			}
			sum += average(scores) * n
			weight += n
			longest = math.Max(longest, n)
			worth += effective
			means = append(means, batchMeans(scores)...)
		}
		if weight == 0 {
			out[i] = e
			continue
		}
		full := 1.0
		if least > 0 {
			full = math.Min(1, longest/float64(least))
		}
		e.Requests, e.Effective, e.Value = int(weight), worth*full, sum/weight
		e.decide(means, doubt, full)
		if full < 1 && e.Standing == Met {
			e.Standing = Open
		}
		out[i] = e
	}
	return out
}

// clipped keeps latencies between half and twice a goal's bound: how they hang together far away from it says nothing of whether
// they cross it, and one huge value must not hide what the others do. A failed request counts as twice the bound. Goals on a mean
// keep theirs.
func clipped(values []float64, g bench.Goal) []float64 {
	out := make([]float64, len(values))
	_, share := targetShare(g)
	for i, v := range values {
		switch {
		case share && (g.Metric == "error_rate" || g.Metric == "slo_attainment"): // no bound of their own: the scores say it all
		case share:
			out[i] = math.Min(math.Max(v, g.Bound/2), 2*g.Bound)
		default:
			out[i] = v
		}
	}
	return out
}

// decide compares the value with its target; full is the share of its weight that short runs have.
func (e *Evidence) decide(means []float64, doubt, full float64) {
	share, ok := targetShare(e.Goal)
	if ok && e.Goal.Metric != "itl" && e.Goal.Metric != "chunk_gap" {
		e.Target = share
		e.Low, e.High = shareBounds(e.Value*e.Effective, e.Effective, doubt)
	} else {
		e.Target = e.Goal.Bound
		if ok {
			e.Target = share
		}
		if len(means) < leastBatches {
			if !ok && e.overflows {
				e.Standing = Missed
			}
			return
		}
		half := studentT(1-doubt, float64(len(means)-1)) * math.Sqrt(sampleVariance(means)/float64(len(means))/full)
		e.Low, e.High = e.Value-half, e.Value+half
	}
	atLeast := ok || !e.Goal.Op.Upper()
	switch {
	case atLeast && e.Low >= e.Target, !atLeast && e.High <= e.Target:
		e.Standing = Met
	case atLeast && e.High < e.Target, !atLeast && e.Low > e.Target:
		e.Standing = Missed
	}
}

// shareBounds bound a share of k in n independent values, each side with a doubt (Clopper and Pearson's exact interval); k and n need
// not be whole, as effective numbers are not.
func shareBounds(k, n, doubt float64) (low, high float64) {
	low, high = 0, 1
	if k > 0 {
		low = inverseBeta(k, n-k+1, doubt)
	}
	if k < n {
		high = inverseBeta(k+1, n-k, 1-doubt)
	}
	return low, high
}

// targetShare is the share of requests that must be within the bound; ok is false for a goal on a mean.
func targetShare(g bench.Goal) (share float64, ok bool) {
	switch g.Metric {
	case "error_rate":
		return 1 - g.Bound, true
	case "slo_attainment":
		return g.Bound, true
	}
	p, ok := Percentile(g.Statistic)
	if !g.Op.Upper() { // "p10 per_user >= 20" holds where at most 10 % are below 20
		p = 100 - p
	}
	return p / 100, ok
}

// scores gives each request of a run after its ramp-up its place in the goal: 1 within the bound and 0 outside or failed, its
// part in the share of tokens for token times (see pooled), the value itself for a mean. values are the latencies behind them, whose
// dependence is easier to see than that of rare misses.
func (r *run) scores(g bench.Goal) (scores, values []float64) {
	e2e := make([]float64, 0, len(r.replies))
	for i := range r.replies {
		x, _ := seconds(r.replies[i].rec.Sent, lastToken(r.replies[i].rec)).Get()
		e2e = append(e2e, x)
	}
	drop, ok := settled(e2e)
	if !ok {
		drop = 0
	}
	from, to := r.full()
	if drop < len(r.replies) && drop > 0 {
		from = max(from, r.replies[drop].rec.Sent)
	}
	var weights []float64
	reply := map[int]int{}
	for i := range r.replies {
		reply[r.replies[i].rec.ID] = i
	}
	judged := r.judged()
	for _, rec := range r.records {
		if rec.Cancelled || from.Known() && rec.Sent < from || to.Known() && rec.Sent > to {
			continue
		}
		i, ok := reply[rec.ID]
		if !ok {
			if _, share := targetShare(g); share {
				scores, values, weights = append(scores, 0), append(values, math.Inf(1)), append(weights, 0)
			}
			continue
		}
		score, value, weight := r.score(g, &r.replies[i], judged[i])
		if weight > 0 {
			scores, values, weights = append(scores, score), append(values, value), append(weights, weight)
		}
	}
	if g.Metric == "itl" || g.Metric == "chunk_gap" {
		pooled(scores, weights)
	}
	return scores, values
}

// full is when the first and the last request were sent that saw a fixed number in flight throughout, both Never where there is none.
// Where the run is too short for any the first lies behind the last.
func (r *run) full() (first, last bench.Instant) {
	n := r.plan.Spec.Load.Concurrency
	if r.scheduled || n == 0 {
		return bench.Never, bench.Never
	}
	var sent []bench.Instant
	for _, rec := range r.records {
		if rec.Sent.Known() {
			sent = append(sent, rec.Sent)
		}
	}
	if len(sent) <= 2*n {
		return 1, 0
	}
	slices.Sort(sent)
	return sent[n], sent[len(sent)-1-n]
}

// pooled turns the scores of requests into parts of the score of all their tokens: their mean becomes the ratio R = Σ weight·score ÷
// Σ weight, and they spread as that ratio's linear terms do, R + weight·(score − R) ÷ mean weight (Cochran, Sampling Techniques,
// 1977, §2.11). A long reply then counts for as much as it does in a percentile of all tokens. A failed request has no tokens
// (weight 0) and counts as one of mean weight.
func pooled(scores, weights []float64) {
	var sum, n float64
	for _, w := range weights {
		if w > 0 {
			sum += w
			n++
		}
	}
	if n == 0 {
		return
	}
	mean, top := sum/n, 0.0
	for i := range weights {
		if weights[i] == 0 {
			weights[i] = mean
			sum += mean
		}
		top += weights[i] * scores[i]
	}
	ratio := top / sum
	for i := range scores {
		scores[i] = ratio + weights[i]*(scores[i]-ratio)/mean
	}
}

// score is one success's place in the goal, the latency behind it, and what it weighs: how many tokens for token times, else 1. What
// was not measured weighs 0.
func (r *run) score(g bench.Goal, rep *reply, j judged) (score, value, weight float64) {
	within := func(ok bool) float64 {
		if ok {
			return 1
		}
		return 0
	}
	switch g.Metric {
	case "error_rate":
		return 1, 0, 1
	case "slo_attainment":
		good := true
		for _, slo := range r.plan.Spec.SLOs {
			good = good && j.keeps(slo)
		}
		x, _ := j.e2e.Get()
		return within(good), x, 1
	}
	one := run{plan: r.plan, scheduled: r.scheduled, replies: []reply{*rep}}
	x := one.series(g.Metric)
	if len(x) == 0 {
		return 0, 0, 0
	}
	if _, share := targetShare(g); !share {
		m := average(x)
		return m, m, float64(len(x))
	}
	inside := 0
	for _, v := range x {
		if g.Op.Holds(v, g.Bound) {
			inside++
		}
	}
	return float64(inside) / float64(len(x)), average(x), float64(len(x))
}
