package prose

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"
)

// TestAnswersEncodeToTheirOwnTokens is the promise the server makes: its texts have exactly the tokens it counts.
func TestAnswersEncodeToTheirOwnTokens(t *testing.T) {
	tok, vocab, err := Builtin()
	if err != nil {
		t.Fatal(err)
	}
	w, err := NewWriter(tok)
	if err != nil {
		t.Fatal(err)
	}
	if kept, all := len(w.words), len(strings.Fields(story)); kept < all {
		t.Errorf("%d of %d words of the story are single tokens, want at least as many", kept, all)
	}
	for seed := range uint64(200) {
		for _, bare := range []bool{true, false} {
			pieces := w.Write(1+int(seed*7%300), Mix(seed), bare)
			same(t, tok, pieces)
			same(t, tok, append(w.Write(5, seed, true), w.Write(40, Mix(seed), false)...))
		}
	}
	same(t, tok, Spell(tok, `{"query": "the old man went"}`))
	for id := range vocab { // decoding any id must not fail
		_ = tok.Decode([]int{id})
	}
}

func same(t *testing.T, tok Tokenizer, pieces []Piece) {
	t.Helper()
	text, want := "", []int{}
	for _, p := range pieces {
		text += p.Text
		want = append(want, p.ID)
	}
	got := tok.Encode(text)
	for i := range max(len(got), len(want)) {
		if i >= len(got) || i >= len(want) || got[i] != want[i] {
			t.Fatalf("Encode(%q) = %v, want %v", text, got, want)
		}
	}
}

func FuzzEscape(f *testing.F) {
	for _, s := range []string{"", " the", "\"\\\n", "é河😀", "\u2028", "\x7f<&>"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var back string
		if err := json.Unmarshal([]byte(`"`+Escape(text)+`"`), &back); err != nil || back != strings.ToValidUTF8(text, "\uFFFD") && utf8.ValidString(text) {
			t.Errorf("Escape(%q) = %s, which reads as %q, %v", text, Escape(text), back, err)
		}
	})
}
