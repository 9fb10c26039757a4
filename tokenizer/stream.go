package tokenizer

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// StreamDecoder decodes ids as they arrive. The texts it gives, joined, are the text that Decode gives for all ids;
// bytes that may still become a character are held back. Only where a byte-fallback model writes a run of bytes that
// breaks may they differ: Decode turns the whole run into U+FFFD, and its first characters have been given by then. A decoder that rewrites across tokens gives its whole text at the end. It is
// not safe for concurrent use.
type StreamDecoder struct {
	t       *Tokenizer
	skip    bool
	pending []byte   // byte-level: bytes held back
	ids     []uint32 // others: a window of ids; the text of the first done of them is shown
	done    int
	shown   string
}

// mostHeld bounds the ids that are held back waiting for a character to become whole.
const mostHeld = 32

// NewDecoder returns a decoder for one stream. skipSpecial is as in Decode.
func (t *Tokenizer) NewDecoder(skipSpecial bool) *StreamDecoder {
	return &StreamDecoder{t: t, skip: skipSpecial}
}

// Add takes the next ids and returns the text that they complete, which may be empty.
func (d *StreamDecoder) Add(ids ...uint32) (string, error) {
	if _, ok := d.t.dec.(decByteLevel); ok {
		d.pending = d.t.appendBytes(d.pending, ids, d.skip)
		n := len(d.pending) - partialTail(d.pending)
		return d.take(n), nil
	}
	if d.t.dec == nil {
		return d.addPlain(ids)
	}
	if !d.t.steady {
		d.ids = append(d.ids, ids...)
		return "", nil
	}
	var out strings.Builder
	for _, id := range ids {
		s, err := d.step(id)
		if err != nil {
			return out.String(), err
		}
		out.WriteString(s)
	}
	return out.String(), nil
}

// addPlain joins tokens with spaces, for a tokenizer without a decoder. done counts the tokens shown.
func (d *StreamDecoder) addPlain(ids []uint32) (string, error) {
	var out strings.Builder
	for _, id := range ids {
		s, ok := d.t.Token(id)
		if !ok || d.skip && d.t.added.special[s] {
			continue
		}
		if d.done > 0 {
			out.WriteByte(' ')
		}
		out.WriteString(s)
		d.done++
	}
	return out.String(), nil
}

// Flush returns what is held back at the end of the stream.
func (d *StreamDecoder) Flush() (string, error) {
	if _, ok := d.t.dec.(decByteLevel); ok || d.t.dec == nil {
		return d.take(len(d.pending)), nil
	}
	if d.done == len(d.ids) {
		return "", nil
	}
	text, err := d.t.Decode(d.ids, d.skip)
	if err != nil {
		return "", fmt.Errorf("flush: %w", err)
	}
	return d.show(text)
}

// take shows the first n pending bytes.
func (d *StreamDecoder) take(n int) string {
	s := string(appendValid(nil, d.pending[:n]))
	d.pending = append(d.pending[:0], d.pending[n:]...)
	return s
}

// step decodes the window with one more id and shows what is new in it.
func (d *StreamDecoder) step(id uint32) (string, error) {
	d.ids = append(d.ids, id)
	text, err := d.t.Decode(d.ids, d.skip)
	if err != nil {
		return "", err
	}
	held := len(d.ids) - d.done
	if held < mostHeld && (strings.HasSuffix(text, "\uFFFD") || !strings.HasPrefix(text, d.shown)) {
		return "", nil
	}
	if text == d.shown && held < mostHeld {
		return "", nil
	}
	return d.show(text)
}

// show returns the part of the window's text that was not shown and moves the window on. The last ids shown stay in
// it, because decoders treat the first token of a text in another way.
func (d *StreamDecoder) show(text string) (string, error) {
	fresh, ok := strings.CutPrefix(text, d.shown)
	var err error
	if !ok {
		if fresh, err = d.t.Decode(d.ids[d.done:], d.skip); err != nil {
			return "", err
		}
	}
	tail, err := d.t.Decode(d.ids[d.done:], d.skip)
	if err != nil || tail == "" { // a first token that shows nothing would make the next one the first
		d.done, d.shown = len(d.ids), text
		return fresh, err
	}
	d.ids = append(d.ids[:0], d.ids[d.done:]...)
	d.done, d.shown = len(d.ids), tail
	return fresh, nil
}

// steady reports whether a decoder's text for some tokens is how its text for more of them begins, and depends on the
// first tokens no further than their own text, so that a window suffices. t has the tokens it may meet.
func steady(d decodeStep, t *Tokenizer) bool {
	seq, ok := d.(decSequence)
	if !ok {
		seq = decSequence{d}
	}
	fused := false
	for i, step := range seq {
		switch x := step.(type) {
		case nil:
		case decFuse:
			fused = true
		case decByteFallback:
			if fused {
				return false
			}
		case decReplace:
			lit, ok := x.find.(literalMatcher)
			if fused && (!ok || utf8.RuneCountInString(string(lit)) != 1) {
				return false
			}
		case decStrip:
			if x.stop > 0 {
				return false
			}
		case decMetaspace, decWordPiece:
			if i > 0 || len(seq) > 1 {
				return false
			}
		case decBPE:
			if i > 0 || len(seq) > 1 || !endsOnly(t, x.suffix) {
				return false
			}
		default:
			return false
		}
	}
	return true
}

// endsOnly reports whether a text stands in tokens at the end only.
func endsOnly(t *Tokenizer, suffix string) bool {
	if suffix == "" {
		return false
	}
	inside := func(text string) bool { return strings.Contains(strings.TrimSuffix(text, suffix), suffix) }
	for _, a := range t.added.byID {
		if inside(a.normal) {
			return false
		}
	}
	v := t.model.vocabulary()
	for i := range v.entries {
		if inside(stringOf(v.entryText(i))) {
			return false
		}
	}
	return true
}
