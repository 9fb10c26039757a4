package cli

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/servemark/servemark/internal/bench"
	"github.com/servemark/servemark/internal/dataset"
	"github.com/servemark/servemark/internal/doctor"
	"github.com/servemark/servemark/internal/endpoint"
	"github.com/servemark/servemark/internal/hub"
	"github.com/servemark/servemark/internal/load"
	"github.com/servemark/servemark/internal/plan"
	"github.com/servemark/servemark/internal/report"
	"github.com/servemark/servemark/tokenizer"
)

// session is one benchmark on its way: what the job asked, and what has been found so far.
type session struct {
	*console
	command string
	job     *job
	spec    *bench.Spec
	client  *http.Client // for introspection, never for load

	hub       *hub.Client // for data sets; nil where it cannot be used
	server    bench.Server
	tokenizer doctor.Tokenizer
	template  *doctor.Template // nil where there is none
	special   []uint32         // ids that the tokenizer's configuration names; nil where there is none
	protocol  *endpoint.Endpoint
	engine    *load.Engine
	ahead     *load.Engine // for smoke test, warm-up, calibration
	live      *load.Live
	smoke     *bench.Record
	plan      *bench.Plan

	// early ends a load that is hopeless; nil lets it go to its end.
	early *early

	calibration dataset.Calibration
	leftOut     string // which rows of the data set's file will be left out, and why; "" for none
	// before runs between the plan and the load; nil for nothing.
	before func(context.Context) error
	// begin is called when the load is about to start; nil for nothing.
	begin func()
	// figures are measured outside the load and may be named by goals.
	figures     map[string]bench.Measure
	journalPath string
	// posted is true once anything was posted: a refusal then says only that no load was sent.
	posted bool
	// beside is what goes on beside the load: profiler, probes, the server's counters.
	beside beside
	// result is the run's report once it is measured; nil before.
	result *report.Run
	// records are the load's, by id, once it is measured.
	records []bench.Record
}

// refusal is what ends a session before its load: every fault found at that point.
type refusal struct {
	code   int
	faults []string
}

func (r *refusal) Error() string { return strings.Join(r.faults, "; ") }

func refused(errs ...error) error {
	r := &refusal{code: exitRefused}
	for _, err := range errs {
		if err != nil {
			r.faults = append(r.faults, err.Error())
		}
	}
	if len(r.faults) == 0 {
		return nil
	}
	return r
}

func newSession(c *console, command string, j *job) *session {
	transport := &http.Transport{
		Proxy:           http.ProxyFromEnvironment,
		TLSClientConfig: &tls.Config{InsecureSkipVerify: j.spec.Load.Insecure, RootCAs: j.roots},
		DialContext:     (&net.Dialer{Timeout: max(j.spec.Load.ConnectTimeout, time.Second)}).DialContext,
	}
	load.ReachSocket(transport, j.spec.Target.BaseURL)
	return &session{console: c, command: command, job: j, spec: &j.spec, client: &http.Client{Transport: transport}, live: &load.Live{}}
}

// run takes a session from the first look to the exit code.
func (s *session) run(ctx context.Context) int {
	if s.job.dryRun {
		return s.dryRun(ctx)
	}
	for _, n := range s.job.notes {
		s.say("note: %s", report.Sentence(n))
	}
	steps := []func(context.Context) error{s.lookHere, s.lookThere, s.findTokenizer, s.prepare, s.warmUpFirst, s.calibrate, s.makePlan, s.align, s.warmUp, s.flush}
	if s.before != nil {
		steps = append(steps, s.before)
	}
	steps = append(steps, s.startBeside)
	for _, step := range steps {
		err := step(ctx)
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			s.client.CloseIdleConnections()
			return s.stopped(ctx, err)
		}
	}
	s.client.CloseIdleConnections()
	s.ahead.Close()
	return s.measure(ctx)
}

// stopped turns an error before the load into words and an exit code.
func (s *session) stopped(ctx context.Context, err error) int {
	if ctx.Err() != nil {
		s.warn("interrupted before the load")
		return exitInterrupted
	}
	var r *refusal
	if !errors.As(err, &r) {
		r = &refusal{exitRefused, []string{err.Error()}}
	}
	when := "nothing was sent"
	if s.posted {
		when = "no load was sent"
	}
	for i, f := range r.faults {
		r.faults[i] = s.job.auth.Redact(f)
	}
	return s.console.refuseWhen(s.command, r.code, when, r.faults)
}

// say and warn print a line without the user's own secrets, which a server may repeat.

func (s *session) say(format string, args ...any) {
	s.console.say("%s", s.job.auth.Redact(fmt.Sprintf(format, args...)))
}

func (s *session) warn(format string, args ...any) {
	s.console.warn("%s", s.job.auth.Redact(fmt.Sprintf(format, args...)))
}

// lookHere checks what this machine alone decides: files, limits, a tokenizer that was named.
func (s *session) lookHere(ctx context.Context) error {
	var errs []error
	opts := hub.FromEnv(s.getenv)
	opts.UserAgent = "servemark/" + version()
	opts.Renamed = func(from hub.Repo, to string) { s.say("note: %s is called %s on the hub now", from, safe(to)) }
	s.hub, _ = hub.New(opts) // for data sets; a fault is told where a tokenizer is looked for
	if s.job.output != "" {
		errs = append(errs, report.CheckAppend(s.job.output)) // tried before the run, so that no result is lost to a slip
	} else if s.spec.Dialect == bench.DialectSGLang && !s.job.dryRun {
		if err := report.CheckAppend(report.DefaultFileName(s.spec, time.Now())); err != nil {
			s.say("note: the result will be printed and not kept: %s", safe(err.Error()))
		}
	}
	if !s.job.dryRun {
		errs = append(errs, s.job.vllm.checkPlace())
	}
	errs = append(errs, s.roomForConnections(), s.roomForPrompts(), s.checkJournal())
	if source := s.spec.Model.Tokenizer; source != "" {
		t, err := s.finder(nil).Named(ctx, source)
		errs = append(errs, err)
		s.use(t)
	}
	in := s.inputs(ctx)
	if s.spec.Model.Tokenizer == "" {
		assumeTokenizer(&in) // the server may yet name one; makePlan checks again
	}
	errs = append(errs, dataset.CheckInputs(s.spec, &in)...)
	var err error
	s.leftOut, err = dataset.Look(s.spec, &in)
	if err = refused(append(errs, err)...); err != nil {
		s.sayLeftOut()
	}
	return err
}

// assumeTokenizer lets a check of files pass that would find fault with a tokenizer or template still to come.
func assumeTokenizer(in *dataset.Inputs) {
	if t, err := tokenizer.Builtin(tokenizer.BuiltinName); err == nil {
		in.Tokenizer = t
	}
	in.Template = func(json.RawMessage, bool) (string, error) { return "", nil }
}

// loopback reports whether a URL's host is this machine.
func loopback(base string) bool {
	u, err := url.Parse(base)
	if err != nil {
		return false
	}
	host := u.Hostname()
	ip := net.ParseIP(host)
	return u.Scheme == "unix" || host == "localhost" || strings.HasSuffix(host, ".localhost") || ip != nil && ip.IsLoopback()
}

// lookThere waits for the server and asks what it serves.
func (s *session) lookThere(ctx context.Context) error {
	t := s.spec.Target
	if proxy, err := http.ProxyFromEnvironment(&http.Request{URL: must(url.Parse(t.BaseURL))}); err == nil && proxy != nil {
		s.say("proxy: %s (from the environment)", proxy.Redacted())
	}
	if t.ReadyTimeout > 0 {
		err := endpoint.Ready(ctx, s.client, t.BaseURL, s.job.auth, t.ReadyTimeout, func(cause string) { s.say("waiting for %s: %s", t.BaseURL, safe(cause)) })
		if err != nil {
			return refused(err)
		}
	}
	found, err := endpoint.Discover(ctx, s.client, t.BaseURL, endpoint.DiscoverOptions{Engine: t.Engine, Auth: s.job.auth, Version: version()})
	if err != nil {
		return refused(err)
	}
	s.server = found
	s.showServer()
	served, notes, err := doctor.Served(s.spec.Model, &found)
	if !endpoint.NeedsName(t.API) {
		err = nil
	}
	if _, faults, _ := s.openPages(ctx, ""); err != nil || len(faults) > 0 {
		return refused(append(faults, err)...)
	}
	for _, n := range notes {
		s.say("note: %s", safe(n))
	}
	s.spec.Model.Served, s.spec.Model.Repo = served, doctor.Repo(s.spec.Model, served, &found)
	return s.fitsServer()
}

func must(u *url.URL, _ error) *url.URL { return u }

// showServer prints what was discovered, and from where.
func (s *session) showServer() {
	s.say("server: %s", s.server.BaseURL)
	for _, f := range s.server.Facts {
		s.say("  %-18s %s   (%s)", f.Name, safe(f.Value), f.From)
	}
	for _, n := range s.server.Notes {
		s.say("  %s", safe(n))
	}
}

// prepare makes the protocol and the engines: one for the load, one for what comes before it, which keeps texts to show.
func (s *session) prepare(context.Context) error {
	keep := s.spec.KeepText || s.job.details || s.job.vllm.detailed() || s.tokenizer.Local != nil || dataset.MultiTurn(s.spec)
	var err error
	if s.engine, s.protocol, err = s.newEngine(keep, s.live); err != nil {
		return refused(err)
	}
	if s.ahead, _, err = s.newEngine(true, nil); err != nil {
		return refused(err)
	}
	return nil
}

func (s *session) newEngine(keepText bool, live *load.Live) (*load.Engine, *endpoint.Endpoint, error) {
	p, err := endpoint.New(endpoint.Options{
		API: s.spec.Target.API, Path: s.spec.Target.Path, Served: s.spec.Model.Served, Engine: s.server.Engine, BaseURL: s.spec.Target.BaseURL,
		Stream: s.spec.Target.Stream, Body: s.spec.Body, Dialect: s.spec.Dialect, Strict: s.spec.Strict, Auth: s.job.auth,
		RequestIDPrefix: s.spec.Target.RequestIDPrefix,
		KeepText:        keepText, Version: version(),
	})
	if err != nil {
		return nil, nil, err
	}
	protocol := bench.Protocol(p)
	if s.job.outlook != nil && live != nil { // the load's engine, not the one for what comes before it
		s.early = &early{Protocol: p, outlook: s.job.outlook}
		protocol = s.early
	}
	e, err := load.New(load.Options{BaseURL: s.spec.Target.BaseURL, Replicas: s.spec.Target.Replicas, RootCAs: s.job.roots, Protocol: protocol, Classify: endpoint.Classify,
		Load: s.spec.Load, Live: live, Begin: func() {
			if s.begin != nil {
				s.begin()
			}
		}})
	return e, p, err
}

// makePlan joins data set and arrivals.
func (s *session) makePlan(ctx context.Context) error {
	s.rowsForTime()
	in := s.inputs(ctx)
	if errs := dataset.CheckInputs(s.spec, &in); len(errs) > 0 {
		s.sayLeftOut()
		return refused(errs...)
	}
	p, err := s.build(ctx, in)
	if err != nil {
		return err
	}
	s.plan = p
	if err := s.fits(); err != nil {
		return err
	}
	s.say("prompts: %s", safe(p.Source))
	for _, n := range p.Notes {
		s.say("note: %s", report.Sentence(n))
	}
	return nil
}

// build makes the plan beside the wait for Ctrl-C: many long prompts take seconds.
func (s *session) build(ctx context.Context, in dataset.Inputs) (*bench.Plan, error) {
	type built struct {
		plan *bench.Plan
		err  error
	}
	done := make(chan built, 1)
	go func() {
		p, err := plan.Build(*s.spec, in)
		done <- built{p, err}
	}()
	select {
	case b := <-done:
		return b.plan, refused(b.err)
	case <-ctx.Done():
		return nil, ctx.Err() // the process ends
	}
}
