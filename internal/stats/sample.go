package stats

import (
	"cmp"
	"math"
	"slices"
	"sort"

	"github.com/servemark/servemark/internal/bench"
)

// percentiles are those that every Distribution states.
var percentiles = [...]float64{50, 90, 95, 99}

// sample is a set of values, each standing for one or more equal observations.
type sample struct {
	points []point
	// pooled is true where one request gives many values, which then hang together.
	pooled bool
	// series is true where the points come in the order in which the requests were sent, one for each: their dependence can be
	// seen, and intervals allow for it.
	series bool
	// asked is one more percentile to state; 0 for none.
	asked float64
	// only, where not nil, are the percentiles to state in place of the usual ones.
	only []float64
}

type point struct {
	x float64
	n int64
}

// add takes one observation; a measure that was not measured is none.
func (s *sample) add(m bench.Measure) {
	if x, ok := m.Get(); ok {
		s.points = append(s.points, point{x, 1})
	}
}

// addTimes takes n equal observations.
func (s *sample) addTimes(x float64, n int64) {
	if n > 0 {
		s.points = append(s.points, point{x, n})
	}
}

// describe sorts the sample and describes it. Sums run over the sorted values, so that the order of arrival cannot show in
// the last digit.
func (s *sample) describe() bench.Distribution {
	if len(s.points) == 0 {
		return bench.Distribution{}
	}
	effective := s.dependence()
	slices.SortFunc(s.points, func(a, b point) int { return cmp.Compare(a.x, b.x) })
	merged := s.points[:1]
	for _, p := range s.points[1:] {
		if last := &merged[len(merged)-1]; last.x == p.x {
			last.n += p.n
		} else {
			merged = append(merged, p)
		}
	}
	s.points = merged
	ends := make([]int64, len(merged)) // ends[i] is how many observations are ≤ merged[i].x
	var n int64
	var sum float64
	for i, p := range merged {
		n += p.n
		ends[i] = n
		sum += p.x * float64(p.n)
	}
	mean := sum / float64(n)
	var squares float64
	for _, p := range merged {
		squares += (p.x - mean) * (p.x - mean) * float64(p.n)
	}
	d := bench.Distribution{
		N: int(n), Pooled: s.pooled, Mean: mean, Std: math.Sqrt(squares / float64(n)),
		Min: merged[0].x, Max: merged[len(merged)-1].x,
	}
	if effective != nil {
		d.Effective = effective(math.Inf(-1))
	}
	at := func(k int64) float64 { // the k-th smallest observation, from 0
		return merged[sort.Search(len(ends), func(i int) bool { return ends[i] > k })].x
	}
	for _, p := range s.stated() {
		q := bench.Quantile{P: p, Value: quantile(at, n, p)}
		if !s.pooled {
			low, high := orderInterval(n, p/100)
			if effective != nil {
				low, high = orderIntervalOf(n, effective(q.Value), p/100)
			}
			if low > 0 {
				q.Low = bench.Measured(at(low - 1))
			}
			if high > 0 {
				q.High = bench.Measured(at(high - 1))
			}
		}
		d.Quantiles = append(d.Quantiles, q)
	}
	return d
}

// stated lists the percentiles that the sample's description states.
func (s *sample) stated() []float64 {
	switch {
	case s.only != nil:
		return s.only
	case s.asked != 0:
		return append(percentiles[:], s.asked)
	}
	return percentiles[:]
}

// dependence returns what the values are worth as independent ones when a quantile at a limit is asked for: the smaller of two
// counts, by the ranks of all values and by which of them are above the limit. It is nil where the order says nothing.
func (s *sample) dependence() func(limit float64) float64 {
	if !s.series || len(s.points) < leastSeries {
		return nil
	}
	x := make([]float64, len(s.points))
	for i, p := range s.points {
		x[i] = p.x
	}
	byRank := correlationTime(ranks(x))
	return func(limit float64) float64 {
		time := byRank
		if !math.IsInf(limit, -1) {
			time = math.Max(time, correlationTime(indicator(x, limit)))
		}
		return float64(len(x)) / time
	}
}

// quantile interpolates linearly between the two order statistics around rank (n−1)·p/100, as numpy.percentile does by
// default (type 7 of Hyndman and Fan), with numpy's own way of rounding the upper half from the right.
func quantile(at func(int64) float64, n int64, p float64) float64 {
	rank := float64(n-1) * (p / 100)
	k := min(int64(rank), n-1)
	a, t := at(k), rank-math.Floor(rank)
	if t == 0 || k == n-1 {
		return a
	}
	b := at(k + 1)
	if t >= 0.5 {
		return b - (b-a)*(1-t)
	}
	return a + (b-a)*t
}
