package tokenizer

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/servemark/servemark/tokenizer/internal/unidata"
)

// normText is a text while it is normalised. zero is the number of bytes at its start that stem from the first
// character of the whole input: Metaspace's scheme "first" asks for it.
type normText struct {
	s    string
	zero int
	err  error // the first failure; the text is then of no use
}

// normalizer rewrites a text before it is cut into pieces.
type normalizer interface {
	normalize(t normText) normText
}

// newNormalizer builds the normalizer that a tokenizer.json describes; nil for none.
func newNormalizer(raw json.RawMessage) (normalizer, error) {
	c, err := readComponent(raw, "normalizer")
	if err != nil || c == nil {
		return nil, err
	}
	switch c.Type {
	case "Sequence":
		return newNormSequence(c)
	case "NFC":
		return normForm{unidata.NFC}, nil
	case "NFD":
		return normForm{unidata.NFD}, nil
	case "NFKC":
		return normForm{unidata.NFKC}, nil
	case "NFKD":
		return normForm{unidata.NFKD}, nil
	case "Lowercase":
		return normChars{lowerChar}, nil
	case "Nmt":
		return normChars{nmtChar}, nil
	case "StripAccents":
		return normChars{dropFlagged(unidata.StripAccents)}, nil
	case "ByteLevel":
		return normByteLevel{}, nil
	case "Strip":
		if c.StripLeft == nil || c.StripRight == nil {
			return nil, c.missing("strip_left, strip_right")
		}
		return normStrip{*c.StripLeft, *c.StripRight}, nil
	case "Prepend":
		return normPrepend{c.Prepend}, nil
	case "Replace":
		return newNormReplace(c)
	case "BertNormalizer", "Bert":
		return newBertNormalizer(c)
	case "Precompiled":
		return newPrecompiled(c)
	}
	return nil, c.unknown()
}

type normSequence []normalizer

func newNormSequence(c *component) (normalizer, error) {
	var seq normSequence
	for _, raw := range c.Normalizers {
		n, err := newNormalizer(raw)
		if err != nil {
			return nil, err
		}
		if n != nil {
			seq = append(seq, n)
		}
	}
	switch len(seq) {
	case 0:
		return nil, nil
	case 1:
		return seq[0], nil
	}
	return seq, nil
}

func (q normSequence) normalize(t normText) normText {
	for _, n := range q {
		if t = n.normalize(t); t.err != nil {
			break
		}
	}
	return t
}

// firstZero is zero for a text whose first character stands where the first of t stood.
func firstZero(t normText, s string) int {
	if t.zero == 0 || s == "" {
		return 0
	}
	_, size := utf8.DecodeRuneInString(s)
	return size
}

// zeroOf is zero after a normalizer that treats the beginning of a text as it would treat it alone.
func zeroOf(t normText, n normalizer) int {
	if t.zero == 0 {
		return 0
	}
	return len(n.normalize(normText{s: t.s[:t.zero]}).s)
}

type normForm struct{ form unidata.Form }

func (n normForm) normalize(t normText) normText {
	if n.form.Normal(t.s) {
		return t
	}
	s := stringOf(n.form.Append(make([]byte, 0, len(t.s)+len(t.s)/8), t.s))
	return normText{s: s, zero: min(zeroOf(t, n), len(s))}
}

// normChars rewrites character by character.
type normChars struct {
	char func(dst []byte, r rune) []byte
}

func (n normChars) normalize(t normText) normText {
	out := make([]byte, 0, len(t.s)+len(t.s)/8)
	zero := 0
	for i, r := range t.s {
		out = n.char(out, r)
		if i < t.zero {
			zero = len(out)
		}
	}
	return normText{s: stringOf(out), zero: zero}
}

func lowerChar(dst []byte, r rune) []byte {
	if r < utf8.RuneSelf {
		if 'A' <= r && r <= 'Z' {
			r += 'a' - 'A'
		}
		return append(dst, byte(r))
	}
	if l, ok := unidata.ToLower(r); ok {
		return append(dst, l...)
	}
	return utf8.AppendRune(dst, r)
}

// nmtChar does what SentencePiece's nmt rules do to control characters and odd white space.
func nmtChar(dst []byte, r rune) []byte {
	switch {
	case 1 <= r && r <= 8, r == 0xB, 0xE <= r && r <= 0x1F, r == 0x7F, r == 0x8F, r == 0x9F:
		return dst
	case r == '\t', r == '\n', r == 0xC, r == '\r', r == 0x1680, 0x200B <= r && r <= 0x200F,
		r == 0x2028, r == 0x2029, r == 0x2581, r == 0xFEFF, r == 0xFFFD:
		return append(dst, ' ')
	}
	return utf8.AppendRune(dst, r)
}

func dropFlagged(f unidata.Flags) func([]byte, rune) []byte {
	return func(dst []byte, r rune) []byte {
		if unidata.Of(r)&f != 0 {
			return dst
		}
		return utf8.AppendRune(dst, r)
	}
}

type normByteLevel struct{}

func (normByteLevel) normalize(t normText) normText {
	s := stringOf(appendByteChars(make([]byte, 0, len(t.s)*2), t.s))
	zero := 0
	if t.zero > 0 {
		zero = len(appendByteChars(nil, t.s[:min(t.zero, len(t.s))]))
	}
	return normText{s: s, zero: zero}
}

type normStrip struct{ left, right bool }

func (n normStrip) normalize(t normText) normText {
	s := t.s
	if n.left {
		s = strings.TrimLeftFunc(s, isSpace)
	}
	zero := max(0, t.zero-(len(t.s)-len(s)))
	if n.right {
		s = strings.TrimRightFunc(s, isSpace)
	}
	return normText{s: s, zero: min(zero, len(s))}
}

func isSpace(r rune) bool { return unidata.Of(r)&unidata.Space != 0 }

type normPrepend struct{ text string }

func (n normPrepend) normalize(t normText) normText {
	if t.s == "" {
		return t
	}
	zero := t.zero
	if zero > 0 {
		zero += len(n.text)
	}
	return normText{s: n.text + t.s, zero: zero}
}

// normReplace replaces each match of a pattern.
type normReplace struct {
	find    matcher
	literal string // set for a plain string
	content string
}

func newNormReplace(c *component) (normalizer, error) {
	m, err := c.matcher()
	if err != nil {
		return nil, err
	}
	if c.Content == nil {
		return nil, c.missing("content")
	}
	return normReplace{m, c.Pattern.String, *c.Content}, nil
}

func (n normReplace) normalize(t normText) normText {
	if n.literal != "" && (t.zero == 0 || utf8.RuneCountInString(n.literal) == 1) {
		if !strings.Contains(t.s, n.literal) {
			return t
		}
		if n.grown(t.s) > maxNormalized {
			return normText{s: t.s, zero: t.zero, err: errGrown}
		}
		zero := len(strings.ReplaceAll(t.s[:t.zero], n.literal, n.content))
		return normText{s: strings.ReplaceAll(t.s, n.literal, n.content), zero: zero}
	}
	s, zero, err := replaceAll(n.find, t, n.content)
	if err != nil {
		return normText{s: t.s, zero: t.zero, err: err}
	}
	return normText{s: s, zero: zero}
}

// maxNormalized bounds what a text may grow to, in bytes: a tokenizer file is data from strangers, and four replacements of one
// letter by a thousand make a terabyte of one word.
const maxNormalized = 1 << 30

var errGrown = errors.New("replace: the normalizer makes more than 1 GiB of this text; the tokenizer file is broken or hostile")

// grown is the length of s after the replacement of a literal.
func (n normReplace) grown(s string) int {
	count, step := strings.Count(s, n.literal), len(n.content)-len(n.literal)
	if step > 0 && count > maxNormalized/step {
		return maxNormalized + 1
	}
	return len(s) + count*step
}

// replaceAll puts content in the place of each match. What is put there stems from the last byte it replaces.
func replaceAll(m matcher, t normText, content string) (string, int, error) {
	var out strings.Builder
	last, zero, counting := 0, 0, t.zero > 0
	keep := func(from, to int) {
		out.WriteString(t.s[from:to])
		if counting {
			zero += max(0, min(to, t.zero)-from)
			counting = to <= t.zero
		}
	}
	err := m.matches(t.s, func(from, to int) {
		if out.Len()+len(content) > maxNormalized {
			return // told below
		}
		keep(last, from)
		out.WriteString(content)
		if counting = counting && (to == 0 || to-1 < t.zero); counting {
			zero += len(content)
		}
		last = to
	})
	if err != nil {
		return "", 0, fmt.Errorf("replace: %w", err)
	}
	if out.Len()+len(content)+len(t.s)-last > maxNormalized {
		return "", 0, errGrown
	}
	keep(last, len(t.s))
	return out.String(), zero, nil
}
