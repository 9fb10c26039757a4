package dataset

import (
	"errors"
	"fmt"
	"strings"
)

// Decoding ids and encoding the text again rarely gives the same ids: words at a seam merge, halves of characters become
// U+FFFD. mend gives text of an exact number of tokens all the same.

// mended is a prompt's text and what the tokenizer counts in it, special tokens left aside.
type mended struct {
	text   string
	tokens int
	// changed is true where the text is not what the drawn ids decode to.
	changed bool
}

// rounds is how often mend cuts or lengthens before it fills up piece by piece; one or two do for most prompts.
const rounds = 8

// mend makes a text of n tokens from the endless sequence ids, changing as little as it can. Where no text of n tokens is
// found it gives the nearest below n.
func mend(tok Tokenizer, ids func(from, to int) []uint32, n int) (mended, error) {
	text, err := tok.Decode(ids(0, n), false)
	if err != nil {
		return mended{}, fmt.Errorf("the tokenizer cannot turn ids into text: %w", err)
	}
	now, err := tok.Encode(text, false)
	if err != nil {
		return mended{}, fmt.Errorf("the tokenizer failed on a prompt: %w", err)
	}
	if len(now) == n {
		return mended{text, n, false}, nil
	}
	used := n
	for range rounds {
		if missing := n - len(now); missing > 0 {
			now = append(now, ids(used, used+missing)...)
			used += missing
		}
		if text, now, err = recode(tok, now[:n]); err != nil {
			return mended{}, err
		}
		if len(now) == n {
			return mended{text, n, true}, nil
		}
	}
	return fillUp(tok, text, now, n)
}

// recode decodes ids, leaves out a character cut in half at the end, and encodes what is left.
func recode(tok Tokenizer, ids []uint32) (string, []uint32, error) {
	text, err := tok.Decode(ids, false)
	if err != nil {
		return "", nil, fmt.Errorf("the tokenizer cannot turn ids into text: %w", err)
	}
	text = strings.TrimRight(text, "\uFFFD")
	now, err := tok.Encode(text, false)
	if err != nil {
		return "", nil, fmt.Errorf("the tokenizer failed on a prompt: %w", err)
	}
	return text, now, nil
}

// fillers are short pieces of text, most of which most tokenizers count as one token of their own.
var fillers = []string{" a", " the", ".", " I", "\n", ",", " 1", "!", " x", "a", "0", "?", " in", "-", "z"}

// fillUp shortens text until it has at most n tokens and then puts pieces behind it that count as one each.
func fillUp(tok Tokenizer, text string, now []uint32, n int) (mended, error) {
	var err error
	for keep := min(n, len(now)) - 1; len(now) > n && keep > 0; keep-- {
		if text, now, err = recode(tok, now[:min(keep, len(now))]); err != nil {
			return mended{}, err
		}
	}
	for progress := true; progress && len(now) < n; {
		progress = false
		for _, piece := range fillers {
			longer, err := tok.Encode(text+piece, false)
			if err != nil {
				return mended{}, fmt.Errorf("the tokenizer failed on a prompt: %w", err)
			}
			if len(longer) > len(now) && len(longer) <= n {
				text, now, progress = text+piece, longer, true
				break
			}
		}
	}
	return mended{text, len(now), true}, nil
}

// decodes tells whether the tokenizer can turn ids back into text; a server's route may not. Any other failure is an error: which way
// prompts are made must not depend on it.
func decodes(tok Tokenizer) (bool, error) {
	ids, err := tok.Encode("the", false)
	if err == nil {
		_, err = tok.Decode(ids, false)
	}
	switch {
	case errors.Is(err, errors.ErrUnsupported):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("the tokenizer failed on a word: %w", err)
	}
	return true, nil
}

// fitWords makes a text of n tokens by the number of its words alone, for tokenizers that do not decode: text gives a text
// of so many words.
func fitWords(tok Tokenizer, text func(words int) string, n int) (mended, error) {
	var best string
	var have []uint32
	low, high := 0, n+1 // low words have at most n tokens; high are taken to have more
	for words := max(1, int(float64(n)/builtInSlope)); high-low > 1; {
		words = min(max(words, low+1), high-1)
		t := text(words)
		ids, err := tok.Encode(t, false)
		if err != nil {
			return mended{}, fmt.Errorf("the tokenizer failed on a prompt: %w", err)
		}
		if len(ids) == n {
			return mended{t, n, false}, nil
		}
		if len(ids) < n {
			low, best, have = words, t, ids
		} else {
			high = words
		}
		words = int(float64(words) * float64(n) / float64(max(1, len(ids))))
	}
	return fillUp(tok, best, have, n)
}
