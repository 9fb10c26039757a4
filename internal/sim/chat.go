package sim

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/servemark/servemark/internal/sim/prose"
	"github.com/servemark/servemark/internal/sim/wire"
)

// chatBody is the request of /v1/chat/completions, as far as it decides anything here.
type chatBody struct {
	sampling
	Model               string          `json:"model"`
	Messages            []message       `json:"messages"`
	MaxCompletionTokens *int            `json:"max_completion_tokens"`
	Tools               []tool          `json:"tools"`
	ToolChoice          json.RawMessage `json:"tool_choice"`
}

type message struct {
	Role      string          `json:"role"`
	Content   json.RawMessage `json:"content"`
	ToolCalls json.RawMessage `json:"tool_calls"`
}

type tool struct {
	Function struct {
		Name string `json:"name"`
	} `json:"function"`
}

// imageTokens is what one image of a message counts as prompt tokens.
const imageTokens = 256

// render writes messages as the prompt the model would see, and counts images.
func render(list []message) (prompt string, images int, err error) {
	var b strings.Builder
	for i, m := range list {
		if m.Role == "" {
			return "", 0, fmt.Errorf("messages[%d] has no role", i)
		}
		text, n, err := m.text()
		if err != nil {
			return "", 0, fmt.Errorf("messages[%d]: %w", i, err)
		}
		images += n
		b.WriteString("<|" + m.Role + "|>\n" + text + "\n")
	}
	b.WriteString("<|assistant|>\n")
	return b.String(), images, nil
}

// text is the content of a message: a string, or a list of text and image parts.
func (m message) text() (string, int, error) {
	if len(m.Content) == 0 || string(m.Content) == "null" {
		return string(m.ToolCalls), 0, nil
	}
	var one string
	if json.Unmarshal(m.Content, &one) == nil {
		return one, 0, nil
	}
	var parts []struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	if err := json.Unmarshal(m.Content, &parts); err != nil {
		return "", 0, fmt.Errorf("content must be a text or a list of parts")
	}
	var b strings.Builder
	images := 0
	for _, p := range parts {
		switch p.Type {
		case "text", "input_text", "output_text":
			b.WriteString(p.Text)
		case "image_url", "input_image":
			images++
		default:
			return "", 0, fmt.Errorf("content part type %q is not supported", p.Type)
		}
	}
	return b.String(), images, nil
}

func (s *Server) chat(w http.ResponseWriter, q *http.Request, f *Fault) *wire.Error {
	accepted := s.driver.now()
	var body chatBody
	if e := s.readBody(q, &body); e != nil {
		return e
	}
	if body.MaxCompletionTokens != nil {
		body.MaxTokens = body.MaxCompletionTokens
	}
	a, e := s.chatAnswer(&body)
	if e != nil {
		return e
	}
	r := s.newReply(accepted, &body.sampling, "chatcmpl-", []*answer{a})
	d := s.chatDialect()
	return s.respond(w, q, f, r, &d)
}

func (s *Server) chatAnswer(body *chatBody) (*answer, *wire.Error) {
	if e := s.summon(&body.sampling, body.Model); e != nil {
		return nil, e
	}
	if e := body.check(s.cfg.Flavour); e != nil {
		return nil, e
	}
	if len(body.Messages) == 0 {
		return nil, badRequest("messages must hold at least one message.")
	}
	prompt, images, err := render(body.Messages)
	if err != nil {
		return nil, badRequest("%v", err)
	}
	a := &answer{Answer: wire.Answer{Prompt: s.tok.Encode(prompt), Extra: images * imageTokens}, adapter: body.LoraPath.of(0)}
	if a.Tool, err = s.chooseTool(body); err != nil {
		return nil, badRequest("%v", err)
	}
	return a, s.plan(a, &body.sampling, 0, true)
}

// chooseTool decides whether the answer is a call: always when the client insists, never when it asked for "none" or "auto".
func (s *Server) chooseTool(body *chatBody) (*wire.ToolCall, error) {
	choice := strings.Trim(string(body.ToolChoice), `"`)
	switch choice {
	case "", "null", "none", "auto":
		return nil, nil
	}
	if len(body.Tools) == 0 {
		return nil, fmt.Errorf("tool_choice is set but there are no tools")
	}
	name := body.Tools[0].Function.Name
	if choice != "required" {
		var named tool
		if err := json.Unmarshal(body.ToolChoice, &named); err != nil || named.Function.Name == "" {
			return nil, fmt.Errorf("tool_choice must be \"none\", \"auto\", \"required\" or name a function")
		}
		name = ""
		for _, t := range body.Tools {
			if t.Function.Name == named.Function.Name {
				name = t.Function.Name
			}
		}
		if name == "" {
			return nil, fmt.Errorf("tool_choice names %q, which is not among the tools", named.Function.Name)
		}
	}
	return &wire.ToolCall{ID: fmt.Sprintf("call_%024x", prose.Mix(s.ids.Add(1))), Name: name}, nil
}

// toolArguments are the arguments of a call: one string member, legal JSON.
func (s *Server) toolArguments(h uint64) string {
	var b strings.Builder
	for _, p := range s.text.Write(8, h, true) {
		b.WriteString(p.Text)
	}
	return fmt.Sprintf(`{"query": %q}`, b.String())
}

func (s *Server) chatDialect() wire.Chat { return wire.Chat{Manners: s.manners} }
