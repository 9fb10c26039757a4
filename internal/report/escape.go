package report

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// shownRunes bounds how much of one text from outside is shown.
const shownRunes = 300

// Escape returns text from a server or a data set in a form that is safe to print in one line: control characters, terminal
// sequences, line and paragraph separators, characters that turn the direction of writing, and broken UTF-8 appear as visible
// escapes (\n, \x1b, \u202e, \xff). Text beyond 300 characters is cut, and how much is said.
func Escape(s string) string { return escape(s, shownRunes) }

// Sentence escapes a note or cause of ours, which may quote others and be long (up to 3,000 characters).
func Sentence(s string) string { return escape(s, 10*shownRunes) }

func escape(s string, most int) string {
	var b strings.Builder
	for n := 0; len(s) > 0; n++ {
		if n == most {
			fmt.Fprintf(&b, "… (%d bytes more)", len(s))
			break
		}
		r, size := utf8.DecodeRuneInString(s)
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, s[0])
		case r == '\n' || r == '\r' || r == '\t' || r < ' ' || r == 0x7f:
			quoted := strconv.QuoteRuneToASCII(r)
			b.WriteString(quoted[1 : len(quoted)-1])
		case unicode.IsGraphic(r) && !unicode.In(r, unicode.Zl, unicode.Zp):
			b.WriteRune(r)
		case r > 0xffff:
			fmt.Fprintf(&b, `\U%08x`, r)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
		s = s[size:]
	}
	return b.String()
}
