package tokenizer

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestFit(t *testing.T) {
	const prose = "The quick brown fox, 42 years old, jumped over naïve 漢字 dogs — twice!\n\n"
	for file, expected := range fixtures(t) {
		name := strings.TrimSuffix(filepath.Base(expected), ".jsonl.gz")
		sizes := []int{0, 1, 2, 3, 7, 64, 500}
		if !strings.Contains(file, "synth") {
			if os.Getenv("SERVEMARK_LONG") == "" {
				continue // loading large files takes most of a test's time; TestParity does it once
			}
			sizes = []int{0, 1, 7, 2000}
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tok := openFixture(t, file)
			for _, n := range sizes {
				for _, text := range []string{"", "a", prose, strings.Repeat(prose, 30), "   ", "中文字"} {
					checkFit(t, tok, text, n+tok.NumSpecial(), true)
					checkFit(t, tok, text, n, false)
				}
			}
		})
	}
}

func checkFit(t *testing.T, tok *Tokenizer, text string, n int, special bool) {
	t.Helper()
	got, err := tok.Fit(text, n, special)
	if err != nil {
		t.Errorf("Fit(%q, %d, %v): %v", clip(text), n, special, err)
		return
	}
	if c, err := tok.Count(got, special); err != nil || c != n {
		t.Errorf("Count(Fit(%q, %d, %v)) = %d, %v", clip(text), n, special, c, err)
	}
}

func TestFitIDs(t *testing.T) {
	tok, err := Builtin(BuiltinName)
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		ids := make([]uint32, 1+r.IntN(50))
		for i := range ids {
			ids[i] = r.Uint32N(uint32(tok.VocabSize()))
		}
		n := 1 + r.IntN(200)
		text, err := tok.FitIDs(ids, n, false)
		if err != nil {
			t.Fatalf("FitIDs(%v, %d): %v", ids, n, err)
		}
		if got, _ := tok.Count(text, false); got != n {
			t.Errorf("Count(FitIDs(%v, %d)) = %d", ids, n, got)
		}
	}
}

func TestFitRefuses(t *testing.T) {
	tok, err := Builtin(BuiltinName)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := tok.Fit("a", -1, false); err == nil {
		t.Errorf("Fit(-1) = %q, want an error", got)
	}
}

func BenchmarkFit(b *testing.B) {
	tok, err := Builtin(BuiltinName)
	if err != nil {
		b.Fatal(err)
	}
	for i := range b.N {
		if _, err := tok.Fit(fmt.Sprintf("Prompt %d: tell me about the river and the mountain.", i), 1000, false); err != nil {
			b.Fatal(err)
		}
	}
}
