package tokenizer

import (
	"bufio"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"
)

// scanPatterns are the patterns with a scanner, which must cut as the regular expression does.
var scanPatterns = map[string]string{
	"gpt2": patternGPT2, "cl100k": patternCL100K, "qwen2": patternQwen2, "qwen35": patternQwen35,
	"o200k": patternO200K, "tekken": patternTekken, "kimi": patternKimi,
	"numbers": `\p{N}{1,3}`, "number": `\p{N}`, "kana": patternKana, "deepseek": patternDeepseek,
}

// scanned cuts s with the scanner of a pattern, matched with the regular expression engine.
func scanned(t testing.TB, pattern, s string) []piece {
	t.Helper()
	scan := knownPattern(pattern)
	if scan == nil {
		scan = knownPart(pattern)
	}
	out, err := scanCut{scan}.split(nil, piece{s: s})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func matched(t testing.TB, m matcher, s string) []piece {
	t.Helper()
	spans, err := spansOf(m, s, false)
	if err != nil {
		t.Fatal(err)
	}
	return isolated.cut(nil, piece{s: s}, spans)
}

func joinPieces(ps []piece) string {
	var b strings.Builder
	for _, p := range ps {
		b.WriteString(p.s)
		b.WriteByte('|')
	}
	return b.String()
}

// randomText draws characters that the patterns tell apart, and some from all of Unicode.
func randomText(r *rand.Rand) string {
	parts := []string{"a", "B", "é", "ǅ", "ʰ", "中", "〇", "〡", "々", "⺀", "ア", "한", "\u0301", "1", "٣", "½", " ", "  ", "\n", "\r\n", "\t", "\u00a0", "\u3000", "'", "'s", "'LL", "'ſ", "'re", ".", "/", "!", "€", "🙂", "\u200d", "\x00", "\u0897", "\U0001381f", "_", "Ab", "ABc", "É"}
	var b strings.Builder
	for range 1 + r.IntN(12) {
		if r.IntN(8) == 0 {
			c := rune(r.IntN(0x30000))
			if utf8.ValidRune(c) {
				b.WriteRune(c)
			}
			continue
		}
		if r.IntN(6) == 0 { // runs on both sides of eight bytes
			b.WriteString("internationalISATION"[r.IntN(8) : 8+r.IntN(12)])
			continue
		}
		b.WriteString(parts[r.IntN(len(parts))])
	}
	return b.String()
}

func TestScannersCutAsTheirPatterns(t *testing.T) {
	for name, pattern := range scanPatterns {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m, err := newRegexMatcher(pattern)
			if err != nil {
				t.Fatal(err)
			}
			r := rand.New(rand.NewPCG(7, 7))
			for range 1500 {
				s := randomText(r)
				if got, want := joinPieces(scanned(t, pattern, s)), joinPieces(matched(t, m, s)); got != want {
					t.Fatalf("scanner(%q) = %q, want %q", s, got, want)
				}
			}
		})
	}
}

func FuzzScanners(f *testing.F) {
	s := bufio.NewScanner(strings.NewReader("don't 123\nĀB中文 'LL\r\n\n  x\u00a0\n"))
	for s.Scan() {
		f.Add(s.Text())
	}
	f.Add(" \n\n a\u0301'ſ ½٣")
	f.Add("〇一〇〡々⺀1〇 〇a中")
	f.Add(" Internationally'LL UPPERcase abcdefgé abcdefghİ (abcdefgh[z{Z@`")
	matchers := map[string]matcher{}
	for name, pattern := range scanPatterns {
		m, err := newRegexMatcher(pattern)
		if err != nil {
			f.Fatal(err)
		}
		matchers[name] = m
	}
	f.Fuzz(func(t *testing.T, s string) {
		if !utf8.ValidString(s) || len(s) > 300 {
			return
		}
		for name, pattern := range scanPatterns {
			if got, want := joinPieces(scanned(t, pattern, s)), joinPieces(matched(t, matchers[name], s)); got != want {
				t.Fatalf("%s scanner(%q) = %q, want %q", name, s, got, want)
			}
		}
	})
}
