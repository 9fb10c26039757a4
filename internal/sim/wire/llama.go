package wire

import (
	"github.com/servemark/servemark/internal/sim/prose"
)

// Llama writes llama.cpp's native events: the last one has stop:true and the timings.
type Llama struct{ Chat }

// Begin writes nothing: the first event carries a token.
func (d *Llama) Begin(*SSE, *Reply, *Answer) {}

// Role writes nothing.
func (d *Llama) Role(*SSE, *Reply, *Answer) {}

// End writes nothing.
func (d *Llama) End(*SSE, *Reply) {}

// Finish writes the event with stop:true and the timings.
func (d *Llama) Finish(b *SSE, r *Reply, a *Answer) {
	b.open()
	d.last(b, r, a, nil)
	b.shut()
}

// Tokens writes one event with text and ids.
func (d *Llama) Tokens(b *SSE, _ *Reply, a *Answer, from, to int) {
	b.open()
	b.str(`{"index":0,"content":"`)
	b.text(a.Pieces[from:to])
	b.str(`","tokens":`)
	b.idList(a.Pieces[from:to])
	b.str(`,"stop":false,"id_slot":-1,"tokens_predicted":`)
	b.num(to)
	b.str(`,"tokens_evaluated":`)
	b.num(a.PromptTokens())
	b.str(`}`)
	b.shut()
}

func (d *Llama) last(b *SSE, r *Reply, a *Answer, text []prose.Piece) {
	kind := map[string]string{"length": "limit", "stop": "eos"}[a.Finish]
	if a.Matched != "" {
		kind = "word"
	}
	b.str(`{"index":0,"content":"`)
	b.text(text)
	b.str(`","tokens":[],"id_slot":-1,"stop":true,"model":"` + prose.Escape(r.Model) + `","tokens_predicted":`)
	b.num(len(a.Pieces))
	b.str(`,"tokens_evaluated":`)
	b.num(a.PromptTokens())
	b.str(`,"tokens_cached":`) // what its place holds at the end, not what was found there
	b.num(a.PromptTokens() + len(a.Pieces) - 1)
	b.str(`,"stop_type":"` + kind + `","stopping_word":"` + prose.Escape(a.Matched) + `","truncated":false`)
	writeTimings(b, r)
	b.str(`}`)
}

// Whole is the last event with the whole text.
func (d *Llama) Whole(r *Reply) []byte {
	b := &SSE{}
	d.last(b, r, r.Answers[0], r.Answers[0].Pieces)
	return b.buf
}
