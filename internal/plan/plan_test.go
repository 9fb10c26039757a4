package plan

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/servemark/servemark/internal/bench"
)

func spec(change func(*bench.Spec)) bench.Spec {
	s := bench.Spec{
		Dialect: bench.DialectSGLang, Seed: 42, Target: bench.Target{API: bench.APICompletions},
		Dataset: bench.DatasetSpec{Name: "random", Rows: 2000, InputTokens: 8, OutputTokens: 16, RangeRatio: 0.5},
	}
	if change != nil {
		change(&s)
	}
	return s
}

func build(t *testing.T, s bench.Spec) *bench.Plan {
	t.Helper()
	p, err := Build(s, Inputs{})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestSameSeedSameBytes(t *testing.T) {
	bytes := func(s bench.Spec) string {
		b, err := json.Marshal(build(t, s))
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	paced := func(s *bench.Spec) { s.Load.Rate = 7 }
	a, b := bytes(spec(paced)), bytes(spec(paced))
	if a != b {
		t.Error("the same Spec gave two plans")
	}
	other := bytes(spec(func(s *bench.Spec) { paced(s); s.Seed = 43 }))
	if other == a {
		t.Error("another seed gave the same plan")
	}
}

func TestIDsAreDense(t *testing.T) {
	for i, r := range build(t, spec(nil)).Requests {
		if r.ID != i {
			t.Fatalf("request %d has id %d", i, r.ID)
		}
	}
}

func TestUnlimitedHasNoSchedule(t *testing.T) {
	for _, r := range build(t, spec(nil)).Requests {
		if r.Due != bench.Never {
			t.Fatalf("request %d is due at %d, want Never", r.ID, r.Due)
		}
	}
}

func TestPoissonArrivals(t *testing.T) {
	const rate = 50.0
	p := build(t, spec(func(s *bench.Spec) { s.Load.Rate = rate }))
	if p.Requests[0].Due != 0 {
		t.Errorf("the first request is due at %d, want 0", p.Requests[0].Due)
	}
	short, last := 0, bench.Instant(0)
	for _, r := range p.Requests[1:] {
		gap := r.Due.Sub(last).Seconds()
		if gap < 0 {
			t.Fatalf("request %d is due before the one before it", r.ID)
		}
		if gap < 1/rate {
			short++
		}
		last = r.Due
	}
	n := float64(len(p.Requests) - 1)
	// Mean gap 1/rate, four standard errors; the share of gaps under the mean is 1−1/e.
	if got := n / last.Sub(0).Seconds(); math.Abs(got/rate-1) > 4/math.Sqrt(n) {
		t.Errorf("%v requests per second over %v gaps, want about %v", got, n, rate)
	}
	if got := float64(short) / n; math.Abs(got-0.632) > 0.045 {
		t.Errorf("%v of the gaps are under the mean, want about 0.632", got)
	}
	if slow := build(t, spec(func(s *bench.Spec) { s.Load.Rate = rate / 10 })); math.Abs(float64(slow.Requests[1999].Due)/float64(last)-10) > 1e-6 {
		t.Errorf("a tenth of the rate ends at %d, want ten times %d: the same draws", slow.Requests[1999].Due, last)
	}
}

func TestTheDataSetIsTheSameUnderAnyRate(t *testing.T) {
	texts := func(p *bench.Plan) (out []string) {
		for _, r := range p.Requests {
			out = append(out, r.Prompt.Text)
		}
		return out
	}
	a, b := build(t, spec(nil)), build(t, spec(func(s *bench.Spec) { s.Load.Rate = 3 }))
	if diff := cmp.Diff(texts(a), texts(b)); diff != "" {
		t.Errorf("prompts depend on the rate:\n%s", diff)
	}
	if a.Fingerprint == "" || a.Fingerprint == b.Fingerprint {
		t.Errorf("fingerprints %q and %q, want two different ones", a.Fingerprint, b.Fingerprint)
	}
}

func TestAllFaultsAtOnce(t *testing.T) {
	_, err := Build(spec(func(s *bench.Spec) {
		s.Dataset.Rows, s.Dataset.RangeRatio, s.Load.Rate, s.Dataset.Path = 0, -1, math.NaN(), filepath.Join(t.TempDir(), "none.json")
	}), Inputs{})
	if err == nil {
		t.Fatal("Build made a plan of a Spec with four faults")
	}
	for _, want := range []string{"number of prompts is 0", "range ratio is -1", "request rate is NaN", "none.json does not exist"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("error lacks %q:\n%v", want, err)
		}
	}
}

func TestPlanCarriesWhatTheDataSetSays(t *testing.T) {
	path := filepath.Join(t.TempDir(), "c.jsonl")
	if err := os.WriteFile(path, []byte("{\n"+`{"conversations":[{"content":"one two three"},{"content":"four five six"}]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	p := build(t, spec(func(s *bench.Spec) { s.Dataset = bench.DatasetSpec{Name: "custom", Path: path, Rows: 5} }))
	notes := strings.Join(p.Notes, "\n")
	if len(p.Requests) != 1 || !strings.Contains(notes, "line 1") || !strings.Contains(notes, "5 prompts were asked for") || !strings.Contains(p.Source, path) {
		t.Errorf("%d requests from %q with notes:\n%s\nwant 1, naming the file, the broken line and the missing rows", len(p.Requests), p.Source, notes)
	}
}

func TestATraceKeepsItsTimes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.jsonl")
	if err := os.WriteFile(path, []byte(`{"timestamp": 1000, "input_length": 9}`+"\n"+`{"timestamp": 1250, "input_length": 9}`), 0o600); err != nil {
		t.Fatal(err)
	}
	p := build(t, spec(func(s *bench.Spec) {
		s.Dataset = bench.DatasetSpec{Name: "mooncake", Path: path, Rows: 2, Mooncake: &bench.Mooncake{Slowdown: 2, Rounds: 1}}
		s.Load.Rate = 3
	}))
	if a, b := p.Requests[0].Due, p.Requests[1].Due; a != 0 || b != 500_000_000 {
		t.Errorf("due at %d and %d, want 0 and 500 ms: the trace at half its speed", a, b)
	}
	if l := p.Spec.Load; !l.Trace || !l.Scheduled() || l.Rate != 0 || !strings.Contains(strings.Join(p.Notes, "\n"), "rate of 3 has no effect") {
		t.Errorf("load = %+v with notes %q, want a trace that says that the rate has no effect", l, p.Notes)
	}
}
