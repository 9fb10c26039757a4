package report

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestEscape(t *testing.T) {
	for in, want := range map[string]string{
		"plain text, naïve 日本語 🙂":    "plain text, naïve 日本語 🙂",
		"a\nb\r\tc":                  `a\nb\r\tc`,
		"\x1b[31mred\x1b[0m\x07":     `\x1b[31mred\x1b[0m\a`,
		"a\u202eb\u2028c\u200bd":     `a\u202eb\u2028c\u200bd`,
		"\xff\xfe":                   `\xff\xfe`,
		"\u0085\u009b31m":            `\u0085\u009b31m`,
		"\U000e0041":                 `\U000e0041`,
		"":                           "",
		strings.Repeat("é", 300):     strings.Repeat("é", 300),
		strings.Repeat("é", 302):     strings.Repeat("é", 300) + "… (4 bytes more)",
		`{"error":"C:\path <html>"}`: `{"error":"C:\path <html>"}`,
	} {
		if got := Escape(in); got != want {
			t.Errorf("Escape(%q) = %q, want %q", in, got, want)
		}
	}
}

func FuzzEscape(f *testing.F) {
	for _, s := range []string{"a\x1b[2J", "\xc3", "\u202e", strings.Repeat("x\n", 400)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := Escape(s)
		if !utf8.ValidString(got) || len(got) > 10*shownRunes+64 {
			t.Fatalf("Escape(%q) = %q: not valid or not bounded", s, got)
		}
		for _, r := range got {
			if !unicode.IsGraphic(r) || unicode.In(r, unicode.Zl, unicode.Zp) {
				t.Fatalf("Escape(%q) = %q holds %U", s, got, r)
			}
		}
	})
}

func TestPythonFloat(t *testing.T) {
	for in, want := range map[float64]string{
		5: "5.0", 0.5: "0.5", 1234567: "1234567.0", 1e16: "1e+16", 123456789012345.5: "123456789012345.5", 0.0001: "0.0001",
		0.00001: "1e-05", 2.25e-7: "2.25e-07", 0.1: "0.1",
	} {
		if got := pythonFloat(in); got != want {
			t.Errorf("pythonFloat(%v) = %q, want %q", in, got, want)
		}
	}
}
