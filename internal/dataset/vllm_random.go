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
	l := j.drawVLLMLengths(rng, d.Rows, d.InputTokens, d.OutputTokens)
	m := maker{j: j}
	rows := make([]prompt, d.Rows)
	fill := m.documents
	if j.in.Tokenizer != nil {
		fill = func(rows []prompt, inputs []int64, prefix int) error {
			s := m.sequences(rng, j.in.plainIDs(modelVocab(j.in.Tokenizer)))
			shared, err := s.prefix(prefix)
			for i := 0; err == nil && i < len(rows); i++ {
				err = s.write(&rows[i], shared, inputs[i], l.offsets[i], i)
			}
			return err
		}
	}
	if err := fill(rows, l.inputs, v.PrefixTokens); err != nil {
		return err
	}
	m.report(len(rows))
	if v.BatchSize > 1 {
		j.want = (len(rows) + v.BatchSize - 1) / v.BatchSize
		for batch := range slices.Chunk(rows, v.BatchSize) {
			j.add(batched(batch))
		}
		return nil
	}
	for i := range rows {
		j.add(bench.Request{Prompt: rows[i].Prompt, InputTokens: rows[i].tokens, OutputTokens: int(l.outputs[i])})
	}
	return nil
}

// batched is one request for vectors of several texts.
func batched(rows []prompt) bench.Request {
	r := bench.Request{InputTokens: bench.Counted(0)}
	for i := range rows {
		r.Prompt.Texts = append(r.Prompt.Texts, rows[i].Text)
		r.InputTokens = r.InputTokens.Plus(rows[i].tokens)
	}
	return r
}

// vllmLengths are the draws that vLLM's random data sets begin with.
type vllmLengths struct{ inputs, outputs, offsets []int64 }

// drawVLLMLengths draws n lengths around the asked ones, special tokens taken off the input, and as many places in the
// vocabulary.
func (j *job) drawVLLMLengths(rng *pyrand.Generator, n, input, output int) (l vllmLengths) {
	low, high := vllmRange(max(0, input-j.special()), j.spec.Dataset.RangeRatio)
	l.inputs = rng.Integers(low, high+1, n)
	low, high = vllmRange(output, j.vllm().OutputRangeRatio)
	l.outputs = rng.Integers(max(low, 1), max(high, 1)+1, n)
	if tok := j.in.Tokenizer; tok != nil {
		l.offsets = rng.Integers(0, int64(modelVocab(tok)), n)
	}
	return l
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

// sequences makes texts of ids one after the other, as each may draw.
type sequences struct {
	m       *maker
	rng     *pyrand.Generator
	allowed []uint32
	draw    func(n int) []int64
	// asked is the length of the shared prefix as it was asked for; what its text encodes to may be another.
	asked int
}

func (m *maker) sequences(rng *pyrand.Generator, allowed []uint32) *sequences {
	vocab := int64(modelVocab(m.j.in.Tokenizer))
	m.j.set.Source = fmt.Sprintf("random ids below %d", vocab)
	return &sequences{m: m, rng: rng, allowed: allowed, draw: func(n int) []int64 { return rng.Integers(0, vocab, n) }}
}

// prefix draws the ids that all rows begin with.
func (s *sequences) prefix(n int) ([]uint32, error) {
	if n <= 0 {
		return nil, nil
	}
	s.asked = n
	var shared []uint32
	for _, k := range s.rng.Integers(0, int64(len(s.allowed)), n) {
		shared = append(shared, s.allowed[k])
	}
	_, shared, err := settle(s.m.j.in.Tokenizer, shared, n, s.draw)
	return shared, err
}

// write makes row number index: n ids from an offset on behind the shared ones.
func (s *sequences) write(p *prompt, shared []uint32, n, offset int64, index int) error {
	ids := append([]uint32{}, shared...)
	for k := range int(n) {
		ids = append(ids, s.allowed[(int(offset)+index+k)%len(s.allowed)])
	}
	whole := s.asked + int(n)
	text, ids, err := settle(s.m.j.in.Tokenizer, ids, whole, s.draw)
	if err != nil {
		return err
	}
	return s.m.settled(p, text, ids, whole)
}

// plainIDs lists the ids below vocab that are no special tokens.
func (in *Inputs) plainIDs(vocab int) []uint32 {
	special := in.special()
	ids := make([]uint32, 0, vocab)
	for id := range uint32(vocab) {
		if !special(id) {
			ids = append(ids, id)
		}
	}
	return ids
}

// special tells special tokens, as the tokenizer's configuration names them or, where that is not known, the tokenizer.
func (in *Inputs) special() func(id uint32) bool {
	if knows, ok := in.Tokenizer.(interface{ IsSpecial(id uint32) bool }); ok && in.SpecialIDs == nil {
		return knows.IsSpecial
	}
	return func(id uint32) bool { return slices.Contains(in.SpecialIDs, id) }
}

// documents makes rows of the embedded corpus by the number of their words.
func (m *maker) documents(rows []prompt, inputs []int64, prefix int) error {
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
	if v.BatchSize < 0 || v.BatchSize > 1 && s.Target.API != bench.APIEmbeddings {
		faults = append(faults, fmt.Errorf("batches of %d texts are for embeddings only: leave --random-batch-size at 1", v.BatchSize))
	}
	if v.PrefixTokens < 0 {
		faults = append(faults, fmt.Errorf("the prefix length is %d tokens: give 0 or more", v.PrefixTokens))
	}
	if low, _ := vllmRange(d.InputTokens, d.RangeRatio); d.InputTokens < 0 || v.PrefixTokens >= 0 && int(low)+v.PrefixTokens < 1 {
		faults = append(faults, fmt.Errorf("the input length of %s may leave a prompt with none: ask for more, or for a smaller range ratio", bench.Number(d.InputTokens, "token")))
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
