package tokenizer

import "unicode/utf8"

// Byte-level models write each byte as one printable character: printable Latin-1 bytes stand for themselves, the
// other 68 are U+0100 and up, in order.

// byteChar returns the character that stands for b.
func byteChar(b byte) rune {
	switch {
	case '!' <= b && b <= '~' || 0xA1 <= b && b <= 0xAC || b >= 0xAE:
		return rune(b)
	case b <= ' ':
		return 0x100 + rune(b)
	case b <= 0xA0: // 0x7F … 0xA0 follow the 33 of 0x00 … 0x20
		return 0x121 + rune(b-0x7F)
	default: // 0xAD
		return 0x143
	}
}

// charByte is the reverse of byteChar.
func charByte(r rune) (byte, bool) {
	switch {
	case '!' <= r && r <= '~' || 0xA1 <= r && r <= 0xAC || 0xAE <= r && r <= 0xFF:
		return byte(r), true
	case 0x100 <= r && r <= 0x120:
		return byte(r - 0x100), true
	case 0x121 <= r && r <= 0x142:
		return byte(r - 0x121 + 0x7F), true
	case r == 0x143:
		return 0xAD, true
	}
	return 0, false
}

// appendByteChars appends the byte-level spelling of s.
func appendByteChars(dst []byte, s string) []byte {
	for i := range len(s) {
		dst = utf8.AppendRune(dst, byteChar(s[i]))
	}
	return dst
}

// appendCharBytes appends the bytes that a byte-level token stands for. A token with any other character, such as an
// added token, stands for its own text.
func appendCharBytes(dst []byte, token []byte) []byte {
	if out, ok := appendRawBytes(dst, token); ok {
		return out
	}
	return append(dst, token...)
}

// appendRawBytes appends the bytes that a byte-level token stands for, and reports whether it is one.
func appendRawBytes(dst []byte, token []byte) ([]byte, bool) {
	for i := 0; i < len(token); {
		r, size := rune(token[i]), 1
		if r >= utf8.RuneSelf {
			r, size = utf8.DecodeRune(token[i:])
		}
		b, ok := charByte(r)
		if !ok {
			return dst, false
		}
		dst = append(dst, b)
		i += size
	}
	return dst, true
}

// appendValid appends b as valid UTF-8: each longest beginning of a character that does not go on, and each byte
// that cannot stand anywhere, becomes one U+FFFD. This is how the reference library, Python and the WHATWG do it.
func appendValid(dst []byte, b []byte) []byte {
	for len(b) > 0 {
		n := validPrefix(b)
		dst = append(dst, b[:n]...)
		b = b[n:]
		if len(b) == 0 {
			break
		}
		dst = append(dst, "\uFFFD"...)
		b = b[brokenLen(b):]
	}
	return dst
}

func validPrefix(b []byte) int {
	i := 0
	for i < len(b) {
		if b[i] < utf8.RuneSelf {
			i++
			continue
		}
		r, size := utf8.DecodeRune(b[i:])
		if r == utf8.RuneError && size == 1 {
			break
		}
		i += size
	}
	return i
}

// brokenLen is the length of the broken sequence at the start of b that counts as one replacement.
func brokenLen(b []byte) int {
	need, lo, hi := sequence(b[0])
	n := 1
	for n < need && n < len(b) && lo <= b[n] && b[n] <= hi {
		n++
		lo, hi = 0x80, 0xBF
	}
	return n
}

// sequence returns the length of the character that begins with c and the bounds of its second byte; 1 if c begins none.
func sequence(c byte) (need int, lo, hi byte) {
	switch {
	case 0xC2 <= c && c <= 0xDF:
		return 2, 0x80, 0xBF
	case c == 0xE0:
		return 3, 0xA0, 0xBF
	case c == 0xED:
		return 3, 0x80, 0x9F
	case 0xE1 <= c && c <= 0xEF:
		return 3, 0x80, 0xBF
	case c == 0xF0:
		return 4, 0x90, 0xBF
	case c == 0xF4:
		return 4, 0x80, 0x8F
	case 0xF1 <= c && c <= 0xF3:
		return 4, 0x80, 0xBF
	}
	return 1, 0, 0
}

// partialTail is the number of bytes at the end of b that begin a character which further bytes could complete.
func partialTail(b []byte) int {
	for n := 1; n <= 3 && n <= len(b); n++ {
		c := b[len(b)-n]
		if c&0xC0 == 0x80 {
			continue
		}
		need, _, _ := sequence(c)
		if need > n && brokenLen(b[len(b)-n:]) == n {
			return n
		}
		return 0
	}
	return 0
}
