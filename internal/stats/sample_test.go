package stats

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/servemark/servemark/internal/bench"
)

// Values of numpy 2.4.6: mean, std, percentile(…, 50, 90, 95, 99).
var numpyRows = []struct {
	name      string
	in        []float64
	mean, std float64
	quantiles [4]float64
}{
	{"one", []float64{0.25}, 0.25, 0, [4]float64{0.25, 0.25, 0.25, 0.25}},
	{"two", []float64{3, 1}, 2, 1, [4]float64{2, 2.7999999999999998, 2.8999999999999999, 2.98}},
	{"unsorted", []float64{0.2, 0.04, 0.18, 0.06, 0.16, 0.08, 0.14, 0.1, 0.12, 0.02}, 0.11000000000000001,
		0.057445626465380289, [4]float64{0.11, 0.182, 0.19099999999999998, 0.19820000000000002}},
	{"ties", []float64{1, 1, 1, 2, 2, 5, 5, 5, 5, 9}, 3.6000000000000001, 2.4979991993593593,
		[4]float64{3.5, 5.3999999999999986, 7.1999999999999957, 8.6400000000000006}},
	{"skewed", []float64{1.001847, 1.565364, 0.66285, 0.262925, 0.505602, 0.225944, 1.09441, 7.465727, 0.477921, 0.394273,
		2.084988, 1.708013, 1.171308, 0.247659, 0.957071, 2.837589, 0.133144, 0.503373, 0.057738, 0.144524, 0.063127, 0.702832,
		0.149394, 1.502149, 1.265069, 0.755484, 0.022934, 0.445731, 0.929832, 1.185262, 0.100741, 0.488395, 0.230437, 0.297228,
		4.910363, 0.297809, 0.952388, 3.768152, 0.416695, 0.845732, 1.180215}, 1.0734692439024389, 1.4116065787079453,
		[4]float64{0.66285000000000005, 2.0849880000000001, 3.7681520000000002, 6.4435814000000038}},
}

func close(a, b float64) bool {
	return math.Abs(a-b) <= 1e-12*math.Max(1, math.Max(math.Abs(a), math.Abs(b)))
}

func TestDescribeAsNumpy(t *testing.T) {
	for _, row := range numpyRows {
		var s sample
		for _, x := range row.in {
			s.add(bench.Measured(x))
		}
		d := s.describe()
		if d.N != len(row.in) || !close(d.Mean, row.mean) || !close(d.Std, row.std) {
			t.Errorf("describe(%s) = n %d, mean %v, std %v, want %d, %v, %v", row.name, d.N, d.Mean, d.Std, len(row.in), row.mean, row.std)
		}
		if d.Min != slices.Min(row.in) || d.Max != slices.Max(row.in) {
			t.Errorf("describe(%s) = min %v, max %v", row.name, d.Min, d.Max)
		}
		for i, p := range percentiles {
			if q, _ := d.Quantile(p); !close(q.Value, row.quantiles[i]) {
				t.Errorf("describe(%s) p%v = %v, want %v", row.name, p, q.Value, row.quantiles[i])
			}
		}
	}
}

// A weight is the same as that many values, and order changes no bit.
func TestDescribeWeights(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		var plain, weighted sample
		var all []float64
		for range 1 + rng.IntN(12) {
			x, n := float64(rng.IntN(7))/3, int64(rng.IntN(5))
			weighted.addTimes(x, n)
			for range n {
				all = append(all, x)
			}
		}
		rng.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		for _, x := range all {
			plain.addTimes(x, 1)
		}
		a, b := plain.describe(), weighted.describe()
		if a.N != len(all) || a.N != b.N || a.Mean != b.Mean || a.Std != b.Std || !slices.Equal(a.Quantiles, b.Quantiles) {
			t.Fatalf("describe(%v) = %+v, weighted %+v", all, a, b)
		}
	}
}

func TestDescribeNothing(t *testing.T) {
	var s sample
	s.add(bench.Measure{})
	s.addTimes(3, 0)
	if d := s.describe(); d.N != 0 {
		t.Errorf("describe(nothing) = %+v, want N 0", d)
	}
}

func TestOrderIntervalEnds(t *testing.T) {
	// An end is open where even the extreme value cannot bound it: p^n > 2.5 % above, (1−p)^n > 2.5 % below.
	for _, row := range []struct {
		n         int64
		p         float64
		low, high bool
	}{
		{367, 0.99, true, false}, {368, 0.99, true, true},
		{71, 0.95, true, false}, {72, 0.95, true, true},
		{35, 0.90, true, false}, {36, 0.90, true, true},
		{5, 0.5, false, false}, {6, 0.5, true, true},
		{1, 0.99, true, false}, {1, 0.5, false, false}, {0, 0.5, false, false},
	} {
		low, high := orderInterval(row.n, row.p)
		if low > 0 != row.low || high > 0 != row.high {
			t.Errorf("orderInterval(%d, %v) = %d, %d, want ends %v, %v", row.n, row.p, low, high, row.low, row.high)
		}
		if n := float64(row.n); row.n > 0 && (math.Pow(row.p, n) <= tail) != row.high {
			t.Errorf("p^n = %v contradicts the table for n %d, p %v", math.Pow(row.p, n), row.n, row.p)
		}
	}
}

// The ranks are the ones that summing binomial probabilities one by one gives.
func TestOrderIntervalAgainstSums(t *testing.T) {
	for _, p := range []float64{0.5, 0.9, 0.95, 0.99} {
		for n := int64(1); n <= 500; n += 7 {
			low, high := orderInterval(n, p)
			wantLow, wantHigh := int64(0), int64(0)
			sum := 0.0
			for k := int64(0); k < n; k++ {
				sum += math.Exp(logChoose(n, k) + float64(k)*math.Log(p) + float64(n-k)*math.Log(1-p)) // P(B = k)
				if sum <= tail {
					wantLow = k + 1
				}
				if wantHigh == 0 && 1-sum <= tail {
					wantHigh = k + 1
				}
			}
			if low != wantLow || high != wantHigh {
				t.Errorf("orderInterval(%d, %v) = %d, %d, want %d, %d", n, p, low, high, wantLow, wantHigh)
			}
		}
	}
}

func logChoose(n, k int64) float64 {
	a, _ := math.Lgamma(float64(n + 1))
	b, _ := math.Lgamma(float64(k + 1))
	c, _ := math.Lgamma(float64(n - k + 1))
	return a - b - c
}

// Of many samples at least 95 % (up to chance) have the true quantile inside the interval.
func TestOrderIntervalCovers(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	const rounds, n = 4000, 400
	inside := map[float64]int{}
	for range rounds {
		var s sample
		for range n {
			s.addTimes(rng.Float64(), 1) // the true p-quantile is p
		}
		for _, q := range s.describe().Quantiles {
			low, _ := q.Low.Get()
			high, _ := q.High.Get()
			if low <= q.P/100 && q.P/100 <= high {
				inside[q.P]++
			}
		}
	}
	for p, k := range inside {
		if share := float64(k) / rounds; share < 0.94 {
			t.Errorf("the interval of p%v held the true value in %.1f %% of samples, want 95 or more", p, 100*share)
		}
	}
}
