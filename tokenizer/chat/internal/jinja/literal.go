package jinja

import (
	"math/big"
	"strconv"
	"strings"
	"unicode"
)

// digits tells how many bytes of s are digits of a base, with single underscores between them.
func digits(s string, base int) int {
	n := 0
	for n < len(s) {
		c := s[n]
		d := 99
		switch {
		case c >= '0' && c <= '9':
			d = int(c - '0')
		case c|0x20 >= 'a' && c|0x20 <= 'f':
			d = int(c|0x20-'a') + 10
		case c == '_' && n > 0 && s[n-1] != '_' && n+1 < len(s) && digits(s[n+1:n+2], base) == 1:
			d = 0
		}
		if d >= base {
			break
		}
		n++
	}
	return n
}

func (l *lexer) number(s string) (int, error) {
	if len(s) > 2 && s[0] == '0' {
		if base := map[byte]int{'x': 16, 'o': 8, 'b': 2}[s[1]|0x20]; base > 0 {
			if n := digits(s[2:], base); n > 0 {
				return 2 + n, l.integer(s[2:2+n], base)
			}
		}
	}
	n := digits(s, 10)
	float := false
	if n < len(s) && s[n] == '.' && !l.afterDot() {
		if m := digits(s[n+1:], 10); m > 0 {
			n += 1 + m
			float = true
		}
	}
	if n < len(s) && s[n]|0x20 == 'e' && !l.afterDot() {
		m := n + 1
		if m < len(s) && (s[m] == '+' || s[m] == '-') {
			m++
		}
		if d := digits(s[m:], 10); d > 0 {
			n = m + d
			float = true
		}
	}
	if !float {
		text := s[:n]
		if text[0] == '0' { // zeros only: 01 is two numbers
			n = len(text) - len(strings.TrimLeft(text, "0_"))
			text = text[:n]
		}
		return n, l.integer(text, 10)
	}
	f, _ := strconv.ParseFloat(strings.ReplaceAll(s[:n], "_", ""), 64) // out of range is inf, as in Python
	l.emit(token{kind: tokNumber, text: s[:n], num: f})
	return n, nil
}

// afterDot tells whether the number follows a dot: then it is an index, never a float.
func (l *lexer) afterDot() bool { return l.pos > 0 && l.src[l.pos-1] == '.' }

func (l *lexer) integer(text string, base int) error {
	if len(text) > maxDigits {
		return l.fail("an integer of %d digits", len(text))
	}
	b, ok := new(big.Int).SetString(strings.ReplaceAll(text, "_", ""), base)
	if !ok {
		return l.fail("%q is no integer", text)
	}
	l.emit(token{kind: tokNumber, text: text, num: normal(b)})
	return nil
}

// str reads a quoted string and undoes its escapes as Python's unicode-escape does.
func (l *lexer) str(s string) (int, error) {
	end := -1
	for i := 1; i < len(s); i++ {
		if s[i] == '\\' {
			i++
		} else if s[i] == s[0] {
			end = i
			break
		}
	}
	if end < 0 {
		return 0, l.fail("unexpected char %s at %d", pyRepr(s[:1]), l.pos)
	}
	text, err := unescape(s[1:end])
	if err != "" {
		return 0, l.fail("%s", err)
	}
	l.emit(token{kind: tokString, text: text})
	return end + 1, nil
}

func unescape(s string) (text, fault string) {
	if !strings.Contains(s, `\`) {
		return s, ""
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			b.WriteByte(s[i])
			continue
		}
		i++
		if j := strings.IndexByte(`nrtabfv\'"`, s[i]); j >= 0 {
			b.WriteByte("\n\r\t\a\b\f\v\\'\""[j])
			continue
		}
		switch c := s[i]; c {
		case '\n':
		case 'x', 'u', 'U':
			n := map[byte]int{'x': 2, 'u': 4, 'U': 8}[c]
			if i+n >= len(s) {
				return "", "truncated \\" + string(c) + " escape"
			}
			v, err := strconv.ParseUint(s[i+1:i+1+n], 16, 32)
			if err != nil || v > unicode.MaxRune {
				return "", "truncated \\" + string(c) + " escape"
			}
			b.WriteRune(rune(v))
			i += n
		case '0', '1', '2', '3', '4', '5', '6', '7':
			n := 1
			for n < 3 && i+n < len(s) && s[i+n] >= '0' && s[i+n] <= '7' {
				n++
			}
			v, _ := strconv.ParseUint(s[i:i+n], 8, 32) // octal digits only
			b.WriteRune(rune(v))
			i += n - 1
		case 'N':
			return "", `\N names of characters are not supported`
		default:
			b.WriteByte('\\')
			b.WriteByte(c)
		}
	}
	return b.String(), ""
}
