package tokenizer

import (
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"
)

// TestStream checks that the texts of a stream, joined, are the text of Decode, and that no piece is broken.
func TestStream(t *testing.T) {
	for file, expected := range fixtures(t) {
		if !strings.Contains(file, "synth") {
			continue
		}
		t.Run(strings.TrimSuffix(filepath.Base(expected), ".jsonl.gz"), func(t *testing.T) {
			t.Parallel()
			tok := openFixture(t, file)
			for _, l := range readLines(t, expected) {
				if len(l.IDs) > 400 {
					continue
				}
				for _, skip := range []bool{false, true} {
					checkStream(t, tok, l.IDs, skip)
				}
			}
		})
	}
}

func checkStream(t *testing.T, tok *Tokenizer, ids []uint32, skip bool) {
	t.Helper()
	want, err := tok.Decode(ids, skip)
	if err != nil {
		t.Fatal(err)
	}
	d := tok.NewDecoder(skip)
	var got strings.Builder
	for _, id := range ids {
		s, err := d.Add(id)
		if err != nil {
			t.Fatal(err)
		}
		if !utf8.ValidString(s) {
			t.Errorf("Add(%d) = %q, want valid UTF-8", id, s)
		}
		got.WriteString(s)
	}
	s, err := d.Flush()
	if err != nil {
		t.Fatal(err)
	}
	got.WriteString(s)
	if got.String() != want {
		t.Errorf("stream of %v = %q, want %q", ids, got.String(), want)
	}
}

func TestStreamHoldsPartialRunes(t *testing.T) {
	tok, err := Builtin(BuiltinName)
	if err != nil {
		t.Fatal(err)
	}
	ids, err := tok.Encode("a🙂b", false)
	if err != nil {
		t.Fatal(err)
	}
	d := tok.NewDecoder(false)
	var got []string
	for _, id := range ids {
		s, err := d.Add(id)
		if err != nil {
			t.Fatal(err)
		}
		if s != "" {
			got = append(got, s)
		}
	}
	if want := "a|🙂|b"; strings.Join(got, "|") != want {
		t.Errorf("stream of %v = %q, want %s", ids, got, want)
	}
}
