package plan

import (
	"math"
	"testing"
	"time"

	"github.com/servemark/servemark/internal/bench"
	"github.com/servemark/servemark/internal/dataset"
)

func TestStagesKeepTheirRates(t *testing.T) {
	spec := bench.Spec{Load: bench.LoadSpec{Stages: []bench.Stage{{Rate: 20, For: 100 * time.Second}, {Rate: 200, For: 50 * time.Second}, {Rate: 5, For: 200 * time.Second}}}}
	want, total := spec.Load.Expected()
	if want != 13000 || total != 350*time.Second {
		t.Fatalf("Expected() = %v, %v; want 13000, 350s", want, total)
	}
	rnd, err := dataset.NewStreams(7)
	if err != nil {
		t.Fatal(err)
	}
	requests := make([]*bench.Request, 14000)
	for i := range requests {
		requests[i] = &bench.Request{ID: i}
	}
	stages(requests, &spec, rnd, func(int) {})
	counts := make([]float64, 4)
	edges := []time.Duration{100 * time.Second, 150 * time.Second, 350 * time.Second}
	var last bench.Instant
	for i, r := range requests {
		if r.Due < last {
			t.Fatalf("request %d is due at %d, before the one before it (%d)", i, r.Due, last)
		}
		last = r.Due
		k := 0
		for k < 3 && r.Due >= bench.At(edges[k]) {
			k++
		}
		counts[k]++
	}
	for k, st := range spec.Load.Stages {
		mean := st.Rate * st.For.Seconds()
		if math.Abs(counts[k]-mean) > 4*math.Sqrt(mean) {
			t.Errorf("stage %d has %v requests, want %v ± %.0f", k+1, counts[k], mean, 4*math.Sqrt(mean))
		}
	}
}

func TestTimeOf(t *testing.T) {
	st := []bench.Stage{{Rate: 10, For: time.Second}, {Rate: 2, For: 5 * time.Second}}
	for expected, want := range map[float64]float64{0: 0, 5: 0.5, 10: 1, 12: 2, 20: 6, 22: 7} {
		if got := timeOf(st, expected); math.Abs(got-want) > 1e-12 {
			t.Errorf("timeOf(%v) = %v, want %v", expected, got, want)
		}
	}
}
