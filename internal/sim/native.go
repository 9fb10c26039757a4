package sim

import (
	"encoding/json"
	"net/http"

	"github.com/servemark/servemark/internal/sim/wire"
)

// triton answers Triton's generate_stream: one event per step with the new text, no usage, no end marker.
func (s *Server) triton(w http.ResponseWriter, q *http.Request, f *Fault) *wire.Error {
	accepted := s.driver.now()
	var body struct {
		Text      *string      `json:"text_input"`
		MaxTokens *int         `json:"max_tokens"`
		MinLength int          `json:"min_length"`
		EndID     int          `json:"end_id"`
		Stop      stringOrList `json:"stop_words"`
		Stream    bool         `json:"stream"`
	}
	if e := s.readBody(q, &body); e != nil {
		return e
	}
	if body.Text == nil {
		return badRequest("input 'text_input' is missing")
	}
	p := sampling{MaxTokens: body.MaxTokens, MinTokens: body.MinLength, Stop: body.Stop, Stream: true, IgnoreEOS: body.EndID >= s.vocab}
	if e := p.check(TRT); e != nil {
		return e
	}
	answers, e := s.answersFor([][]int{s.tok.Encode(*body.Text)}, &p, completionFallback)
	if e != nil {
		return e
	}
	r := s.newReply(accepted, &p, "", answers)
	r.stream = body.Stream || q.URL.Path[len(q.URL.Path)-1] == 'm'
	return s.respond(w, q, f, r, &wire.Triton{Model: q.PathValue("model")})
}

// tgiGenerate answers TGI's own /generate and /generate_stream.
func (s *Server) tgiGenerate(w http.ResponseWriter, q *http.Request, f *Fault) *wire.Error {
	accepted := s.driver.now()
	var body struct {
		Inputs     *string `json:"inputs"`
		Parameters struct {
			MaxNewTokens *int         `json:"max_new_tokens"`
			Stop         stringOrList `json:"stop"`
		} `json:"parameters"`
	}
	if e := s.readBody(q, &body); e != nil {
		return e
	}
	if body.Inputs == nil {
		return badRequest("Input validation error: `inputs` is missing")
	}
	p := sampling{MaxTokens: body.Parameters.MaxNewTokens, Stop: body.Parameters.Stop}
	answers, e := s.answersFor([][]int{s.tok.Encode(*body.Inputs)}, &p, 100)
	if e != nil {
		return e
	}
	r := s.newReply(accepted, &p, "", answers)
	r.stream = q.URL.Path == "/generate_stream"
	return s.respond(w, q, f, r, &wire.TGIStream{})
}

// llamaCompletion answers llama.cpp's own /completion.
func (s *Server) llamaCompletion(w http.ResponseWriter, q *http.Request, f *Fault) *wire.Error {
	accepted := s.driver.now()
	var body struct {
		Prompt    json.RawMessage `json:"prompt"`
		NPredict  *int            `json:"n_predict"`
		Stop      stringOrList    `json:"stop"`
		IgnoreEOS bool            `json:"ignore_eos"`
		Stream    bool            `json:"stream"`
	}
	if e := s.readBody(q, &body); e != nil {
		return e
	}
	p := sampling{MaxTokens: body.NPredict, Stop: body.Stop, IgnoreEOS: body.IgnoreEOS, Stream: body.Stream}
	e := p.check(LlamaCpp)
	prompts, batch, err := s.prompts(body.Prompt)
	switch {
	case err != nil:
		e = badRequest("%v", err)
	case batch:
		e = badRequest("lists of prompts are not offered by this simulated server on this route")
	}
	if e != nil {
		return e
	}
	answers, e := s.answersFor(prompts, &p, 0)
	if e != nil {
		return e
	}
	return s.respond(w, q, f, s.newReply(accepted, &p, "", answers), &wire.Llama{Chat: s.chatDialect()})
}
