// Package chat turns a conversation into the text that a model was trained on, by the Jinja template
// that the model's files carry: the text that transformers' apply_chat_template gives, byte for byte, and an
// error where it raises one. A template is data from a stranger: it reaches no file and no network and
// ends within stated limits of steps and memory.
package chat

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"

	"github.com/servemark/servemark/tokenizer/chat/internal/jinja"
)

// Template is a parsed chat template, safe for use by many goroutines.
type Template struct {
	t      *jinja.Template
	source string
}

// Parse reads the source of a chat template.
func Parse(source string) (*Template, error) {
	t, err := jinja.Parse(source)
	if err != nil {
		return nil, fmt.Errorf("the chat template cannot be read: %w; it may be cut off, or be made for another engine than jinja2; give another template", err)
	}
	return &Template{t, source}, nil
}

// Limits bound one rendering. The zero value is right for conversations of any usual size.
type Limits struct {
	Steps int   // evaluated parts of the template; 0 is 20 million, a second to some ten of one core
	Bytes int64 // bytes of all texts made, intermediate ones too; a sixteenth of it for any one; 0 is 256 MiB and 64 times the input
}

// Input is what a template is given. JSON keeps its key order, which many templates show.
type Input struct {
	Messages  json.RawMessage // the conversation: an array of objects, not empty
	Tools     json.RawMessage // an array of tool definitions; empty or null is none
	Documents json.RawMessage // an array of objects for retrieval; empty or null is none

	AddGenerationPrompt  bool // end with the header of the assistant's next turn
	ContinueFinalMessage bool // end inside the last message, for the model to continue it; not both

	Extra   map[string]json.RawMessage // more variables ("enable_thinking"); they win over special tokens
	Special map[string]string          // special tokens by variable: "bos_token", "eos_token", …
	Now     time.Time                  // what strftime_now shows; zero is the time of the call
	Limits  Limits
}

// Render gives the prompt. The error is of kind RaisedError where the template itself refuses the
// conversation, by raise_exception.
func (t *Template) Render(ctx context.Context, in Input) (string, error) {
	vars, err := in.vars()
	if err != nil {
		return "", err
	}
	final := ""
	if in.ContinueFinalMessage {
		if final, err = t.tagFinal(vars["messages"].(*jinja.List)); err != nil {
			return "", err
		}
	}
	if in.Now.IsZero() {
		in.Now = time.Now()
	}
	text, err := t.t.Render(ctx, vars, in.Now, jinja.Limits{Steps: in.Limits.Steps, Bytes: in.Limits.Bytes}, in.size())
	if err != nil {
		return "", explain(err)
	}
	if in.ContinueFinalMessage {
		return cutAtTag(text, final)
	}
	return text, nil
}

// RaisedError is a conversation that the template refuses in its own words, for example two user
// messages in a row.
type RaisedError struct{ Message string }

// Error gives the template's words, of very many only the first.
func (e *RaisedError) Error() string {
	const most = 2000 // bytes
	words, more := e.Message, ""
	if len(words) > most {
		words, more = strings.ToValidUTF8(words[:most], ""), fmt.Sprintf(" and %d bytes more", len(words)-most)
	}
	return fmt.Sprintf("the model's chat template refuses the conversation: %q%s; change the messages, or give another template", words, more)
}

// explain adds what to do to an error of a rendering.
func explain(err error) error {
	const what = "the chat template fails on this conversation"
	var e *jinja.Error
	if !errors.As(err, &e) {
		return err
	}
	switch e.Kind {
	case "TemplateError":
		return &RaisedError{e.Msg}
	case "LimitError", "RecursionError":
		return fmt.Errorf("%s: %w; use another template, or shorten the conversation", what, err)
	}
	return fmt.Errorf("%s: %w; the template may want messages, tools or variables of another form, or it is made for another version of its server", what, err)
}

// size is the length of all JSON of the input, in bytes.
func (in *Input) size() int64 {
	n := len(in.Messages) + len(in.Tools) + len(in.Documents)
	for _, v := range in.Extra {
		n += len(v)
	}
	return int64(n)
}

// vars makes the variables of the template.
func (in *Input) vars() (jinja.Vars, error) {
	if in.AddGenerationPrompt && in.ContinueFinalMessage {
		return nil, errors.New("a prompt cannot both continue the last message and open a new one; set one of the two")
	}
	messages, err := in.messages()
	if err != nil {
		return nil, err
	}
	vars := jinja.Vars{}
	for name, token := range in.Special {
		vars[name] = token
	}
	for name, data := range in.Extra {
		switch name {
		case "messages", "tools", "documents", "add_generation_prompt":
			return nil, fmt.Errorf("%s cannot be given as an extra variable of the chat template: it has its own place in the request", name)
		}
		if vars[name], err = decode(name, data); err != nil {
			return nil, err
		}
	}
	vars["messages"], vars["add_generation_prompt"] = messages, in.AddGenerationPrompt
	if vars["tools"], err = objects("tools", in.Tools); err != nil {
		return nil, err
	}
	vars["documents"], err = objects("documents", in.Documents)
	return vars, err
}

// objects reads an array of objects; nothing at all is null.
func objects(name string, data json.RawMessage) (jinja.Value, error) {
	v, err := decode(name, data)
	if v == nil || err != nil {
		return nil, err
	}
	list, ok := v.(*jinja.List)
	if !ok {
		return nil, fmt.Errorf("%s must be a JSON array of objects", name)
	}
	for i, item := range list.Items {
		if _, ok := item.(*jinja.Dict); !ok {
			return nil, fmt.Errorf("%s must be a JSON array of objects, but element %d is none", name, i)
		}
	}
	return v, nil
}

// decode reads JSON; nothing at all is null.
func decode(name string, data json.RawMessage) (jinja.Value, error) {
	if len(strings.TrimSpace(string(data))) == 0 {
		return nil, nil
	}
	v, err := jinja.DecodeJSON(data)
	if err != nil {
		return nil, fmt.Errorf("%s is not JSON: %w", name, err)
	}
	return v, nil
}

// messages reads the conversation as transformers 5 prepares it: keys that are null are dropped,
// and reasoning is there under each name that templates read.
func (in *Input) messages() (*jinja.List, error) {
	v, err := decode("messages", in.Messages)
	if err != nil {
		return nil, err
	}
	list, ok := v.(*jinja.List)
	if !ok || len(list.Items) == 0 {
		return nil, errors.New("messages must be a JSON array with at least one message")
	}
	for i, item := range list.Items {
		m, ok := item.(*jinja.Dict)
		if !ok {
			return nil, fmt.Errorf("message %d is not a JSON object", i)
		}
		kept := jinja.NewDict()
		for name, v := range m.All() {
			if v != nil {
				kept.Set(name, v)
			}
		}
		list.Items[i] = withReasoning(kept)
	}
	return list, nil
}

// withReasoning copies a message's reasoning to the names "thinking", in front, and
// "reasoning_content", as transformers does for templates that read either.
func withReasoning(m *jinja.Dict) *jinja.Dict {
	var reasoning jinja.Value
	for _, name := range []string{"reasoning_content", "thinking", "reasoning"} {
		if v, ok := m.Get(name); ok {
			reasoning = v
			break
		}
	}
	if reasoning == nil {
		return m
	}
	out := jinja.NewDict()
	out.Set("thinking", reasoning)
	for name, v := range m.All() {
		out.Set(name, v)
	}
	out.Set("reasoning_content", reasoning)
	return out
}

// continueTag is put behind the text to be continued and found again in the prompt: only what the
// template did to the message's own place decides where the prompt ends. As in transformers.
const continueTag = "CONTINUE_FINAL_MESSAGE_TAG "

// tagFinal marks the last message's content, or the last text part of it, and gives the text as it was.
func (t *Template) tagFinal(messages *jinja.List) (string, error) {
	last := messages.Items[len(messages.Items)-1].(*jinja.Dict) // messages() made it
	content, _ := last.Get("content")
	if !strings.Contains(t.source, "content") {
		return "", errors.New("the chat template shows no content of messages, so none can be continued")
	}
	switch v := content.(type) {
	case string:
		last.Set("content", v+continueTag)
		return v, nil
	case *jinja.List:
		for i := len(v.Items) - 1; i >= 0; i-- {
			part, ok := v.Items[i].(*jinja.Dict)
			if !ok {
				continue
			}
			text, _ := part.Get("text")
			if s, ok := text.(string); ok {
				part.Set("text", s+continueTag)
				return s, nil
			}
		}
	}
	return "", errors.New("the last message has no text to continue; give it one, or ask for a generation prompt instead")
}

// cutAtTag ends a prompt where the tagged text ends. A template that trimmed the tag's own blank trims
// messages, so what it put in front of the tag is trimmed too.
func cutAtTag(text, final string) (string, error) {
	tag := strings.TrimSpace(continueTag)
	i := strings.LastIndex(text, tag)
	if i < 0 || !strings.Contains(text, strings.TrimFunc(final, unicode.IsSpace)) {
		return "", errors.New("the chat template does not show all of the last message, so it cannot be continued; ask for a generation prompt instead")
	}
	if strings.HasPrefix(text[i:], continueTag) {
		return text[:i], nil
	}
	return strings.TrimRightFunc(text[:i], unicode.IsSpace), nil
}
