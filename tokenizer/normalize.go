package tokenizer

import (
	"encoding/json"
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
		t = n.normalize(t)
	}
	return t
}

// firstZero is zero for a text whose first character replaced what was there.
func firstZero(t normText, s string) int {
	if t.zero == 0 || s == "" {
		return 0
	}
	_, size := utf8.DecodeRuneInString(s)
	return size
}

type normForm struct{ form unidata.Form }

func (n normForm) normalize(t normText) normText {
	if n.form.Normal(t.s) {
		return t
	}
	s := stringOf(n.form.Append(make([]byte, 0, len(t.s)+len(t.s)/8), t.s))
	return normText{s, firstZero(t, s)}
}

// normChars rewrites character by character.
type normChars struct {
	char func(dst []byte, r rune) []byte
}

func (n normChars) normalize(t normText) normText {
	out := make([]byte, 0, len(t.s)+len(t.s)/8)
	zero, first := 0, true
	for _, r := range t.s {
		out = n.char(out, r)
		if first && t.zero > 0 {
			zero = len(out)
		}
		first = false
	}
	return normText{stringOf(out), zero}
}

func lowerChar(dst []byte, r rune) []byte {
	if r < utf8.RuneSelf {
		if 'A' <= r && r <= 'Z' {
			r += 'a' - 'A'
		}
		return append(dst, byte(r))
	}
	if l, ok := unidata.Lower(r); ok {
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
	return normText{s, zero}
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
	return normText{s, min(zero, len(s))}
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
	return normText{n.text + t.s, zero}
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
	if n.literal != "" {
		if !strings.Contains(t.s, n.literal) {
			return t
		}
		zero := t.zero
		if strings.HasPrefix(t.s, n.literal) && zero > 0 {
			zero = len(n.content)
		}
		return normText{strings.ReplaceAll(t.s, n.literal, n.content), zero}
	}
	s, err := replaceAll(n.find, t.s, n.content)
	if err != nil || s == t.s {
		return t
	}
	return normText{s, firstZero(t, s)}
}

// replaceAll puts content in the place of each match.
func replaceAll(m matcher, s, content string) (string, error) {
	var out strings.Builder
	last := 0
	err := m.matches(s, func(from, to int) {
		out.WriteString(s[last:from])
		out.WriteString(content)
		last = to
	})
	if err != nil {
		return "", fmt.Errorf("replace: %w", err)
	}
	if last == 0 && out.Len() == 0 {
		return s, nil
	}
	out.WriteString(s[last:])
	return out.String(), nil
}
