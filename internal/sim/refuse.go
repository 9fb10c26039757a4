package sim

import (
	"encoding/json"
	"fmt"
	"net/http"
)

// apiError is a refusal, put into the words and the shape of the flavour by refuse.
type apiError struct {
	status  int
	kind    string // OpenAI's error type
	message string
	param   string
	extra   map[string]any // further members of llama.cpp's error object
	bare    bool           // the shape of Triton and TGI: {"error":"…"}
	native  bool           // the shape of /generate: {"error":{"message":…}}
}

func badRequest(format string, args ...any) *apiError {
	return &apiError{status: http.StatusBadRequest, kind: "BadRequestError", message: fmt.Sprintf(format, args...)}
}

// body renders the error as the flavour does.
func (e *apiError) body(f Flavour) any {
	var param any
	if e.param != "" {
		param = e.param
	}
	if e.bare {
		return map[string]any{"error": e.message, "error_type": "validation"}
	}
	if e.native {
		return map[string]any{"error": map[string]any{"message": e.message}}
	}
	switch f {
	case VLLM, TRT, TGI, Truss:
		return map[string]any{"error": map[string]any{"message": e.message, "type": e.kind, "param": param, "code": e.status}}
	case LlamaCpp:
		kind := map[int]string{400: "invalid_request_error", 401: "authentication_error", 404: "not_found_error", 503: "unavailable_error"}[e.status]
		if kind == "" {
			kind = "server_error"
		}
		inner := map[string]any{"code": e.status, "message": e.message, "type": kind}
		for k, v := range e.extra {
			inner[k] = v
		}
		return map[string]any{"error": inner}
	}
	return map[string]any{"object": "error", "message": e.message, "type": e.kind, "param": param, "code": e.status}
}

// object is the inner error object, whatever stands around it in a whole response.
func (e *apiError) object(f Flavour) any {
	body, ok := e.body(f).(map[string]any)
	if !ok {
		return nil
	}
	if inner, ok := body["error"].(map[string]any); ok {
		return inner
	}
	return body
}

func (s *Server) refuse(w http.ResponseWriter, _ *http.Request, e *apiError) {
	writeJSON(w, e.status, e.body(s.cfg.Flavour))
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

// unknownModel is the 404 for a model the server does not have; llama.cpp serves its one model under any name.
func (s *Server) unknownModel(model string) *apiError {
	if s.cfg.Flavour == LlamaCpp || model == s.cfg.ServedModel {
		return nil
	}
	msg := fmt.Sprintf("The model `%s` does not exist.", model)
	if s.cfg.Flavour == SGLang {
		msg = fmt.Sprintf("Model '%s' not found: this server serves '%s'.", model, s.cfg.ServedModel)
	}
	return &apiError{status: http.StatusNotFound, kind: "NotFoundError", message: msg, param: "model"}
}

// tooLong is the 400 for a request that does not fit the context, or nil. limit is 0 when the client named none.
func (s *Server) tooLong(prompt, limit int) *apiError {
	n := s.contextLen()
	switch {
	case prompt >= n && s.cfg.Flavour == LlamaCpp:
		e := badRequest("request (%d tokens) exceeds the available context size (%d tokens), try increasing it", prompt, n)
		e.extra = map[string]any{"type": "exceed_context_size_error", "n_prompt_tokens": prompt, "n_ctx": n}
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
		e.param = "input_tokens"
		return e
	}
	return nil
}
