package dataset

import (
	"errors"
	"fmt"
	"math"

	"github.com/servemark/servemark/internal/bench"
	"github.com/servemark/servemark/internal/pyrand"
)

// generated-shared-prefix: groups of prompts with one system part each, "system\n\nquestion". Lengths are drawn by group, then by
// prompt; the ids of the parts from the whole vocabulary; then the order. Without a tokenizer the parts are documents of
// the embedded corpus.
func loadSharedPrefix(j *job) error {
	d := j.spec.Dataset.SharedPrefix
	total := d.Groups * d.PromptsPerGroup
	j.want = total
	if j.spec.Dataset.Rows != total {
		j.note("generated-shared-prefix makes %d groups of %d: %d prompts; --num-prompts has no part in it", d.Groups, d.PromptsPerGroup, total)
	}
	lens := lengths(j.rnd.NumPy, d.SystemTokens, d.RangeRatio, d.Groups)
	lens = append(lens, lengths(j.rnd.NumPy, d.QuestionTokens, d.RangeRatio, total)...)
	outputs := lengths(j.rnd.NumPy, d.OutputTokens, d.RangeRatio, total)
	parts, err := j.parts(lens)
	if err != nil {
		return err
	}
	groups := assign(d, uint64(j.spec.Seed))
	requests := make([]bench.Request, total)
	err = parallel(total, func(i int) (err error) {
		requests[i], err = j.join(&parts[groups[i]], &parts[d.Groups+i])
		requests[i].OutputTokens = outputs[i]
		return err
	})
	if err != nil {
		return err
	}
	if !d.Ordered {
		j.rnd.Python.Shuffle(total, func(a, b int) { requests[a], requests[b] = requests[b], requests[a] })
	}
	j.set.Requests = requests
	return nil
}

// parts makes texts or ids of the given lengths, drawing their ids one part after the other.
func (j *job) parts(lens []int) ([]prompt, error) {
	out := make([]prompt, len(lens))
	tok := j.in.Tokenizer
	if tok == nil {
		j.set.Source = "embedded corpus, lengths by words (" + j.calibration().source() + ")"
		c := j.calibration()
		c.Offset = 0 // what the server adds, it adds once a prompt
		return out, parallel(len(out), func(i int) error {
			words := c.Words(lens[i])
			out[i].Text = cutWords(document(i, words), words)
			return nil
		})
	}
	ids := vocabularyOf(tok)
	j.set.Source = fmt.Sprintf("random ids of the vocabulary's %d", len(ids))
	drawn := make([][]uint32, len(lens))
	for i, n := range lens {
		for _, k := range j.rnd.Python.Choices(len(ids), n) {
			drawn[i] = append(drawn[i], ids[k])
		}
	}
	m := maker{j: j}
	err := parallel(len(out), func(i int) error {
		if lens[i] == 0 {
			return nil
		}
		// What mending needs beyond the draws is taken from their beginning again, to leave the stream where it is.
		return m.fill(&out[i], lens[i], cycle(drawn[i]))
	})
	m.report(len(out))
	return out, err
}

// join makes a request of a shared part and a question.
func (j *job) join(system, question *prompt) (bench.Request, error) {
	if j.spec.Dataset.SendIDs {
		ids := append(append([]uint32{}, system.IDs...), question.IDs...)
		return bench.Request{Prompt: bench.Prompt{IDs: ids}, InputTokens: bench.Counted(len(ids))}, nil
	}
	r := bench.Request{Prompt: bench.Prompt{Text: system.Text + "\n\n" + question.Text}}
	switch {
	case j.spec.Dataset.SharedPrefix.Fast && j.spec.Strict:
		r.InputTokens = bench.Counted(1) // what the original records then
		return r, nil
	case j.spec.Dataset.SharedPrefix.Fast || j.in.Tokenizer == nil:
		return r, nil
	}
	ids, err := j.in.Tokenizer.Encode(r.Prompt.Text, true)
	if err != nil {
		return r, fmt.Errorf("the tokenizer failed on a prompt: %w", err)
	}
	r.InputTokens = bench.Counted(len(ids))
	return r, nil
}

// assign says which group each prompt's shared part is of: the same number each, or drawn by rank from a stream of its own, so
// that the texts stay as they are.
func assign(d *bench.SharedPrefix, seed uint64) []int {
	groups := make([]int, d.Groups*d.PromptsPerGroup)
	if d.ZipfAlpha == 0 {
		for i := range groups {
			groups[i] = i / d.PromptsPerGroup
		}
		return groups
	}
	shares := make([]float64, d.Groups)
	total := 0.0
	for i := range shares {
		shares[i] = 1 / math.Pow(float64(i+1), d.ZipfAlpha)
		total += shares[i]
	}
	for i := range shares {
		shares[i] /= total
	}
	g := pyrand.NewGenerator(seed)
	for i := range groups {
		groups[i] = g.Choice(shares)
	}
	return groups
}

// vocabularyOf lists the ids that are drawn from: all of them, special tokens included.
func vocabularyOf(t Tokenizer) []uint32 {
	if all, ok := t.(interface{ TokenIDs() []uint32 }); ok {
		return all.TokenIDs()
	}
	ids := make([]uint32, t.VocabSize())
	for i := range ids {
		ids[i] = uint32(i)
	}
	return ids
}

func checkSharedPrefix(s *bench.Spec) []error {
	d := s.Dataset.SharedPrefix
	if d == nil {
		return []error{errors.New("generated-shared-prefix was asked for without its groups and lengths")}
	}
	var faults []error
	for _, x := range []struct {
		what  string
		value int
		least int
	}{
		{"number of groups", d.Groups, 1}, {"number of prompts per group", d.PromptsPerGroup, 1}, {"shared part's length", d.SystemTokens, 1},
		{"question's length", d.QuestionTokens, 1}, {"output length", d.OutputTokens, 0},
	} {
		if x.value < x.least {
			faults = append(faults, fmt.Errorf("the %s is %d: generated-shared-prefix needs at least %d", x.what, x.value, x.least))
		}
	}
	if !(d.RangeRatio >= 0 && d.RangeRatio <= 1) {
		faults = append(faults, fmt.Errorf("the range ratio is %v: give 0 to 1, where 1 means exactly the asked length and 0 anything from 1 token up to it", d.RangeRatio))
	}
	if !(d.ZipfAlpha >= 0) || math.IsInf(d.ZipfAlpha, 0) {
		faults = append(faults, fmt.Errorf("the zipf exponent is %v: give a finite number above 0", d.ZipfAlpha))
	}
	return faults
}

func readySharedPrefix(s *bench.Spec, in *Inputs) []error {
	switch {
	case in.Tokenizer == nil && s.Strict:
		return []error{errors.New("with --strict-compat generated-shared-prefix draws from the tokenizer's vocabulary and no tokenizer was found: give --tokenizer a tokenizer.json, its folder or org/name, or leave out --strict-compat to use the embedded corpus")}
	case in.Tokenizer != nil && len(vocabularyOf(in.Tokenizer)) == 0:
		return []error{errors.New("generated-shared-prefix draws from the tokenizer's vocabulary and this one does not tell its tokens (a server's tokenize route does not): give --tokenizer a tokenizer.json, its folder or org/name")}
	}
	return nil
}
