package endpoint

import (
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// appendDecoded appends what the inside of a JSON string means, as encoding/json decodes it: escapes resolved, what is
// not UTF-8 or half a surrogate pair replaced by U+FFFD.
func appendDecoded(dst, raw []byte) []byte {
	for i := 0; i < len(raw); {
		c := raw[i]
		switch {
		case c == '\\':
			n := 2
			if raw[i+1] != 'u' {
				dst = append(dst, plainEscape(raw[i+1]))
			} else {
				n = 6
				r := hex4(raw[i+2:])
				if utf16.IsSurrogate(r) {
					pair := unicode.ReplacementChar
					if rest := raw[i+6:]; len(rest) >= 6 && rest[0] == '\\' && rest[1] == 'u' {
						pair = utf16.DecodeRune(r, hex4(rest[2:]))
					}
					if r = pair; r != unicode.ReplacementChar {
						n = 12
					}
				}
				dst = utf8.AppendRune(dst, r)
			}
			i += n
		case c < utf8.RuneSelf:
			dst = append(dst, c)
			i++
		default:
			r, n := utf8.DecodeRune(raw[i:])
			dst = utf8.AppendRune(dst, r)
			i += n
		}
	}
	return dst
}

// hex4 returns the value of the first four hexadecimal digits of b.
func hex4(b []byte) (r rune) {
	for _, c := range b[:4] {
		v, _ := hexDigit(c)
		r = r<<4 | v
	}
	return r
}

// plainEscape returns the byte that a two-byte escape stands for.
func plainEscape(c byte) byte {
	switch c {
	case 'b':
		return '\b'
	case 'f':
		return '\f'
	case 'n':
		return '\n'
	case 'r':
		return '\r'
	case 't':
		return '\t'
	}
	return c
}
