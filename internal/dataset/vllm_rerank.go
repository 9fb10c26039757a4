package dataset

import (
	"fmt"
	"slices"

	"github.com/servemark/servemark/internal/bench"
	"github.com/servemark/servemark/internal/pyrand"
)

// random-rerank of vLLM: one query and documents of random ids, so many of them a request. A reranker reads query and document as a
// pair with a separator between, and half of the input length is the query's; else each text is read for itself.
func loadRerank(j *job) error {
	d, v := &j.spec.Dataset, j.vllm()
	rng := pyrand.NewGenerator(uint64(j.spec.Seed))
	documents, batch, separators := d.Rows, max(v.BatchSize, 1), 1
	half := d.InputTokens/2 - separators
	if !v.Pairs {
		documents, batch, separators, half = documents-1, batch-1, 0, d.InputTokens
	}
	q := j.drawVLLMLengths(rng, 1, half, 0)
	each := d.InputTokens
	if v.Pairs {
		each = d.InputTokens - int(q.inputs[0]) - separators
	}
	l := j.drawVLLMLengths(rng, documents, each, 0)
	m := maker{j: j}
	s := m.sequences(rng, j.in.plainIDs(modelVocab(j.in.Tokenizer)))
	var query prompt
	err := s.write(&query, nil, q.inputs[0], q.offsets[0], 0)
	rows := make([]prompt, documents)
	for i := 0; err == nil && i < len(rows); i++ {
		err = s.write(&rows[i], nil, l.inputs[i], l.offsets[i], i+1)
	}
	if err != nil {
		return err
	}
	j.want = (documents + batch - 1) / batch
	for some := range slices.Chunk(rows, batch) {
		r := batched(append([]prompt{query}, some...))
		if v.Pairs { // the query is read with each document
			for range len(some) - 1 {
				r.InputTokens = r.InputTokens.Plus(query.tokens)
			}
			r.InputTokens = r.InputTokens.Plus(bench.Counted(len(some) * separators))
		}
		j.add(r)
	}
	m.report(documents + 1)
	return nil
}

func checkRerank(s *bench.Spec) []error {
	faults := checkRows(s)
	d := &s.Dataset
	var v bench.VLLMData
	if d.VLLM != nil {
		v = *d.VLLM
	}
	if d.InputTokens < 4 {
		faults = append(faults, fmt.Errorf("the input length is %s: a query and a document need at least 4", bench.Number(d.InputTokens, "token")))
	}
	if !v.Pairs && (d.Rows < 2 || v.BatchSize < 2) {
		faults = append(faults, fmt.Errorf("%s in batches of %d: without a reranker one of each batch is the query, so give at least 2 prompts and --random-batch-size 2", bench.Number(d.Rows, "text"), v.BatchSize))
	}
	if !s.Target.API.Pooling() {
		faults = append(faults, fmt.Errorf("random-rerank is a query with documents and the %s route takes one text: choose --backend vllm-rerank", s.Target.API))
	}
	if err := checkVLLMRatio("input", d.RangeRatio); err != nil {
		faults = append(faults, err)
	}
	return faults
}

func readyRerank(s *bench.Spec, in *Inputs) []error { return readyVocabulary(s.Dataset.Name, in) }
