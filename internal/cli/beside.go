package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"sync"
	"time"

	"github.com/servemark/servemark/internal/bench"
	"github.com/servemark/servemark/internal/endpoint"
	"github.com/servemark/servemark/internal/telemetry"
)

// beside is what goes on beside the load of a session. The zero value is nothing.
type beside struct {
	before   endpoint.Counters // the server's counters when the load began
	stop     context.CancelFunc
	probing  sync.WaitGroup
	profiled bool
	observed bench.Observed
	sampler  *telemetry.Sampler // nil where nobody listens
}

// profiling is how the server's profiler is started.
type profiling struct {
	// urls are the servers that run it; none means the one that is asked.
	urls []string
	// start is the body of the start request, nil for none; stop that of the stop request.
	start, stop json.RawMessage
	// endsItself is true where the server stops after a number of steps.
	endsItself bool
}

// targets lists the servers whose profiler is meant.
func (s *session) targets() []string {
	if u := s.job.profile.urls; len(u) > 0 {
		return u
	}
	return []string{s.spec.Target.BaseURL}
}

// startBeside reads the server's counters and starts its profiler. It is the last step before the load.
func (s *session) startBeside(ctx context.Context) error {
	if s.counts() {
		s.beside.before = endpoint.ReadCounters(ctx, s.client, s.spec.Target.BaseURL, s.job.auth)
	}
	if err := s.listen(ctx); err != nil {
		return err
	}
	if s.job.profile == nil {
		return nil
	}
	var errs []error
	for _, url := range s.targets() {
		err := endpoint.StartProfile(ctx, s.client, url, s.job.auth, s.job.profile.start)
		errs = append(errs, err)
		if err == nil {
			s.say("profiler started on %s", url)
			s.beside.profiled = true
		}
	}
	return refused(errs...)
}

// listen finds out what there is to sample. A page that the user named has to be there; the server's own may be missing.
func (s *session) listen(ctx context.Context) error {
	l := s.job.listening
	if !l.on {
		return nil
	}
	base := s.spec.Target.BaseURL
	if l.serverOff {
		base = ""
	}
	sampler, faults, ok := s.openPages(ctx, base)
	if len(faults) > 0 {
		return refused(faults...)
	}
	if ok {
		s.beside.sampler = sampler
	}
	return nil
}

// openPages looks for the pages to sample and says what is wrong with those that the user named; base is the server whose own
// page is looked for, "" for none.
func (s *session) openPages(ctx context.Context, base string) (*telemetry.Sampler, []error, bool) {
	l := s.job.listening
	sampler, server, gpus, ok := telemetry.Open(ctx, telemetry.Options{BaseURL: base, Metrics: l.metrics, GPUs: l.gpus, Apply: s.job.auth.Apply, Client: s.client})
	var faults []error
	for _, page := range []struct {
		flag, address string
		err           error
	}{{"--metrics", l.metrics, server}, {"--gpu-metrics", l.gpus, gpus}} {
		if page.address == "" || page.err == nil {
			continue
		}
		why := page.err.Error()
		if unreached := (*url.Error)(nil); errors.As(page.err, &unreached) {
			_, words := endpoint.Classify(page.err)
			why = page.address + ": " + words
		}
		faults = append(faults, fmt.Errorf("%s: %s; check the address, or leave the flag out", page.flag, why))
	}
	return sampler, faults, ok
}

// startSampling begins with the load.
func (s *session) startSampling(ctx context.Context) {
	if s.beside.sampler != nil {
		s.beside.sampler.Start(ctx, time.Now())
	}
}

// counts reports whether the server is one that states counters of speculation.
func (s *session) counts() bool {
	return s.server.Engine == bench.EngineSGLang || s.server.Engine == bench.EngineVLLM
}

// endBeside ends what goes on beside the load and keeps what was observed. It works after an interruption too: a profiler
// must not go on.
func (s *session) endBeside(ctx context.Context) {
	if s.beside.stop != nil {
		s.beside.stop()
		s.beside.probing.Wait()
		s.beside.stop = nil
	}
	interrupted := ctx.Err() != nil
	ctx = context.WithoutCancel(ctx)
	if s.beside.profiled && !s.job.profile.endsItself {
		for _, url := range s.targets() {
			if err := endpoint.StopProfile(ctx, s.client, url, s.job.auth, s.job.profile.stop); err != nil {
				s.warn("warning: %s", safe(err.Error()))
			} else {
				s.say("profiler stopped on %s", url)
			}
		}
	}
	if s.beside.sampler != nil {
		s.beside.observed.Telemetry = s.beside.sampler.Stop(ctx)
		s.beside.sampler = nil
	}
	defer s.client.CloseIdleConnections()
	if interrupted || !s.counts() {
		return
	}
	s.beside.observed.Speculation = endpoint.ReadCounters(ctx, s.client, s.spec.Target.BaseURL, s.job.auth).Since(s.beside.before)
}

// startProbes asks one-token requests at a rate of their own, outside the cap, until endBeside. Each goes at its time, also
// while one before it is still unanswered.
func (s *session) startProbes(ctx context.Context) {
	v := s.spec.VLLM
	if v == nil || v.ProbeRate <= 0 {
		return
	}
	every := time.Duration(float64(time.Second) / v.ProbeRate)
	ctx, s.beside.stop = context.WithCancel(ctx)
	s.beside.probing.Go(func() {
		tick := time.NewTicker(max(every, time.Millisecond))
		defer tick.Stop()
		var mu sync.Mutex
		var open sync.WaitGroup
		defer open.Wait()
		for i := 0; ; i++ {
			open.Go(func() {
				rec, err := s.ahead.One(ctx, &bench.Request{ID: i, Prompt: bench.Prompt{Text: "Hi"}, OutputTokens: 1})
				if err != nil {
					return // it could not be asked in this protocol; the first of all has told that
				}
				rec.Text = ""
				mu.Lock()
				defer mu.Unlock()
				s.beside.observed.Probes = append(s.beside.observed.Probes, rec)
			})
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
		}
	})
}

// printRequest says what became of a request, where that was asked for.
func (s *session) printRequest(r *bench.Record) {
	if !s.job.printRequests {
		return
	}
	at := func(t bench.Instant) string {
		if !t.Known() {
			return "-"
		}
		return fmt.Sprintf("%.3fs", time.Duration(t).Seconds())
	}
	end := fmt.Sprintf("finish %q, %s tokens", r.Finish, r.Usage.Completion)
	switch {
	case r.Cancelled:
		end = "cancelled"
	case r.Failure != nil:
		end = fmt.Sprintf("FAILED, %s: %s", r.Failure.Kind, r.Failure.Message)
	}
	s.say("request %d: due %s, sent %s, first token %s, done %s, %s", r.ID, at(r.Due), at(r.Sent), at(r.FirstChunk()), at(r.Done), safe(end))
}
