package cli

import (
	"context"
	"encoding/json"
	"time"

	"github.com/servemark/servemark/internal/bench"
	"github.com/servemark/servemark/internal/dataset"
	"github.com/servemark/servemark/internal/endpoint"
	"github.com/servemark/servemark/internal/plan"
)

// dryRunFlag is the flag of every benchmark command.
var dryRunFlag = flagDef{name: "dry-run", arity: aritySwitch, own: true, help: "send nothing and print the plan, one JSON object a line"}

// dryRow is one line of a dry run. Of prompt, messages, texts and ids there is one.
type dryRow struct {
	I int `json:"i"`
	// Due is in seconds from the start; nil where nothing says when.
	Due      *float64        `json:"due_s"`
	Prompt   string          `json:"prompt,omitempty"`
	Messages json.RawMessage `json:"messages,omitempty"`
	Texts    []string        `json:"texts,omitempty"`
	IDs      []uint32        `json:"ids,omitempty"`
	// Input is null where nobody here can count.
	Input  bench.Count `json:"prompt_len"`
	Output int         `json:"output_len"`
	// After is the turn of a conversation that this one follows.
	After   *bench.After    `json:"after,omitempty"`
	Adapter string          `json:"adapter,omitempty"`
	Extra   json.RawMessage `json:"extra,omitempty"`
}

// dryRun prints the plan to the output and everything else beside it. No server is asked anything: a tokenizer comes from
// --tokenizer, or from --model where that names a repository or path.
func (s *session) dryRun(ctx context.Context) int {
	rows := json.NewEncoder(s.out)
	rows.SetEscapeHTML(false)
	c := *s.console
	c.out = c.err
	s.console = &c
	for _, n := range s.job.notes {
		s.say("note: %s", safe(n))
	}
	s.job.output = ""
	steps := []func(context.Context) error{s.lookHere, s.tokenizerHere, s.planHere}
	for _, step := range steps {
		if err := step(ctx); err != nil {
			return s.stopped(ctx, err)
		}
	}
	for i := range s.plan.Requests {
		r := &s.plan.Requests[i]
		row := dryRow{I: r.ID, Prompt: r.Prompt.Text, Messages: r.Prompt.Messages, Texts: r.Prompt.Texts, IDs: r.Prompt.IDs,
			Input: r.InputTokens, Output: r.OutputTokens, After: r.After, Adapter: r.Adapter, Extra: r.Extra}
		if r.Due.Known() {
			due := time.Duration(r.Due).Seconds()
			row.Due = &due
		}
		if err := rows.Encode(row); err != nil {
			s.warn("servemark %s: %s", s.command, safe(err.Error()))
			return exitFailed
		}
	}
	s.say("fingerprint: %s", s.plan.Fingerprint)
	return exitOK
}

// tokenizerHere takes a tokenizer without any server.
func (s *session) tokenizerHere(ctx context.Context) error {
	if s.tokenizer.Text == nil && !s.job.noTokenizer {
		s.use(s.finder(nil).Find(ctx, s.spec.Model, s.spec.Model.Served, &bench.Server{}))
	}
	for _, n := range s.tokenizer.Notes {
		s.say("tokenizer: %s", safe(n))
	}
	if s.tokenizer.Text == nil {
		s.say("tokenizer: none; lengths are by words")
		s.calibration = dataset.BuiltInCalibration()
		return nil
	}
	s.say("tokenizer: %s (%s)", safe(string(s.tokenizer.Source)), s.tokenizer.From)
	return nil
}

// planHere makes the plan and checks that each request can be asked.
func (s *session) planHere(ctx context.Context) error {
	if s.spec.Load.Duration > 0 {
		s.spec.Dataset.Rows = rowsFor(s.spec, nil)
	}
	in := s.inputs(ctx)
	if errs := dataset.CheckInputs(s.spec, &in); len(errs) > 0 {
		s.sayLeftOut()
		return refused(errs...)
	}
	p, err := plan.Build(*s.spec, in)
	if err != nil {
		return refused(err)
	}
	s.plan = p
	served := s.spec.Model.Served
	if served == "" {
		if served = bench.ServedModel(s.spec.Model.Asked); served == "" {
			served = "unknown" // nothing is sent, so no server's name is needed
		}
	}
	e, err := endpoint.New(endpoint.Options{API: s.spec.Target.API, Served: served, Dialect: s.spec.Dialect, Body: s.spec.Body, Strict: s.spec.Strict})
	if err != nil {
		return refused(err)
	}
	for i := range p.Requests {
		if _, err := e.Encode(&p.Requests[i]); err != nil {
			return refused(err)
		}
	}
	s.say("prompts: %s", safe(p.Source))
	for _, n := range p.Notes {
		s.say("note: %s", safe(n))
	}
	return nil
}
