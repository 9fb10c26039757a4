package tokenizer

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

func TestBuiltin(t *testing.T) {
	tok, err := Builtin(BuiltinName)
	if err != nil {
		t.Fatal(err)
	}
	if got := tok.VocabSize(); got != 4000 {
		t.Errorf("VocabSize() = %d, want 4000", got)
	}
	const text = "<|user|>What is the median latency?\n<|assistant|>About 42 ms — naïve 漢字 🙂"
	ids, err := tok.Encode(text, true)
	if err != nil {
		t.Fatal(err)
	}
	if got, _ := tok.Decode(ids, false); got != text {
		t.Errorf("Decode(Encode(%q)) = %q", text, got)
	}
	if user, ok := tok.ID("<|user|>"); !ok || ids[0] != user || !tok.IsSpecial(user) {
		t.Errorf("Encode(%q)[0] = %d, want the special token %d", text, ids[0], user)
	}
	if _, err := Builtin("other"); err == nil || !strings.Contains(err.Error(), BuiltinName) {
		t.Errorf("Builtin(other): %v, want an error that names %s", err, BuiltinName)
	}
}

func TestVocab(t *testing.T) {
	tok := openFixture(t, "testdata/synth/added_flags.json.gz")
	v := tok.Vocab()
	if len(v) != tok.VocabSize() {
		t.Errorf("len(Vocab()) = %d, want VocabSize() = %d", len(v), tok.VocabSize())
	}
	for _, e := range v {
		if id, ok := tok.ID(e.Token); !ok || id != e.ID {
			t.Fatalf("ID(%q) = %d, %v, want %d", e.Token, id, ok, e.ID)
		}
		if s, ok := tok.Token(e.ID); !ok || s != e.Token {
			t.Fatalf("Token(%d) = %q, %v, want %q", e.ID, s, ok, e.Token)
		}
	}
}

func TestFingerprint(t *testing.T) {
	a := openFixture(t, "testdata/synth/bl_gpt2.json.gz")
	b := openFixture(t, "testdata/synth/bl_gpt2.json.gz")
	c := openFixture(t, "testdata/synth/bl_llama3.json.gz")
	if a.Fingerprint() != b.Fingerprint() {
		t.Errorf("Fingerprint() = %s and %s for the same file", a.Fingerprint(), b.Fingerprint())
	}
	if a.Fingerprint() == c.Fingerprint() {
		t.Errorf("Fingerprint() = %s for two tokenizers", a.Fingerprint())
	}
}

func TestConcurrentEncode(t *testing.T) {
	tok := openFixture(t, "testdata/synth/bl_o200k.json.gz")
	lines := readLines(t, "testdata/synth/bl_o200k.jsonl.gz")
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for _, l := range lines {
				if ids, err := tok.Encode(l.Text, false); err != nil || !slices.Equal(ids, l.IDs) {
					t.Errorf("Encode(%q) = %v, %v, want %v", clip(l.Text), ids, err, l.IDs)
				}
			}
		})
	}
	wg.Wait()
}

func TestOpenErrors(t *testing.T) {
	dir := t.TempDir()
	bad := filepath.Join(dir, "bad.json")
	if err := os.WriteFile(bad, []byte(`{"model":{"type":"BPE","vocab":{"a":0},"merges":[]},"normalizer":{"type":"Sparkle"}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		dir:                          "has no tokenizer.json",
		filepath.Join(dir, "absent"): "there is no tokenizer at",
		bad:                          `normalizer type "Sparkle" is not known`,
	} {
		_, err := Open(path)
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), path) {
			t.Errorf("Open(%q): %v, want an error with the path and %q", path, err, want)
		}
	}
}

// TestEncodeAllocates bounds the allocations of encoding into a slice that is large enough.
func TestEncodeAllocates(t *testing.T) {
	tok, err := Builtin(BuiltinName)
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Repeat("The quick brown fox measures 42 tokens.\n", 50)
	ids := make([]uint32, 0, 4096)
	got := testing.AllocsPerRun(20, func() {
		if _, err := tok.AppendEncode(ids, text, true); err != nil {
			t.Fatal(err)
		}
	})
	if got > 4 {
		t.Errorf("AppendEncode allocates %v times, want at most 4", got)
	}
}
