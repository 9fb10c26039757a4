package cli

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/servemark/servemark/internal/bench"
	"github.com/servemark/servemark/internal/dataset"
	"github.com/servemark/servemark/internal/experiment"
	"github.com/servemark/servemark/internal/report"
	"github.com/servemark/servemark/internal/stats"
)

// sloTable holds the flags of `servemark slo`: its own, and those of `run` that hold for every trial.
var sloTable = append([]flagDef{
	{name: "help", arity: arityHelp, help: "this text"},
	{name: "over", preset: []string{"rate"}, choices: []string{"rate", "concurrency"}, help: "what load is: requests per second or requests in flight"},
	{name: "start", kind: kindPositive, preset: []string{"1"}, help: "first load tried"},
	{name: "most", kind: kindPositive, help: "never ask for more than this"},
	{name: "tolerance", preset: []string{"10%"}, help: "how close together the ends of the interval are wanted; half of it needs four times the requests"},
	{name: "max-requests", kind: kindInt, preset: []string{"20000"}, help: "most requests that are sent in all"},
	{name: "max-time", kind: kindDuration, preset: []string{"1h"}, help: "no trial begins after that time"},
	{name: "dir", preset: []string{"-"}, help: "folder for the journals of the trials; - for none"},
	{name: "format", preset: []string{"text"}, choices: report.Forms(), help: "how the answer is printed"},
}, runFlagsExcept("help", "runs", "runs-format", "output", "journal", "concurrency", "rate", "requests", "duration", "ramp", "stages", "dry-run")...)

// sloCommand finds the largest load that meets the goals.
func sloCommand() command {
	return command{
		name: "slo", operands: "URL --goal … [flags]", short: "Find the largest load that still meets the goals, as an interval",
		long: "URL is a server, or sim:PRESET for a preset of the simulator in virtual time. Goals limit latency, speed per user or errors:\n" +
			"--goal 'p99 ttft < 500ms' --goal 'p50 per_user >= 20'. A percentile goal is about the share of requests within the bound, failed ones\n" +
			"counting as outside. A trial that can no longer meet a goal, whatever becomes of the rest, is ended at once; its load is missed.\n" +
			"docs/answers.md says how loads are chosen and judged.",
		table: sloTable,
		act:   func(ctx context.Context, c *console, a *arguments) int { return c.slo(ctx, a) },
	}
}

func (c *console) slo(ctx context.Context, a *arguments) int {
	l := newLab(c, "slo", a)
	s, base := l.searchFor(a)
	if len(a.faults) > 0 {
		return c.refuse("slo", exitUsage, faultLines(a.faults))
	}
	if dir := a.text("dir"); dir != "-" {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return c.refuse("slo", exitRefused, []string{"the folder of the journals cannot be made: " + unusable(dir, err, "name another with --dir, or - for none").Error()})
		}
	}
	stopped := exitOK
	var last stats.Judged // the latest trial, which is the one that confirms where the search comes to its end
	model := l.preset.ServedModel
	s.Trial = func(ctx context.Context, load float64, requests int, seed int64, o *stats.Outlook) (*bench.Plan, []bench.Record, error) {
		j := base
		j.outlook = o
		j.ask(load, s.Whole, requests, seed)
		file := "-"
		if dir := a.text("dir"); dir != "-" {
			file = freeName(dir)
		}
		t, code := l.try(ctx, &j, file)
		if code != exitOK {
			stopped = code
			return nil, nil, errTold
		}
		model = string(t.plan.Spec.Model.Served)
		last = stats.Judged{Plan: t.plan, Records: t.records}
		return t.plan, t.records, nil
	}
	s.Tell = c.tellStep
	began := time.Now()
	found, err := s.Run(ctx)
	if err != nil {
		if !errors.Is(err, errTold) && ctx.Err() == nil {
			c.warn("servemark slo: %s", safe(err.Error()))
		}
		if stopped = max(stopped, exitFailed); ctx.Err() != nil {
			c.warn("interrupted: the trial that was under way does not count")
			stopped = exitInterrupted
		}
	}
	r := report.Capacity{Target: l.target(&base), Model: model, Whole: s.Whole, Found: found, Interrupted: ctx.Err() != nil, Tolerance: s.Tolerance, Spent: time.Since(began)}
	if found.Confirmed {
		last.Plan.Spec.Goals = s.Goals
		sum := stats.Summarize(last.Plan, last.Records, stats.Options{})
		r.At = &sum
	}
	if len(found.Steps) > 0 {
		if err := r.Write(c.out, report.Form(a.text("format"))); err != nil {
			return c.unwritten("slo", err)
		}
	}
	if stopped == exitOK && !found.Low.Known() {
		return exitGoal
	}
	return stopped
}

// ask sets what one trial of a search sends: whole loads are requests in flight, others a rate.
func (j *job) ask(load float64, whole bool, requests int, seed int64) {
	j.spec.Load.Rate, j.spec.Load.Concurrency = load, 0
	if whole {
		j.spec.Load.Rate, j.spec.Load.Concurrency = 0, int(load)
	}
	j.spec.Dataset.Rows, j.spec.Seed = requests, seed%(math.MaxUint32+1)
}

// tellStep says how a search goes on.
func (c *console) tellStep(st experiment.Step) {
	c.warn("%s %s: %s, %s", st.Purpose, strconv.FormatFloat(st.Load, 'g', 4, 64), bench.Number(st.Requests, "request"), st.Standing)
	if st.EndedEarly != "" {
		c.warn("  ended early: %s", safe(st.EndedEarly))
	}
}

// freeName is the first name in a folder that no trial has yet.
func freeName(dir string) string {
	for i := 0; ; i++ {
		if name := filepath.Join(dir, fmt.Sprintf("trial-%03d.journal", i)); !exists(name) {
			return name
		}
	}
}

// searchFor reads the command line into a search and the job its trials start from; all faults go to a.
func (l *lab) searchFor(a *arguments) (experiment.Search, job) {
	values := maps.Clone(a.values)
	values["concurrency"] = []string{"1"} // replaced at every trial
	for _, own := range []string{"over", "start", "most", "tolerance", "max-requests", "max-time", "dir", "format"} {
		delete(values, own)
	}
	r := &arguments{table: runTable, values: values, rest: a.rest}
	base := runJob(r, l.getenv)
	a.faults = append(a.faults, r.faults...)
	if len(r.faults) == 0 && !l.virtual() {
		for _, err := range dataset.CheckSpec(&base.spec) {
			a.faults = append(a.faults, fault{what: err.Error()})
		}
	}
	s := experiment.Search{Goals: base.spec.Goals, Whole: a.text("over") == "concurrency", Start: a.number("start"), Most: a.number("most"), Seed: base.spec.Seed}
	if s.Whole {
		s.Start = math.Max(1, math.Round(s.Start))
	}
	if a.typed("most") && s.Most < s.Start {
		a.wrong("most", fmt.Sprintf("%v is below --start %v", s.Most, s.Start), "")
	}
	s.Tolerance, _, _ = parseBound(a.text("tolerance"), stats.Shares)
	if !(s.Tolerance >= 0.01 && s.Tolerance <= 0.5) {
		a.wrong("tolerance", fmt.Sprintf("%q is out of range: 1%% to 50%%", a.text("tolerance")), "")
	}
	if s.MaxRequests, _ = a.whole("max-requests"); s.MaxRequests < 100 {
		a.wrong("max-requests", fmt.Sprintf("%d is out of range: at least 100", s.MaxRequests), "")
	}
	s.MaxTime, _ = parseDuration(a.text("max-time"))
	if len(s.Goals) == 0 && !slices.ContainsFunc(a.faults, func(f fault) bool { return f.flag == "--goal" || f.flag == "--goals" }) {
		a.wrong("goal", "none is given: what must hold?", "type --goal 'p99 ttft < 500ms'")
	}
	for _, g := range s.Goals {
		if err := stats.CheckJudgeable(g); err != nil {
			a.wrong("goal", err.Error(), "")
		}
	}
	return s, base
}
