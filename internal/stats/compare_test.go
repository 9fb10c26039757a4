package stats

import (
	"math"
	"testing"

	"github.com/servemark/servemark/internal/bench"
)

// ratesOf makes runs with these output rates.
func ratesOf(rates ...float64) []bench.Summary {
	out := make([]bench.Summary, len(rates))
	for i, r := range rates {
		out[i].OutputRate = bench.Measured(r)
	}
	return out
}

func TestCompare(t *testing.T) {
	base := ratesOf(100, 101, 99, 100, 100.5)
	for _, row := range []struct {
		name   string
		side   []bench.Summary
		paired bool
		want   Finding
		change float64
	}{
		{"faster", ratesOf(110, 111, 109, 110, 110.5), false, Better, 0.0999},
		{"slower", ratesOf(90, 91, 89, 90, 90.5), false, Worse, -0.1001},
		{"alike", ratesOf(100.2, 99.5, 100.9, 99.8, 100), false, NoDifference, -0.0002},
		{"one run", ratesOf(200), false, Indicative, 0.998},
		{"four runs", ratesOf(200, 201, 199, 200), false, Indicative, 0.998},
		{"nothing", make([]bench.Summary, 5), false, NotMeasured, 0},
		{"pairs find what runs alone do not", ratesOf(100.6, 101.6, 99.6, 100.6, 101.1), true, Better, 0.006},
	} {
		d := Compare(base, [][]bench.Summary{row.side}, "output_throughput", "", row.paired)[0].Headline
		change, _ := d.Change.Get()
		if d.Says != row.want || math.Abs(change-row.change) > 2e-3 {
			t.Errorf("%s: Compare = %s, change %v, want %s, %v", row.name, d.Says, change, row.want, row.change)
		}
	}
	// The interval is around the change, as wide as spreads of about 1.5 % make it.
	d := Compare(ratesOf(100, 101, 99, 100, 103), [][]bench.Summary{ratesOf(110, 111, 109, 113, 110.5)}, "output_throughput", "", false)[0].Headline
	low, _ := d.Low.Get()
	high, _ := d.High.Get()
	change, _ := d.Change.Get()
	if !(low < change && change < high) || low < 0.07 || high > 0.13 {
		t.Errorf("interval of the change = %v to %v around %v, want within 0.07 to 0.13", low, high, change)
	}
}

// TestHolm checks the correction by hand: p sorted, times n, n−1, …, never falling.
func TestHolm(t *testing.T) {
	var family []*Difference
	for _, p := range []float64{0.01, 0.04, 0.03, 0.005} {
		family = append(family, &Difference{P: bench.Measured(p), Change: bench.Measured(1), More: true, RunsA: 5, RunsB: 5})
	}
	correct(family)
	for i, want := range []float64{0.03, 0.06, 0.06, 0.02} {
		got, _ := family[i].Corrected.Get()
		if math.Abs(got-want) > 1e-12 {
			t.Errorf("corrected p[%d] = %v, want %v", i, got, want)
		}
	}
	if family[0].Says != Better || family[1].Says != NoDifference {
		t.Errorf("says %s and %s, want better and no difference seen", family[0].Says, family[1].Says)
	}
}

func TestCompareSides(t *testing.T) {
	sides := [][]bench.Summary{ratesOf(100, 101, 99, 100, 100.5), ratesOf(101, 102, 100, 101, 101.2)}
	out := Compare(ratesOf(100, 101, 99, 100, 100.5), sides, "output_throughput", "", false)
	p, _ := out[1].Headline.P.Get()
	q, _ := out[1].Headline.Corrected.Get()
	if math.Abs(q-2*p) > 1e-12 {
		t.Errorf("corrected p of two sides = %v, want twice %v", q, p)
	}
	if x, _ := out[0].Headline.P.Get(); x != 1 {
		t.Errorf("p of a side against itself = %v, want 1", x)
	}
}
