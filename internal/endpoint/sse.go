package endpoint

import (
	"bytes"

	"github.com/servemark/servemark/internal/bench"
)

// maxEvent is how much of one event, or of one unstreamed body, is kept: 64 MiB. A reply with more is given up.
const maxEvent = 64 << 20

// sseEvent is one event of a stream. Data is valid during the call only.
type sseEvent struct {
	data []byte
	// failed is true for an event named "error" and for the data of an "error:" field, as old llama.cpp builds send it.
	failed bool
	at     bench.Instant
	bytes  int // on the wire, from the end of the event before
}

// sseReader splits a stream of server-sent events that comes in arbitrary pieces. The pieces' borders do not matter,
// except for the instants. Lines end with \n, \r\n or \r. An event whose lines lie in one piece is not copied.
type sseReader struct {
	started bool
	skipLF  bool // the last line ended with \r: a \n that follows belongs to it
	line    []byte
	// data is the joined data of the event so far; owned is false while it still lies in the piece being read.
	data    []byte
	owned   bool
	hasData bool
	failed  bool
	bytes   int
	at      bench.Instant // when the last data line ended
	tooLong bool
}

// feed reads a piece. emit is called for each event that ends in it and returns true to stop; feed then returns true,
// and what is left of the piece is lost. tooLong is set, and true returned, where an event exceeds maxEvent.
func (r *sseReader) feed(p []byte, at bench.Instant, emit func(sseEvent) bool) bool {
	nextLF := -2 // index of the next \n in p; -1: none; -2: to be looked for
	for i := 0; i < len(p); {
		if r.skipLF {
			r.skipLF = false
			if p[i] == '\n' {
				i++
				continue
			}
		}
		if nextLF != -1 && nextLF < i {
			if nextLF = bytes.IndexByte(p[i:], '\n'); nextLF >= 0 {
				nextLF += i
			}
		}
		end, limit := nextLF, nextLF
		if limit < 0 {
			limit = len(p)
		}
		if cr := bytes.IndexByte(p[i:limit], '\r'); cr >= 0 {
			end = i + cr
			r.skipLF = true
		}
		if end < 0 {
			r.own() // data may still lie in line
			r.line = append(r.line, p[i:]...)
			r.bytes += len(p) - i
			break
		}
		line := p[i:end]
		r.bytes += end + 1 - i
		i = end + 1
		if len(r.line) > 0 {
			r.line = append(r.line, line...)
			line = r.line
		}
		if r.take(line, at, emit) {
			return true
		}
		if r.line = r.line[:0]; cap(r.line) > keepBuffer {
			r.line = nil
		}
	}
	r.own()
	r.tooLong = len(r.line)+len(r.data) > maxEvent
	return r.tooLong
}

// own copies the event's data out of the piece, or the carried line, in which it lies.
func (r *sseReader) own() {
	if r.hasData && !r.owned {
		r.data, r.owned = bytes.Clone(r.data), true
	}
}

// keepBuffer is the largest buffer that is kept for the next event.
const keepBuffer = 64 << 10

// flush reads what is left at the end of the stream: a last line and a last event that nothing has closed.
func (r *sseReader) flush(at bench.Instant, emit func(sseEvent) bool) {
	if len(r.line) > 0 {
		line := r.line
		r.line = nil
		if r.take(line, at, emit) {
			return
		}
	}
	r.dispatch(emit)
}

// take reads one line, which stays valid until the next piece or partial line.
func (r *sseReader) take(line []byte, at bench.Instant, emit func(sseEvent) bool) (stop bool) {
	if !r.started {
		r.started = true
		line = bytes.TrimPrefix(line, []byte("\xef\xbb\xbf"))
	}
	if len(line) == 0 || line[0] == ' ' && len(bytes.TrimRight(line, " ")) == 0 { // some servers leave blanks on it
		return r.dispatch(emit)
	}
	name, value, colon := bytes.Cut(line, []byte(":"))
	if len(value) > 0 && value[0] == ' ' {
		value = value[1:]
	}
	switch string(name) {
	case "data":
		r.addData(value, at)
		r.tooLong = len(r.data) > maxEvent
		return r.tooLong
	case "event":
		r.failed = string(value) == "error"
	case "error":
		return colon && r.single(value, true, at, emit)
	default:
		if line[0] == '{' { // a bare JSON line among the fields: what a server writes that breaks off without ceremony
			return r.single(line, false, at, emit)
		}
	}
	return false
}

// addData appends one data line to the event; several are joined by \n.
func (r *sseReader) addData(value []byte, at bench.Instant) {
	r.at = at
	switch {
	case !r.hasData:
		r.hasData, r.data, r.owned = true, value, false
	case !r.owned:
		r.data, r.owned = append(append(append(make([]byte, 0, len(r.data)+len(value)+64), r.data...), '\n'), value...), true
	default:
		r.data = append(append(r.data, '\n'), value...)
	}
}

// dispatch closes the event at a blank line.
func (r *sseReader) dispatch(emit func(sseEvent) bool) (stop bool) {
	e := sseEvent{data: r.data, failed: r.failed, at: r.at, bytes: r.bytes}
	had := r.hasData
	r.data, r.owned, r.hasData, r.failed, r.bytes = nil, false, false, false, 0
	return had && emit(e)
}

// single emits an event made of one line that is not a data field.
func (r *sseReader) single(value []byte, failed bool, at bench.Instant, emit func(sseEvent) bool) bool {
	return emit(sseEvent{data: value, failed: failed, at: at, bytes: len(value)})
}
