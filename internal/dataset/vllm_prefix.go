package dataset

import (
	"fmt"

	"github.com/servemark/servemark/internal/bench"
)

// prefix_repetition of vLLM: so many prefixes of random ids, each before the same number of suffixes of random ids; what does
// not divide is left out. Text that encodes to another length is cut or lengthened by further draws.
func loadPrefixRepetition(j *job) error {
	d, v, tok := &j.spec.Dataset, j.vllm(), j.in.Tokenizer
	vocab := int64(modelVocab(tok))
	j.set.Source = fmt.Sprintf("random ids below %d", vocab)
	draw := func(n int) []int64 { return j.rnd.NumPy.Integers(0, vocab, n) }
	part := func(n int) ([]uint32, error) {
		var ids []uint32
		for _, id := range draw(n) {
			ids = append(ids, uint32(id))
		}
		_, ids, err := settle(tok, ids, n, draw)
		return ids, err
	}
	each := d.Rows / v.Prefixes
	j.want = each * v.Prefixes
	if j.want < d.Rows {
		j.note("%s cannot be dealt evenly to %d prefixes: %d %s sent", bench.Number(d.Rows, "prompt"), v.Prefixes, j.want, bench.Agree(j.want, "is", "are"))
	}
	m := maker{j: j}
	rows := make([]prompt, 0, j.want)
	for range v.Prefixes {
		prefix, err := part(v.PrefixTokens)
		if err != nil {
			return err
		}
		for range each {
			suffix, err := part(v.SuffixTokens)
			if err != nil {
				return err
			}
			rows = append(rows, prompt{ids: append(append([]uint32{}, prefix...), suffix...)})
		}
	}
	err := j.each(len(rows), func(i int, j *job) error {
		p, tok := &rows[i], j.in.Tokenizer
		if j.spec.Strict {
			p.tokens = bench.Counted(len(p.ids))
			var err error
			p.Text, err = tok.Decode(p.ids, false)
			return err
		}
		n := v.PrefixTokens + v.SuffixTokens
		t, err := mend(tok, cycle(p.ids), n)
		m.keep(p, t, n)
		return err
	})
	if err != nil {
		return err
	}
	if !v.KeepOrder {
		j.rnd.Python.Shuffle(len(rows), func(a, b int) { rows[a], rows[b] = rows[b], rows[a] })
	}
	for i := range rows {
		j.add(bench.Request{Prompt: rows[i].Prompt, InputTokens: rows[i].tokens, OutputTokens: d.OutputTokens})
	}
	m.report(len(rows))
	return nil
}

func checkPrefixRepetition(s *bench.Spec) []error {
	faults := checkRows(s)
	v := bench.VLLMData{}
	if s.Dataset.VLLM != nil {
		v = *s.Dataset.VLLM
	}
	if v.PrefixTokens < 0 || v.SuffixTokens < 0 || v.PrefixTokens+v.SuffixTokens < 1 {
		faults = append(faults, fmt.Errorf("prefix and suffix are %d and %d tokens long: give 0 or more each, and 1 or more together", v.PrefixTokens, v.SuffixTokens))
	}
	if v.Prefixes < 1 || v.Prefixes > s.Dataset.Rows && s.Dataset.Rows > 0 {
		faults = append(faults, fmt.Errorf("%s for %s: give at least 1 prefix and at least as many prompts", bench.Number(v.Prefixes, "prefix"), bench.Number(s.Dataset.Rows, "prompt")))
	}
	if s.Dataset.OutputTokens < 0 {
		faults = append(faults, fmt.Errorf("the output length is %d tokens: give 0 or more", s.Dataset.OutputTokens))
	}
	return faults
}

func readyPrefixRepetition(s *bench.Spec, in *Inputs) []error {
	return readyVocabulary(s.Dataset.Name, in)
}
