package wire

import (
	"encoding/base64"
	"encoding/binary"
	"math"
	"strconv"

	"github.com/servemark/servemark/internal/sim/prose"
)

// vectorSize is the length of the embeddings.
const vectorSize = 64

// Embedding writes vectors as numbers, or as base64 of little-endian 32-bit floats.
type Embedding struct {
	unframed
	Base64 bool
}

// Tokens writes nothing: embeddings are not streamed.
func (Embedding) Tokens(*SSE, *Reply, *Answer, int, int) {}

// Fail writes an error event; embeddings fail before anything was sent.
func (Embedding) Fail(b *SSE, words string) {
	b.data(`{"error":{"message":"` + prose.Escape(words) + `"}}`)
}

// Whole is a list of embedding objects with usage.
func (d Embedding) Whole(r *Reply) []byte {
	b := &SSE{}
	b.str(`{"id":"` + r.ID + `","object":"list","model":"` + prose.Escape(r.Model) + `","data":[`)
	for i, a := range r.Answers {
		if i > 0 {
			b.str(",")
		}
		b.str(`{"object":"embedding","index":`)
		b.num(i)
		b.str(`,"embedding":`)
		d.vector(b, a.Prompt)
		b.str(`}`)
	}
	prompt, _, _, _ := r.totals()
	b.str(`],"usage":{"prompt_tokens":`)
	b.num(prompt)
	b.str(`,"total_tokens":`)
	b.num(prompt)
	b.str(`,"completion_tokens":0,"prompt_tokens_details":null}}`)
	return b.buf
}

func (d Embedding) vector(b *SSE, ids []int) {
	v := vector(ids)
	if d.Base64 {
		raw := make([]byte, 0, 4*vectorSize)
		for _, x := range v {
			raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(float32(x)))
		}
		b.str(`"` + base64.StdEncoding.EncodeToString(raw) + `"`)
		return
	}
	for k, x := range v {
		b.str(map[bool]string{true: "[", false: ","}[k == 0])
		b.buf = strconv.AppendFloat(b.buf, x, 'f', 6, 64)
	}
	b.str("]")
}

// vector is a unit vector that depends on the prompt alone.
func vector(ids []int) [vectorSize]float64 {
	var v [vectorSize]float64
	h, norm := prose.HashIDs(0, ids), 0.0
	for k := range v {
		h = prose.Mix(h + uint64(k) + 1)
		v[k] = float64(h>>11)/(1<<52) - 1
		norm += v[k] * v[k]
	}
	for k := range v {
		v[k] /= math.Sqrt(norm)
	}
	return v
}
