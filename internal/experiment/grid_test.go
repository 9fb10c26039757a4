package experiment

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/servemark/servemark/internal/bench"
)

func TestParseAxis(t *testing.T) {
	for in, want := range map[string][]string{
		"concurrency=1,2,4":       {"1", "2", "4"},
		"concurrency=1..128":      {"1", "2", "4", "8", "16", "32", "64", "128"},
		"--concurrency=1..100":    {"1", "2", "4", "8", "16", "32", "64", "100"},
		"rate=1..2+0.25":          {"1", "1.25", "1.5", "1.75", "2"},
		"rate=0.1..0.4+0.1":       {"0.1", "0.2", "0.3", "0.4"},
		"input-tokens=64..4096*8": {"64", "512", "4096"},
		"dataset=random,sharegpt": {"random", "sharegpt"},
		"concurrency=1,4..16,100": {"1", "4", "8", "16", "100"},
	} {
		got, err := ParseAxis(in)
		if diff := cmp.Diff(want, got.Values); err != nil || diff != "" {
			t.Errorf("ParseAxis(%q): %v (-want +got):\n%s", in, err, diff)
		}
	}
	for _, in := range []string{"", "concurrency", "=1", "c=", "c=1,,2", "c=4..1", "c=0..8", "c=1..8*1", "c=1..8+-1", "c=a..b", "c=1,1", "c=1..1e9+1", "c=1..inf", "c=1..NaN"} {
		if got, err := ParseAxis(in); err == nil {
			t.Errorf("ParseAxis(%q) = %v, want an error", in, got)
		}
	}
}

// FuzzParseAxis: never panics or runs on; values are distinct and not empty.
func FuzzParseAxis(f *testing.F) {
	for _, s := range []string{"c=1..128", "c=1..10+1", "c=1e-300..1*2", "c=1..2+1e-9", "c=-5..5+1", "c=1..8*"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, in string) {
		a, err := ParseAxis(in)
		seen := map[string]bool{}
		for _, v := range a.Values {
			if v == "" || seen[v] {
				t.Errorf("ParseAxis(%q) has %q twice or empty: %v", in, v, a.Values)
			}
			seen[v] = true
		}
		if err == nil && len(a.Values) == 0 {
			t.Errorf("ParseAxis(%q) has no values and no error", in)
		}
	})
}

func TestGrid(t *testing.T) {
	points := Grid([]Axis{{"a", []string{"1", "2"}}, {"b", []string{"x", "y", "z"}}})
	var names []string
	for i, p := range points {
		if p.Index != i {
			t.Errorf("point %d has index %d", i, p.Index)
		}
		names = append(names, p.Name())
	}
	if diff := cmp.Diff([]string{"a 1, b x", "a 1, b y", "a 1, b z", "a 2, b x", "a 2, b y", "a 2, b z"}, names); diff != "" {
		t.Errorf("Grid (-want +got):\n%s", diff)
	}
}

func TestSweepGoesOn(t *testing.T) {
	points := Grid([]Axis{{"a", []string{"1", "2", "3"}}})
	var tried []int
	trial := func(_ context.Context, p Point) (Outcome, error) {
		tried = append(tried, p.Index)
		if p.Index == 2 && len(tried) == 2 {
			return Outcome{}, errors.New("down")
		}
		return Outcome{Point: p, Seed: int64(p.Index)}, nil
	}
	done := map[int]Outcome{0: {Point: points[0], Seed: 100}}
	keep := func(o Outcome) error { done[o.Point.Index] = o; return nil }
	out, err := Sweep(t.Context(), points, done, trial, keep)
	if err == nil || len(out) != 2 {
		t.Fatalf("Sweep = %d outcomes, %v, want 2 and an error", len(out), err)
	}
	out, err = Sweep(t.Context(), points, done, trial, keep)
	if err != nil || len(out) != 3 || out[0].Seed != 100 || out[1].Seed != 1 || out[2].Seed != 2 {
		t.Errorf("Sweep = %+v, %v, want what was done and the rest", out, err)
	}
	if diff := cmp.Diff([]int{1, 2, 2}, tried); diff != "" {
		t.Errorf("tried (-want +got):\n%s", diff)
	}
}

func TestState(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sweep.jsonl")
	b := Begun{Points: Grid([]Axis{{"a", []string{"1", "2"}}}), Asked: map[string][]string{"seed": {"1"}}, Target: "http://a"}
	s, done, err := OpenState(path, b)
	if err != nil || len(done) != 0 {
		t.Fatalf("OpenState = %v, %v", done, err)
	}
	if err := errors.Join(s.Done(1, "one.journal"), s.Close()); err != nil {
		t.Fatal(err)
	}
	whole, _ := os.ReadFile(path)
	for cut := range whole { // killed at any byte
		if err := os.WriteFile(path, whole[:cut], 0o600); err != nil {
			t.Fatal(err)
		}
		s, done, err := OpenState(path, b)
		if err != nil {
			t.Fatalf("cut at %d: %v", cut, err)
		}
		if len(done) > 1 || len(done) == 1 && done[1] != "one.journal" {
			t.Errorf("cut at %d: done = %v", cut, done)
		}
		if err := errors.Join(s.Done(0, "zero.journal"), s.Close()); err != nil {
			t.Fatal(err)
		}
		again, after, err := OpenState(path, b)
		if err != nil || after[0] != "zero.journal" || len(after) != len(done)+1 {
			t.Errorf("cut at %d, then point 0 done: %v, %v", cut, after, err)
		}
		again.Close()
	}
	b.Target = "http://b"
	if err := os.WriteFile(path, whole, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := OpenState(path, b); err == nil {
		t.Error("OpenState of another server's sweep = no error")
	}
}

func TestKneeAndPareto(t *testing.T) {
	at := func(all, user float64) Outcome {
		return Outcome{Summary: bench.Summary{OutputRate: bench.Measured(all), PerUser: bench.Distribution{N: 1, Quantiles: []bench.Quantile{{P: 50, Value: user}}}}}
	}
	outcomes := []Outcome{at(10, 10), at(18, 9), at(17, 8), at(20, 4), {}}
	if got := Knee(outcomes); got != 1 {
		t.Errorf("Knee = %d, want 1", got)
	}
	if diff := cmp.Diff([]bool{true, true, false, true, false}, Pareto(outcomes)); diff != "" {
		t.Errorf("Pareto (-want +got):\n%s", diff)
	}
	if got := Knee([]Outcome{{}}); got != -1 {
		t.Errorf("Knee of nothing = %d, want -1", got)
	}
}
