package dataset

import (
	"fmt"
	"math"
	"slices"

	"github.com/servemark/servemark/internal/bench"
	"github.com/servemark/servemark/internal/pyrand"
)

// random of vLLM: from a generator of its own (PCG64) lengths around the asked ones and offsets; row i has the ids from
// offset+i on, special ones left out, behind a prefix that all rows share. Text that encodes to another length is cut or
// lengthened by ids drawn from the same generator. Without a tokenizer rows are documents of the embedded corpus.
func loadVLLMRandom(j *job) error {
	d, v := &j.spec.Dataset, j.vllm()
	rng := pyrand.NewGenerator(uint64(j.spec.Seed))
	low, high := vllmRange(max(0, d.InputTokens-j.special()), d.RangeRatio)
	inputs := rng.Integers(low, high+1, d.Rows)
	low, high = vllmRange(d.OutputTokens, v.OutputRangeRatio)
	outputs := rng.Integers(max(low, 1), max(high, 1)+1, d.Rows)
	m := maker{j: j}
	rows := make([]prompt, d.Rows)
	fill := m.documents
	if j.in.Tokenizer != nil {
		fill = m.sequences
	}
	if err := fill(rows, inputs, v.PrefixTokens, rng); err != nil {
		return err
	}
	for i := range rows {
		j.add(bench.Request{Prompt: rows[i].Prompt, InputTokens: rows[i].tokens, OutputTokens: int(outputs[i])})
	}
	m.report(len(rows))
	return nil
}

// special is how many tokens the server adds, as far as is known.
func (j *job) special() int {
	if j.in.Tokenizer == nil {
		return 0
	}
	return j.in.Tokenizer.NumSpecial()
}

// vllmRange is the range of lengths around full.
func vllmRange(full int, ratio float64) (low, high int64) {
	return int64(math.Floor(float64(full) * (1 - ratio))), int64(math.Ceil(float64(full) * (1 + ratio)))
}

// sequences makes rows of ids one after the other, as each may draw.
func (m *maker) sequences(rows []prompt, inputs []int64, prefix int, rng *pyrand.Generator) error {
	tok := m.j.in.Tokenizer
	vocab := modelVocab(tok)
	m.j.set.Source = fmt.Sprintf("random ids below %d", vocab)
	offsets := rng.Integers(0, int64(vocab), len(rows))
	draw := func(n int) []int64 { return rng.Integers(0, int64(vocab), n) }
	allowed := m.j.in.plainIDs(vocab)
	var shared []uint32
	if prefix > 0 {
		for _, k := range rng.Integers(0, int64(len(allowed)), prefix) {
			shared = append(shared, allowed[k])
		}
		var err error
		if _, shared, err = settle(tok, shared, prefix, draw); err != nil {
			return err
		}
	}
	for i := range rows {
		ids := append([]uint32{}, shared...)
		for k := range int(inputs[i]) {
			ids = append(ids, allowed[(int(offsets[i])+i+k)%len(allowed)])
		}
		n := prefix + int(inputs[i])
		text, settledIDs, err := settle(tok, ids, n, draw)
		if err != nil {
			return err
		}
		if err := m.settled(&rows[i], text, settledIDs, n); err != nil {
			return err
		}
	}
	return nil
}

// plainIDs lists the ids below vocab that are no special tokens.
func (in *Inputs) plainIDs(vocab int) []uint32 {
	special := func(id uint32) bool { return slices.Contains(in.SpecialIDs, id) }
	if knows, ok := in.Tokenizer.(interface{ IsSpecial(id uint32) bool }); ok && in.SpecialIDs == nil {
		special = knows.IsSpecial
	}
	ids := make([]uint32, 0, vocab)
	for id := range uint32(vocab) {
		if !special(id) {
			ids = append(ids, id)
		}
	}
	return ids
}

// documents makes rows of the embedded corpus by the number of their words.
func (m *maker) documents(rows []prompt, inputs []int64, prefix int, _ *pyrand.Generator) error {
	c := m.j.calibration()
	m.j.set.Source = "embedded corpus, lengths by words (" + c.source() + ")"
	for i := range rows {
		words, shared := c.Words(prefix+int(inputs[i])), 0
		if prefix > 0 {
			shared = min(words, c.Words(prefix))
		}
		rows[i].Text = cutWords(cutWords(document(0, shared), shared)+" "+document(i+1, words), words)
	}
	return nil
}

func checkVLLMRandom(s *bench.Spec) []error {
	d := &s.Dataset
	faults := checkRows(s)
	var v bench.VLLMData
	if d.VLLM != nil {
		v = *d.VLLM
	}
	if v.PrefixTokens < 0 {
		faults = append(faults, fmt.Errorf("the prefix length is %d tokens: give 0 or more", v.PrefixTokens))
	}
	if low, _ := vllmRange(d.InputTokens, d.RangeRatio); d.InputTokens < 0 || v.PrefixTokens >= 0 && int(low)+v.PrefixTokens < 1 {
		faults = append(faults, fmt.Errorf("the input length of %d tokens may leave a prompt with none: ask for more, or for a smaller range ratio", d.InputTokens))
	}
	if d.OutputTokens < 0 {
		faults = append(faults, fmt.Errorf("the output length is %d tokens: give 0 or more", d.OutputTokens))
	}
	for _, err := range []error{checkVLLMRatio("input", d.RangeRatio), checkVLLMRatio("output", v.OutputRangeRatio)} {
		if err != nil {
			faults = append(faults, err)
		}
	}
	return faults
}

// readyVLLMRandom wants a tokenizer that tells its size, or none where the embedded corpus may stand in.
func readyVLLMRandom(s *bench.Spec, in *Inputs) []error {
	if in.Tokenizer == nil && !s.Strict {
		return nil
	}
	return readyVocabulary(s.Dataset.Name, in)
}
