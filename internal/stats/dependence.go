package stats

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mathext"
	"gonum.org/v1/gonum/stat/distuv"
)

// leastSeries is the shortest series whose autocorrelation says anything; shorter ones count as independent.
const leastSeries = 20

// correlationTime returns how many successive values of a stationary series are worth one independent value: 1 + 2·Σ ρ(k) over
// the lags whose pairs ρ(2j)+ρ(2j+1) stay positive, the pairs made not to rise (Geyer, Practical Markov Chain Monte Carlo, 1992:
// initial monotone sequence). It is never below 1: what alternates is not counted as more than it is. At most a quarter of the
// series is looked at as lag; a series that hangs together for longer than that gives a time of about its own length.
func correlationTime(x []float64) float64 {
	n := len(x)
	if n < leastSeries {
		return 1
	}
	mean := average(x)
	var variance float64
	for _, v := range x {
		variance += (v - mean) * (v - mean)
	}
	if variance <= float64(n)*mean*mean*1e-18 { // all the same, but for the mean's last digit
		return 1
	}
	rho := func(lag int) float64 {
		var sum float64
		for i := lag; i < n; i++ {
			sum += (x[i] - mean) * (x[i-lag] - mean)
		}
		return sum / variance
	}
	time, last := -1.0, math.Inf(1)
	for lag := 0; lag+1 < n/4; lag += 2 {
		pair := math.Min(rho(lag)+rho(lag+1), last)
		if pair <= 0 {
			break
		}
		time += 2 * pair
		last = pair
	}
	return math.Min(math.Max(time, 1), float64(n))
}

func average(x []float64) float64 {
	var sum float64
	for _, v := range x {
		sum += v
	}
	return sum / float64(len(x))
}

// ranks returns the place of each value among the sorted ones, equal values sharing the mean of their places. A few huge
// values then no longer drown what the others do.
func ranks(x []float64) []float64 {
	order := make([]int, len(x))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int {
		switch {
		case x[a] < x[b]:
			return -1
		case x[a] > x[b]:
			return 1
		}
		return a - b
	})
	out := make([]float64, len(x))
	for i := 0; i < len(order); {
		k := i
		for k < len(order) && x[order[k]] == x[order[i]] {
			k++
		}
		for ; i < k; i++ {
			out[order[i]] = float64(k+i) / 2
		}
	}
	return out
}

// indicator is 1 where a value is above the limit.
func indicator(x []float64, limit float64) []float64 {
	out := make([]float64, len(x))
	for i, v := range x {
		if v > limit {
			out[i] = 1
		}
	}
	return out
}

// orderIntervalOf is orderInterval for n values that are worth only as many independent ones as effective says: the ranks
// of the smaller sample, stretched to the larger one.
func orderIntervalOf(n int64, effective, p float64) (low, high int64) {
	e := int64(effective)
	if e >= n || effective <= 0 {
		return orderInterval(n, p)
	}
	if low, high = orderInterval(max(e, 1), p); low == 0 && high == 0 {
		return 0, 0
	}
	stretch := float64(n) / float64(e)
	if low > 0 {
		low = max(1, int64(math.Floor(float64(low)*stretch)))
	}
	if high > 0 {
		high = min(n, int64(math.Ceil(float64(high)*stretch)))
	}
	return low, high
}

// shareInterval bounds a share of k in n independent values at 95 %.
func shareInterval(k, n float64) (low, high float64) {
	if n <= 0 {
		return 0, 1
	}
	return shareBounds(k, n, tail)
}

// inverseBeta returns x with P(beta(a, b) ≤ x) = p.
func inverseBeta(a, b, p float64) float64 { return mathext.InvRegIncBeta(a, b, p) }

// studentT returns the p-quantile of Student's distribution.
func studentT(p, freedom float64) float64 {
	return distuv.StudentsT{Mu: 0, Sigma: 1, Nu: freedom}.Quantile(p)
}

// meanInterval bounds the mean of independent values at 95 % by Student's distribution; ok is false below two values.
func meanInterval(x []float64) (low, high float64, ok bool) {
	if len(x) < 2 {
		return 0, 0, false
	}
	mean := average(x)
	half := studentT(1-tail, float64(len(x)-1)) * math.Sqrt(sampleVariance(x)/float64(len(x)))
	return mean - half, mean + half, true
}

// sampleVariance divides by n−1; it is 0 below two values.
func sampleVariance(x []float64) float64 {
	if len(x) < 2 {
		return 0
	}
	mean := average(x)
	var sum float64
	for _, v := range x {
		sum += (v - mean) * (v - mean)
	}
	return sum / float64(len(x)-1)
}

// Batches of a series: as few as leastBatches, as many as mostBatches, each several correlation times long.
const (
	leastBatches = 5
	mostBatches  = 30
	batchTimes   = 5
)

// batchMeans cuts a series into batches of equal length, several times the correlation time, and returns their means; they are
// nearly independent. nil where the series is too short for leastBatches of them.
func batchMeans(x []float64) []float64 {
	length := int(math.Ceil(batchTimes * correlationTime(x)))
	count := min(len(x)/length, mostBatches)
	if count < leastBatches {
		return nil
	}
	length = len(x) / count
	out := make([]float64, count)
	for i := range out {
		out[i] = average(x[i*length : (i+1)*length])
	}
	return out
}

// rateInterval bounds a rate at 95 % from when its units came: equal spans of time, merged until neighbours no longer
// resemble each other.
func rateInterval(in []arrival, from, to int64) (low, high float64, ok bool) {
	if to <= from || len(in) == 0 {
		return 0, 0, false
	}
	counts := make([]float64, 4*mostBatches)
	width := float64(to-from) / float64(len(counts))
	for _, a := range in {
		if i := int(float64(int64(a.at)-from) / width); i >= 0 && i <= len(counts) {
			counts[min(i, len(counts)-1)] += float64(a.tokens)
		}
	}
	for len(counts)/2 >= leastBatches*2 && alike(counts) {
		for i := range len(counts) / 2 {
			counts[i] = counts[2*i] + counts[2*i+1]
		}
		counts = counts[:len(counts)/2]
		width *= 2
	}
	for i := range counts {
		counts[i] /= width / 1e9
	}
	return meanInterval(counts)
}

// alike reports whether successive values are correlated more than chance makes them.
func alike(x []float64) bool {
	mean := average(x)
	var top, bottom float64
	for i, v := range x {
		bottom += (v - mean) * (v - mean)
		if i > 0 {
			top += (v - mean) * (x[i-1] - mean)
		}
	}
	return bottom > 0 && top/bottom > 1/math.Sqrt(float64(len(x)))
}
