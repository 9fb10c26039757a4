package wire

// Form is the shape of an error around its words.
type Form uint8

// The forms: the flavour's own, Triton's and TGI's {"error":"…"}, that of SGLang's /generate, {"error":{"message":…}}, and OpenAI's own,
// {"error":{"message":…,"type":…,"param":…,"code":…}}, which SGLang has for the Responses API.
const (
	FormFlavour Form = iota
	FormBare
	FormNative
	FormNested
)

// Error is a refusal in the words of a server.
type Error struct {
	Status  int    // HTTP status
	Kind    string // OpenAI's error type
	Message string
	Param   string
	Extra   map[string]any // further members of llama.cpp's error object
	Form    Form
}

// Body renders the error as the flavour does.
func (e *Error) Body(f Flavour) any {
	var param any
	if e.Param != "" {
		param = e.Param
	}
	if e.Form == FormBare {
		return map[string]any{"error": e.Message, "error_type": "validation"}
	}
	if e.Form == FormNative {
		return map[string]any{"error": map[string]any{"message": e.Message}}
	}
	switch {
	case f == VLLM, f == TRT, f == TGI, f == Truss, e.Form == FormNested:
		return map[string]any{"error": map[string]any{"message": e.Message, "type": e.Kind, "param": param, "code": e.Status}}
	case f == LlamaCpp:
		kind := map[int]string{400: "invalid_request_error", 401: "authentication_error", 404: "not_found_error", 503: "unavailable_error"}[e.Status]
		if kind == "" {
			kind = "server_error"
		}
		inner := map[string]any{"code": e.Status, "message": e.Message, "type": kind}
		for k, v := range e.Extra {
			inner[k] = v
		}
		return map[string]any{"error": inner}
	}
	return map[string]any{"object": "error", "message": e.Message, "type": e.Kind, "param": param, "code": e.Status}
}

// object is the inner error object, whatever stands around it in a whole response.
func (e *Error) object(f Flavour) any {
	body, ok := e.Body(f).(map[string]any)
	if !ok {
		return nil
	}
	if inner, ok := body["error"].(map[string]any); ok {
		return inner
	}
	return body
}
