package tokenizer

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestCutModelIsRefused cuts a SentencePiece model at every byte: what is left is never a tokenizer with other ids.
func TestCutModelIsRefused(t *testing.T) {
	for _, unigram := range []bool{true, false} {
		good := spmSeed(unigram)
		for n := range good {
			if _, err := fromSPM(good[:n], nil); err == nil {
				t.Fatalf("fromSPM of %d of %d bytes: no error", n, len(good))
			}
		}
	}
}

func TestDamagedRanksAreRefused(t *testing.T) {
	f := rankFamily{ranks: 5, special: named("<s>", 3)}
	line := func(rank uint32) rankLine { return rankLine{rank: rank} }
	for _, c := range []struct {
		ranks []uint32
		want  string
	}{
		{[]uint32{0, 1, 2, 4, 5}, ""},
		{[]uint32{5, 2, 1, 0, 4}, ""},
		{[]uint32{0, 1, 2, 3, 4}, ""},
		{[]uint32{0, 1, 1, 4, 5}, "rank 1 stands twice"},
		{[]uint32{0, 2, 4, 5, 6}, "rank 1 is missing"},
		{[]uint32{0, 1, 2, 4, 7}, "rank 5 is missing"},
	} {
		var lines []rankLine
		for _, r := range c.ranks {
			lines = append(lines, line(r))
		}
		err := f.check(lines)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("check(%v) = %v, want %q", c.ranks, err, c.want)
		}
	}
}

func TestRankedTokensAreBounded(t *testing.T) {
	v := newVocab(2)
	for i, token := range []string{"a", strings.Repeat("a", rankedMost+1)} {
		if err := v.add([]byte(token), uint64(i)); err != nil {
			t.Fatal(err)
		}
	}
	v.build()
	if _, err := rankMerges(v, []int{0, 1}); err == nil || !strings.Contains(err.Error(), "1025 bytes") {
		t.Errorf("rankMerges: %v, want an error with the token's length", err)
	}
}

func TestGGUFWithoutMergesIsRefused(t *testing.T) {
	data := bytes.Replace(ggufSeed("gpt2"), []byte("tokenizer.ggml.merges"), []byte("tokenizer.ggml.margas"), 1)
	g, err := readGGUF(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := fromGGUF(g); err == nil || !strings.Contains(err.Error(), "tokenizer.ggml.merges") {
		t.Errorf("fromGGUF: %v, want an error that names the merges", err)
	}
	if slices.Contains(g.texts["tokenizer.ggml.merges"], "a b") {
		t.Error("the key was not damaged")
	}
}

func TestUnreadableConfigIsAnError(t *testing.T) {
	for _, name := range []string{"tokenizer_config.json", "config.json", "chat_template.jinja"} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "tekken.json"), tekkenSeed(), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(dir); err != nil {
			t.Fatal(err)
		}
		if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil { // reading a directory fails
			t.Fatal(err)
		}
		if _, err := Open(dir); err == nil || strings.Count(err.Error(), name) != 1 {
			t.Errorf("Open with an unreadable %s: %v, want an error that names it once", name, err)
		}
	}
}

func TestLongPatternIsRefused(t *testing.T) {
	if _, err := newRegexMatcher(strings.Repeat("a", maxPattern+1)); err == nil || !strings.Contains(err.Error(), "65537 bytes") {
		t.Errorf("newRegexMatcher: %v, want an error with the pattern's length", err)
	}
}
