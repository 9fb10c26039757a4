package wire

import (
	"encoding/json"
	"strings"

	"github.com/servemark/servemark/internal/sim/prose"
)

// Chat writes OpenAI chat completion chunks with the manners of a flavour.
type Chat struct{ Manners }

func (d *Chat) head(b *SSE, r *Reply, object string) {
	b.str(`{"id":"`)
	b.str(r.ID)
	b.str(`","object":"`)
	b.str(object)
	b.str(`","created":`)
	b.num(int(r.Created))
	b.str(`,"model":"`)
	b.str(prose.Escape(r.Model))
	b.str(`"`)
	if d.fingerprint != "" {
		b.str(`,"system_fingerprint":"` + d.fingerprint + `"`)
	}
}

// chunk writes one event with the tokens part; done is how many have left with it, reason a finish reason or "".
func (d *Chat) chunk(b *SSE, r *Reply, a *Answer, part []prose.Piece, done int, reason string, delta func()) {
	b.open()
	d.head(b, r, "chat.completion.chunk")
	b.str(`,"choices":[{"index":`)
	b.num(a.Index)
	b.str(`,"delta":{`)
	if d.roleAlways && done > 0 {
		b.str(`"role":"assistant",`)
	}
	delta()
	b.str(`}`)
	if d.logprobs {
		b.str(`,"logprobs":null`)
	}
	d.finishMembers(b, a, reason)
	if r.TokenIDs && d.tokenIDs {
		b.str(`,"token_ids":`)
		b.idList(part)
	}
	b.str(`}]`)
	if r.Continuous {
		b.str(`,"usage":`)
		d.usage(b, r, a.PromptTokens(), done, a.Cached, min(done, a.Think), false)
	}
	if d.timings && reason != "" && !r.Usage {
		writeTimings(b, r)
	}
	b.str(`}`)
	b.shut()
}

// Begin writes the role chunk, unless it left before, and the head of a tool call.
func (d *Chat) Begin(b *SSE, r *Reply, a *Answer) {
	if !r.RoleSent {
		d.Role(b, r, a)
	}
	if a.Tool != nil {
		d.chunk(b, r, a, nil, 0, "", func() {
			b.str(`"tool_calls":[{"id":"` + a.Tool.ID + `","index":0,"type":"function","function":{"name":"` + prose.Escape(a.Tool.Name) + `","arguments":""}}]`)
		})
	}
}

// Role writes the first chunk, which carries no token.
func (d *Chat) Role(b *SSE, r *Reply, a *Answer) {
	d.chunk(b, r, a, nil, 0, "", func() { b.str(d.roleDelta) })
	if n := len(b.buf) - len(b.eol); d.rolePad != "" && n > 0 {
		n -= len(b.eol)
		b.buf = append(b.buf[:n], d.rolePad+b.eol+b.eol...)
	}
}

// Tokens writes one chunk, or two where the reasoning ends among the tokens; none where a silent flavour has no text to send.
func (d *Chat) Tokens(b *SSE, r *Reply, a *Answer, from, to int) {
	if from < a.Think && to > a.Think { // one step ends the reasoning and starts the answer: two frames at one instant
		d.Tokens(b, r, a, from, a.Think)
		from = a.Think
	}
	part := a.Pieces[from:to]
	reason := ""
	if !d.finishApart && to == len(a.Pieces) {
		reason = a.Finish
	}
	if reason == "" && blank(part) && d.silent {
		return // half a character, or a held-back stop: no frame
	}
	d.chunk(b, r, a, part, to, reason, func() {
		switch {
		case a.Tool != nil:
			b.str(`"tool_calls":[{"index":0,"function":{"arguments":"`)
			b.text(part)
			b.str(`"}}]`)
		case from < a.Think:
			b.str(`"` + d.thought + `":"`)
			b.text(part)
			b.str(`"`)
		default:
			b.str(d.nullThought + `"content":"`)
			b.text(part)
			b.str(`"`)
		}
	})
}

func blank(list []prose.Piece) bool {
	for i := range list {
		if list[i].Text != "" {
			return false
		}
	}
	return true
}

// Finish writes the chunk with the finish reason where that has one of its own.
func (d *Chat) Finish(b *SSE, r *Reply, a *Answer) {
	if d.finishApart {
		d.chunk(b, r, a, nil, len(a.Pieces), a.Finish, func() { b.str(strings.TrimSuffix(d.nullThought, ",")) })
	}
}

// End writes the usage chunk, if asked for, and [DONE].
func (d *Chat) End(b *SSE, r *Reply) {
	if r.Usage {
		b.open()
		d.head(b, r, "chat.completion.chunk")
		b.str(`,"choices":[]`)
		if d.usageFinger != "" {
			b.str(`,"system_fingerprint":"` + d.usageFinger + `"`)
		}
		b.str(`,"usage":`)
		prompt, done, cached, think := r.totals()
		d.usage(b, r, prompt, done, cached, think, true)
		if d.timings {
			writeTimings(b, r)
		}
		b.str(`}`)
		b.shut()
	}
	b.data("[DONE]")
}

// Fail writes an error object in mid-stream, in the shape of the flavour.
func (d *Chat) Fail(b *SSE, words string) {
	object, err := json.Marshal((&Error{Status: 500, Kind: "InternalServerError", Message: words}).object(d.Flavour))
	if err != nil {
		return
	}
	if d.timings { // llama.cpp names the field "error", not "data"
		b.str("error: " + string(object) + b.eol + b.eol)
		return
	}
	b.data(`{"error":` + string(object) + `}`)
	b.data("[DONE]")
}

// Whole is a chat.completion object.
func (d *Chat) Whole(r *Reply) []byte {
	b := &SSE{}
	d.head(b, r, "chat.completion")
	b.str(`,"choices":[`)
	for i, a := range r.Answers {
		if i > 0 {
			b.str(",")
		}
		b.str(`{"index":`)
		b.num(i)
		b.str(`,"message":{"role":"assistant","content":`)
		if a.Tool != nil {
			b.str(`null,"tool_calls":[{"id":"` + a.Tool.ID + `","index":0,"type":"function","function":{"name":"` + prose.Escape(a.Tool.Name) + `","arguments":"`)
			b.text(a.Pieces)
			b.str(`"}}]`)
		} else {
			b.str(`"`)
			b.text(a.Pieces[a.Think:])
			b.str(`"`)
			if d.logprobs {
				b.str(`,"tool_calls":null`)
			}
		}
		if a.Think > 0 {
			b.str(`,"` + d.thought + `":"`)
			b.text(a.Pieces[:a.Think])
			b.str(`"`)
		} else if d.logprobs {
			b.str(`,"` + d.thought + `":null`)
		}
		b.str(`}`)
		if d.logprobs {
			b.str(`,"logprobs":null`)
		}
		d.finishMembers(b, a, a.Finish)
		b.str(`}`)
	}
	b.str(`],"usage":`)
	prompt, done, cached, think := r.totals()
	d.usage(b, r, prompt, done, cached, think, true)
	if d.timings {
		writeTimings(b, r)
	}
	b.str(`}`)
	return b.buf
}
