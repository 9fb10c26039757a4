package sim

import (
	"encoding/json"
	"time"
)

// chatDialect writes OpenAI chat completion chunks, with the differences of each flavour.
type chatDialect struct {
	flavour Flavour
	server  *Server
}

// thought is the member reasoning comes under.
func (d *chatDialect) thought() string {
	if d.flavour == VLLM {
		return "reasoning"
	}
	return "reasoning_content"
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
	if d.flavour == LlamaCpp {
		b.str(`,"system_fingerprint":"` + llamaBuild + `"`)
	}
}

// chunk writes one event with the tokens part; done is how many have left with it, reason a finish reason or "".
func (d *chatDialect) chunk(b *sse, r *reply, a *answer, part []piece, done int, reason string, delta func()) {
	b.open()
	d.head(b, r, "chat.completion.chunk")
	b.str(`,"choices":[{"index":`)
	b.num(a.index)
	b.str(`,"delta":{`)
	delta()
	b.str(`}`)
	if d.flavour != LlamaCpp {
		b.str(`,"logprobs":null`)
	}
	finishMembers(b, d.flavour, a, reason)
	if r.tokenIDs && d.flavour != LlamaCpp {
		b.str(`,"token_ids":`)
		b.idList(part)
	}
	b.str(`}]`)
	if r.continuous {
		b.str(`,"usage":`)
		usageMembers(b, d.server, a.promptTokens(), done, a.cached(), min(done, a.think), false)
	}
	if d.flavour == LlamaCpp && reason != "" && !r.usage {
		d.timings(b, r)
	}
	b.str(`}`)
	b.shut()
}

// finishMembers writes finish_reason and what stands beside it.
func finishMembers(b *sse, f Flavour, a *answer, reason string) {
	if reason == "" {
		b.str(`,"finish_reason":null`)
		if f == SGLang {
			b.str(`,"matched_stop":null`)
		}
		return
	}
	b.str(`,"finish_reason":"` + reason + `"`)
	member := map[Flavour]string{SGLang: "matched_stop", VLLM: "stop_reason"}[f]
	if member == "" {
		return
	}
	switch {
	case a.matched != "":
		b.str(`,"` + member + `":"` + escape(a.matched) + `"`)
	case f == SGLang && reason == "stop":
		b.str(`,"matched_stop":0`)
	default:
		b.str(`,"` + member + `":null`)
	}
}

func (d *chatDialect) begin(b *sse, r *reply, a *answer) {
	d.chunk(b, r, a, nil, 0, "", func() {
		switch d.flavour {
		case LlamaCpp:
			b.str(`"role":"assistant","content":null`)
		case VLLM:
			b.str(`"role":"assistant","content":""`)
		default:
			b.str(`"reasoning_content":null,"role":"assistant","content":""`)
		}
	})
	if a.tool != nil {
		d.chunk(b, r, a, nil, 0, "", func() {
			b.str(`"tool_calls":[{"id":"` + a.tool.id + `","index":0,"type":"function","function":{"name":"` + escape(a.tool.name) + `","arguments":""}}]`)
		})
	}
}

func (d *chatDialect) tokens(b *sse, r *reply, a *answer, from, to int) {
	if from < a.think && to > a.think { // one step ends the reasoning and starts the answer: two frames at one instant
		d.tokens(b, r, a, from, a.think)
		from = a.think
	}
	part := a.pieces[from:to]
	reason := ""
	if d.flavour == VLLM && to == len(a.pieces) {
		reason = a.finish
	}
	if reason == "" && blank(part) && d.flavour == SGLang {
		return // half a character, or a held-back stop: no frame
	}
	d.chunk(b, r, a, part, to, reason, func() {
		switch {
		case a.tool != nil:
			b.str(`"tool_calls":[{"index":0,"function":{"arguments":"`)
			b.text(part)
			b.str(`"}}]`)
		case from < a.think:
			b.str(`"` + d.thought() + `":"`)
			b.text(part)
			b.str(`"`)
		default:
			if d.flavour == SGLang {
				b.str(`"reasoning_content":null,`)
			}
			b.str(`"content":"`)
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
	if d.flavour == VLLM {
		return
	}
	d.chunk(b, r, a, nil, len(a.pieces), a.finish, func() {
		if d.flavour == SGLang {
			b.str(`"reasoning_content":null`)
		}
	})
}

func (d *chatDialect) end(b *sse, r *reply) {
	if r.usage {
		b.open()
		d.head(b, r, "chat.completion.chunk")
		b.str(`,"choices":[]`)
		if d.flavour == VLLM {
			b.str(`,"system_fingerprint":"` + vllmFingerprint + `"`)
		}
		b.str(`,"usage":`)
		prompt, done, cached, think := r.totals()
		usageMembers(b, d.server, prompt, done, cached, think, true)
		if d.flavour == LlamaCpp {
			d.timings(b, r)
		}
		b.str(`}`)
		b.shut()
	}
	b.data("[DONE]")
}

// timings is llama.cpp's own account of a request, from the engine's planned instants.
func (d *chatDialect) timings(b *sse, r *reply) {
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
			b.str(`,"` + d.thought() + `":"`)
			b.text(a.pieces[:a.think])
			b.str(`"`)
		} else if d.flavour != LlamaCpp {
			b.str(`,"` + d.thought() + `":null`)
		}
		b.str(`},"logprobs":null`)
		finishMembers(b, d.flavour, a, a.finish)
		b.str(`}`)
	}
	b.str(`],"usage":`)
	prompt, done, cached, think := r.totals()
	usageMembers(b, d.server, prompt, done, cached, think, true)
	if d.flavour == LlamaCpp {
		d.timings(b, r)
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
