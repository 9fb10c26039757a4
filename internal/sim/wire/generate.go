package wire

import (
	"strconv"

	"github.com/servemark/servemark/internal/sim/prose"
)

// Generate writes SGLang's native frames: text and ids from the beginning of the answer every time, unless Incremental.
type Generate struct {
	unframed
	Incremental bool
}

// End writes [DONE].
func (d *Generate) End(b *SSE, _ *Reply) { b.data("[DONE]") }

// Fail writes an error event and [DONE].
func (d *Generate) Fail(b *SSE, words string) {
	b.data(`{"error":{"message":"` + prose.Escape(words) + `"}}`)
	b.data("[DONE]")
}

// Tokens writes one event with the meta information so far.
func (d *Generate) Tokens(b *SSE, r *Reply, a *Answer, from, to int) {
	if !d.Incremental {
		from = 0
	}
	b.open()
	d.object(b, r, a, from, to)
	b.shut()
}

func (d *Generate) object(b *SSE, r *Reply, a *Answer, from, to int) {
	part := a.Pieces[from:to]
	b.str(`{"text":"`)
	b.text(part)
	b.str(`","output_ids":`)
	b.idList(part)
	b.str(`,"meta_info":{"id":"` + prose.Escape(r.ID) + `"`)
	switch {
	case to < len(a.Pieces):
		b.str(`,"finish_reason":null`)
	case a.Finish == "length":
		b.str(`,"finish_reason":{"type":"length","length":`)
		b.num(to)
		b.str(`}`)
	case a.Matched != "":
		b.str(`,"finish_reason":{"type":"stop","matched":"` + prose.Escape(a.Matched) + `"}`)
	default:
		b.str(`,"finish_reason":{"type":"stop","matched":0}`)
	}
	b.str(`,"prompt_tokens":`)
	b.num(a.PromptTokens())
	b.str(`,"completion_tokens":`)
	b.num(to)
	b.str(`,"cached_tokens":`)
	b.num(a.Cached)
	b.str(`,"weight_version":"default","num_retractions":`)
	b.num(a.Preemptions)
	if to == len(a.Pieces) {
		b.str(`,"e2e_latency":`)
		b.num6(r.Elapsed())
		if r.Speculative { // the first token comes from the prompt, not from a verification
			b.str(`,"spec_verify_ct":`)
			b.num(a.Steps - 1)
			b.str(`,"spec_accept_length":`)
			b.buf = strconv.AppendFloat(b.buf, float64(to-1)/float64(max(a.Steps-1, 1)), 'f', 4, 64)
		}
	}
	if r.Batch {
		b.str(`},"index":`)
		b.num(a.Index)
		b.str(`}`)
		return
	}
	b.str(`}}`)
}

// Whole is the last event, or a list of them for a batch.
func (d *Generate) Whole(r *Reply) []byte {
	b := &SSE{}
	if r.Batch {
		b.str("[")
	}
	for i, a := range r.Answers {
		if i > 0 {
			b.str(",")
		}
		d.object(b, r, a, 0, len(a.Pieces))
	}
	if r.Batch {
		b.str("]")
	}
	return b.buf
}
