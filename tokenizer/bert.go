package tokenizer

import (
	"strings"
	"unicode/utf8"

	"github.com/servemark/servemark/tokenizer/internal/unidata"
)

// bertNormalizer cleans a text as BERT does: control characters go, white space becomes a space, Han characters get
// spaces around them, accents and capitals go.
type bertNormalizer struct {
	clean, chinese, accents, lower bool
}

func newBertNormalizer(c *component) (normalizer, error) {
	if c.CleanText == nil || c.ChineseChars == nil || c.Lowercase == nil {
		return nil, c.missing("clean_text, handle_chinese_chars, lowercase")
	}
	n := bertNormalizer{clean: *c.CleanText, chinese: *c.ChineseChars, lower: *c.Lowercase, accents: *c.Lowercase}
	if c.StripAccents != nil {
		n.accents = *c.StripAccents
	}
	return n, nil
}

func (n bertNormalizer) normalize(t normText) normText {
	b := make([]byte, 0, len(t.s)+len(t.s)/8)
	for _, r := range t.s {
		b = n.char(b, r)
	}
	s := stringOf(b)
	if n.accents {
		if !unidata.NFD.Normal(s) {
			s = stringOf(unidata.NFD.Append(nil, s))
		}
		if !ascii(s) {
			s = normChars{dropFlagged(unidata.Nonspacing)}.normalize(normText{s: s}).s
		}
	}
	if n.lower {
		if ascii(s) {
			s = strings.ToLower(s)
		} else {
			s = normChars{lowerChar}.normalize(normText{s: s}).s
		}
	}
	return normText{s: s, zero: min(zeroOf(t, n), len(s))}
}

func ascii(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

func (n bertNormalizer) char(dst []byte, r rune) []byte {
	if n.clean {
		if r > ' ' && r < 0x7f {
			return append(dst, byte(r))
		}
		if r == '\t' || r == '\n' || r == '\r' {
			return append(dst, ' ')
		}
		f := unidata.Of(r)
		switch {
		case r == 0, r == utf8.RuneError, f&unidata.Control != 0:
			return dst
		case f&unidata.Space != 0:
			return append(dst, ' ')
		}
	}
	if n.chinese && chinese(r) {
		dst = append(dst, ' ')
		dst = utf8.AppendRune(dst, r)
		return append(dst, ' ')
	}
	return utf8.AppendRune(dst, r)
}

// chinese lists the blocks that the reference library surrounds with spaces; it leaves a gap before U+2B920.
func chinese(r rune) bool {
	switch {
	case r < 0x3400:
		return false
	case 0x4E00 <= r && r <= 0x9FFF, r <= 0x4DBF, 0xF900 <= r && r <= 0xFAFF,
		0x20000 <= r && r <= 0x2A6DF, 0x2A700 <= r && r <= 0x2B73F, 0x2B740 <= r && r <= 0x2B81F,
		0x2B920 <= r && r <= 0x2CEAF, 0x2F800 <= r && r <= 0x2FA1F:
		return true
	}
	return false
}
