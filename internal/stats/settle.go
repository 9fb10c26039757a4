package stats

import (
	"math"

	"github.com/servemark/servemark/internal/bench"
)

// settleMethod names how the ends of the steady state are found.
const settleMethod = "MSER-5 on E2E; ends with the last request sent"

// settled returns how many values at the start of a series belong to its ramp-up, by MSER-5: of the means of batches of five, the
// cut after which the mean of the rest would be known best, its standard error being smallest (White, Cobb, Spratt, Winter
// Simulation Conference 2000). Where that cut lies in the second half the series has not settled, and ok is false.
func settled(x []float64) (drop int, ok bool) {
	const batch = 5
	k := len(x) / batch
	if k < 4 {
		return 0, false
	}
	means := make([]float64, k)
	for i := range means {
		means[i] = average(x[i*batch : (i+1)*batch])
	}
	best, least := 0, math.Inf(1)
	var sum, squares float64
	centre := means[k-1] // sums of differences keep their digits
	for i := k - 1; i >= 0; i-- {
		d := means[i] - centre
		sum += d
		squares += d * d
		n := float64(k - i)
		if i > k-5 && k > 5 { // a handful of means that happen to be alike is no steady state
			continue
		}
		if mser := math.Max(squares-sum*sum/n, 0) / (n * n); mser <= least {
			best, least = i, mser
		}
	}
	return best * batch, best <= k/2
}

// steadyState cuts ramp-up and drain off the run: it starts where E2E has settled and ends when the last request was sent, since
// from then on the load falls. It is nil where the run is too small to be cut, or where every request was sent before the first
// one ended: such a run is all ramp.
func (r *run) steadyState() *bench.SteadyState {
	var sent []*reply
	for i := range r.replies {
		if r.replies[i].e2e.Known() {
			sent = append(sent, &r.replies[i])
		}
	}
	series := make([]float64, len(sent))
	for i, rep := range sent {
		series[i], _ = rep.e2e.Get()
	}
	drop, ok := settled(series)
	if len(sent) < 20 {
		return nil
	}
	if !ok {
		drop = 0
	}
	s := &bench.SteadyState{Method: settleMethod, Reached: ok, From: sent[drop].rec.Sent}
	s.To = s.From
	firstEnd := bench.Never
	for _, rec := range r.records {
		if rec.Sent.Known() {
			s.To = max(s.To, rec.Sent)
		}
		if rec.Done.Known() && (!firstEnd.Known() || rec.Done < firstEnd) {
			firstEnd = rec.Done
		}
	}
	if firstEnd >= s.To || s.To <= s.From {
		return nil
	}
	r.measureWindow(s, sent)
	return s
}

// measureWindow fills in the window's numbers.
func (r *run) measureWindow(s *bench.SteadyState, sent []*reply) {
	ttft, e2e, tpot, user := sample{series: true}, sample{series: true}, sample{series: true}, sample{series: true}
	ended := 0
	for _, rep := range sent {
		if at := rep.rec.Done; at > s.From && at <= s.To {
			ended++
		}
		if rep.rec.Sent < s.From {
			s.CutBefore++
			continue
		}
		s.Requests++
		ttft.add(rep.ttft)
		e2e.add(rep.e2e)
		tpot.add(rep.tpot)
		user.add(rep.speed())
	}
	s.TTFT, s.E2E, s.TPOT, s.PerUser = ttft.describe(), e2e.describe(), tpot.describe(), user.describe()
	length := s.To.Sub(s.From).Seconds()
	s.RequestRate = bench.Measured(float64(ended) / length)
	if in, known := arrivals(r.replies); known {
		var tokens int64
		for _, a := range in {
			if a.at > s.From && a.at <= s.To {
				tokens += a.tokens
			}
		}
		s.OutputRate = bench.Measured(float64(tokens) / length)
	}
}
