// Package prose makes the texts of simulated answers: words of which each is one token, so that counts are exact.
package prose

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"
)

// Tokenizer is what the server needs of a tokenizer. Decode of one id of a whole word is that word's text.
type Tokenizer interface {
	Encode(text string) []int
	Decode(ids []int) string
}

//go:embed story.txt
var story string

// Piece is one token of an answer: its id, its text, and the text escaped for use inside a JSON string.
type Piece struct {
	ID   int
	Text string
	Esc  string
}

// NewPiece returns the token id with its text.
func NewPiece(id int, text string) Piece { return Piece{ID: id, Text: text, Esc: Escape(text)} }

// Escape returns text as it stands between the quotes of a JSON string.
func Escape(text string) string {
	plain := true
	for i := 0; i < len(text); i++ {
		if c := text[i]; c < 0x20 || c == '"' || c == '\\' || c >= 0x7f {
			plain = false
			break
		}
	}
	if plain {
		return text
	}
	b, err := json.Marshal(text)
	if err != nil || len(b) < 2 {
		return ""
	}
	return string(b[1 : len(b)-1])
}

// Writer makes answers: the words of a story, in order from a sentence that depends on the prompt, one token each. Only words
// that the tokenizer keeps as a single token are used, so the text of an answer encodes to exactly its tokens.
type Writer struct {
	words []Piece // words, each with its leading space, and marks
	opens []int   // where sentences begin
	heads []Piece // the words without the space, for the first token of an answer; ID -1 where that is no single token
}

// NewWriter prepares the words that t keeps whole; it fails when they are too few to be of use.
func NewWriter(t Tokenizer) (*Writer, error) {
	w := &Writer{}
	for word := range strings.FieldsSeq(story) {
		mark := word[len(strings.TrimRight(word, ".,")):]
		word = strings.TrimRight(word, ".,")
		one, ok := single(t, " "+word)
		if !ok {
			continue
		}
		head, _ := single(t, word)
		if n := len(w.words); n == 0 || w.words[n-1].Text == "." {
			w.opens = append(w.opens, n)
		}
		w.words, w.heads = append(w.words, one), append(w.heads, head)
		if one, ok := single(t, mark); ok && mark != "" {
			w.words, w.heads = append(w.words, one), append(w.heads, Piece{ID: -1})
		}
	}
	if len(w.words) < 50 {
		return nil, fmt.Errorf("the tokenizer keeps only %d words of the built-in story as single tokens; answers could not be exact", len(w.words))
	}
	return w, nil
}

// single returns the token that is exactly text, if there is one; else its ID is -1.
func single(t Tokenizer, text string) (Piece, bool) {
	if ids := t.Encode(text); len(ids) == 1 && t.Decode(ids) == text {
		return NewPiece(ids[0], text), true
	}
	return Piece{ID: -1}, false
}

// Write returns n tokens for a prompt whose hash is h. bare drops the leading space of the first word where the vocabulary has it.
func (w *Writer) Write(n int, h uint64, bare bool) []Piece {
	out := make([]Piece, n)
	at := w.opens[h%uint64(len(w.opens))]
	for i := range out {
		out[i] = w.words[at]
		if i == 0 && bare && w.heads[at].ID >= 0 {
			out[i] = w.heads[at]
		}
		if at++; at == len(w.words) {
			at = 0
		}
	}
	return out
}

// Spell returns the tokens of a given text, one piece each; a token that ends inside a character carries no text, the next
// one carries the whole character, as engines hold back halves.
func Spell(t Tokenizer, text string) []Piece {
	ids := t.Encode(text)
	out := make([]Piece, len(ids))
	from := 0
	for i := range ids {
		part := t.Decode(ids[from : i+1])
		if !utf8.ValidString(part) || strings.HasSuffix(part, "\uFFFD") {
			out[i] = Piece{ID: ids[i]}
			continue
		}
		out[i] = NewPiece(ids[i], part)
		from = i + 1
	}
	return out
}

// Mix is a 64-bit finaliser: every input bit moves every output bit.
func Mix(x uint64) uint64 {
	x ^= x >> 30
	x *= 0xbf58476d1ce4e5b9
	x ^= x >> 27
	x *= 0x94d049bb133111eb
	return x ^ x>>31
}

// HashIDs folds token ids and a seed into 64 bits, the same on every run.
func HashIDs(seed uint64, ids []int) uint64 {
	h := Mix(seed + 0x9e3779b97f4a7c15)
	for _, id := range ids {
		h = Mix(h ^ uint64(id)*0x9e3779b97f4a7c15)
	}
	return h
}
