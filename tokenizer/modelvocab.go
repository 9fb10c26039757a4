package tokenizer

// ModelVocabSize is the number of tokens in the model's own vocabulary, without those only added beside it: what
// Hugging Face calls vocab_size. Most ids below it are plain text.
func (t *Tokenizer) ModelVocabSize() int { return t.model.vocabulary().size() }

// TokenIDs lists the id of every token, added ones included, ascending. An id with two spellings is there twice.
func (t *Tokenizer) TokenIDs() []uint32 {
	entries := t.Vocab()
	ids := make([]uint32, len(entries))
	for i, e := range entries {
		ids[i] = e.ID
	}
	return ids
}
