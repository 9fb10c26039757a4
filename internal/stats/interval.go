package stats

import (
	"sort"

	"gonum.org/v1/gonum/mathext"
)

// tail is the probability left on each side of a 95 % interval.
const tail = 0.025

// orderInterval returns the ranks (from 1) of the order statistics that bound the p-quantile of a population at 95 %, for a
// sample of n independent values; 0 stands for an end that a sample of this size cannot bound.
//
// The number B of values at or below the true quantile is binomial(n, p). The lower end is the largest rank l with
// P(B ≤ l−1) ≤ 2.5 %, the upper end the smallest rank u with P(B ≥ u) ≤ 2.5 %. For p = 0.99 the upper end exists from
// n = 368 on, since 0.99^n must be at most 0.025. See David and Nagaraja, Order Statistics, section 7.1.
func orderInterval(n int64, p float64) (low, high int64) {
	if n < 1 || p <= 0 || p >= 1 {
		return 0, 0
	}
	low = int64(sort.Search(int(n), func(k int) bool { return binomialCDF(n, p, int64(k)) > tail }))
	high = 1 + int64(sort.Search(int(n), func(k int) bool { return 1-binomialCDF(n, p, int64(k)) <= tail }))
	if high > n {
		high = 0
	}
	return low, high
}

// binomialCDF returns P(B ≤ k) for B binomial(n, p).
func binomialCDF(n int64, p float64, k int64) float64 {
	switch {
	case k < 0:
		return 0
	case k >= n:
		return 1
	}
	return mathext.RegIncBeta(float64(n-k), float64(k+1), 1-p)
}
