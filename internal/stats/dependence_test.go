package stats

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/servemark/servemark/internal/bench"
)

// autoregressive makes a series x(i) = φ·x(i−1) + noise, whose correlation time is (1+φ)/(1−φ).
func autoregressive(n int, phi float64, seed uint64) []float64 {
	rng := rand.New(rand.NewPCG(seed, 1))
	x := make([]float64, n)
	for i := 1; i < n; i++ {
		x[i] = phi*x[i-1] + rng.NormFloat64()
	}
	return x
}

func TestCorrelationTime(t *testing.T) {
	for _, phi := range []float64{0, 0.3, 0.6, 0.9} {
		want := (1 + phi) / (1 - phi)
		var got float64
		for seed := range uint64(20) {
			got += correlationTime(autoregressive(20_000, phi, seed)) / 20
		}
		if math.Abs(got/want-1) > 0.1 {
			t.Errorf("correlation time of φ = %v: %.2f on average, want %.2f", phi, got, want)
		}
	}
	constant := make([]float64, 1000)
	for i := range constant {
		constant[i] = 0.04
	}
	for name, row := range map[string]struct {
		x    []float64
		want float64
	}{"constant": {constant, 1}, "short": {autoregressive(leastSeries-1, 0.9, 1), 1}, "alternating": {[]float64{1, -1, 1, -1, 1, -1, 1, -1, 1, -1, 1, -1, 1, -1, 1, -1, 1, -1, 1, -1, 1, -1}, 1}} {
		if got := correlationTime(row.x); got != row.want {
			t.Errorf("correlationTime(%s) = %v, want %v", name, got, row.want)
		}
	}
}

// TestOrderIntervalOf: a sample worth fewer independent values has a wider interval, and one worth all of them the exact one.
func TestOrderIntervalOf(t *testing.T) {
	low, high := orderInterval(1000, 0.9)
	if l, h := orderIntervalOf(1000, 1000, 0.9); l != low || h != high {
		t.Errorf("orderIntervalOf(all) = %d, %d, want %d, %d", l, h, low, high)
	}
	if l, h := orderIntervalOf(1000, 100, 0.9); l >= low || h <= high || h > 1000 {
		t.Errorf("orderIntervalOf(a tenth) = %d, %d, want wider than %d, %d", l, h, low, high)
	}
	if _, h := orderIntervalOf(1000, 20, 0.9); h != 0 {
		t.Errorf("orderIntervalOf(worth 20) has the upper end %d, want none", h)
	}
}

// TestShareInterval against the published values of Clopper and Pearson's interval for 4 of 10 and none of 10.
func TestShareInterval(t *testing.T) {
	for _, row := range []struct{ k, n, low, high float64 }{{4, 10, 0.1216, 0.7376}, {0, 10, 0, 0.3085}, {10, 10, 0.6915, 1}, {0, 0, 0, 1}} {
		low, high := shareInterval(row.k, row.n)
		if math.Abs(low-row.low) > 1e-4 || math.Abs(high-row.high) > 1e-4 {
			t.Errorf("shareInterval(%v, %v) = %.4f, %.4f, want %.4f, %.4f", row.k, row.n, low, high, row.low, row.high)
		}
	}
}

func TestSettled(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	series := func(n int, at func(i int) float64) []float64 {
		x := make([]float64, n)
		for i := range x {
			x[i] = at(i) + 0.05*rng.NormFloat64()
		}
		return x
	}
	ramp := series(400, func(i int) float64 { return math.Min(1, 0.2+float64(i)/100) })
	if drop, ok := settled(ramp); !ok || drop < 50 || drop > 110 {
		t.Errorf("settled(ramp of 80 values) = %d, %v, want some 80", drop, ok)
	}
	if drop, ok := settled(series(400, func(int) float64 { return 1 })); !ok || drop > 150 {
		t.Errorf("settled(level) = %d, %v, want little cut", drop, ok)
	}
	if drop, ok := settled(series(400, func(i int) float64 { return float64(i) })); ok {
		t.Errorf("settled(rising all the time) = %d, settled, want not", drop)
	}
	if _, ok := settled(series(15, func(int) float64 { return 1 })); ok {
		t.Error("settled(15 values) = settled, want too few to tell")
	}
}

// TestBatchMeans: intervals of means from batches hold the true mean of a dependent series nine times in ten or more; from single
// values they do not nearly.
func TestBatchMeans(t *testing.T) {
	held, naive := 0, 0
	for seed := range uint64(200) {
		x := autoregressive(2000, 0.8, seed+100)
		if low, high, ok := meanInterval(batchMeans(x)); ok && low <= 0 && 0 <= high {
			held++
		}
		if low, high, _ := meanInterval(x); low <= 0 && 0 <= high {
			naive++
		}
	}
	if held < 180 || naive > 120 {
		t.Errorf("%d of 200 intervals from batches hold the mean and %d from single values, want at least 180 and far fewer", held, naive)
	}
	if got := batchMeans(autoregressive(60, 0.9, 1)); got != nil {
		t.Errorf("batchMeans of a series too short for them = %v, want none", got)
	}
}

func TestRateInterval(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	held := 0
	for range 200 {
		var in []arrival
		at := 0.0
		for at < 1e11 {
			at += rng.ExpFloat64() * 1e9 / 20
			in = append(in, arrival{at: bench.Instant(at), tokens: 2})
		}
		low, high, ok := rateInterval(in, 0, 1e11)
		if ok && low <= 40 && 40 <= high {
			held++
		}
		if high-low > 6 {
			t.Fatalf("rateInterval = %v to %v, want some 40 ± 1.8", low, high)
		}
	}
	if held < 180 {
		t.Errorf("%d of 200 intervals hold the rate of 40, want at least 180", held)
	}
	if _, _, ok := rateInterval(nil, 0, 5); ok {
		t.Error("rateInterval of nothing = ok")
	}
}
