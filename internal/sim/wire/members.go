package wire

import (
	"encoding/json"
	"time"

	"github.com/servemark/servemark/internal/sim/prose"
)

// finishMembers writes finish_reason and what stands beside it.
func (m Manners) finishMembers(b *SSE, a *Answer, reason string) {
	beside := `null`
	if reason == "" {
		b.str(`,"finish_reason":null`)
		if !m.nullStop() {
			return
		}
	} else {
		b.str(`,"finish_reason":"` + reason + `"`)
		switch {
		case a.Matched != "":
			beside = `"` + prose.Escape(a.Matched) + `"`
		case reason == "stop" && m.nullStop():
			beside = `0` // the id of the end token
		}
	}
	if m.stopMember != "" {
		b.str(`,"` + m.stopMember + `":` + beside)
	}
}

// nullStop says that the stop member is in every chunk, as SGLang's matched_stop is.
func (m Manners) nullStop() bool { return m.stopMember == "matched_stop" }

// usage writes a usage object; final ones carry the details each flavour gives.
func (m Manners) usage(b *SSE, r *Reply, prompt, done, cached, think int, final bool) {
	b.str(`{"prompt_tokens":`)
	b.num(prompt)
	b.str(`,"total_tokens":`)
	b.num(prompt + done)
	b.str(`,"completion_tokens":`)
	b.num(done)
	if r.ReportCache {
		b.str(`,"prompt_tokens_details":{"cached_tokens":`)
		b.num(cached)
		b.str(`}`)
	} else if m.Flavour == SGLang {
		b.str(`,"prompt_tokens_details":null`)
	}
	if final && m.Flavour == SGLang {
		b.str(`,"reasoning_tokens":`)
		b.num(think)
		b.str(`,"completion_tokens_details":{"reasoning_tokens":`)
		b.num(think)
		b.str(`}`)
	}
	b.str(`}`)
}

// writeTimings adds llama.cpp's own account of a request, from the engine's planned instants.
func writeTimings(b *SSE, r *Reply) {
	b.str(`,"timings":`)
	b.str(string(timingsOf(r.Answers[0])))
}

func timingsOf(a *Answer) []byte {
	computed := max(a.PromptTokens()-a.Cached, 1)
	var prompt, predicted time.Duration
	if n := len(a.Planned); n > 0 {
		prompt = a.Planned[0] - a.Scheduled
		predicted = a.Planned[n-1] - a.Planned[0]
	}
	msOf := func(d time.Duration) float64 { return max(float64(d)/1e6, 1e-3) }
	n := len(a.Pieces)
	out, err := json.Marshal(map[string]any{
		"cache_n": a.Cached, "prompt_n": computed, "prompt_ms": msOf(prompt), "prompt_per_token_ms": msOf(prompt) / float64(computed),
		"prompt_per_second": float64(computed) / msOf(prompt) * 1e3, "predicted_n": n, "predicted_ms": msOf(predicted),
		"predicted_per_token_ms": msOf(predicted) / float64(n), "predicted_per_second": float64(n) / msOf(predicted) * 1e3,
	})
	if err != nil {
		return []byte("null")
	}
	return out
}
