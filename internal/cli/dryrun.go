package cli

import (
	"context"
	"encoding/json"
	"time"

	"github.com/servemark/servemark/internal/bench"
	"github.com/servemark/servemark/internal/dataset"
	"github.com/servemark/servemark/internal/endpoint"
	"github.com/servemark/servemark/internal/plan"
	"github.com/servemark/servemark/internal/report"
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

// dryRun prints the requests that a run would send to the output, and what else it would do beside it. No server is asked
// anything: a tokenizer comes from --tokenizer, or from --model where that names a repository or path.
func (s *session) dryRun(ctx context.Context) int {
	rows := json.NewEncoder(s.out)
	rows.SetEscapeHTML(false)
	c := *s.console
	c.out = c.err
	s.console = &c
	for _, n := range s.job.notes {
		s.say("note: %s", report.Sentence(n))
	}
	s.sayWhere()
	output := s.job.output
	s.job.output = "" // nothing is written, and so not tried
	steps := []func(context.Context) error{s.lookHere, s.tokenizerHere, s.planHere}
	for _, step := range steps {
		if err := step(ctx); err != nil {
			return s.stopped(ctx, err)
		}
	}
	sent := willBeSent(s.plan)
	s.sayLoad(sent)
	s.sayBeside()
	s.job.output = output
	s.sayFiles(output)
	for _, r := range sent {
		row := dryRow{I: r.ID, Prompt: r.Prompt.Text, Messages: r.Prompt.Messages, Texts: r.Prompt.Texts, IDs: r.Prompt.IDs,
			Input: r.InputTokens, Output: r.OutputTokens, After: r.After, Adapter: r.Adapter, Extra: r.Extra}
		if r.Due.Known() {
			due := time.Duration(r.Due).Seconds()
			row.Due = &due
		}
		if err := rows.Encode(row); err != nil {
			return exitFailed // said by Main
		}
	}
	s.say("fingerprint: %s (the same command, files and seed give the same)", s.plan.Fingerprint)
	return exitOK
}

// willBeSent leaves out what is due only after the run's time, with the turns that follow it.
func willBeSent(p *bench.Plan) []*bench.Request {
	var sent []*bench.Request
	late := map[int]bool{}
	end := bench.At(p.Spec.Load.Duration)
	for i := range p.Requests {
		r := &p.Requests[i]
		if end > 0 && r.Due.Known() && r.Due > end || r.After != nil && late[r.After.Request] {
			late[r.ID] = true
			continue
		}
		sent = append(sent, r)
	}
	return sent
}

// tokenizerHere takes a tokenizer without any server.
func (s *session) tokenizerHere(ctx context.Context) error {
	if s.tokenizer.Text == nil && !s.job.noTokenizer {
		s.use(s.finder(nil).Find(ctx, s.spec.Model, s.spec.Model.Served, &bench.Server{}))
	}
	for _, n := range s.tokenizer.Notes {
		s.say("  tokenizer: %s", safe(n))
	}
	if s.tokenizer.Text == nil {
		s.say("  tokenizer: none here (a run asks the server for its own unless one is named); lengths go by words")
		s.calibration = dataset.BuiltInCalibration()
		return nil
	}
	s.say("  tokenizer: %s (%s)", safe(string(s.tokenizer.Source)), s.tokenizer.From)
	return nil
}

// planHere makes the plan and checks that each request can be asked.
func (s *session) planHere(ctx context.Context) error {
	s.rowsForTime()
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
	s.say("  prompts: %s", safe(p.Source))
	for _, n := range p.Notes {
		s.say("  note: %s", report.Sentence(n))
	}
	return nil
}
