package cli

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/servemark/servemark/internal/bench"
	"github.com/servemark/servemark/internal/dataset"
	"github.com/servemark/servemark/internal/hub"
	"github.com/servemark/servemark/internal/journal"
	"github.com/servemark/servemark/internal/report"
	"github.com/servemark/servemark/internal/stats"
	"github.com/servemark/servemark/internal/telemetry"
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
	cause := s.early.cause(records)
	run := report.Run{Cause: cause,
		Plan: s.plan, Server: s.server, Started: started, Version: version(), Observed: s.beside.observed,
		Summary: stats.Summarize(s.plan, records, stats.Options{Unfinished: interrupted || err != nil || cause != "", Figures: s.figures, Health: s.health()}),
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
	run.Findings = telemetry.Findings(run.Observed.Telemetry, &run.Summary)
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
	return worse(code, s.judge(&run.Summary))
}

// send runs the plan; every record goes to the journal as it comes.
func (s *session) send(ctx context.Context) (records []bench.Record, started time.Time, err error) {
	book := &log{s: s}
	show := newProgress(s.live, len(s.plan.Requests), s.spec.Load.Duration)
	over := make(chan struct{})
	var screen sync.WaitGroup
	s.begin = func() {
		book.open(time.Now())
		if s.job.progress {
			screen.Go(func() { show.show(s.console, over) })
		}
		s.startProbes(ctx)
		s.startSampling(ctx)
	}
	hopeful, done := s.early.follow(ctx, s.plan)
	defer done()
	err = s.engine.Run(hopeful, s.plan, func(r bench.Record) error {
		s.count(&r)
		book.append(r)
		show.add(&r)
		s.printRequest(&r)
		if !s.job.details && !s.job.vllm.detailed() && !s.spec.KeepText {
			r.Text = ""
		}
		records = append(records, r)
		s.early.add(r)
		return nil
	})
	s.begin = nil
	close(over)
	screen.Wait()
	slices.SortFunc(records, func(a, b bench.Record) int { return a.ID - b.ID })
	s.endBeside(ctx)
	end := journal.End{At: time.Now(), Interrupted: ctx.Err() != nil || err != nil, Observed: s.beside.observed, Health: s.health()}
	if end.Cause = s.early.cause(records); end.Cause != "" {
		end.Interrupted = true
	}
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
	s.sayJournal()
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
