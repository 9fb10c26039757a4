package tokenizer

import (
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf8"
)

// decodeStep turns token texts into other texts; the last step's texts are joined.
type decodeStep interface {
	decode(tokens []string) ([]string, error)
}

// newDecoder reads a decoder; nil joins tokens with spaces.
func newDecoder(raw json.RawMessage) (decodeStep, error) {
	c, err := readComponent(raw, "decoder")
	if err != nil || c == nil {
		return nil, err
	}
	switch c.Type {
	case "ByteLevel":
		return decByteLevel{}, nil
	case "ByteFallback":
		return decByteFallback{}, nil
	case "Fuse":
		return decFuse{}, nil
	case "Metaspace":
		m, err := metaspaceOf(c)
		return decMetaspace(m), err
	case "Replace":
		return newDecReplace(c)
	case "Strip":
		r, size := utf8.DecodeRuneInString(orEmpty(c.Content))
		if size == 0 || size != len(*c.Content) || c.Start < 0 || c.Stop < 0 {
			return nil, c.missing("content of one character, start and stop")
		}
		return decStrip{r, c.Start, c.Stop}, nil
	case "WordPiece":
		return decWordPiece{or(c.Prefix, "##"), c.Cleanup == nil || *c.Cleanup}, nil
	case "BPEDecoder":
		return decBPE{or(c.Suffix, "</w>")}, nil
	case "CTC":
		return decCTC{or(c.PadToken, "<pad>"), or(c.WordDelimiter, "|"), c.Cleanup == nil || *c.Cleanup}, nil
	case "Sequence":
		var seq decSequence
		for _, r := range c.Decoders {
			d, err := newDecoder(r)
			if err != nil {
				return nil, err
			}
			seq = append(seq, d)
		}
		return seq, nil
	}
	return nil, c.unknown()
}

func or(s *string, otherwise string) string {
	if s == nil {
		return otherwise
	}
	return *s
}

type decSequence []decodeStep

func (q decSequence) decode(tokens []string) ([]string, error) {
	var err error
	for _, d := range q {
		if d == nil {
			continue
		}
		if tokens, err = d.decode(tokens); err != nil {
			return nil, err
		}
	}
	return tokens, nil
}

type decByteLevel struct{}

func (decByteLevel) decode(tokens []string) ([]string, error) {
	var raw []byte
	for _, t := range tokens {
		raw = appendCharBytes(raw, bytesOf(t))
	}
	if utf8.Valid(raw) {
		return []string{stringOf(raw)}, nil
	}
	return []string{stringOf(appendValid(nil, raw))}, nil
}

// decByteFallback joins runs of byte tokens; a run that is not valid UTF-8 becomes one U+FFFD per byte.
type decByteFallback struct{}

func (decByteFallback) decode(tokens []string) ([]string, error) {
	out := make([]string, 0, len(tokens))
	var run []byte
	flush := func() {
		if len(run) == 0 {
			return
		}
		if utf8.Valid(run) {
			out = append(out, string(run))
		} else {
			for range run {
				out = append(out, "\uFFFD")
			}
		}
		run = run[:0]
	}
	for _, t := range tokens {
		if b, ok := fallbackByte(t); ok {
			run = append(run, b)
			continue
		}
		flush()
		out = append(out, t)
	}
	flush()
	return out, nil
}

func fallbackByte(t string) (byte, bool) {
	if len(t) != 6 || !strings.HasPrefix(t, "<0x") || t[5] != '>' {
		return 0, false
	}
	// A sign counts as a digit for the reference library's number parser.
	digits := t[3:5]
	if digits[0] == '+' {
		digits = digits[1:]
	}
	b, err := strconv.ParseUint(digits, 16, 8)
	return byte(b), err == nil
}

type decFuse struct{}

func (decFuse) decode(tokens []string) ([]string, error) {
	return []string{strings.Join(tokens, "")}, nil
}

type decMetaspace metaspace

func (m decMetaspace) decode(tokens []string) ([]string, error) {
	out := make([]string, len(tokens))
	for i, t := range tokens {
		space := " "
		if i == 0 && m.scheme != "never" {
			space = ""
		}
		out[i] = strings.ReplaceAll(t, m.mark, space)
	}
	return out, nil
}

type decReplace struct {
	find    matcher
	content string
}

func newDecReplace(c *component) (decodeStep, error) {
	m, err := c.matcher()
	if err != nil {
		return nil, err
	}
	if c.Content == nil {
		return nil, c.missing("content")
	}
	return decReplace{m, *c.Content}, nil
}

func (d decReplace) decode(tokens []string) ([]string, error) {
	out := make([]string, len(tokens))
	for i, t := range tokens {
		var err error
		if out[i], _, err = replaceAll(d.find, normText{s: t}, d.content); err != nil {
			return nil, err
		}
	}
	return out, nil
}

type decStrip struct {
	char        rune
	start, stop int
}

func (d decStrip) decode(tokens []string) ([]string, error) {
	out := make([]string, len(tokens))
	c := string(d.char)
	for i, t := range tokens {
		for range d.start {
			if !strings.HasPrefix(t, c) {
				break
			}
			t = t[len(c):]
		}
		for range d.stop {
			if !strings.HasSuffix(t, c) {
				break
			}
			t = t[:len(t)-len(c)]
		}
		out[i] = t
	}
	return out, nil
}

type decWordPiece struct {
	prefix  string
	cleanup bool
}

func (d decWordPiece) decode(tokens []string) ([]string, error) {
	out := make([]string, len(tokens))
	for i, t := range tokens {
		if i > 0 {
			if rest, ok := strings.CutPrefix(t, d.prefix); ok {
				t = rest
			} else {
				t = " " + t
			}
		}
		if d.cleanup {
			t = tidy(t)
		}
		out[i] = t
	}
	return out, nil
}

// tidy removes the spaces that splitting put before signs, one rule after the other.
func tidy(s string) string {
	for _, r := range [...][2]string{
		{" .", "."}, {" ?", "?"}, {" !", "!"}, {" ,", ","}, {" ' ", "'"}, {" n't", "n't"}, {" 'm", "'m"},
		{" do not", " don't"}, {" 's", "'s"}, {" 've", "'ve"}, {" 're", "'re"},
	} {
		s = strings.ReplaceAll(s, r[0], r[1])
	}
	return s
}

type decBPE struct{ suffix string }

func (d decBPE) decode(tokens []string) ([]string, error) {
	out := make([]string, len(tokens))
	for i, t := range tokens {
		space := " "
		if i == len(tokens)-1 {
			space = ""
		}
		out[i] = strings.ReplaceAll(t, d.suffix, space)
	}
	return out, nil
}

type decCTC struct {
	pad, delimiter string
	cleanup        bool
}

func (d decCTC) decode(tokens []string) ([]string, error) {
	var out []string
	for i, t := range tokens {
		if i > 0 && t == tokens[i-1] {
			continue
		}
		t = strings.ReplaceAll(t, d.pad, "")
		if d.cleanup {
			t = strings.ReplaceAll(tidy(t), d.delimiter, " ")
		}
		if t != "" {
			out = append(out, t)
		}
	}
	return out, nil
}
