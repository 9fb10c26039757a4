package endpoint

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/servemark/servemark/internal/bench"
)

// decoderOptions say how to read one reply.
type decoderOptions struct {
	route    route
	keepText bool
	url      string              // what was asked, for a 404
	hide     func(string) string // takes the user's own secrets out of a text that the server may have made of them
}

// form is what a body turns out to be.
type form uint8

const (
	formUnknown form = iota
	formEvents       // server-sent events
	formJSON         // one JSON body, also where a server ignored "stream": true
	formOther        // text or HTML where a reply should be
	formRefusal      // the body of a status other than 2xx
)

// decoder is a bench.Decoder for all APIs.
type decoder struct {
	o   decoderOptions
	rec *bench.Record

	form     form
	stream   bool // the head says text/event-stream
	encoding string
	location string // where a redirect points
	retry    string // when a refusal says to ask again
	events   sseReader
	body     []byte // of every form but events, bounded
	last     bench.Instant
	over     bool // terminal event seen, or reply given up; the rest is ignored
	frame    frame
	reply    reply
}

func newDecoder(rec *bench.Record, o decoderOptions) *decoder {
	return &decoder{o: o, rec: rec, last: bench.Never, reply: reply{native: o.route.native, pooling: o.route.api.Pooling(), keepText: o.keepText}}
}

// Head takes the response head.
func (d *decoder) Head(status int, header http.Header) {
	d.rec.Status = status
	kind, _, _ := mime.ParseMediaType(header.Get("Content-Type"))
	d.stream = kind == "text/event-stream"
	d.encoding = header.Get("Content-Encoding")
	if d.encoding == "identity" {
		d.encoding = ""
	}
	if status < 200 || status > 299 {
		d.form = formRefusal
		d.retry = retryAfter(header)
	}
	if status >= 300 && status <= 399 {
		d.location = header.Get("Location")
	}
}

// Limits of bodies that are kept only for the server's words.
const (
	maxRefusal = 64 << 10
	maxOther   = 4 << 10
)

// Feed reads body bytes.
func (d *decoder) Feed(p []byte, at bench.Instant) (terminal bool) {
	d.last = at
	if d.over {
		return true
	}
	if d.form == formUnknown {
		p = append(d.body, p...)
		if d.recognize(p); d.form == formUnknown {
			d.body = p // white space so far
			return false
		}
		d.body = nil
	}
	switch d.form {
	case formEvents:
		if d.events.feed(p, at, d.event) {
			if d.over = true; d.events.tooLong {
				d.tooLong("one event")
			}
		}
	case formJSON:
		if d.body = append(d.body, p...); len(d.body) > maxEvent {
			d.over = true
			d.tooLong("the body")
		}
	case formRefusal:
		d.keep(p, maxRefusal)
	case formOther:
		d.keep(p, maxOther)
	}
	return d.over
}

// recognize decides the form by the first byte that is neither white space nor part of a byte order mark: an event
// stream cannot begin with a brace, and JSON and HTML begin with nothing else. The head is believed only where the byte
// leaves a choice.
func (d *decoder) recognize(p []byte) {
	if d.encoding != "" {
		d.form = formOther
		return
	}
	start := trimStart(p)
	if len(start) == 0 {
		return
	}
	switch c := start[0]; {
	case c == '{' || c == '[':
		d.form = formJSON
	case c == '<' || !d.stream && !bytes.ContainsRune([]byte(":deir"), rune(c)): // comment, data, event, error, id, retry
		d.form = formOther
	default:
		d.form, d.rec.Streamed = formEvents, true
	}
}

// trimStart cuts white space and the bytes of a byte order mark off the start.
func trimStart(p []byte) []byte {
	for len(p) > 0 && bytes.IndexByte([]byte(" \t\r\n\xef\xbb\xbf"), p[0]) >= 0 {
		p = p[1:]
	}
	return p
}

func (d *decoder) keep(p []byte, limit int) {
	d.body = append(d.body, p[:min(len(p), limit-len(d.body))]...)
}

func (d *decoder) tooLong(what string) {
	d.rec.Fail(bench.FailMalformed, fmt.Sprintf("%s of the reply is longer than %d MiB, the most that is kept", what, maxEvent>>20))
}

// event reads one event and reports whether it is the terminal one.
func (d *decoder) event(e sseEvent) (terminal bool) {
	data := bytes.Trim(e.data, " \t\r\n")
	if string(data) == "[DONE]" {
		d.reply.done = true
		return true
	}
	if len(data) == 0 && !e.failed || len(data) > 0 && data[0] == ':' {
		d.rec.Malformed++ // a keep-alive spelled as data
		return false
	}
	f, ok := d.read(data)
	if e.failed && !f.failed {
		f.failed, f.words = true, wordsOf(data)
		ok = true
	}
	if !ok {
		d.rec.Malformed++
		return false
	}
	return d.reply.take(d.rec, f, e.at, e.bytes)
}

// read reads one JSON text, quickly where that is sure, and reports whether it could be read.
func (d *decoder) read(data []byte) (*frame, bool) {
	f, text := &d.frame, d.o.keepText
	f.reset()
	if read := d.o.route.read; read != nil {
		if d.o.route.listed && len(data) > 0 && data[0] == '[' {
			data = slices.Concat([]byte(`{"results":`), data, []byte("}"))
		}
		if f.other(data, read, text) != nil {
			f.reset()
			return f, false
		}
		return f, true
	}
	if f.quick(data, d.o.route.native, text) {
		return f, true
	}
	f.reset()
	if f.reference(data, d.o.route.native, text) != nil {
		f.reset()
		return f, false
	}
	return f, true
}

// End closes the reply.
func (d *decoder) End(cause error) {
	if !d.over {
		d.rest(cause)
	}
	d.reply.finish(d.rec)
	if d.rec.Failure == nil && !d.rec.Cancelled {
		d.judge(cause)
	}
	if d.o.hide != nil {
		d.rec.Text, d.rec.Finish = d.o.hide(d.rec.Text), d.o.hide(d.rec.Finish)
		if f := d.rec.Failure; f != nil {
			f.Message = d.o.hide(f.Message)
		}
	}
	*d = decoder{rec: d.rec, o: d.o, over: true}
}

// rest reads what is still in the buffers.
func (d *decoder) rest(cause error) {
	switch {
	case d.form == formEvents && cause == nil:
		d.events.flush(d.last, d.event)
	case d.form == formJSON:
		f, ok := d.read(trimStart(d.body))
		if ok {
			d.reply.take(d.rec, f, d.last, len(d.body))
			d.reply.whole = true
		} else if cause == nil {
			d.rec.Fail(bench.FailMalformed, "the body is not one JSON object: "+bound(string(d.body)))
		}
	}
}

// judge decides whether a reply without a known failure is a success: that needs evidence of an end and of work.
func (d *decoder) judge(cause error) {
	rec := d.rec
	switch {
	case d.form == formRefusal:
		rec.Fail(bench.FailStatus, d.refusal())
	case d.form == formOther && cause == nil:
		rec.Fail(bench.FailMalformed, d.other())
	case d.reply.ended(rec), d.o.route.unmarked && cause == nil && len(rec.Chunks) > 0:
		d.reply.judge(rec)
	case cause != nil:
		d.broken(cause)
	case d.form == formUnknown:
		rec.Fail(bench.FailEmpty, fmt.Sprintf("HTTP %d with an empty body", rec.Status))
	case rec.Malformed > 0 && len(rec.Chunks) == 0:
		rec.Fail(bench.FailMalformed, fmt.Sprintf("no event could be read (events: %d)", rec.Malformed))
	default:
		rec.Fail(bench.FailTruncated, fmt.Sprintf("the stream ended without a finish reason, a usage chunk or [DONE] (chunks before: %d)", len(rec.Chunks)))
	}
}

// broken names the cause that ended the reply before its end.
func (d *decoder) broken(cause error) {
	kind, message := Classify(cause)
	if d.rec.Status != 0 && (errors.Is(cause, io.EOF) || errors.Is(cause, io.ErrUnexpectedEOF)) {
		kind, message = bench.FailTruncated, fmt.Sprintf("the server closed the connection in mid-reply (chunks before: %d)", len(d.rec.Chunks))
	}
	d.rec.Fail(kind, message)
}

// retryAfter is when a refused client may ask again, in the server's words or, where those are a date, in seconds after its own
// clock's Date (RFC 9110, 10.2.3); "" where it says nothing.
func retryAfter(h http.Header) string {
	v := strings.TrimSpace(h.Get("Retry-After"))
	if _, err := strconv.ParseUint(v, 10, 32); err == nil {
		return v + " s"
	}
	at, err := http.ParseTime(v)
	now, clockless := http.ParseTime(h.Get("Date"))
	if err == nil && clockless == nil && at.After(now) {
		return fmt.Sprintf("%.0f s", at.Sub(now).Seconds())
	}
	return v
}

// refusal returns the server's words about a status other than 2xx with its Retry-After, and for a 404 what was asked.
func (d *decoder) refusal() string {
	message := ""
	if d.encoding == "" {
		message = wordsOf(d.body)
	}
	if message == "" {
		message = http.StatusText(d.rec.Status)
	}
	if d.location != "" {
		message += fmt.Sprintf(" to %s; a load is not sent on to another address: benchmark that one", bound(d.location))
	}
	if d.retry != "" {
		message += fmt.Sprintf(" (Retry-After: %s)", bound(d.retry))
	}
	if d.rec.Status == http.StatusNotFound {
		message = bound(message) + " (asked: POST " + d.o.url + ")"
	}
	return message
}

// other tells what came where a reply should be.
func (d *decoder) other() string {
	if d.encoding != "" {
		return fmt.Sprintf("the reply is compressed (Content-Encoding: %s) although identity was asked for; a proxy in between "+
			"compresses, which makes times of tokens meaningless: ask the server directly", d.encoding)
	}
	return "not a reply of a model but text: " + wordsOf(d.body)
}
