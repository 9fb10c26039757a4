package jinja

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

func capitalize(s string) string {
	c, n := utf8.DecodeRuneInString(s)
	if n == 0 {
		return ""
	}
	return title(c) + lower(s[n:])
}

// titleCase is str.title: a letter after a non-letter in title case, others lower.
func titleCase(s string) string {
	var b strings.Builder
	inWord := false
	for _, c := range s {
		cased := unicode.IsUpper(c) || unicode.IsLower(c) || unicode.IsTitle(c)
		switch {
		case cased && !inWord:
			b.WriteString(title(c))
		case cased:
			b.WriteString(lower(string(c)))
		default:
			b.WriteRune(c)
		}
		inWord = cased
	}
	return b.String()
}

func swapCase(s string) string {
	var b strings.Builder
	for _, c := range s {
		if unicode.IsUpper(c) {
			b.WriteString(lower(string(c)))
		} else {
			b.WriteString(upper(string(c)))
		}
	}
	return b.String()
}

// fullUpper holds the case mappings to more than one rune that Go's one-to-one mappings lack.
func fullUpper(c rune) (string, bool) {
	switch c {
	case 'ß':
		return "SS", true
	case 'ŉ':
		return "ʼN", true
	case 'ǰ':
		return "J̌", true
	case 'և':
		return "ԵՒ", true
	case 'ﬀ':
		return "FF", true
	case 'ﬁ':
		return "FI", true
	case 'ﬂ':
		return "FL", true
	case 'ﬃ':
		return "FFI", true
	case 'ﬄ':
		return "FFL", true
	case 'ﬅ', 'ﬆ':
		return "ST", true
	}
	return "", false
}

func upper(s string) string {
	if isASCII(s) {
		return strings.ToUpper(s)
	}
	var b strings.Builder
	for _, c := range s {
		if u, ok := fullUpper(c); ok {
			b.WriteString(u)
		} else {
			b.WriteRune(unicode.ToUpper(c))
		}
	}
	return b.String()
}

func lower(s string) string {
	if isASCII(s) {
		return strings.ToLower(s)
	}
	var b strings.Builder
	last := rune(0)
	for i, c := range s {
		switch {
		case c == 'İ':
			b.WriteString("i̇")
		case c == 'Σ' && unicode.IsLetter(last) && !beginsWithLetter(s[i+len("Σ"):]):
			b.WriteRune('ς')
		default:
			b.WriteRune(unicode.ToLower(c))
		}
		last = c
	}
	return b.String()
}

func beginsWithLetter(s string) bool {
	c, _ := utf8.DecodeRuneInString(s)
	return unicode.IsLetter(c)
}

func title(c rune) string {
	if u, ok := fullUpper(c); ok {
		_, n := utf8.DecodeRuneInString(u)
		return u[:n] + lower(u[n:])
	}
	return string(unicode.ToTitle(c))
}
