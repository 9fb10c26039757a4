package wire

import (
	"github.com/servemark/servemark/internal/sim/prose"
)

// Completion writes text completion chunks. One frame leaves for every step, also when its text is empty.
type Completion struct{ Chat }

// Begin writes nothing: there is no role chunk.
func (d *Completion) Begin(*SSE, *Reply, *Answer) {}

// Finish writes llama.cpp's last chunk, which has no text but the finish reason and always the usage.
func (d *Completion) Finish(b *SSE, r *Reply, a *Answer) {
	if !d.timings {
		return
	}
	b.open()
	d.head(b, r, "text_completion")
	b.str(`,"choices":[`)
	d.choice(b, r, a, nil, a.Finish)
	b.str(`],"usage":`)
	d.usage(b, r, a.PromptTokens(), len(a.Pieces), a.Cached, 0, true)
	writeTimings(b, r)
	b.str(`}`)
	b.shut()
}

// Tokens writes one chunk, also when its text is empty.
func (d *Completion) Tokens(b *SSE, r *Reply, a *Answer, from, to int) {
	reason := ""
	if to == len(a.Pieces) && !d.timings {
		reason = a.Finish
	}
	b.open()
	d.head(b, r, "text_completion")
	b.str(`,"choices":[`)
	d.choice(b, r, a, a.Pieces[from:to], reason)
	b.str(`]`)
	if r.Continuous {
		b.str(`,"usage":`)
		d.usage(b, r, a.PromptTokens(), to, a.Cached, 0, false)
	}
	b.str(`}`)
	b.shut()
}

func (d *Completion) choice(b *SSE, r *Reply, a *Answer, part []prose.Piece, reason string) {
	b.str(`{"index":`)
	b.num(a.Index)
	b.str(`,"text":"`)
	b.text(part)
	b.str(`","logprobs":null`)
	d.finishMembers(b, a, reason)
	if r.TokenIDs && d.tokenIDs {
		b.str(`,"token_ids":`)
		b.idList(part)
	}
	b.str(`}`)
}

// End writes the usage chunk, if asked for, and [DONE].
func (d *Completion) End(b *SSE, r *Reply) {
	if r.Usage && !d.timings {
		b.open()
		d.head(b, r, "text_completion")
		b.str(`,"choices":[],"usage":`)
		prompt, done, cached, _ := r.totals()
		d.usage(b, r, prompt, done, cached, 0, true)
		b.str(`}`)
		b.shut()
	}
	b.data("[DONE]")
}

// Whole is a text_completion object.
func (d *Completion) Whole(r *Reply) []byte {
	b := &SSE{}
	d.head(b, r, "text_completion")
	b.str(`,"choices":[`)
	for i, a := range r.Answers {
		if i > 0 {
			b.str(",")
		}
		d.choice(b, r, a, a.Pieces, a.Finish)
	}
	b.str(`],"usage":`)
	prompt, done, cached, _ := r.totals()
	d.usage(b, r, prompt, done, cached, 0, true)
	if d.timings {
		writeTimings(b, r)
	}
	b.str(`}`)
	return b.buf
}
