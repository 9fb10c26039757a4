package dataset

import (
	"crypto/sha256"
	"encoding/hex"
	"math"
	"os"
	"regexp"
	"testing"
	"unicode/utf8"
)

// TestCorpusStaysAsItIs: results of two versions can only be compared while the embedded corpus is the same. Whoever changes
// it measures builtInSlope and spread again.
func TestCorpusStaysAsItIs(t *testing.T) {
	h := sha256.New()
	for i := range 50 {
		h.Write([]byte(document(i*1001, 400)))
	}
	const want = "a6384b704f9c815a"
	if got := hex.EncodeToString(h.Sum(nil)[:8]); got != want {
		t.Errorf("hash of 50 documents = %s, want %s", got, want)
	}
}

func TestCorpusIsPlainText(t *testing.T) {
	unfilled := regexp.MustCompile(`\{(ns?|[avipftw.]|#+|ob)\}`)
	for i := range 200 {
		text := document(i, 300)
		if slot := unfilled.FindString(text); slot != "" || !utf8.ValidString(text) {
			t.Fatalf("document %d has an unfilled slot %q or is not UTF-8: %q", i, slot, text)
		}
		if n := countWords(text); n < 300 || n > 340 {
			t.Errorf("document %d of 300 words has %d", i, n)
		}
	}
}

// TestBuiltInSlopeHolds measures what builtInSlope and spread say, with the tokenizers they were measured with.
func TestBuiltInSlopeHolds(t *testing.T) {
	names := []string{"gpt2", "smollm2", "qwen3"}
	if os.Getenv("SERVEMARK_LONG") != "" {
		names = []string{"gpt2", "gpt35turbo", "gpt4o", "qwen3", "mistral_nemo", "mistral_v3", "smollm2"}
	} else {
		t.Log("three of seven tokenizers; SERVEMARK_LONG=1 loads all")
	}
	const words, texts = 512, 60
	total := 0.0
	toks := tokenizers(t, names...)
	for _, name := range names {
		sum, squares := 0.0, 0.0
		for i := range texts {
			n, err := toks[name].Count(CalibrationPrompt(words, i), false)
			if err != nil {
				t.Fatal(err)
			}
			sum += float64(n)
			squares += float64(n) * float64(n)
		}
		mean := sum / texts
		sd := math.Sqrt(squares/texts-mean*mean) / math.Sqrt(words)
		t.Logf("%s: %.3f tokens a word, spread %.2f", name, mean/words, sd)
		if slope := mean / words; math.Abs(slope/builtInSlope-1) > 0.09 || math.Abs(sd-spread) > 0.35 {
			t.Errorf("%s: %.3f tokens a word with a spread of %.2f, want %v ± 8 %% and %v", name, slope, sd, builtInSlope, spread)
		}
		total += mean / words
	}
	if mean := total / float64(len(names)); len(names) == 7 && math.Abs(mean-builtInSlope) > 0.015 {
		t.Errorf("mean of seven tokenizers = %.3f tokens a word, want %v", mean, builtInSlope)
	}
}
