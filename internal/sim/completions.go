package sim

import (
	"encoding/json"
	"net/http"
)

// completionBody is the request of /v1/completions, as far as it decides anything here.
type completionBody struct {
	sampling
	Model  string          `json:"model"`
	Prompt json.RawMessage `json:"prompt"`
	Echo   bool            `json:"echo"`
}

// completionFallback is the output limit of /v1/completions when the client names none.
const completionFallback = 16

func (s *Server) completions(w http.ResponseWriter, q *http.Request, f *Fault) {
	accepted := s.driver.now()
	var body completionBody
	if e := s.readBody(q, &body); e != nil {
		s.refuse(w, q, e)
		return
	}
	var e *apiError
	if body.Model != "" || s.cfg.Flavour != Truss {
		e = s.unknownModel(body.Model)
	}
	if e == nil {
		e = body.check(s.cfg.Flavour)
	}
	if e == nil && body.Echo {
		e = badRequest("echo is not offered by this simulated server.")
	}
	if e != nil {
		s.refuse(w, q, e)
		return
	}
	prompts, batch, err := s.prompts(body.Prompt)
	if err != nil {
		s.refuse(w, q, badRequest("%v", err))
		return
	}
	answers, e := s.answersFor(prompts, &body.sampling, completionFallback)
	if e != nil {
		s.refuse(w, q, e)
		return
	}
	r := s.newReply(accepted, &body.sampling, "cmpl-", answers)
	r.batch = batch
	s.respond(w, q, f, r, &completionDialect{s.chatDialect()})
}

// answersFor plans one answer for each prompt of token ids.
func (s *Server) answersFor(prompts [][]int, p *sampling, fallback int) ([]*answer, *apiError) {
	answers := make([]*answer, len(prompts))
	for i, ids := range prompts {
		answers[i] = &answer{prompt: ids}
		if e := s.plan(answers[i], p, fallback, false); e != nil {
			return nil, e
		}
	}
	return answers, nil
}

// completionDialect writes text completion chunks. One frame leaves for every step, also when its text is empty.
type completionDialect struct{ chatDialect }

func (d *completionDialect) begin(*sse, *reply, *answer)  {}
func (d *completionDialect) finish(*sse, *reply, *answer) {}

func (d *completionDialect) tokens(b *sse, r *reply, a *answer, from, to int) {
	reason := ""
	if to == len(a.pieces) {
		reason = a.finish
	}
	b.open()
	d.head(b, r, "text_completion")
	b.str(`,"choices":[`)
	d.choice(b, r, a, a.pieces[from:to], reason)
	b.str(`]`)
	if r.continuous {
		b.str(`,"usage":`)
		usageMembers(b, d.server, a.promptTokens(), to, a.cached(), 0, false)
	}
	if d.timings && reason != "" && !r.usage {
		writeTimings(b, r)
	}
	b.str(`}`)
	b.shut()
}

func (d *completionDialect) choice(b *sse, r *reply, a *answer, part []piece, reason string) {
	b.str(`{"index":`)
	b.num(a.index)
	b.str(`,"text":"`)
	b.text(part)
	b.str(`"`)
	if d.logprobs {
		b.str(`,"logprobs":null`)
	}
	d.finishMembers(b, a, reason)
	if r.tokenIDs && d.tokenIDs {
		b.str(`,"token_ids":`)
		b.idList(part)
	}
	b.str(`}`)
}

func (d *completionDialect) end(b *sse, r *reply) {
	if r.usage {
		b.open()
		d.head(b, r, "text_completion")
		b.str(`,"choices":[],"usage":`)
		prompt, done, cached, _ := r.totals()
		usageMembers(b, d.server, prompt, done, cached, 0, true)
		if d.timings {
			writeTimings(b, r)
		}
		b.str(`}`)
		b.shut()
	}
	b.data("[DONE]")
}

func (d *completionDialect) whole(r *reply) []byte {
	b := &sse{}
	d.head(b, r, "text_completion")
	b.str(`,"choices":[`)
	for i, a := range r.answers {
		if i > 0 {
			b.str(",")
		}
		d.choice(b, r, a, a.pieces, a.finish)
	}
	b.str(`],"usage":`)
	prompt, done, cached, _ := r.totals()
	usageMembers(b, d.server, prompt, done, cached, 0, true)
	if d.timings {
		writeTimings(b, r)
	}
	b.str(`}`)
	return b.buf
}
