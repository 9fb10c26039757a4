package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/servemark/servemark/internal/bench"
	"github.com/servemark/servemark/internal/experiment"
	"github.com/servemark/servemark/internal/journal"
	"github.com/servemark/servemark/internal/sim"
	"github.com/servemark/servemark/internal/sim/virtual"
)

// trial is one run of an experiment: what was sent and what became of it.
type trial struct {
	plan    *bench.Plan
	records []bench.Record
	server  bench.Server
	journal string
	seen    bench.Observed
}

// lab runs trials: against a server, or against a preset of the simulator in virtual time.
type lab struct {
	*console
	command string
	runner  *virtual.Runner // nil against a server
	preset  sim.Preset
}

// errTold is why there is no trial where the cause has been told.
var errTold = errors.New("was not measured")

// virtualPrefix begins a target that is a preset of the simulator: nothing is sent anywhere and no time passes.
const virtualPrefix = "sim:"

// inVirtual are flags that mean nothing to a trial without a server.
var inVirtual = []string{"tokenizer", "model", "api", "dataset", "dataset-path", "think-time", "flush-cache", "header", "insecure", "save-text", "warmup",
	"extra-request-body", "no-stream", "no-ignore-eos", "ready-timeout", "connect-timeout", "first-byte-timeout", "max-client-memory", "metrics", "gpu-metrics"}

// newLab finds out where trials are to run. A target that is a preset is taken out of a, with an address in its place that every
// reader of flags can read.
func newLab(c *console, command string, a *arguments) *lab {
	l := &lab{console: c, command: command}
	if len(a.rest) != 1 || !strings.HasPrefix(a.rest[0], virtualPrefix) {
		return l
	}
	preset, err := sim.PresetNamed(strings.TrimPrefix(a.rest[0], virtualPrefix))
	if err != nil {
		a.faults = append(a.faults, fault{what: a.rest[0] + ": " + err.Error()})
	} else if l.runner, err = virtual.New(virtual.Options{Engine: preset.Engine, ContextLen: preset.MaxModelLen}); err != nil {
		a.faults = append(a.faults, fault{what: a.rest[0] + ": " + err.Error()})
	}
	l.preset = preset
	a.rest = []string{"http://127.0.0.1"}
	for _, name := range inVirtual {
		if a.typed(name) {
			a.wrong(name, "has no effect on a preset in virtual time, where nothing is sent", "leave it out, or start the preset with servemark sim and name its address")
		}
	}
	return l
}

// virtual reports whether trials run in virtual time.
func (l *lab) virtual() bool { return l.preset.Name != "" }

// target is how reports name where trials ran.
func (l *lab) target(j *job) string {
	if l.virtual() {
		return virtualPrefix + l.preset.Name
	}
	return j.spec.Target.BaseURL
}

// try runs one job quietly, keeping its journal in a file ("-" for none). The code says why there is no trial: faults have been
// told then.
func (l *lab) try(ctx context.Context, j *job, file string) (*trial, int) {
	if l.virtual() {
		return l.simulate(ctx, j, file)
	}
	each := *j
	each.journal, each.native = file, true
	quiet := *l.console
	quiet.out = io.Discard
	s := newSession(&quiet, l.command, &each)
	code := s.run(ctx)
	if s.result == nil || code == exitInterrupted {
		return nil, max(code, exitFailed)
	}
	return &trial{plan: s.plan, records: s.records, server: s.server, journal: s.journalPath, seen: s.beside.observed}, exitOK
}

// simulate runs a job in virtual time.
func (l *lab) simulate(ctx context.Context, j *job, file string) (*trial, int) {
	spec := j.spec
	spec.Target.BaseURL = l.target(j)
	spec.Model.Served = bench.ServedModel(l.preset.ServedModel)
	if spec.Load.Duration > 0 {
		spec.Dataset.Rows = rowsFor(&spec, nil)
	}
	t := &trial{plan: experiment.Synthetic(spec, spec.Seed), server: bench.Server{BaseURL: spec.Target.BaseURL, Engine: bench.Engine(l.preset.Flavour)}}
	var err error
	t.records, err = experiment.Observe(ctx, t.plan, j.outlook, l.runner.Run)
	if ctx.Err() != nil {
		return nil, exitInterrupted
	}
	if err == nil && spec.Load.Duration > 0 {
		t.plan.Requests = t.plan.Requests[:len(t.records)]
	}
	if err == nil && file != "-" {
		t.journal, err = file, l.keep(t, file, endedEarly(j.outlook, t.records))
	}
	if err != nil {
		return nil, l.refuse(l.command, exitFailed, []string{err.Error()})
	}
	return t, exitOK
}

// keep writes the journal of a trial in virtual time; cause says why it was ended early, "" where it was not.
func (l *lab) keep(t *trial, file, cause string) error {
	now := time.Now()
	w, err := journal.Create(file, journal.Header{Version: version(), Started: now, Plan: t.plan, Server: t.server})
	if err != nil {
		return err
	}
	for _, r := range t.records {
		if err := w.Append(r); err != nil {
			return err
		}
	}
	return w.Close(journal.End{At: now, Interrupted: cause != "", Cause: cause})
}

// reread makes a trial of the journal of one that was run before.
func reread(file string) (*trial, error) {
	j, err := journal.Open(file)
	if err != nil {
		return nil, err
	}
	if j.Unfinished() {
		return nil, fmt.Errorf("%s: the run was cut short", file)
	}
	return &trial{plan: j.Plan, records: j.Records, server: j.Server, journal: file, seen: j.End.Observed}, nil
}
