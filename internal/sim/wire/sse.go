package wire

import (
	"strconv"
	"time"

	"github.com/servemark/servemark/internal/sim/prose"
)

// SSE gathers server-sent events into one buffer, which goes out in one write.
type SSE struct {
	buf  []byte
	eol  string
	lead string
}

// NewSSE returns an empty buffer whose lines end with \r\n, and whose data fields have no space after the colon, when so asked.
func NewSSE(crlf, noSpace bool) *SSE {
	b := &SSE{eol: "\n", lead: "data: "}
	if crlf {
		b.eol = "\r\n"
	}
	if noSpace {
		b.lead = "data:"
	}
	return b
}

// Reset empties the buffer.
func (b *SSE) Reset() { b.buf = b.buf[:0] }

// Bytes is what the buffer holds, until the next Reset.
func (b *SSE) Bytes() []byte { return b.buf }

// Comment writes a comment line, which clients must skip.
func (b *SSE) Comment(text string) { b.buf = append(b.buf, ": "+text+b.eol+b.eol...) }

// Garbage writes an event whose data is not whole JSON.
func (b *SSE) Garbage() { b.data(`{"choices":[{"index":0,"delta":{"con`) }

// named begins an event with a name.
func (b *SSE) named(event string) {
	b.str("event: " + event + b.eol)
	b.open()
}

func (b *SSE) open() { b.buf = append(b.buf, b.lead...) }
func (b *SSE) shut() {
	b.buf = append(b.buf, b.eol...)
	b.buf = append(b.buf, b.eol...)
}
func (b *SSE) str(s string) { b.buf = append(b.buf, s...) }
func (b *SSE) num(n int)    { b.buf = strconv.AppendInt(b.buf, int64(n), 10) }

// text writes the pieces as the inside of one JSON string.
func (b *SSE) text(list []prose.Piece) {
	for i := range list {
		b.buf = append(b.buf, list[i].Esc...)
	}
}

// data writes one event with the given payload.
func (b *SSE) data(payload string) {
	b.open()
	b.str(payload)
	b.shut()
}

func (b *SSE) idList(list []prose.Piece) {
	b.str("[")
	for i, p := range list {
		if i > 0 {
			b.str(",")
		}
		b.num(p.ID)
	}
	b.str("]")
}

// num6 writes a duration as seconds with six decimals.
func (b *SSE) num6(t time.Duration) {
	us := max(int64(t/time.Microsecond), 0)
	b.num(int(us / 1e6))
	b.str(".")
	frac := us % 1e6
	for div := int64(1e5); div > 0; div /= 10 {
		b.buf = append(b.buf, byte('0'+frac/div%10))
	}
}
