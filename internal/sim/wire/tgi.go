package wire

import (
	"github.com/servemark/servemark/internal/sim/prose"
)

// TGIStream writes one event for each token, also for those that left together; the last one carries the whole text.
type TGIStream struct{ unframed }

// Fail writes an error event, which ends the stream.
func (d *TGIStream) Fail(b *SSE, words string) {
	b.data(`{"error":"` + prose.Escape(words) + `","error_type":"generation"}`)
}

// Tokens writes one event a token.
func (d *TGIStream) Tokens(b *SSE, _ *Reply, a *Answer, from, to int) {
	for i := from; i < to; i++ {
		b.open()
		b.str(`{"index":`)
		b.num(i + 1)
		b.str(`,"token":{"id":`)
		b.num(a.Pieces[i].ID)
		b.str(`,"text":"` + a.Pieces[i].Esc + `","logprob":-0.5,"special":false},"generated_text":`)
		if i+1 == len(a.Pieces) {
			b.str(`"`)
			b.text(a.Pieces)
			b.str(`","details":`)
			d.details(b, a)
		} else {
			b.str(`null,"details":null`)
		}
		b.str(`}`)
		b.shut()
	}
}

func (d *TGIStream) details(b *SSE, a *Answer) {
	reason := map[string]string{"length": "length", "stop": "eos_token"}[a.Finish]
	if a.Matched != "" {
		reason = "stop_sequence"
	}
	b.str(`{"finish_reason":"` + reason + `","generated_tokens":`)
	b.num(len(a.Pieces))
	b.str(`,"seed":null,"input_length":`)
	b.num(a.PromptTokens())
	b.str(`}`)
}

// Whole is the text with its details.
func (d *TGIStream) Whole(r *Reply) []byte {
	b := &SSE{}
	b.str(`{"generated_text":"`)
	b.text(r.Answers[0].Pieces)
	b.str(`","details":`)
	d.details(b, r.Answers[0])
	b.str(`}`)
	return b.buf
}
