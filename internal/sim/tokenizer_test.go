package sim

import (
	"strings"
	"testing"
)

// TestAnswersEncodeToTheirOwnTokens is the promise the server makes: its texts have exactly the tokens it counts.
func TestAnswersEncodeToTheirOwnTokens(t *testing.T) {
	tok, vocab, err := builtinTokenizer()
	if err != nil {
		t.Fatal(err)
	}
	w, err := newWriter(tok)
	if err != nil {
		t.Fatal(err)
	}
	if kept, all := len(w.words), len(strings.Fields(story)); kept < all {
		t.Errorf("%d of %d words of the story are single tokens, want at least as many", kept, all)
	}
	for seed := range uint64(200) {
		for _, bare := range []bool{true, false} {
			pieces := w.write(1+int(seed*7%300), mix(seed), bare)
			same(t, tok, pieces)
			same(t, tok, append(w.write(5, seed, true), w.write(40, mix(seed), false)...))
		}
	}
	a := &answer{pieces: w.write(80, 3, true)}
	a.accent(tok)
	same(t, tok, a.pieces)
	same(t, tok, spell(tok, `{"query": "the old man went"}`))
	for id := range vocab { // decoding any id must not fail
		_ = tok.Decode([]int{id})
	}
}

func same(t *testing.T, tok Tokenizer, pieces []piece) {
	t.Helper()
	a := &answer{pieces: pieces}
	text := a.text(0, len(pieces))
	got := tok.Encode(text)
	want := a.ids()
	for i := range max(len(got), len(want)) {
		if i >= len(got) || i >= len(want) || got[i] != want[i] {
			t.Fatalf("Encode(%q) = %v, want %v", text, got, want)
		}
	}
}
