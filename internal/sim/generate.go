package sim

import (
	"encoding/json"
	"net/http"

	"github.com/servemark/servemark/internal/sim/wire"
)

// generateBody is the request of SGLang's /generate; text and input_ids may be lists.
type generateBody struct {
	Text     json.RawMessage `json:"text"`
	InputIDs json.RawMessage `json:"input_ids"`
	Params   struct {
		MaxNewTokens *int         `json:"max_new_tokens"`
		MinNewTokens int          `json:"min_new_tokens"`
		IgnoreEOS    bool         `json:"ignore_eos"`
		Stop         stringOrList `json:"stop"`
		Temperature  *float64     `json:"temperature"`
		TopP         *float64     `json:"top_p"`
		N            *int         `json:"n"`
		Interval     int          `json:"stream_interval"`
	} `json:"sampling_params"`
	Stream bool            `json:"stream"`
	RID    json.RawMessage `json:"rid"`
	LoRA   adapterNames    `json:"lora_path"`
}

// generateFallback is SGLang's output limit when the client names none.
const generateFallback = 128

func (s *Server) generate(w http.ResponseWriter, q *http.Request, f *Fault) *wire.Error {
	accepted := s.driver.now()
	var body generateBody
	if e := s.readBody(q, &body); e != nil {
		return e
	}
	p := sampling{MaxTokens: body.Params.MaxNewTokens, MinTokens: body.Params.MinNewTokens, IgnoreEOS: body.Params.IgnoreEOS, Stop: body.Params.Stop,
		Temperature: body.Params.Temperature, TopP: body.Params.TopP, N: body.Params.N, Stream: body.Stream, Interval: body.Params.Interval, LoraPath: body.LoRA}
	e := p.check(s.cfg.Flavour)
	if e == nil {
		e = s.loaded(p.LoraPath)
	}
	if e != nil {
		return generateError(e)
	}
	raw := body.Text
	if len(raw) == 0 || string(raw) == "null" {
		raw = body.InputIDs
	}
	prompts, batch, err := s.prompts(raw)
	if err != nil {
		return generateError(badRequest("%v", err))
	}
	answers, e := s.answersFor(prompts, &p, generateFallback)
	if e != nil {
		return generateError(e)
	}
	r := s.newReply(accepted, &p, "", answers)
	r.Batch = batch
	var rid string
	if json.Unmarshal(body.RID, &rid) == nil && rid != "" {
		r.ID = rid
	}
	return s.respond(w, q, f, r, &wire.Generate{})
}

// generateError puts the error in the shape of the native route: the message alone inside "error".
func generateError(e *wire.Error) *wire.Error {
	e.Form = wire.FormNative
	return e
}
