package wire

import (
	"github.com/servemark/servemark/internal/sim/prose"
)

// Triton writes the events of Triton's generate_stream: new text each, no usage, no end marker.
type Triton struct {
	unframed
	Model string
}

// Fail writes an error event, which ends the stream.
func (d *Triton) Fail(b *SSE, words string) { b.data(`{"error":"` + prose.Escape(words) + `"}`) }

// Tokens writes one event with the new text.
func (d *Triton) Tokens(b *SSE, _ *Reply, a *Answer, from, to int) {
	b.open()
	d.object(b, a.Pieces[from:to])
	b.shut()
}

func (d *Triton) object(b *SSE, part []prose.Piece) {
	b.str(`{"model_name":"` + prose.Escape(d.Model) + `","model_version":"1","sequence_end":false,"sequence_id":0,"sequence_start":false,"text_output":"`)
	b.text(part)
	b.str(`"}`)
}

// Whole is one event with the whole text, without its frame.
func (d *Triton) Whole(r *Reply) []byte {
	b := &SSE{}
	d.object(b, r.Answers[0].Pieces)
	return b.buf
}
