package dataset

import (
	"errors"
	"fmt"

	"github.com/servemark/servemark/internal/bench"
)

// random-ids: lengths as random's; row i has the ids (offset+i+j) mod the vocabulary's size, offset drawn. As text they are
// decoded, which seldom encodes to the same ids.
func loadRandomIDs(j *job) error {
	inputs, outputs := j.drawLengths()
	vocab := modelVocab(j.in.Tokenizer)
	offsets := j.rnd.NumPy.Integers(0, int64(vocab), len(inputs))
	j.set.Source = fmt.Sprintf("random ids below %d", vocab)
	m := maker{j: j}
	batch := make([]prompt, len(inputs))
	err := j.each(len(batch), func(i int, j *job) error {
		return m.fill(j.in.Tokenizer, &batch[i], inputs[i], func(from, to int) []uint32 {
			ids := make([]uint32, 0, to-from)
			for k := from; k < to; k++ {
				ids = append(ids, uint32((int(offsets[i])+i+k)%vocab))
			}
			return ids
		})
	})
	if err != nil {
		return err
	}
	for i := range batch {
		j.add(bench.Request{Prompt: batch[i].Prompt, InputTokens: batch[i].tokens, OutputTokens: outputs[i]})
	}
	m.report(len(batch))
	return nil
}

// modelVocab is the size of the model's own vocabulary, without the tokens added beside it where the tokenizer can tell them
// apart.
func modelVocab(t Tokenizer) int {
	if own, ok := t.(interface{ ModelVocabSize() int }); ok {
		return own.ModelVocabSize()
	}
	return t.VocabSize()
}

func readyRandomIDs(s *bench.Spec, in *Inputs) []error {
	if in.Tokenizer == nil {
		return []error{errors.New("random-ids draws from the tokenizer's vocabulary and no tokenizer was found: give --tokenizer a tokenizer.json, its folder or org/name, or choose the data set random, which can do without")}
	}
	return readyVocabulary(s.Dataset.Name, in)
}
