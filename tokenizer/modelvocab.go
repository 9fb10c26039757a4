package tokenizer

// ModelVocabSize is the number of tokens in the model's own vocabulary, without those only added beside it: what
// Hugging Face calls vocab_size. Most ids below it are plain text.
func (t *Tokenizer) ModelVocabSize() int { return t.model.vocabulary().size() }
