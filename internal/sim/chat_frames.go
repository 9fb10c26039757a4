package sim

import (
	"encoding/json"
	"strings"
	"time"
)

// chatDialect writes OpenAI chat completion chunks with the manners of a flavour.
type chatDialect struct {
	manners
	server *Server
}

func (d *chatDialect) head(b *sse, r *reply, object string) {
	b.str(`{"id":"`)
	b.str(r.id)
	b.str(`","object":"`)
	b.str(object)
	b.str(`","created":`)
	b.num(int(r.created))
	b.str(`,"model":"`)
	b.str(escape(r.model))
	b.str(`"`)
	if d.fingerprint != "" {
		b.str(`,"system_fingerprint":"` + d.fingerprint + `"`)
	}
}

// chunk writes one event with the tokens part; done is how many have left with it, reason a finish reason or "".
func (d *chatDialect) chunk(b *sse, r *reply, a *answer, part []piece, done int, reason string, delta func()) {
	b.open()
	d.head(b, r, "chat.completion.chunk")
	b.str(`,"choices":[{"index":`)
	b.num(a.index)
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
	if r.tokenIDs && d.tokenIDs {
		b.str(`,"token_ids":`)
		b.idList(part)
	}
	b.str(`}]`)
	if r.continuous {
		b.str(`,"usage":`)
		usageMembers(b, d.server, a.promptTokens(), done, a.cached(), min(done, a.think), false)
	}
	if d.timings && reason != "" && !r.usage {
		writeTimings(b, r)
	}
	b.str(`}`)
	b.shut()
}

// finishMembers writes finish_reason and what stands beside it.
func (m manners) finishMembers(b *sse, a *answer, reason string) {
	beside := `null`
	if reason == "" {
		b.str(`,"finish_reason":null`)
		if !m.nullStop() {
			return
		}
	} else {
		b.str(`,"finish_reason":"` + reason + `"`)
		switch {
		case a.matched != "":
			beside = `"` + escape(a.matched) + `"`
		case reason == "stop" && m.nullStop():
			beside = `0` // the id of the end token
		}
	}
	if m.stopMember != "" {
		b.str(`,"` + m.stopMember + `":` + beside)
	}
}

// nullStop says that the stop member is in every chunk, as SGLang's matched_stop is.
func (m manners) nullStop() bool { return m.stopMember == "matched_stop" }

func (d *chatDialect) begin(b *sse, r *reply, a *answer) {
	if !r.roleSent {
		d.role(b, r, a)
	}
	if a.tool != nil {
		d.chunk(b, r, a, nil, 0, "", func() {
			b.str(`"tool_calls":[{"id":"` + a.tool.id + `","index":0,"type":"function","function":{"name":"` + escape(a.tool.name) + `","arguments":""}}]`)
		})
	}
}

// role writes the first chunk, which carries no token.
func (d *chatDialect) role(b *sse, r *reply, a *answer) {
	d.chunk(b, r, a, nil, 0, "", func() { b.str(d.roleDelta) })
	if n := len(b.buf) - len(b.eol); d.rolePad != "" && n > 0 {
		n -= len(b.eol)
		b.buf = append(b.buf[:n], d.rolePad+b.eol+b.eol...)
	}
}

func (d *chatDialect) tokens(b *sse, r *reply, a *answer, from, to int) {
	if from < a.think && to > a.think { // one step ends the reasoning and starts the answer: two frames at one instant
		d.tokens(b, r, a, from, a.think)
		from = a.think
	}
	part := a.pieces[from:to]
	reason := ""
	if !d.finishApart && to == len(a.pieces) {
		reason = a.finish
	}
	if reason == "" && blank(part) && d.silent {
		return // half a character, or a held-back stop: no frame
	}
	d.chunk(b, r, a, part, to, reason, func() {
		switch {
		case a.tool != nil:
			b.str(`"tool_calls":[{"index":0,"function":{"arguments":"`)
			b.text(part)
			b.str(`"}}]`)
		case from < a.think:
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

func blank(list []piece) bool {
	for i := range list {
		if list[i].text != "" {
			return false
		}
	}
	return true
}

func (d *chatDialect) finish(b *sse, r *reply, a *answer) {
	if d.finishApart {
		d.chunk(b, r, a, nil, len(a.pieces), a.finish, func() { b.str(strings.TrimSuffix(d.nullThought, ",")) })
	}
}

func (d *chatDialect) end(b *sse, r *reply) {
	if r.usage {
		b.open()
		d.head(b, r, "chat.completion.chunk")
		b.str(`,"choices":[]`)
		if d.usageFinger != "" {
			b.str(`,"system_fingerprint":"` + d.usageFinger + `"`)
		}
		b.str(`,"usage":`)
		prompt, done, cached, think := r.totals()
		usageMembers(b, d.server, prompt, done, cached, think, true)
		if d.timings {
			writeTimings(b, r)
		}
		b.str(`}`)
		b.shut()
	}
	b.data("[DONE]")
}

// writeTimings adds llama.cpp's own account of a request, from the engine's planned instants.
func writeTimings(b *sse, r *reply) {
	b.str(`,"timings":`)
	b.str(string(timingsOf(r.answers[0])))
}

func timingsOf(a *answer) []byte {
	computed := max(a.promptTokens()-a.cached(), 1)
	var prompt, predicted time.Duration
	if n := len(a.planned); n > 0 {
		prompt = a.planned[0] - a.latest.Scheduled
		predicted = a.planned[n-1] - a.planned[0]
	}
	msOf := func(d time.Duration) float64 { return max(float64(d)/1e6, 1e-3) }
	n := len(a.pieces)
	out, err := json.Marshal(map[string]any{
		"cache_n": a.cached(), "prompt_n": computed, "prompt_ms": msOf(prompt), "prompt_per_token_ms": msOf(prompt) / float64(computed),
		"prompt_per_second": float64(computed) / msOf(prompt) * 1e3, "predicted_n": n, "predicted_ms": msOf(predicted),
		"predicted_per_token_ms": msOf(predicted) / float64(n), "predicted_per_second": float64(n) / msOf(predicted) * 1e3,
	})
	if err != nil {
		return []byte("null")
	}
	return out
}

// fail writes an error object in mid-stream, in the shape of the flavour.
func (d *chatDialect) fail(b *sse, words string) {
	e := &apiError{status: 500, kind: "InternalServerError", message: words}
	object, err := json.Marshal(e.object(d.server.cfg.Flavour))
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

func (d *chatDialect) whole(r *reply) []byte {
	b := &sse{}
	d.head(b, r, "chat.completion")
	b.str(`,"choices":[`)
	for i, a := range r.answers {
		if i > 0 {
			b.str(",")
		}
		b.str(`{"index":`)
		b.num(i)
		b.str(`,"message":{"role":"assistant","content":`)
		if a.tool != nil {
			b.str(`null,"tool_calls":[{"id":"` + a.tool.id + `","index":0,"type":"function","function":{"name":"` + escape(a.tool.name) + `","arguments":"`)
			b.text(a.pieces)
			b.str(`"}}]`)
		} else {
			b.str(`"`)
			b.text(a.pieces[a.think:])
			b.str(`","tool_calls":null`)
		}
		if a.think > 0 {
			b.str(`,"` + d.thought + `":"`)
			b.text(a.pieces[:a.think])
			b.str(`"`)
		} else if d.logprobs {
			b.str(`,"` + d.thought + `":null`)
		}
		b.str(`},"logprobs":null`)
		d.finishMembers(b, a, a.finish)
		b.str(`}`)
	}
	b.str(`],"usage":`)
	prompt, done, cached, think := r.totals()
	usageMembers(b, d.server, prompt, done, cached, think, true)
	if d.timings {
		writeTimings(b, r)
	}
	b.str(`}`)
	return b.buf
}

// usageMembers writes a usage object; final ones carry the details each flavour gives.
func usageMembers(b *sse, s *Server, prompt, done, cached, think int, final bool) {
	b.str(`{"prompt_tokens":`)
	b.num(prompt)
	b.str(`,"total_tokens":`)
	b.num(prompt + done)
	b.str(`,"completion_tokens":`)
	b.num(done)
	if s.reportsCache() {
		b.str(`,"prompt_tokens_details":{"cached_tokens":`)
		b.num(cached)
		b.str(`}`)
	} else if s.cfg.Flavour == SGLang {
		b.str(`,"prompt_tokens_details":null`)
	}
	if final && s.cfg.Flavour == SGLang {
		b.str(`,"reasoning_tokens":`)
		b.num(think)
		b.str(`,"completion_tokens_details":{"reasoning_tokens":`)
		b.num(think)
		b.str(`}`)
	}
	b.str(`}`)
}
