package dataset

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/servemark/servemark/internal/bench"
)

// MultiTurn reports whether a Spec's data set has turns that follow real answers: then the text of replies must be kept until
// the next turn is asked.
func MultiTurn(s *bench.Spec) bool {
	d := &s.Dataset
	switch d.Name {
	case "generated-shared-prefix":
		return d.SharedPrefix != nil && d.SharedPrefix.Turns > 1
	case "mooncake":
		return d.Mooncake != nil && d.Mooncake.Rounds > 1 && !s.Strict
	case "agentic-trace":
		return true
	}
	return false
}

// addConversation adds requests as the turns of one conversation.
func (j *job) addConversation(turns []bench.Request) {
	for k := range turns {
		if k > 0 {
			turns[k].After = &bench.After{Request: len(j.set.Requests) - 1, Gap: j.think()}
		}
		j.add(turns[k])
	}
}

// addConversations adds them one after the other.
func (j *job) addConversations(list [][]bench.Request) {
	for _, turns := range list {
		j.addConversation(turns)
	}
}

// checkTurns wants a route that can carry a conversation; the original has chat only.
func checkTurns(s *bench.Spec) []error {
	switch api := s.Target.API; {
	case api == bench.APIChat:
	case s.Strict:
		return []error{fmt.Errorf("the original has conversations on chat routes only, not on %s: choose a chat backend, or leave out --strict-compat", api)}
	case api != bench.APICompletions && api != bench.APIGenerate:
		return []error{fmt.Errorf("conversations cannot be held on the %s route: choose a chat, completions or generate backend", api)}
	}
	return nil
}

// dialogue makes turns of what a user says one after the other: chat messages where the route takes them, else a text
// that goes on where the answer before it ended. The first turn's tokens are counted with what stands around it.
func (j *job) dialogue(says []string) ([]bench.Request, error) {
	turns := make([]bench.Request, len(says))
	for k := range turns {
		if k > 0 {
			turns[k].After = &bench.After{}
		}
		turns[k].Extra = j.usageOptions()
	}
	if j.spec.Target.API == bench.APIChat {
		for k, text := range says {
			turns[k].Prompt.Messages = userMessage(text)
		}
		return turns, j.countMessages(&turns[0])
	}
	for k, text := range j.continuations(says) {
		turns[k].Prompt.Text = text
	}
	return turns, nil
}

// usageOptions is the body field with which the original asks for usage in conversations, and only there.
func (j *job) usageOptions() json.RawMessage {
	if !j.spec.Strict || !j.spec.Target.Stream {
		return nil
	}
	var given []byte
	eachMember(j.spec.Body.Extra, func(key string, value []byte) {
		if key == "stream_options" {
			given = value
		}
	})
	var options []member
	eachMember(given, func(key string, value []byte) { options = setMember(options, key, value) })
	if !slices.ContainsFunc(options, func(m member) bool { return m.key == "include_usage" }) {
		options = append(options, member{"include_usage", []byte("true")})
	}
	return joinMembers([]member{{"stream_options", joinMembers(options)}})
}

// countMessages counts a request's messages with the chat template around them, where template and tokenizer are known.
func (j *job) countMessages(r *bench.Request) error {
	if j.in.Template == nil || j.in.Tokenizer == nil {
		return nil
	}
	text, err := j.in.Template(r.Prompt.Messages, true)
	if err != nil {
		return nil // said by countTemplated for prompts of text; here the server is the one to tell
	}
	ids, err := j.in.Tokenizer.Encode(text, false)
	r.TemplatedTokens = bench.Counted(len(ids))
	return err
}

// continuations are the texts of a dialogue between its answers: as the chat template writes them, where it writes what
// was said before the same way ever after; else each after its speaker's name.
func (j *job) continuations(says []string) []string {
	if texts, ok := j.templated(says); ok {
		return texts
	}
	texts := make([]string, len(says))
	for k, text := range says {
		texts[k] = "\nuser: " + text + "\nassistant:"
	}
	texts[0] = texts[0][1:]
	return texts
}

// answerMark stands in for an answer while the template is asked what it puts around one.
const answerMark = "the answer, number %d."

func (j *job) templated(says []string) ([]string, bool) {
	if j.in.Template == nil {
		return nil, false
	}
	var texts []string
	var history []message
	whole := ""
	for k, text := range says {
		history = append(history, message{"user", text})
		now, err := j.in.Template(marshal(history), true)
		if err != nil || !strings.HasPrefix(now, whole) {
			return nil, false
		}
		texts = append(texts, now[len(whole):])
		answer := fmt.Sprintf(answerMark, k)
		whole = now + answer
		history = append(history, message{"assistant", answer})
	}
	texts[0] = j.withoutBOS(texts[0])
	return texts, true
}

// message is one of a chat.
type message struct {
	Role    string `json:"role"`
	Content any    `json:"content"`
}

// userMessage is the array of one message from the user.
func userMessage(text string) json.RawMessage { return marshal([]message{{"user", text}}) }

// marshal writes values that cannot fail to be written, without escapes for HTML.
func marshal(v any) json.RawMessage {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic(fmt.Sprintf("dataset: %T does not marshal: %v", v, err)) // cannot happen: made of strings and numbers
	}
	return bytes.TrimRight(b.Bytes(), "\n")
}
