package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/servemark/servemark/internal/bench"
	"github.com/servemark/servemark/internal/dataset"
	"github.com/servemark/servemark/internal/hub"
	"github.com/servemark/servemark/internal/journal"
	"github.com/servemark/servemark/internal/report"
	"github.com/servemark/servemark/internal/stats"
)

// inputs is what the data sets may draw on.
func (s *session) inputs(ctx context.Context) dataset.Inputs {
	in := dataset.Inputs{Calibration: s.calibration}
	if s.tokenizer.Text != nil {
		in.Tokenizer, in.SpecialIDs = s.tokenizer.Text, s.special
	}
	if s.hub != nil {
		in.Cache = s.hub
		in.Fetch = func(repo hub.Repo, file string) (string, error) { return s.fetch(ctx, repo, file) }
	}
	if s.template != nil {
		in.Template, in.BOS = s.template.Render, s.template.BOS()
	}
	return in
}

// fetch brings a published data set's file into the hub cache, after saying what comes from where.
func (s *session) fetch(ctx context.Context, repo hub.Repo, file string) (string, error) {
	size := "of unknown size"
	if info, err := s.hub.Head(ctx, repo, file); err == nil && info.Size > 0 {
		size = fmt.Sprintf("%.0f MB", float64(info.Size)/1e6)
	}
	s.say("data set: fetching %s of %s (%s) from %s into the hub cache", file, repo, size, s.hub.Host())
	return s.hub.Fetch(ctx, repo, file, nil)
}

// measure sends the load and reports it, and returns the exit code.
func (s *session) measure(ctx context.Context) int {
	records, started, err := s.send(ctx)
	if err != nil {
		s.warn("servemark %s: %s", s.command, safe(err.Error()))
		if len(records) == 0 {
			return exitFailed
		}
	}
	interrupted := ctx.Err() != nil
	s.trim(records, interrupted)
	run := report.Run{
		Plan: s.plan, Server: s.server, Started: started, Version: version(), Observed: s.beside.observed,
		Summary: stats.Summarize(s.plan, records, stats.Options{Unfinished: interrupted || err != nil, Figures: s.figures, Health: s.health()}),
	}
	if s.spec.Strict {
		strict := stats.Strict(s.plan, records)
		run.Strict = &strict
	}
	if s.job.details {
		run.Records, run.Figures = records, stats.PerRequest(s.plan, records)
		if s.spec.Strict {
			run.Figures = stats.StrictPerRequest(s.plan, records)
		}
	}
	s.result, s.records = &run, records
	if s.spec.Dialect == bench.DialectVLLM {
		completeVLLM(&run, records)
	}
	code := s.publish(run)
	if s.job.plot {
		rates, step := stats.OutputPerStep(s.plan, records)
		if err := report.Plot(s.out, rates, step); err != nil {
			s.warn("warning: %s", err)
		}
	}
	if interrupted {
		return exitInterrupted
	}
	return max(code, s.judge(&run.Summary))
}

// send runs the plan; every record goes to the journal as it comes.
func (s *session) send(ctx context.Context) (records []bench.Record, started time.Time, err error) {
	book := &log{s: s}
	show := newProgress(s.live, len(s.plan.Requests), s.spec.Load.Duration)
	done := make(chan struct{})
	var screen sync.WaitGroup
	s.begin = func() {
		book.open(time.Now())
		if s.job.progress {
			screen.Go(func() { show.show(s.console, done) })
		}
		s.startProbes(ctx)
	}
	err = s.engine.Run(ctx, s.plan, func(r bench.Record) error {
		s.count(&r)
		book.append(r)
		show.add(&r)
		s.printRequest(&r)
		if !s.job.details && !s.job.vllm.detailed() && !s.spec.KeepText {
			r.Text = ""
		}
		records = append(records, r)
		return nil
	})
	s.begin = nil
	close(done)
	screen.Wait()
	slices.SortFunc(records, func(a, b bench.Record) int { return a.ID - b.ID })
	s.endBeside(ctx)
	end := journal.End{At: time.Now(), Interrupted: ctx.Err() != nil || err != nil, Observed: s.beside.observed, Health: s.health()}
	if err != nil {
		end.Cause = err.Error()
	}
	book.close(end)
	return records, s.engine.Clock().Start(), err
}

// health is what the load engine knows of itself after the load.
func (s *session) health() *bench.Health {
	h := s.engine.Health()
	return &h
}

// count lets the tokenizer count a reply's text. It runs beside the load, never in it.
func (s *session) count(r *bench.Record) {
	if s.tokenizer.Local == nil || r.Text == "" || s.job.noCounting {
		return
	}
	if n, err := s.tokenizer.Local.Count(r.Text, false); err == nil {
		r.Retokenized = bench.Counted(n)
	}
}

// trim leaves the requests that a run limited by time did not come to out of its plan.
func (s *session) trim(records []bench.Record, interrupted bool) {
	if s.spec.Load.Duration == 0 || interrupted {
		return
	}
	if len(records) == len(s.plan.Requests) && s.live.Sent.Load() > 0 {
		last := records[len(records)-1]
		if last.Admitted.Sub(0) < s.spec.Load.Duration-time.Second && !s.spec.Load.Scheduled() {
			s.say("note: all %d planned requests were sent before the time was up; the run is shorter than --duration", len(records))
		}
	}
	s.plan.Requests = s.plan.Requests[:len(records)]
}

// log is the journal of a run; without a file it takes everything and keeps nothing.
type log struct {
	s      *session
	w      *journal.Writer
	broken bool // a failed write has been told
}

func (l *log) open(now time.Time) {
	path := l.s.job.journal
	if path == "-" {
		return
	}
	if path == "" {
		path = l.s.journalName(now)
	}
	w, err := journal.Create(path, journal.Header{Version: version(), Started: now, Plan: l.s.plan, Server: l.s.server, Smoke: l.s.smoke, Figures: l.s.figures})
	if err != nil {
		l.s.warn("warning: no journal is kept: %s", safe(err.Error()))
		return
	}
	l.w = w
}

// journalName is beside the output file, or here.
func (s *session) journalName(now time.Time) string {
	stem := "servemark"
	if s.job.output != "" {
		stem = strings.TrimSuffix(s.job.output, filepath.Ext(s.job.output))
	}
	name := fmt.Sprintf("%s-%s.journal", stem, now.Format("20060102-150405"))
	for i := 2; exists(name); i++ {
		name = fmt.Sprintf("%s-%s-%d.journal", stem, now.Format("20060102-150405"), i)
	}
	return name
}

func exists(path string) bool { _, err := os.Stat(path); return err == nil }

// append writes a record; the first failure is told, and the run goes on with what is in memory.
func (l *log) append(r bench.Record) {
	if l.w == nil {
		return
	}
	if err := l.w.Append(r); err != nil && !l.broken {
		l.s.warn("warning: the journal has a gap, the run goes on: %s", safe(err.Error()))
		l.broken = true
	}
}

func (l *log) close(e journal.End) {
	if l.w == nil {
		return
	}
	if err := l.w.Close(e); err != nil {
		l.s.warn("warning: %s", safe(err.Error()))
		return
	}
	l.s.journalPath = l.w.Path()
}

// publish prints the report and appends the result line. A line that cannot be written is printed, so that no result is lost.
func (s *session) publish(run report.Run) int {
	if s.spec.Dialect == bench.DialectVLLM {
		return s.publishVLLM(run)
	}
	code := exitOK
	if err := report.Text(s.out, &run); err != nil {
		s.warn("warning: %s", err)
	}
	if s.job.output == "" && !s.job.native {
		s.job.output = report.DefaultFileName(s.spec, run.Started)
	}
	if s.job.output != "" {
		line, err := report.SGLangLine(&run)
		if err == nil {
			err = report.AppendLine(s.job.output, line)
		}
		if err != nil {
			s.warn("servemark %s: the result could not be appended to %s: %s; here it is:\n%s", s.command, safe(s.job.output), safe(err.Error()), line)
			code = exitFailed
		} else {
			s.say("result appended to %s", safe(s.job.output))
		}
	}
	if s.journalPath != "" {
		s.say("journal: %s (servemark report %s prints this again)", safe(s.journalPath), safe(s.journalPath))
	}
	return code
}

// judge picks the exit code of a finished run.
func (s *session) judge(sum *bench.Summary) int {
	missed := slices.ContainsFunc(sum.Goals, func(g bench.GoalResult) bool { return !g.Met })
	tried := sum.Completed + sum.Failed
	switch {
	case sum.Completed == 0 || float64(sum.Failed) > s.spec.MaxErrorRate*float64(tried):
		return exitFailed
	case s.job.requireValid && sum.Verdict.Level == bench.Invalid:
		return exitInvalid
	case missed && !s.job.forgiving:
		return exitGoal
	}
	return exitOK
}
