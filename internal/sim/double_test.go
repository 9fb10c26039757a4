package sim

import (
	"regexp"
	"strings"
	"testing"
)

// wordTokens is a small tokenizer for tests: every word of the story is one token with and without its leading space, any
// other byte is a token of its own.
type wordTokens struct {
	ids   map[string]int
	texts []string
}

var wordPattern = regexp.MustCompile(` ?[A-Za-z]+|[\s\S]`)

func newWordTokens() *wordTokens {
	w := &wordTokens{ids: map[string]int{}}
	for b := range 256 {
		w.texts = append(w.texts, string([]byte{byte(b)}))
	}
	for word := range strings.FieldsFuncSeq(story, func(r rune) bool { return strings.ContainsRune(" .,\n", r) }) {
		for _, t := range []string{" " + word, word} {
			if _, ok := w.ids[t]; !ok && len(t) > 1 {
				w.ids[t] = len(w.texts)
				w.texts = append(w.texts, t)
			}
		}
	}
	return w
}

func (w *wordTokens) Encode(text string) []int {
	var out []int
	for _, m := range wordPattern.FindAllString(text, -1) {
		if id, ok := w.ids[m]; ok {
			out = append(out, id)
			continue
		}
		for i := range len(m) {
			out = append(out, int(m[i]))
		}
	}
	return out
}

func (w *wordTokens) Decode(ids []int) string {
	var b strings.Builder
	for _, id := range ids {
		b.WriteString(w.texts[id])
	}
	return b.String()
}

func testServer(t *testing.T, c Config) *Server {
	t.Helper()
	tok := newWordTokens()
	s, err := newServer(c, tok, len(tok.texts))
	if err != nil {
		t.Fatalf("newServer(%+v) = %v", c, err)
	}
	return s
}
