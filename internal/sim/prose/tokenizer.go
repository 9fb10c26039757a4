package prose

import (
	"fmt"

	"github.com/servemark/servemark/tokenizer"
)

// Name is the built-in tokenizer that servers count with and declare to clients.
const Name = "servemark/sim-4k"

// Builtin returns the embedded tokenizer and the size of its vocabulary.
func Builtin() (Tokenizer, int, error) {
	t, err := tokenizer.Builtin(Name)
	if err != nil {
		return nil, 0, fmt.Errorf("built-in tokenizer: %w", err)
	}
	return builtin{t}, t.VocabSize(), nil
}

// builtin fits the embedded tokenizer, which can encode any text, to what the server needs.
type builtin struct{ t *tokenizer.Tokenizer }

// Encode returns no token for a text that cannot be encoded, which the embedded vocabulary of all bytes does not have.
func (b builtin) Encode(text string) []int {
	ids, err := b.t.Encode(text, false)
	if err != nil {
		return nil
	}
	out := make([]int, len(ids))
	for i, id := range ids {
		out[i] = int(id)
	}
	return out
}

// Decode keeps special tokens; ids are checked before they come here.
func (b builtin) Decode(ids []int) string {
	list := make([]uint32, len(ids))
	for i, id := range ids {
		list[i] = uint32(id)
	}
	text, err := b.t.Decode(list, false)
	if err != nil {
		return ""
	}
	return text
}
