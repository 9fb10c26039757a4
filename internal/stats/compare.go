package stats

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/servemark/servemark/internal/bench"
)

// leastRuns is how many runs each side needs for a verdict: below, the spread between runs is not known well enough.
const leastRuns = 5

// Finding is what a comparison of one number says.
type Finding string

// The findings. NoDifference is what was seen, not a proof that there is none: Difference.Detectable says how small a one would
// have been found.
const (
	Better       Finding = "better"
	Worse        Finding = "worse"
	NoDifference Finding = "no difference seen"
	Indicative   Finding = "indicative only"
	NotMeasured  Finding = "not measured"
)

// Difference is one number of two sides. The units are whole runs, for requests of one run hang together.
type Difference struct {
	Name      string    `json:"name"`
	Dimension Dimension `json:"-"`
	// More is true where more is better.
	More bool `json:"more_is_better"`
	// A and B are the means over the runs that measured it, RunsA and RunsB how many did.
	A     bench.Measure `json:"a"`
	B     bench.Measure `json:"b"`
	RunsA int           `json:"runs_a"`
	RunsB int           `json:"runs_b"`
	// Change is B ÷ A − 1, Low and High its 95 % interval.
	Change bench.Measure `json:"change"`
	Low    bench.Measure `json:"low"`
	High   bench.Measure `json:"high"`
	// P is the chance of a change at least as large where there is none; Corrected allows for how many numbers are looked at.
	P         bench.Measure `json:"p"`
	Corrected bench.Measure `json:"p_corrected"`
	// Detectable is the change that runs with this spread would find in four of five such comparisons.
	Detectable bench.Measure `json:"detectable"`
	Says       Finding       `json:"says"`
}

// Comparison is one side held against the base.
type Comparison struct {
	Headline Difference   `json:"headline"`
	Others   []Difference `json:"others"`
}

// Headline returns the number by which two sides are judged where the user named none: what a schedule leaves open, or what the
// server can do.
func Headline(runs []bench.Summary) (metric, statistic string) {
	if slices.ContainsFunc(runs, func(s bench.Summary) bool { return s.Scheduled }) {
		return "e2e", "mean"
	}
	return "output_throughput", ""
}

// Compare holds each side against base, run by run. With paired, run i of a side was made beside run i of base, and their ratios
// are the units. Headlines are corrected for the number of sides, the other numbers for how many there are in all (Holm 1979).
func Compare(base []bench.Summary, sides [][]bench.Summary, metric, statistic string, paired bool) []Comparison {
	out := make([]Comparison, len(sides))
	var heads, others []*Difference
	for i, side := range sides {
		out[i].Headline = difference(base, side, metric, statistic, paired)
		heads = append(heads, &out[i].Headline)
		for _, h := range headlines {
			if h.metric == metric && h.statistic == statistic {
				continue
			}
			d := difference(base, side, h.metric, h.statistic, paired)
			if x, y := valueOf(d.A), valueOf(d.B); d.RunsA+d.RunsB > 0 && (d.Says == NotMeasured || x != 0 || y != 0) { // no errors on either side is no news
				out[i].Others = append(out[i].Others, d)
			}
		}
	}
	for i := range out {
		for k := range out[i].Others {
			others = append(others, &out[i].Others[k])
		}
	}
	correct(heads)
	correct(others)
	return out
}

// difference compares one number of two sides by the logarithms of its values, so that a change is a share and both directions
// weigh the same: Welch's test, or Student's on the pairs.
func difference(a, b []bench.Summary, metric, statistic string, paired bool) Difference {
	m, _ := MetricNamed(metric)
	d := Difference{Name: NumberName(metric, statistic), Dimension: m.Dimension, More: m.More, Says: NotMeasured}
	x, y := numbers(a, m, statistic), numbers(b, m, statistic)
	d.RunsA, d.RunsB = len(x), len(y)
	if len(x) == 0 || len(y) == 0 {
		return d
	}
	d.A, d.B, d.Says = bench.Measured(average(x)), bench.Measured(average(y)), Indicative
	lx, ly := logs(x), logs(y)
	if lx == nil || ly == nil { // a zero among them has no logarithm: shown, not judged
		return d
	}
	change, se, freedom := welch(lx, ly)
	if paired && len(x) == len(y) {
		change, se, freedom = pairs(lx, ly)
	}
	d.Change = bench.Measured(math.Expm1(change))
	if freedom < 1 {
		return d
	}
	t := studentT(1-tail, freedom)
	d.Low, d.High = bench.Measured(math.Expm1(change-t*se)), bench.Measured(math.Expm1(change+t*se))
	d.P = bench.Measured(twoSided(change, se, freedom))
	d.Corrected = d.P
	d.Detectable = bench.Measured(math.Expm1((t + studentT(0.8, freedom)) * se))
	return d
}

func valueOf(m bench.Measure) float64 { x, _ := m.Get(); return x }

// numbers are a side's values, of the runs that measured them.
func numbers(runs []bench.Summary, m Metric, statistic string) []float64 {
	var out []float64
	for i := range runs {
		if x, ok := Number(&runs[i], m, statistic).Get(); ok {
			out = append(out, x)
		}
	}
	return out
}

func logs(x []float64) []float64 {
	out := make([]float64, len(x))
	for i, v := range x {
		if v <= 0 {
			return nil
		}
		out[i] = math.Log(v)
	}
	return out
}

// welch returns the difference of two means, its standard error and the degrees of freedom by Welch and Satterthwaite; 0 where a
// side has one value only.
func welch(x, y []float64) (change, se, freedom float64) {
	change = average(y) - average(x)
	if len(x) < 2 || len(y) < 2 {
		return change, 0, 0
	}
	nx, ny := float64(len(x)), float64(len(y))
	vx, vy := sampleVariance(x)/nx, sampleVariance(y)/ny
	if vx+vy == 0 {
		return change, 0, nx + ny - 2
	}
	return change, math.Sqrt(vx + vy), (vx + vy) * (vx + vy) / (vx*vx/(nx-1) + vy*vy/(ny-1))
}

func pairs(x, y []float64) (change, se, freedom float64) {
	d := make([]float64, len(x))
	for i := range x {
		d[i] = y[i] - x[i]
	}
	return average(d), math.Sqrt(sampleVariance(d) / float64(len(d))), float64(len(d) - 1)
}

// twoSided is the chance of a difference at least as far from 0.
func twoSided(change, se, freedom float64) float64 {
	if se == 0 {
		if change == 0 {
			return 1
		}
		return 0
	}
	return 2 * distuv.StudentsT{Mu: 0, Sigma: 1, Nu: freedom}.Survival(math.Abs(change)/se)
}

// correct fills in Holm's corrected p of a family and what each difference then says.
func correct(family []*Difference) {
	var tested []*Difference
	for _, d := range family {
		if d.P.Known() {
			tested = append(tested, d)
		}
	}
	slices.SortStableFunc(tested, func(a, b *Difference) int {
		x, _ := a.P.Get()
		y, _ := b.P.Get()
		switch {
		case x < y:
			return -1
		case x > y:
			return 1
		}
		return 0
	})
	worst := 0.0
	for i, d := range tested {
		p, _ := d.P.Get()
		worst = math.Max(worst, math.Min(1, p*float64(len(tested)-i)))
		d.Corrected = bench.Measured(worst)
		if d.RunsA < leastRuns || d.RunsB < leastRuns {
			continue
		}
		change, _ := d.Change.Get()
		switch {
		case worst > 2*tail:
			d.Says = NoDifference
		case (change > 0) == d.More:
			d.Says = Better
		default:
			d.Says = Worse
		}
	}
}
