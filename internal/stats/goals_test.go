package stats

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/servemark/servemark/internal/bench"
)

func TestGoodput(t *testing.T) {
	fail := success(3, 0, 0)
	fail.Fail(bench.FailStatus, "busy")
	p := planOf(4, 8)
	p.Spec.Dialect = bench.DialectSGLang
	p.Spec.SLOs = []bench.SLO{{Metric: "ttft", Max: 100 * time.Millisecond}, {Metric: "tpot", Max: 20 * time.Millisecond}}
	records := []bench.Record{
		success(0, 0, 3, 100, 120, 140),   // both exactly at the limit: kept
		success(1, 0, 3, 101, 102, 103),   // too late
		success(2, 860*msec, 1, 90), fail, // one token: no TPOT, kept
	}
	s := Summarize(p, records, Options{})
	g := s.Goodput
	if g.Good != 2 || g.FromDue {
		t.Errorf("good = %d, from due %v, want 2 from sent", g.Good, g.FromDue)
	}
	wantMeasure(t, "rate", g.Rate, 2/0.95)
	wantMeasure(t, "attainment", g.Attainment, 0.5)
	wantMeasure(t, "ttft", g.ByMetric["ttft"], 0.5)
	wantMeasure(t, "tpot", g.ByMetric["tpot"], 0.75)

	// The native dialect counts from due where a schedule exists.
	p.Spec.Dialect = bench.DialectNative
	for i := range records {
		p.Requests[i].Due, records[i].Due = 0, 0
	}
	if g := Summarize(p, records, Options{}).Goodput; g.Good != 1 || !g.FromDue {
		t.Errorf("from due: %+v, want 1 good", g)
	}
}

func TestGoals(t *testing.T) {
	p := planOf(1, 8)
	p.Spec.Goals = []bench.Goal{
		{Metric: "output_throughput", Op: bench.AtLeast, Bound: 40}, {Metric: "output_throughput", Op: bench.AtLeast, Bound: 41},
		{Metric: "single_stream", Op: bench.AtLeast, Bound: 39}, {Metric: "peak_output_throughput", Op: bench.AtLeast, Bound: 1},
		{Metric: "request_throughput", Op: bench.AtLeast, Bound: 99},
	}
	r := success(0, 0, 4, 25, 50, 75, 100)
	s := Summarize(p, []bench.Record{r}, Options{Figures: map[string]bench.Measure{"single_stream": bench.Measured(38),
		"peak_output_throughput": {}}})
	var met []bool
	for _, g := range s.Goals {
		met = append(met, g.Met)
	}
	if diff := cmp.Diff([]bool{true, false, false, true, false}, met); diff != "" {
		t.Errorf("goals met (-want +got):\n%s", diff)
	}
	for _, name := range []string{"request_throughput", "input_throughput", "output_throughput", "total_throughput",
		"peak_output_throughput", "concurrency", "single_stream"} {
		r.Usage.Prompt = bench.Counted(9)
		s := Summarize(planOf(1, 8), []bench.Record{r}, Options{})
		if m, ok := MetricNamed(name); !ok || m.Spread || !Figure(&s, name).Known() {
			t.Errorf("Figure(%s) is named %v, spread %v, measured %v", name, ok, m.Spread, Figure(&s, name))
		}
	}
	if _, ok := MetricNamed("speed"); ok {
		t.Error(`MetricNamed("speed") is there`)
	}
}

func TestPartial(t *testing.T) {
	p := planOf(3, 4)
	all := []bench.Record{success(0, 0, 1, 1), success(1, 0, 1, 1), success(2, 0, 1, 1)}
	timed := planOf(3, 4)
	timed.Spec.Load.Duration = time.Second
	for _, row := range []struct {
		name    string
		plan    *bench.Plan
		records []bench.Record
		o       Options
		want    bool
	}{
		{"whole", p, all, Options{}, false},
		{"interrupted at the end", p, all, Options{Unfinished: true}, true},
		{"cut short", p, all[:2], Options{}, true},
		{"ended by its duration", timed, all[:2], Options{}, false},
		{"interrupted within its duration", timed, all[:2], Options{Unfinished: true}, true},
	} {
		if got := Summarize(row.plan, row.records, row.o).Partial; got != row.want {
			t.Errorf("%s: partial = %v, want %v", row.name, got, row.want)
		}
	}
}
