package bench

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// After makes a request a later turn of a conversation. Its Prompt holds only what is new; what is asked is the whole
// conversation so far, the real answers included. Where an earlier turn fails it is cancelled: neither sent nor failed.
type After struct {
	// Request is the id of the turn before.
	Request int `json:"request"`
	// Gap is how long after the end of that turn's answer this one is due (think time).
	Gap time.Duration `json:"gap_ns,omitempty"`
}

// ThinkSpread is how the think times of a data set are drawn.
type ThinkSpread string

// The spreads. The zero one draws nothing.
const (
	ThinkFixed       ThinkSpread = ""
	ThinkExponential ThinkSpread = "exponential"
	ThinkUniform     ThinkSpread = "uniform"
)

// Turns returns, for each request, the id of the one that follows its answer, or -1. The law it checks: a turn comes after
// the one it follows, no two follow the same, and prompts of a conversation are all texts or all messages.
func (p *Plan) Turns() ([]int, error) {
	next := make([]int, len(p.Requests))
	for i := range next {
		next[i] = -1
	}
	for i := range p.Requests {
		r := &p.Requests[i]
		if r.After == nil {
			continue
		}
		k := r.After.Request
		switch {
		case k < 0 || k >= i:
			return nil, fmt.Errorf("request %d follows request %d, which does not come before it", i, k)
		case next[k] >= 0:
			return nil, fmt.Errorf("requests %d and %d both follow request %d", next[k], i, k)
		case (r.Prompt.Messages == nil) != (p.Requests[k].Prompt.Messages == nil) || r.Prompt.IDs != nil || p.Requests[k].Prompt.IDs != nil:
			return nil, fmt.Errorf("requests %d and %d of one conversation have prompts that do not join: both must be texts, or both messages", k, i)
		}
		next[k] = i
	}
	return next, nil
}

// Conversation is what has been said so far. The zero value has not begun.
type Conversation struct {
	text []byte
	// messages are the members of a JSON array, without its brackets.
	messages []byte
}

// Ask adds what r says and returns r with the whole conversation as its prompt. A text is put behind what was said as it is;
// messages become further members of the array.
func (c *Conversation) Ask(r *Request) (Request, error) {
	out := *r
	if r.Prompt.Messages == nil {
		c.text = append(c.text, r.Prompt.Text...)
		out.Prompt = Prompt{Text: string(c.text)}
		return out, nil
	}
	list := bytes.TrimSpace(r.Prompt.Messages)
	if len(list) < 2 || list[0] != '[' || list[len(list)-1] != ']' {
		return out, errors.New("its messages are not a JSON array")
	}
	c.add(bytes.TrimSpace(list[1 : len(list)-1]))
	out.Prompt = Prompt{Messages: c.array()}
	return out, nil
}

// Answer adds the model's answer to the last Ask.
func (c *Conversation) Answer(text string) {
	if c.messages == nil {
		c.text = append(c.text, text...)
		return
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(text); err != nil {
		panic(fmt.Sprintf("bench: a string does not marshal: %v", err)) // cannot happen
	}
	c.add(fmt.Appendf(nil, `{"role":"assistant","content":%s}`, bytes.TrimSpace(b.Bytes())))
}

func (c *Conversation) add(members []byte) {
	if len(c.messages) > 0 && len(members) > 0 {
		c.messages = append(c.messages, ',')
	}
	c.messages = append(c.messages, members...)
}

func (c *Conversation) array() json.RawMessage {
	out := append(make(json.RawMessage, 0, len(c.messages)+2), '[')
	return append(append(out, c.messages...), ']')
}
