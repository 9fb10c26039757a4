package tokenizer

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/servemark/servemark/tokenizer/internal/unidata"
)

// piece is a part of the text between two cuts. zero is as in normText.
type piece struct {
	s    string
	zero int
}

// preTokenizer cuts a piece into smaller ones, and may rewrite them. Empty pieces are dropped by the caller.
type preTokenizer interface {
	split(dst []piece, p piece) ([]piece, error)
}

// newPreTokenizers builds the list of steps that a tokenizer.json describes, sequences flattened.
func newPreTokenizers(raw json.RawMessage) ([]preTokenizer, error) {
	c, err := readComponent(raw, "pre-tokenizer")
	if err != nil || c == nil {
		return nil, err
	}
	if c.Type != "Sequence" {
		p, err := newPreTokenizer(c)
		return []preTokenizer{p}, err
	}
	var all []preTokenizer
	for _, r := range c.Pretokenizers {
		ps, err := newPreTokenizers(r)
		if err != nil {
			return nil, err
		}
		all = append(all, ps...)
	}
	return all, nil
}

func newPreTokenizer(c *component) (preTokenizer, error) {
	switch c.Type {
	case "ByteLevel":
		return preByteLevel{c.AddPrefixSpace != nil && *c.AddPrefixSpace, c.UseRegex == nil || *c.UseRegex}, nil
	case "Split":
		return newPreSplit(c)
	case "Metaspace":
		return newMetaspace(c)
	case "Digits":
		return digitCut{c.Individual}, nil
	case "WhitespaceSplit":
		return cutAt{flagged(unidata.Space), removed}, nil
	case "Whitespace":
		return wordsAndSigns{}, nil
	case "Punctuation":
		b := isolated
		if c.Behavior != "" {
			var err error
			if b, err = behaviorNamed(c); err != nil {
				return nil, err
			}
		}
		return cutAt{flagged(unidata.Punctuation), b}, nil
	case "BertPreTokenizer":
		return bertSplit{}, nil
	case "CharDelimiterSplit":
		d, size := utf8.DecodeRuneInString(c.Delimiter)
		if size != len(c.Delimiter) || size == 0 {
			return nil, c.missing("a delimiter of one character")
		}
		return cutAt{func(r rune) bool { return r == d }, removed}, nil
	case "FixedLength":
		n := 5
		if c.Length != nil {
			n = *c.Length
		}
		if n < 1 {
			return nil, c.missing("a length above 0")
		}
		return fixedLength(n), nil
	case "UnicodeScripts":
		return scriptSplit{}, nil
	}
	return nil, c.unknown()
}

func flagged(f unidata.Flags) func(rune) bool {
	return func(r rune) bool { return unidata.Of(r)&f != 0 }
}

// preSplit cuts at a pattern.
type preSplit struct {
	find   matcher
	b      behavior
	invert bool
	regex  string // "" for a plain string
}

func newPreSplit(c *component) (preTokenizer, error) {
	b, err := behaviorNamed(c)
	if err != nil {
		return nil, err
	}
	s := preSplit{b: b, invert: c.Invert}
	if c.Pattern != nil && c.Pattern.Regex != nil {
		s.regex = *c.Pattern.Regex
		if scan := knownPart(s.regex); scan != nil && b == isolated {
			return scanCut{scan}, nil
		}
	}
	s.find, err = c.matcher()
	return s, err
}

// scanCut cuts where a scanner says.
type scanCut struct{ scanner }

func (x scanCut) split(dst []piece, p piece) ([]piece, error) {
	for pos := 0; pos < len(p.s); {
		end := x.next(p.s, pos)
		dst = append(dst, p.part(pos, end))
		pos = end
	}
	return dst, nil
}

func (x preSplit) split(dst []piece, p piece) ([]piece, error) {
	spans, err := spansOf(x.find, p.s, x.invert)
	if err != nil {
		return dst, err
	}
	return x.b.cut(dst, p, spans), nil
}

// cutAt cuts at each character of a class.
type cutAt struct {
	is func(rune) bool
	b  behavior
}

func (x cutAt) split(dst []piece, p piece) ([]piece, error) {
	var spans []span
	last := 0
	for i, r := range p.s {
		if !x.is(r) {
			continue
		}
		if last < i {
			spans = append(spans, span{last, i, false})
		}
		last = i + utf8.RuneLen(r)
		spans = append(spans, span{i, last, true})
	}
	if last < len(p.s) {
		spans = append(spans, span{last, len(p.s), false})
	}
	return x.b.cut(dst, p, spans), nil
}

// preByteLevel spells bytes as characters, after cutting as GPT-2 does if words is set.
type preByteLevel struct{ prefixSpace, words bool }

func (x preByteLevel) split(dst []piece, p piece) ([]piece, error) {
	if x.prefixSpace && !strings.HasPrefix(p.s, " ") {
		p.s = " " + p.s
		if p.zero > 0 {
			p.zero++
		}
	}
	for pos := 0; pos < len(p.s); {
		end := len(p.s)
		if x.words {
			end = gpt2Scan{}.next(p.s, pos)
		}
		chars := appendByteChars(make([]byte, 0, 2*(end-pos)), p.s[pos:end])
		zero := 0
		if p.zero > pos {
			zero = len(appendByteChars(nil, p.s[pos:min(end, p.zero)]))
		}
		dst = append(dst, piece{stringOf(chars), zero})
		pos = end
	}
	return dst, nil
}

// metaspace writes spaces as a visible character and cuts before it.
type metaspace struct {
	mark   string
	scheme string // always, first or never
	cut    bool
}

func newMetaspace(c *component) (preTokenizer, error) {
	m, err := metaspaceOf(c)
	return m, err
}

func metaspaceOf(c *component) (metaspace, error) {
	m := metaspace{mark: c.Replacement, scheme: "always", cut: c.Split == nil || *c.Split}
	if c.PrependScheme != nil {
		m.scheme = *c.PrependScheme
	}
	if utf8.RuneCountInString(m.mark) != 1 {
		return m, c.missing("a replacement of one character")
	}
	if m.scheme != "always" && m.scheme != "first" && m.scheme != "never" {
		return m, fmt.Errorf("%s Metaspace: prepend_scheme %q is not known", c.role, m.scheme)
	}
	if c.AddPrefixSpace != nil && !*c.AddPrefixSpace {
		if c.PrependScheme == nil || m.scheme != "never" {
			return m, fmt.Errorf("%s Metaspace: add_prefix_space false contradicts prepend_scheme %s", c.role, m.scheme)
		}
	}
	return m, nil
}

func (x metaspace) split(dst []piece, p piece) ([]piece, error) {
	s := strings.ReplaceAll(p.s, " ", x.mark)
	zero := len(strings.ReplaceAll(p.s[:p.zero], " ", x.mark))
	if !strings.HasPrefix(s, x.mark) && (x.scheme == "always" || x.scheme == "first" && zero > 0) {
		s = x.mark + s
		if zero > 0 {
			zero += len(x.mark)
		}
	}
	whole := piece{s, zero}
	if !x.cut {
		return append(dst, whole), nil
	}
	for pos := 0; pos < len(s); {
		end := len(s)
		if i := strings.Index(s[pos+1:], x.mark); i >= 0 {
			end = pos + 1 + i
		}
		dst = append(dst, whole.part(pos, end))
		pos = end
	}
	return dst, nil
}

// wordsAndSigns keeps runs of word characters and runs of signs: \w+|[^\w\s]+.
type wordsAndSigns struct{}

func (wordsAndSigns) split(dst []piece, p piece) ([]piece, error) {
	const none, word, sign = 0, 1, 2
	last, from := none, 0
	for i, r := range p.s {
		f := unidata.Of(r)
		kind := sign
		if f&unidata.Word != 0 {
			kind = word
		} else if f&unidata.Space != 0 {
			kind = none
		}
		if kind != last {
			if last != none {
				dst = append(dst, p.part(from, i))
			}
			last, from = kind, i
		}
	}
	if last != none {
		dst = append(dst, p.part(from, len(p.s)))
	}
	return dst, nil
}

// bertSplit cuts at white space, which goes, and at punctuation, which stays.
type bertSplit struct{}

func (bertSplit) split(dst []piece, p piece) ([]piece, error) {
	from := 0
	for i, r := range p.s {
		f := unidata.Of(r)
		if f&(unidata.Space|unidata.Punctuation) == 0 {
			continue
		}
		if from < i {
			dst = append(dst, p.part(from, i))
		}
		end := i + utf8.RuneLen(r)
		if f&unidata.Space == 0 {
			dst = append(dst, p.part(i, end))
		}
		from = end
	}
	if from < len(p.s) {
		dst = append(dst, p.part(from, len(p.s)))
	}
	return dst, nil
}

// fixedLength cuts every so many characters.
type fixedLength int

func (n fixedLength) split(dst []piece, p piece) ([]piece, error) {
	from, count := 0, 0
	for i := range p.s {
		if count == int(n) {
			dst = append(dst, p.part(from, i))
			from, count = i, 0
		}
		count++
	}
	if from < len(p.s) {
		dst = append(dst, p.part(from, len(p.s)))
	}
	return dst, nil
}

// scriptSplit cuts where the script changes. Characters without a script join what is before them; at the very
// beginning they are lost, as they are in the reference library.
type scriptSplit struct{}

func (scriptSplit) split(dst []piece, p piece) ([]piece, error) {
	last, from := uint8(0), -1
	for i, r := range p.s {
		g := unidata.ScriptGroup(r)
		if g == 0 {
			continue
		}
		if g != last {
			if from >= 0 {
				dst = append(dst, p.part(from, i))
			}
			from = i
		}
		last = g
	}
	if from >= 0 {
		dst = append(dst, p.part(from, len(p.s)))
	}
	return dst, nil
}
