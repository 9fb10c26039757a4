package sim

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/servemark/servemark/internal/sim/prose"
	"github.com/servemark/servemark/internal/sim/wire"
)

// responsesBody is the request of /v1/responses: what decides something here, and what the response repeats.
type responsesBody struct {
	Model           string          `json:"model"`
	Input           json.RawMessage `json:"input"`
	Instructions    *string         `json:"instructions"`
	MaxOutputTokens *int            `json:"max_output_tokens"`
	Temperature     *float64        `json:"temperature"`
	TopP            *float64        `json:"top_p"`
	Stop            stringOrList    `json:"stop"`
	Stream          bool            `json:"stream"`
	IgnoreEOS       bool            `json:"ignore_eos"`
	Tools           []responsesTool `json:"tools"`
	ToolChoice      json.RawMessage `json:"tool_choice"`
	Background      bool            `json:"background"`
	Previous        *string         `json:"previous_response_id"`
	Reasoning       *struct {
		Effort  *string `json:"effort"`
		Summary *string `json:"summary"`
	} `json:"reasoning"`

	Store         *bool           `json:"store"`
	ParallelCalls *bool           `json:"parallel_tool_calls"`
	Metadata      json.RawMessage `json:"metadata"`
	Text          json.RawMessage `json:"text"`
	Truncation    *string         `json:"truncation"`
	ServiceTier   *string         `json:"service_tier"`
	User          *string         `json:"user"`
}

// responsesTool keeps a tool as it was sent, beside its name.
type responsesTool struct {
	name string
	raw  json.RawMessage
}

// UnmarshalJSON takes the tool's name out of it.
func (t *responsesTool) UnmarshalJSON(b []byte) error {
	var named struct {
		Name string `json:"name"`
	}
	err := json.Unmarshal(b, &named)
	t.name, t.raw = named.Name, append(json.RawMessage(nil), b...)
	return err
}

// MarshalJSON gives the tool back as it came.
func (t responsesTool) MarshalJSON() ([]byte, error) { return t.raw, nil }

func (s *Server) responses(w http.ResponseWriter, q *http.Request, f *Fault) *wire.Error {
	accepted := s.driver.now()
	var body responsesBody
	e := s.readBody(q, &body)
	p := sampling{MaxTokens: body.MaxOutputTokens, Temperature: body.Temperature, TopP: body.TopP, Stop: body.Stop, Stream: body.Stream}
	var a *answer
	if e == nil {
		a, e = s.respondingAnswer(&body, &p)
	}
	if e != nil {
		if s.cfg.Flavour == SGLang {
			e.Kind = "invalid_request_error"
		}
		return e
	}
	r := s.newReply(accepted, &p, "resp_", []*answer{a})
	r.ID = "resp_" + strings.TrimPrefix(r.ID, "resp_")
	d := &wire.Responses{Manners: s.manners, NoUsage: s.cfg.Usage == UsageNever, Echo: s.echo(&body, a)}
	d.Summary = s.cfg.Flavour == SGLang && body.Reasoning != nil && body.Reasoning.Summary != nil
	return s.respond(w, q, f, r, d)
}

// heldBack is what SGLang takes off max_output_tokens before it generates (0.5.23).
const heldBack = 2

// respondingAnswer plans the answer, or refuses as the flavour does. SGLang knows no ignore_eos on this route and names its
// adapters without applying them.
func (s *Server) respondingAnswer(body *responsesBody, p *sampling) (*answer, *wire.Error) {
	if e := s.stateless(body); e != nil {
		return nil, e
	}
	if s.cfg.Flavour == SGLang {
		if e := s.knownToResponses(body.Model); e != nil {
			return nil, e
		}
		p.model = body.Model
		if n := body.MaxOutputTokens; n != nil {
			if *n <= heldBack {
				return nil, badRequest("max_new_tokens must be at least 1, got %d: %d of max_output_tokens are held back.", *n-heldBack, heldBack)
			}
			rest := *n - heldBack
			p.MaxTokens = &rest
		}
	} else {
		p.IgnoreEOS = body.IgnoreEOS
		if body.Model != "" {
			if e := s.summon(p, body.Model); e != nil {
				return nil, e
			}
		}
	}
	if e := p.check(s.cfg.Flavour); e != nil {
		return nil, e
	}
	list, err := body.messages()
	if err != nil {
		return nil, badRequest("%v", err)
	}
	prompt, images, err := render(list)
	if err != nil {
		return nil, badRequest("%v", err)
	}
	a := &answer{Answer: wire.Answer{Prompt: s.tok.Encode(prompt), Extra: images * imageTokens}, adapter: p.LoraPath.of(0)}
	if a.Tool, err = s.chooseTool(body.asChat()); err != nil {
		return nil, badRequest("%v", err)
	}
	return a, s.plan(a, p, 0, true)
}

// stateless refuses what needs a store of responses, which both servers have switched off unless told otherwise.
func (s *Server) stateless(body *responsesBody) *wire.Error {
	switch previous := body.Previous; {
	case body.Background:
		e := badRequest("background needs a store of responses, which this server was started without.")
		e.Param = "background"
		return e
	case previous == nil:
		return nil
	case s.cfg.Flavour == SGLang:
		e := badRequest("previous_response_id needs a store of responses, which this server was started without.")
		e.Param = "previous_response_id"
		return e
	case !strings.HasPrefix(*previous, "resp_"):
		return badRequest("Invalid 'response_id': '%s' does not begin with 'resp_'.", *previous)
	default:
		return &wire.Error{Status: http.StatusNotFound, Kind: "NotFoundError", Message: fmt.Sprintf("Response with id '%s' not found.", *previous)}
	}
}

// knownToResponses is SGLang's check of the model's name: none at all, the served one, an adapter's, or anything behind the
// served name and a colon.
func (s *Server) knownToResponses(model string) *wire.Error {
	if base, _ := s.splitModel(model); model == "" || base == s.cfg.ServedModel || s.hasAdapter(model) {
		return nil
	}
	return &wire.Error{Status: http.StatusNotFound, Message: fmt.Sprintf("The model '%s' does not exist", model), Param: "model"}
}

// messages are the instructions and the input as chat messages. Earlier reasoning is left out, as chat templates do.
func (b *responsesBody) messages() ([]message, error) {
	var list []message
	say := func(role string, content json.RawMessage) { list = append(list, message{Role: role, Content: content}) }
	if b.Instructions != nil {
		say("system", quoted(*b.Instructions))
	}
	var text string
	if len(b.Input) == 0 || string(b.Input) == "null" {
		return nil, errors.New("input is required")
	}
	if json.Unmarshal(b.Input, &text) == nil {
		say("user", b.Input)
		return list, nil
	}
	var items []struct {
		Type, Role, Name, Arguments string
		Content, Output             json.RawMessage
	}
	if err := json.Unmarshal(b.Input, &items); err != nil {
		return nil, errors.New("input must be a text or a list of items")
	}
	for i, it := range items {
		switch it.Type {
		case "", "message":
			say(it.Role, it.Content)
		case "function_call":
			say("assistant", quoted(it.Name+it.Arguments))
		case "function_call_output":
			say("tool", it.Output)
		case "reasoning":
		default:
			return nil, fmt.Errorf("input[%d] has the type %q, which is not supported", i, it.Type)
		}
	}
	if len(items) == 0 {
		return nil, errors.New("input must not be an empty list")
	}
	return list, nil
}

func quoted(text string) json.RawMessage { return json.RawMessage(`"` + prose.Escape(text) + `"`) }

// asChat gives the tools and their choice in the form of a chat request, which puts the name one level deeper.
func (b *responsesBody) asChat() *chatBody {
	c := &chatBody{ToolChoice: b.ToolChoice, Tools: make([]tool, len(b.Tools))}
	for i, t := range b.Tools {
		c.Tools[i].Function.Name = t.name
	}
	var named responsesTool
	if json.Unmarshal(b.ToolChoice, &named) == nil && named.name != "" {
		c.ToolChoice = json.RawMessage(`{"function":{"name":"` + prose.Escape(named.name) + `"}}`)
	}
	return c
}

// echo are the members of the response that repeat the request, defaults filled in.
func (s *Server) echo(b *responsesBody, a *answer) map[string]any {
	m := map[string]any{
		"instructions": b.Instructions, "max_output_tokens": b.MaxOutputTokens, "metadata": rawOr(b.Metadata, map[string]any{}),
		"parallel_tool_calls": b.ParallelCalls == nil || *b.ParallelCalls, "previous_response_id": nil, "reasoning": nil, "temperature": b.Temperature,
		"text": rawOr(b.Text, nil), "tool_choice": rawOr(b.ToolChoice, "auto"), "tools": append([]responsesTool{}, b.Tools...), "top_p": b.TopP,
		"truncation": "disabled", "user": b.User,
	}
	if b.Truncation != nil {
		m["truncation"] = *b.Truncation
	}
	if s.cfg.Flavour == SGLang {
		m["store"], m["reasoning"] = b.Store == nil || *b.Store, map[string]any{"effort": nil, "summary": nil}
		if b.Reasoning != nil {
			m["reasoning"] = map[string]any{"effort": b.Reasoning.Effort, "summary": nil}
		}
		return m
	}
	m["metadata"], m["background"], m["service_tier"], m["max_output_tokens"] = rawOr(b.Metadata, nil), false, "auto", a.limit
	m["max_tool_calls"], m["prompt"], m["top_logprobs"], m["input_messages"], m["output_messages"] = nil, nil, nil, nil, nil
	if b.ServiceTier != nil {
		m["service_tier"] = *b.ServiceTier
	}
	if b.Reasoning != nil {
		m["reasoning"] = b.Reasoning
	}
	if b.Temperature == nil {
		m["temperature"] = 1.0
	}
	if b.TopP == nil {
		m["top_p"] = 1.0
	}
	return m
}

func rawOr(raw json.RawMessage, otherwise any) any {
	if len(raw) == 0 || string(raw) == "null" {
		return otherwise
	}
	return raw
}
