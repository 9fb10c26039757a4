package stats

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/servemark/servemark/internal/bench"
)

// quickReply and slowReply are on either side of 100 ms.
const quickReply, slowReply = 20 * time.Millisecond, 300 * time.Millisecond

// followed is a run of n requests, one every 10 ms, that an Outlook follows in the order of their ends; slow says which are. It returns
// how many had ended when the run was hopeless, n where it never was.
func followed(o *Outlook, n int, slow func(i int) bool, answered func(int) bool) (ended int, run Judged) {
	run = servedAt(n, 0, 0, quickReply, false)
	run.Plan.Spec.Dialect = bench.DialectNative
	for i := range run.Records {
		if r := &run.Records[i]; slow(i) {
			r.Chunks[0].At = r.Due.Add(slowReply)
			r.Done = r.Chunks[0].At
		}
	}
	o.Begin(run.Plan)
	for i, r := range run.Records {
		if o.Hopeless(r.Done, answered) {
			return i, run
		}
		o.Add(r)
	}
	return n, run
}

func TestOutlook(t *testing.T) {
	p90 := bench.Goal{Name: "p90 ttft < 100ms", Metric: "ttft", Statistic: "p90", Op: bench.LessThan, Bound: 0.1}
	mean := bench.Goal{Name: "mean e2e < 100ms", Metric: "e2e", Statistic: "mean", Op: bench.LessThan, Bound: 0.1}
	errors := bench.Goal{Name: "error_rate <= 1%", Metric: "error_rate", Op: bench.AtMost, Bound: 0.01}
	const n = 1000
	for _, row := range []struct {
		name     string
		goal     bench.Goal
		slow     func(i int) bool
		from, to int // between which numbers of ended requests it becomes hopeless
	}{
		{"all quick", p90, func(int) bool { return false }, n, n},
		{"one in ten slow: exactly the goal", p90, func(i int) bool { return i%10 == 9 }, n, n},
		{"all slow", p90, func(int) bool { return true }, 101, 600},
		{"every second slow", p90, func(i int) bool { return i%2 == 0 }, 201, 900},
		{"slow to begin with", p90, func(i int) bool { return i < 90 }, n, n},
		{"slow to begin with, for too long", p90, func(i int) bool { return i < 700 }, 101, 700},
		{"slow in the end", p90, func(i int) bool { return i > 900 }, n, n},
		{"mean: all slow", mean, func(int) bool { return true }, 334, n},
		{"mean: all quick", mean, func(int) bool { return false }, n, n},
		{"a goal that none of this concerns", errors, func(int) bool { return true }, n, n},
	} {
		o := NewOutlook([]bench.Goal{row.goal}, nil, 0.01, 100)
		ended, _ := followed(o, n, row.slow, nil)
		if ended < row.from || ended > row.to {
			t.Errorf("%s: hopeless after %d of %d requests, want %d to %d", row.name, ended, n, row.from, row.to)
		}
	}
}

// TestOutlookSilence: requests without an answer count as misses once they are overdue, where it is known that they have none.
func TestOutlookSilence(t *testing.T) {
	ttft := bench.Goal{Name: "p90 ttft < 100ms", Metric: "ttft", Statistic: "p90", Op: bench.LessThan, Bound: 0.1}
	e2e := bench.Goal{Name: "p90 e2e < 100ms", Metric: "e2e", Statistic: "p90", Op: bench.LessThan, Bound: 0.1}
	good := bench.Goal{Name: "slo_attainment >= 90%", Metric: "slo_attainment", Op: bench.AtLeast, Bound: 0.9}
	tpot := bench.Goal{Name: "p90 tpot < 100ms", Metric: "tpot", Statistic: "p90", Op: bench.LessThan, Bound: 0.1}
	silent, speaking := func(int) bool { return false }, func(int) bool { return true }
	for _, row := range []struct {
		name     string
		goal     bench.Goal
		answered func(int) bool
		want     bool
	}{
		{"no first token", ttft, silent, true},
		{"first tokens have come", ttft, speaking, false},
		{"nobody knows of first tokens", ttft, nil, false},
		{"no end", e2e, speaking, true},
		{"no end, and nobody knows of first tokens", e2e, nil, true},
		{"SLO on first tokens", good, silent, true},
		{"SLO on first tokens that have come", good, speaking, false},
		{"time per token says nothing before the end", tpot, silent, false},
	} {
		o := NewOutlook([]bench.Goal{row.goal}, nil, 0.01, 100)
		run := servedAt(400, 0, 0, quickReply, false)
		run.Plan.Spec.Dialect = bench.DialectNative
		run.Plan.Spec.SLOs = []bench.SLO{{Metric: "ttft", Max: 100 * time.Millisecond}}
		for i := range run.Plan.Requests {
			run.Plan.Requests[i].OutputTokens = 2
		}
		o.Begin(run.Plan)
		if o.Hopeless(bench.At(120*time.Millisecond), row.answered) {
			t.Errorf("%s: hopeless after 120 ms, when two of 400 requests are overdue", row.name)
		}
		if got := o.Hopeless(bench.At(time.Minute), row.answered); got != row.want {
			t.Errorf("%s: Hopeless after a minute = %v, want %v", row.name, got, row.want)
		}
		end := o.Cut(nil)
		if (end != nil) != row.want || end != nil && (!strings.Contains(end.Reason, row.goal.Name+" is out of reach: 400 of 400 requests are outside it, 400 of them still waiting") || !end.Evidence[0].BestCase || end.Evidence[0].Standing != Missed) {
			t.Errorf("%s: Cut = %+v, want an ending: %v", row.name, end, row.want)
		}
	}
}

// TestOutlookIsSure: whatever runs look like, a hopeless one whose rest turns perfect at once does not meet its goal, and by its value
// alone fails it.
func TestOutlookIsSure(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 15))
	hopeless := 0
	for range 100 {
		n := 100 + rng.IntN(500)
		goal := bench.Goal{Metric: "ttft", Statistic: []string{"p50", "p90", "p99"}[rng.IntN(3)], Op: bench.LessThan, Bound: 0.1}
		share, stay, bad := rng.Float64(), rng.Float64(), false
		slow := func(int) bool { // misses come in clumps
			if rng.Float64() > stay {
				bad = rng.Float64() < share
			}
			return bad
		}
		o := NewOutlook([]bench.Goal{goal}, nil, 0.01, 100)
		ended, run := followed(o, n, slow, nil)
		if ended == n {
			continue
		}
		hopeless++
		for i := range run.Records {
			if r := &run.Records[i]; i >= ended {
				r.Chunks[0].At = r.Due.Add(quickReply)
				r.Done = r.Chunks[0].At
			}
		}
		if e := Judge([]bench.Goal{goal}, []Judged{run}, 0.01, 100)[0]; e.Standing == Met || e.Value >= e.Target {
			t.Errorf("%s, hopeless after %d of %d requests and perfect from there: Judge = %s with %.3f, want less than %.3f", goal.Statistic, ended, n, e.Standing, e.Value, e.Target)
		}
		if o.Cut(run.Records) != nil || o.Cut(run.Records[:ended]) == nil {
			t.Errorf("Cut of all %d records = %v, of the first %d = %v; want none and a reason", n, o.Cut(run.Records), ended, o.Cut(run.Records[:ended]))
		}
	}
	if hopeless < 10 {
		t.Errorf("%d of 100 runs were hopeless, too few to say anything", hopeless)
	}
	if (*Outlook)(nil).Cut(nil) != nil {
		t.Errorf("Cut of no outlook is an ending, want none")
	}
}
