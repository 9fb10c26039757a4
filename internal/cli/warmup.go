package cli

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/servemark/servemark/internal/bench"
	"github.com/servemark/servemark/internal/dataset"
	"github.com/servemark/servemark/internal/doctor"
	"github.com/servemark/servemark/internal/endpoint"
)

// warmupTokens caps the answers of warm-up requests, as the original does.
const warmupTokens = 32

// warmUpFirst warms up before the prompts are made where their number or length follows from what the server answers.
func (s *session) warmUpFirst(ctx context.Context) error {
	if !s.spec.Strict && (s.spec.Load.Duration > 0 || s.uncounted()) {
		return s.warmUp(ctx)
	}
	return nil
}

// uncounted reports whether prompts of a given length are wanted and nobody here can count.
func (s *session) uncounted() bool { return s.tokenizer.Text == nil && s.spec.Dataset.Name == "random" }

// warmUp sends the warm-up requests, once, before the clock starts. The first goes alone and is the smoke test: its failure, or an
// answer that makes no sense, refuses the run with the server's own words.
func (s *session) warmUp(ctx context.Context) error {
	n := s.spec.Warmup
	if n == 0 || s.smoke != nil {
		return nil
	}
	s.say("Starting warmup with %d sequences...", n)
	rec, err := s.ask(ctx, 0)
	if err != nil {
		return refused(err)
	}
	lines, err := doctor.Smoke(&rec, s.spec.Target.BaseURL+s.protocol.Path())
	if err != nil {
		return refused(err)
	}
	for _, line := range lines {
		s.say("  smoke test: %s", safe(line))
	}
	rec.Text = ""
	s.smoke = &rec
	if err := s.rest(ctx, n); err != nil {
		return refused(err)
	}
	s.say("Warmup completed with %d sequences. Starting main benchmark run...", n)
	return nil
}

// rest sends the warm-up requests after the first, within the cap.
func (s *session) rest(ctx context.Context, n int) error {
	slots := make(chan struct{}, max(s.spec.Load.Concurrency, 1))
	if s.spec.Load.Concurrency == 0 {
		slots = make(chan struct{}, n)
	}
	var wg sync.WaitGroup
	errs := make([]error, n)
	for i := 1; i < n; i++ {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			rec, err := s.ask(ctx, i)
			if err == nil && rec.Failure != nil {
				err = fmt.Errorf("warm-up request %d failed: %s: %s", i, rec.Failure.Kind, rec.Failure.Message)
			}
			errs[i] = err
		})
	}
	wg.Wait()
	return refusedFirst(errs)
}

func refusedFirst(errs []error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// ask sends warm-up request i: a copy of the first row in strict mode, as the original does, else a prompt of its own, so
// that no measured prompt is in the server's prefix cache.
func (s *session) ask(ctx context.Context, i int) (bench.Record, error) {
	r, err := s.warmupRequest(i)
	if err != nil {
		return bench.Record{}, err
	}
	s.posted = true
	return s.ahead.One(ctx, r)
}

func (s *session) warmupRequest(i int) (*bench.Request, error) {
	if s.spec.Strict && s.plan != nil {
		return s.firstRow(), nil
	}
	r := &bench.Request{Prompt: bench.Prompt{Text: dataset.CalibrationPrompt(smokeWords, 1000+i)}, OutputTokens: warmupTokens}
	if s.job.native && i == 0 {
		r.Prompt.Text = "Say in one short sentence what you are."
	}
	if s.spec.Dataset.SendIDs && s.tokenizer.Text != nil {
		ids, err := s.tokenizer.Text.Encode(r.Prompt.Text, true)
		if err != nil {
			return nil, fmt.Errorf("the warm-up prompt cannot be tokenized: %w", err)
		}
		r.Prompt = bench.Prompt{IDs: ids}
	}
	return r, nil
}

// firstRow is what the originals warm up with. SGLang's caps the answer and leaves the row's own fields out; vLLM's asks the
// row as it is.
func (s *session) firstRow() *bench.Request {
	r := s.plan.Requests[0]
	if s.spec.Dialect == bench.DialectVLLM {
		r.Adapter = "" // its warm-up asks the model itself
		return &r
	}
	r.OutputTokens = min(r.OutputTokens, warmupTokens)
	r.Extra, r.RoutingKey = nil, ""
	if l := s.spec.LoRA; l != nil {
		r.Adapter = l.Names[0]
	}
	return &r
}

// smokeWords is the length of a warm-up prompt of our own.
const smokeWords = 48

// calibrate measures how many tokens a corpus word is, where prompts of a given length are wanted and nobody here can
// count: two one-token requests, of which only the stated usage is kept.
func (s *session) calibrate(ctx context.Context) error {
	if !s.uncounted() {
		return nil
	}
	if s.spec.Warmup == 0 {
		s.calibration = dataset.BuiltInCalibration()
		s.say("lengths: nothing may be posted before the load: %s; the server's count is in the report", s.calibration.Source)
		return nil
	}
	var points [2]dataset.Point
	for i, words := range []int{64, 512} {
		r := &bench.Request{ID: i, Prompt: bench.Prompt{Text: dataset.CalibrationPrompt(words, i)}, OutputTokens: 1}
		s.posted = true
		rec, err := s.ahead.One(ctx, r)
		if err != nil {
			return refused(err)
		}
		if f := rec.Failure; f != nil {
			return refused(fmt.Errorf("measuring how many tokens a word is: the server answered a prompt of %d words: %s: %s", words, f.Kind, f.Message))
		}
		n, ok := rec.Usage.Prompt.Get()
		if !ok {
			s.calibration = dataset.BuiltInCalibration()
			s.say("lengths: the server states no usage: %s", s.calibration.Source)
			return nil
		}
		points[i] = dataset.Point{Words: words, Tokens: n}
	}
	c, err := dataset.Fit(points[0], points[1])
	if err != nil {
		c = dataset.BuiltInCalibration()
		s.say("lengths: %s; taken instead: %s", safe(err.Error()), c.Source)
	}
	s.calibration = c
	s.say("lengths: %s", c.Source)
	return nil
}

// flush empties the server's prefix cache where that was asked.
func (s *session) flush(ctx context.Context) error {
	if !s.job.flush {
		return nil
	}
	engine := s.spec.Target.Engine
	if engine == bench.EngineUnknown {
		engine = s.server.Engine
	}
	start := time.Now()
	if err := endpoint.Flush(ctx, s.client, s.spec.Target.BaseURL, engine, s.job.auth, s.job.flushTimeout); err != nil {
		return refused(err)
	}
	s.say("prefix cache flushed (%s)", time.Since(start).Round(time.Millisecond))
	return nil
}
