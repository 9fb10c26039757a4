package dataset

import (
	"fmt"
	"strings"
	"unicode/utf16"
)

// pythonJSON writes valid JSON as Python's json.dumps(json.loads(s)) does: ", " and ": " between parts, nothing but ASCII.
// Numbers stay as they are written.
func pythonJSON(b []byte) string {
	var out strings.Builder
	for i := 0; i < len(b); {
		switch c := b[i]; c {
		case ' ', '\n', '\r', '\t':
			i++
		case ',', ':':
			out.WriteByte(c)
			out.WriteByte(' ')
			i++
		case '"':
			end := stringEnd(b, i)
			if end < 0 {
				end = len(b)
			}
			escapeASCII(&out, string(b[i:end]))
			i = end
		default:
			out.WriteByte(c)
			i++
		}
	}
	return out.String()
}

// escapeASCII copies a JSON string, what is not ASCII as \u escapes; escapes of other forms stay.
func escapeASCII(out *strings.Builder, s string) {
	for _, r := range s {
		switch {
		case r < 0x80:
			out.WriteRune(r)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(out, `\u%04x\u%04x`, high, low)
		default:
			fmt.Fprintf(out, `\u%04x`, r)
		}
	}
}
