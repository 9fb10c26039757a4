package sim

import (
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/servemark/servemark/internal/sim/wire"
)

func badRequest(format string, args ...any) *wire.Error {
	return &wire.Error{Status: http.StatusBadRequest, Kind: "BadRequestError", Message: fmt.Sprintf(format, args...)}
}

func (s *Server) refuse(w http.ResponseWriter, _ *http.Request, e *wire.Error) {
	writeJSON(w, e.Status, e.Body(s.cfg.Flavour))
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	b, err := json.Marshal(v)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(b) // a client that went away is no news here
}

// tooLong is the 400 for a request that does not fit the context, or nil. limit is 0 when the client named none.
func (s *Server) tooLong(prompt, limit int) *wire.Error {
	n := s.contextLen()
	switch {
	case prompt >= n && s.cfg.Flavour == LlamaCpp:
		e := badRequest("request (%d tokens) exceeds the available context size (%d tokens), try increasing it", prompt, n)
		e.Extra = map[string]any{"type": "exceed_context_size_error", "n_prompt_tokens": prompt, "n_ctx": n}
		return e
	case s.cfg.Flavour == LlamaCpp:
		return nil
	case prompt >= n && s.cfg.Flavour == SGLang:
		return badRequest("The input (%d tokens) is longer than the model's context length (%d tokens).", prompt, n)
	case prompt+limit > n && s.cfg.Flavour == SGLang:
		return badRequest("Requested token count exceeds the model's maximum context length of %d tokens. You requested a total of %d tokens: "+
			"%d tokens from the input and %d tokens for the completion.", n, prompt+limit, prompt, limit)
	case prompt >= n || prompt+limit > n:
		e := badRequest("This model's maximum context length is %d tokens. However, your request has %d input tokens and asks for %d output tokens. "+
			"Please reduce the length of the input or of the output.", n, prompt, max(limit, 1))
		e.Param = "input_tokens"
		return e
	}
	return nil
}
