package cli

import (
	"context"
	"encoding/json"
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
	"github.com/servemark/servemark/internal/telemetry"
)

// sweepTable holds the flags of `servemark sweep`: its own, and those of `run` that hold at every point.
var sweepTable = append([]flagDef{
	{name: "help", arity: arityHelp, help: "this text"},
	{name: "over", repeat: true, help: "flag of run and its values: concurrency=1..128 (doubling; the default), rate=1,2,4, input-tokens=256..4096*4, seed=1..5+1 (repeats); given again, every combination is tried"},
	{name: "dir", help: "folder for journals and state; a sweep that was broken off there goes on (default: a new servemark-sweep-TIME; in virtual time none); - for none"},
	{name: "reuse-prompts", arity: aritySwitch, help: "ask the same prompts at every point; else each draws its own, so that none finds the last one's in the prefix cache"},
	{name: "gpus", kind: kindInt, help: "how many GPUs the server has, for tok/s per GPU (default: what the server says)"},
	{name: "format", preset: []string{"text"}, choices: report.Forms(), help: "how the answer is printed"},
	{name: "dry-run", arity: aritySwitch, help: "send and write nothing and print the points, one JSON object a line"},
}, runFlagsExcept("help", "runs", "runs-format", "output", "journal", "dry-run")...)

// runFlagsExcept returns the flags of run without some.
func runFlagsExcept(names ...string) []flagDef {
	return slices.DeleteFunc(slices.Clone(runTable), func(d flagDef) bool { return slices.Contains(names, d.name) })
}

// sweepCommand tries a grid of loads.
func sweepCommand() command {
	return command{
		name: "sweep", operands: "URL [flags]", short: "Try a grid of loads: the scaling table, where it bends, where goals are met",
		long: "URL is a server, or sim:PRESET for a preset of the simulator in virtual time (nothing is sent, no time passes).\n" +
			"Every flag of run holds at every point. Without --requests or --duration a point sends 4 requests for each one in flight,\n" +
			"or 30 seconds' worth of its rate. A goal is met where at least one point meets it; single_stream is taken at concurrency 1.",
		table: sweepTable,
		act:   func(ctx context.Context, c *console, a *arguments) int { return c.sweep(ctx, a) },
	}
}

// sweep is one sweep on its way.
type sweep struct {
	*lab
	a      *arguments
	points []experiment.Point
	jobs   []job
	dir    string // "-" for none
	goals  []bench.Goal
	gpus   int
	from   string
	model  string
}

func (c *console) sweep(ctx context.Context, a *arguments) int {
	s := &sweep{lab: newLab(c, "sweep", a), a: a}
	s.plan()
	if len(a.faults) > 0 {
		return c.refuse("sweep", exitUsage, faultLines(a.faults))
	}
	if a.on("dry-run") {
		return s.dryRun()
	}
	state, done, code := s.resume()
	if code != exitOK {
		return code
	}
	if state != nil {
		defer state.Close()
	}
	stopped := exitOK
	outcomes, err := experiment.Sweep(ctx, s.points, done, func(ctx context.Context, p experiment.Point) (experiment.Outcome, error) {
		c.warn("%d of %d: %s", p.Index+1, len(s.points), p.Name())
		t, code := s.try(ctx, &s.jobs[p.Index], s.file(p.Index))
		if code != exitOK {
			stopped = code
			return experiment.Outcome{}, errTold
		}
		return s.outcome(p, t), nil
	}, func(o experiment.Outcome) error {
		if state == nil {
			return nil
		}
		return state.Done(o.Point.Index, filepath.Base(o.Journal))
	})
	if err != nil && ctx.Err() != nil {
		s.warn("interrupted: the point that was under way does not count")
		stopped = exitInterrupted
	} else if err != nil {
		if !errors.Is(err, errTold) {
			c.warn("servemark sweep: %s", safe(err.Error()))
		}
		stopped = max(stopped, exitFailed)
	}
	return s.publish(outcomes, stopped)
}

// plan reads the command line into points and a job for each; all faults go to a.
func (s *sweep) plan() {
	a := s.a
	over := a.list("over")
	if len(over) == 0 {
		over = []string{"concurrency=1..128"}
	}
	var axes []experiment.Axis
	for _, text := range over {
		axis, err := experiment.ParseAxis(text)
		switch {
		case err != nil:
			a.wrong("over", err.Error(), "")
			continue
		case !s.sweepable(axis.Flag):
			a.wrong("over", fmt.Sprintf("%q is no flag of run that takes a value", axis.Flag), "see servemark run --help")
			continue
		case a.typed(axis.Flag):
			a.wrong(axis.Flag, "is what --over varies", "give it in one of the two")
		}
		axes = append(axes, axis)
	}
	if s.gpus, _ = a.whole("gpus"); a.typed("gpus") && s.gpus < 1 {
		a.wrong("gpus", fmt.Sprintf("%d is out of range: at least 1", s.gpus), "")
	}
	s.from = "--gpus"
	s.points = experiment.Grid(axes)
	for _, p := range s.points {
		s.jobs = append(s.jobs, s.job(p))
	}
	s.goals = s.jobs[0].spec.Goals
	alone := func(j job) bool { return j.spec.Load.Concurrency == 1 && !j.spec.Load.Scheduled() }
	if slices.ContainsFunc(s.goals, func(g bench.Goal) bool { return g.Metric == "single_stream" }) && !slices.ContainsFunc(s.jobs, alone) {
		a.wrong("goal", "single_stream is taken at concurrency 1, which no point has", "add it: --over concurrency=1..128")
	}
}

// sweepable reports whether a flag can differ between points.
func (s *sweep) sweepable(flag string) bool {
	return slices.ContainsFunc(runFlagsExcept("help", "runs", "runs-format", "output", "journal", "goal", "goals", "no-progress"), func(d flagDef) bool {
		return d.name == flag && d.arity == arityOne
	})
}

// job is the job of one point: the command line with the point's settings.
func (s *sweep) job(p experiment.Point) job {
	a := &arguments{table: runTable, values: maps.Clone(s.a.values), rest: s.a.rest}
	for _, set := range p.Settings {
		def := a.def(set.Flag)
		if f := check(def, set.Value); f != nil {
			s.a.faults = append(s.a.faults, *f)
			continue
		}
		a.values[set.Flag] = []string{set.Value}
	}
	j := runJob(a, s.getenv)
	s.a.faults = append(s.a.faults, a.faults...)
	s.size(&j, a)
	if _, own := p.Value("seed"); !own && !s.a.on("reuse-prompts") {
		j.spec.Seed = (j.spec.Seed + 7919*int64(p.Index)) % (math.MaxUint32 + 1)
	}
	if len(a.faults) == 0 && !s.virtual() {
		for _, err := range dataset.CheckSpec(&j.spec) {
			s.a.faults = append(s.a.faults, fault{what: err.Error()})
		}
	}
	return j
}

// Sizes of a point where the command line does not say.
const (
	leastAtPoint = 8
	perSlot      = 4
	secondsAtOne = 30
)

// size chooses how many requests a point sends.
func (s *sweep) size(j *job, a *arguments) {
	if a.typed("requests") || a.typed("duration") {
		return
	}
	l := j.spec.Load
	j.spec.Dataset.Rows = max(leastAtPoint, perSlot*l.Concurrency)
	if l.Rate > 0 {
		j.spec.Dataset.Rows = max(j.spec.Dataset.Rows, int(math.Ceil(secondsAtOne*l.Rate)))
	}
}

// dryRun prints what each point would ask, and sends nothing.
func (s *sweep) dryRun() int {
	rows := json.NewEncoder(s.out)
	for i, p := range s.points {
		spec := &s.jobs[i].spec
		row := struct {
			experiment.Point
			// Requests is null where time ends the point.
			Requests *int   `json:"requests"`
			When     string `json:"when"`
			Seed     int64  `json:"seed"`
		}{Point: p, When: arrivalWords(&spec.Load, nil), Seed: spec.Seed}
		if spec.Load.Duration == 0 {
			row.Requests = &spec.Dataset.Rows
		}
		if err := rows.Encode(row); err != nil {
			return s.unwritten("sweep", err)
		}
	}
	s.warn("dry run: nothing is sent or written; a sweep of %s would measure %s one after the other", safe(s.target(&s.jobs[0])), bench.Number(len(s.points), "point"))
	return exitOK
}

// resume opens the sweep's folder and takes over what is done there.
func (s *sweep) resume() (*experiment.State, map[int]experiment.Outcome, int) {
	s.dir = s.a.text("dir")
	if s.dir == "" {
		s.dir = "servemark-sweep-" + time.Now().Format("20060102-150405")
		if s.virtual() {
			s.dir = "-"
		}
	}
	done := map[int]experiment.Outcome{}
	if s.dir == "-" {
		return nil, done, exitOK
	}
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return nil, nil, s.refuse("sweep", exitRefused, []string{"the folder of the sweep cannot be made: " + unusable(s.dir, err, "name another with --dir, or - for none").Error()})
	}
	asked := maps.Clone(s.a.values)
	for _, name := range []string{"dir", "format", "gpus", "goal", "goals", "no-progress", "header"} { // how it is shown, and what may be secret
		delete(asked, name)
	}
	state, files, err := experiment.OpenState(filepath.Join(s.dir, "sweep.jsonl"), experiment.Begun{Points: s.points, Asked: asked, Target: s.target(&s.jobs[0])})
	if err != nil {
		return nil, nil, s.refuse("sweep", exitRefused, []string{err.Error()})
	}
	for _, p := range s.points {
		if name, ok := files[p.Index]; ok {
			t, err := reread(filepath.Join(s.dir, filepath.Base(name)))
			if err == nil {
				done[p.Index] = s.outcome(p, t)
				continue
			}
			s.warn("%s is measured again: %s", p.Name(), safe(err.Error()))
		}
		s.setAside(s.file(p.Index))
	}
	if len(done) > 0 {
		s.warn("%s %s done already in %s", bench.Part(len(done), len(s.points), "point"), bench.Agree(len(done), "is", "are"), safe(s.dir))
	}
	return state, done, exitOK
}

// setAside moves away the journal of a point that was broken off.
func (s *sweep) setAside(file string) {
	for i := 1; exists(file); i++ {
		if to := fmt.Sprintf("%s.cut-%d", file, i); !exists(to) {
			if os.Rename(file, to) != nil {
				return
			}
		}
	}
}

func (s *sweep) file(index int) string {
	if s.dir == "-" {
		return "-"
	}
	return filepath.Join(s.dir, fmt.Sprintf("point-%03d.journal", index))
}

// outcome is what a trial says; goals are those of this command line.
func (s *sweep) outcome(p experiment.Point, t *trial) experiment.Outcome {
	t.plan.Spec.Goals = s.goals
	s.model = string(t.plan.Spec.Model.Served)
	if s.gpus < 1 {
		if s.gpus = gpusOf(t.server.Info); s.gpus > 0 {
			s.from = "as the server says"
		}
	}
	o := experiment.Outcome{Point: p, Seed: t.plan.Spec.Seed, Fingerprint: t.plan.Fingerprint, Journal: t.journal,
		Summary: stats.Summarize(t.plan, t.records, stats.Options{})}
	o.Findings = telemetry.Findings(t.seen.Telemetry, &o.Summary)
	return o
}

// gpusOf multiplies the parallel sizes that a server states; 0 is unknown.
func gpusOf(info map[string]any) int {
	n := 0
	for _, key := range []string{"tp_size", "pp_size"} {
		v, ok := info[key]
		if !ok {
			return 0
		}
		size, err := strconv.Atoi(fmt.Sprint(v))
		if err != nil || size < 1 {
			return 0
		}
		n = max(n, 1) * size
	}
	dp, err := strconv.Atoi(fmt.Sprint(info["dp_size"]))
	if attention, _ := info["enable_dp_attention"].(bool); err == nil && dp > 1 && !attention {
		n *= dp
	}
	return n
}

// publish prints what was measured and picks the exit code.
func (s *sweep) publish(outcomes []experiment.Outcome, stopped int) int {
	r := report.Sweep{Target: s.target(&s.jobs[0]), Model: s.model, GPUs: s.gpus, GPUsFrom: s.from, Outcomes: outcomes, Planned: len(s.points), Goals: s.goals}
	if s.a.on("reuse-prompts") {
		r.Notes = append(r.Notes, "Every point asked the same prompts: from the second on the prefix cache may have known them.")
	}
	if len(outcomes) > 0 {
		if err := r.Write(s.out, report.Form(s.a.text("format"))); err != nil {
			return s.unwritten("sweep", err)
		}
	}
	if s.dir != "-" {
		how := "journals and state"
		if stopped != exitOK {
			how = "the same command line with --dir " + safe(shellWord(s.dir)) + " goes on from here; journals and state"
		}
		s.warn("%s: %s", how, safe(s.dir))
	}
	if stopped != exitOK {
		return stopped
	}
	return s.judge(outcomes)
}

// judge picks the exit code of a sweep that came to its end: a goal is missed where no point meets it.
func (s *sweep) judge(outcomes []experiment.Outcome) int {
	worked := slices.ContainsFunc(outcomes, func(o experiment.Outcome) bool { return o.Summary.Completed > 0 })
	if !worked {
		return exitFailed
	}
	invalid := slices.ContainsFunc(outcomes, func(o experiment.Outcome) bool { return o.Summary.Verdict.Level == bench.Invalid })
	if invalid && s.a.on("require-valid") {
		return exitInvalid
	}
	for i := range s.goals {
		if !slices.ContainsFunc(outcomes, func(o experiment.Outcome) bool { g := o.Summary.Goals[i]; return g.Met && g.Value.Known() }) {
			return exitGoal
		}
	}
	return exitOK
}
