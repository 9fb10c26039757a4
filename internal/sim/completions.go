package sim

import (
	"encoding/json"
	"net/http"

	"github.com/servemark/servemark/internal/sim/wire"
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

func (s *Server) completions(w http.ResponseWriter, q *http.Request, f *Fault) *wire.Error {
	accepted := s.driver.now()
	var body completionBody
	if e := s.readBody(q, &body); e != nil {
		return e
	}
	var e *wire.Error
	if body.Model != "" || s.cfg.Flavour != Truss {
		e = s.summon(&body.sampling, body.Model)
	}
	if e == nil {
		e = body.check(s.cfg.Flavour)
	}
	if e == nil && body.Echo {
		e = badRequest("echo is not offered by this simulated server.")
	}
	if e != nil {
		return e
	}
	prompts, batch, err := s.prompts(body.Prompt)
	if err != nil {
		return badRequest("%v", err)
	}
	answers, e := s.answersFor(prompts, &body.sampling, completionFallback)
	if e != nil {
		return e
	}
	prefix := "cmpl-"
	if s.cfg.Flavour == LlamaCpp { // which gives completions the ids of chats
		prefix = "chatcmpl-"
	}
	r := s.newReply(accepted, &body.sampling, prefix, answers)
	r.Batch = batch
	return s.respond(w, q, f, r, &wire.Completion{Chat: s.chatDialect()})
}

// answersFor plans one answer for each prompt of token ids.
func (s *Server) answersFor(prompts [][]int, p *sampling, fallback int) ([]*answer, *wire.Error) {
	answers := make([]*answer, len(prompts))
	for i, ids := range prompts {
		answers[i] = &answer{Answer: wire.Answer{Prompt: ids}, adapter: p.LoraPath.of(i)}
		if e := s.plan(answers[i], p, fallback, false); e != nil {
			return nil, e
		}
	}
	return answers, nil
}
