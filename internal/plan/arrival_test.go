package plan

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/servemark/servemark/internal/bench"
	"github.com/servemark/servemark/internal/dataset"
)

// dues gives the due times in seconds of n requests.
func dues(t *testing.T, n int, s bench.Spec) []float64 {
	t.Helper()
	rnd, err := dataset.NewStreams(s.Seed)
	if err != nil {
		t.Fatal(err)
	}
	p := &bench.Plan{Spec: s, Requests: make([]bench.Request, n)}
	if err := schedule(p, rnd); err != nil {
		t.Fatal(err)
	}
	out := make([]float64, n)
	for i, r := range p.Requests {
		out[i] = time.Duration(r.Due).Seconds()
	}
	return out
}

func TestArrivalFamilies(t *testing.T) {
	const n, rate = 4000, 20.0
	for _, tc := range []struct {
		name  string
		load  bench.LoadSpec
		vllm  bool
		cv    float64 // of the gaps
		first float64 // when the first request is due; −1: some time
	}{
		{"poisson", bench.LoadSpec{Rate: rate}, false, 1, 0},
		{"gamma 1", bench.LoadSpec{Rate: rate, Arrival: bench.ArrivalGamma, Burstiness: 1}, false, 1, 0},
		{"gamma 0.25", bench.LoadSpec{Rate: rate, Arrival: bench.ArrivalGamma, Burstiness: 0.25}, false, 2, 0},
		{"gamma 4, vLLM", bench.LoadSpec{Rate: rate, Arrival: bench.ArrivalGamma, Burstiness: 4}, true, 0.5, -1},
		{"constant", bench.LoadSpec{Rate: rate, Arrival: bench.ArrivalConstant}, false, 0, 0},
		{"constant, vLLM", bench.LoadSpec{Rate: rate, Arrival: bench.ArrivalConstant}, true, 0, 1 / rate},
	} {
		s := bench.Spec{Load: tc.load, Seed: 42}
		if tc.vllm {
			s.Dialect = bench.DialectVLLM
		}
		d := dues(t, n, s)
		if tc.first >= 0 && math.Abs(d[0]-tc.first) > 1e-9 || tc.first < 0 && d[0] <= 0 {
			t.Errorf("%s: the first request is due at %v, want %v", tc.name, d[0], tc.first)
		}
		sum, squares := 0.0, 0.0
		for i := 1; i < n; i++ {
			g := d[i] - d[i-1]
			sum += g
			squares += g * g
		}
		mean := sum / (n - 1)
		cv := math.Sqrt(max(0, squares/(n-1)/mean/mean-1))
		if math.Abs(mean*rate-1) > 4*tc.cv/math.Sqrt(n)+1e-9 || math.Abs(cv-tc.cv) > 0.1*tc.cv+1e-3 {
			t.Errorf("%s: gaps of mean %v and variation %v, want %v and %v", tc.name, mean, cv, 1/rate, tc.cv)
		}
		if tc.vllm && math.Abs(d[n-1]-n/rate) > 1e-8 {
			t.Errorf("%s: the last request is due at %v, want exactly %v", tc.name, d[n-1], n/rate)
		}
	}
}

func TestRampUp(t *testing.T) {
	for _, tc := range []struct {
		exponential bool
		middle      float64
	}{{false, 50.5}, {true, 10}} {
		load := bench.LoadSpec{Arrival: bench.ArrivalConstant, RampUp: &bench.RampUp{Exponential: tc.exponential, Start: 1, End: 100}}
		for i, want := range map[int]float64{0: 1, 50: tc.middle, 100: 100} {
			if got := rateAt(load, i, 101); math.Abs(got-want) > 1e-9 {
				t.Errorf("exponential %v: rate at request %d = %v, want %v", tc.exponential, i, got, want)
			}
		}
		d := dues(t, 101, bench.Spec{Load: load})
		if first, last := d[1]-d[0], d[100]-d[99]; first != 1 || math.Abs(last-1/rateAt(load, 99, 101)) > 1e-8 {
			t.Errorf("exponential %v: gaps from %v to %v, want 1 s to about 10 ms", tc.exponential, first, last)
		}
	}
}

// TestVLLMSchedule: the times of vllm/benchmarks/serve.py for seed 0, rate 10, burstiness 0.5 and four requests, from its
// gaps of 0.0608…, 0.0756…, 0.0358… and 0.0382… s.
func TestVLLMSchedule(t *testing.T) {
	gaps := []float64{0.06080037795214088, 0.07565434401356312, 0.03589667780057752, 0.03829651349213206}
	total := 0.0
	for _, g := range gaps {
		total += g
	}
	got := dues(t, 4, bench.Spec{Dialect: bench.DialectVLLM, Load: bench.LoadSpec{Rate: 10, Arrival: bench.ArrivalGamma, Burstiness: 0.5}})
	at := 0.0
	for i, g := range gaps {
		at += g
		if want := at * 0.4 / total; math.Abs(got[i]-want) > 1e-9 {
			t.Errorf("request %d is due at %v, want %v", i, got[i], want)
		}
	}
}

func TestCheckLoad(t *testing.T) {
	for _, tc := range []struct {
		load bench.LoadSpec
		want string
	}{
		{bench.LoadSpec{Rate: -1}, "request rate is -1"},
		{bench.LoadSpec{Rate: math.Inf(1)}, "request rate is +Inf"},
		{bench.LoadSpec{Rate: 1, Arrival: bench.ArrivalGamma}, "burstiness is 0"},
		{bench.LoadSpec{RampUp: &bench.RampUp{Start: 0, End: 5}}, "ramps from 0 to 5"},
		{bench.LoadSpec{}, ""},
		{bench.LoadSpec{Rate: 2, Arrival: bench.ArrivalGamma, Burstiness: 0.5}, ""},
	} {
		faults := checkLoad(tc.load)
		if tc.want == "" && len(faults) > 0 || tc.want != "" && (len(faults) != 1 || !strings.Contains(faults[0].Error(), tc.want)) {
			t.Errorf("checkLoad(%+v) = %v, want %q", tc.load, faults, tc.want)
		}
	}
}
