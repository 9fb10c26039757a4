package jinja

import (
	"context"
	"math"
	"math/bits"
	"strings"
	"time"
)

// Limits bound what one rendering may use. The zero value means the defaults named at each field.
type Limits struct {
	Steps int   // evaluated nodes, handled items and 16 bytes of text read; 0 is 20 million and 16 for each byte of the input
	Bytes int64 // bytes of all texts and lists made, freed ones too, a sixteenth of it for any one text; 0 is 256 MiB and 64 times the input
}

const (
	maxSource     = 1 << 20 // bytes of a template's source
	maxTokens     = 100_000 // names, signs and texts in it
	maxName       = 1000    // bytes of a name in it
	maxNesting    = 100     // nested statements or expressions in a template's source
	maxFrames     = 50_000  // nested calls of eval and exec, which bounds the stack of one rendering
	maxDepth      = 200     // nested calls of macros and recursive loops, and levels of a printed or compared value
	maxBits       = 1 << 16 // bits of an integer
	maxDigits     = 4300    // decimal digits of an integer that is read or printed, as in Python
	maxSize       = 1 << 30 // width or precision of a formatted value
	maxRange      = 100_000 // items of a range, as in jinja2's sandbox
	defaultSteps  = 20_000_000
	defaultBytes  = 256 << 20
	bytesPerInput = 64
	stepsPerInput = 16
	textsPerBytes = 16   // one text may have this part of all bytes
	ctxEvery      = 4096 // steps between two looks at the context
)

// What the parts of a list or dict take, in bytes.
const (
	slotBytes  = 16  // a place in a list
	textBytes  = 48  // a place in a list with a text of its own, its letters apart
	entryBytes = 192 // a key and its value in a dict
	listBytes  = 64  // a list itself
)

// run is one rendering: what it may still use, and what its names mean.
type run struct {
	ctx     context.Context
	lib     *library
	context Vars
	now     time.Time
	steps   int
	look    int // at this many steps left the context is looked at again
	bytes   int64
	longest int    // bytes of any one text
	over    error  // the limit that was reached: nothing goes on after it
	depth   int    // nested macros, recursive loops and printed levels
	frames  int    // nested calls of eval and exec
	draws   uint64 // values drawn by the random filter so far
}

func newRun(ctx context.Context, limits Limits, inputBytes int64) *run {
	r := &run{ctx: ctx, steps: limits.Steps, bytes: limits.Bytes}
	if r.steps == 0 {
		r.steps = defaultSteps + stepsPerInput*int(inputBytes)
	}
	if r.bytes == 0 {
		r.bytes = defaultBytes + bytesPerInput*inputBytes
	}
	r.look, r.longest = r.steps, int(r.bytes/textsPerBytes)
	return r
}

// exceed ends the rendering: every later count fails too, whatever becomes of this error.
func (r *run) exceed(format string, args ...any) error {
	if r.over == nil {
		r.over = fault("LimitError", format, args...)
	}
	return r.over
}

// step counts n units of work, each some 100 ns at most.
func (r *run) step(n int) error {
	if r.over != nil {
		return r.over
	}
	if n < 0 || n > r.steps {
		return r.exceed("the template takes too many steps; it does not end, or the input is too large for it")
	}
	if r.steps -= n; r.steps <= r.look {
		r.look = r.steps - ctxEvery
		if r.ctx.Err() != nil {
			r.over = context.Cause(r.ctx)
		}
	}
	return r.over
}

// alloc counts n bytes that are about to be made.
func (r *run) alloc(n int) error {
	if r.over == nil && (n < 0 || int64(n) > r.bytes) {
		return r.exceed("the template makes too much text; it repeats without end, or the input is too large for it")
	}
	r.bytes -= int64(n)
	return r.step(1 + n>>8)
}

// newText counts a text of n bytes that is about to be made.
func (r *run) newText(n int) error {
	if n < 0 || n > r.longest {
		return r.exceed("the template makes too much text: %d bytes in one piece, more than %d; it repeats without end, or the input is too large for it", n, r.longest)
	}
	return r.alloc(n)
}

// write appends to a text.
func (r *run) write(out *strings.Builder, s string) error {
	if n := out.Len() + len(s); n > r.longest {
		return r.newText(n)
	}
	if err := r.alloc(len(s)); err != nil {
		return err
	}
	out.WriteString(s)
	return nil
}

// work counts the reading of n bytes of text, rune by rune.
func (r *run) work(n int) error { return r.step(1 + n>>4) }

// match counts the comparing or hashing of n bytes of text.
func (r *run) match(n int) error { return r.step(1 + n>>8) }

// remake counts the making of a text about as long as s out of it, rune by rune.
func (r *run) remake(s string) error {
	if err := r.work(len(s)); err != nil {
		return err
	}
	return r.newText(len(s))
}

// weigh counts the reading of a value that is a text.
func (r *run) weigh(v Value) error {
	if s, ok := v.(string); ok {
		return r.work(len(s))
	}
	return nil
}

// times multiplies sizes; what does not fit is the greatest int.
func times(a, b int) int {
	hi, lo := bits.Mul64(uint64(max(a, 0)), uint64(max(b, 0)))
	if hi > 0 || lo > math.MaxInt {
		return math.MaxInt
	}
	return int(lo)
}

// enter counts one level of nesting; leave must follow unless it fails.
func (r *run) enter() error {
	if r.depth++; r.depth > maxDepth {
		r.depth--
		return fault("RecursionError", "the template nests more than %d calls or values", maxDepth)
	}
	return nil
}

func (r *run) leave() { r.depth-- }

// push counts one nested call of eval or exec; pop must follow unless it fails.
func (r *run) push() error {
	if r.frames++; r.frames > maxFrames {
		r.frames--
		return fault("RecursionError", "the template nests more than %d parts", maxFrames)
	}
	return nil
}

func (r *run) pop() { r.frames-- }
