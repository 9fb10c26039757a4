package dataset

import (
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/servemark/servemark/internal/bench"
	"github.com/servemark/servemark/internal/pyrand"
)

// random: lengths drawn uniformly, texts from a corpus, each repeated or cut to its length. The corpus is the file of
// --dataset-path, else the published ShareGPT file where it is cached, else the embedded one.
func loadRandom(j *job) error {
	inputs, outputs := j.drawLengths()
	texts, err := j.corpus(max(len(inputs), embeddedSize))
	if err != nil {
		return err
	}
	defer texts.close()
	order := make([]int, texts.size())
	for i := range order {
		order[i] = i
	}
	j.rnd.Python.Shuffle(len(order), func(a, b int) { order[a], order[b] = order[b], order[a] })
	m := maker{j: j, texts: texts}
	if j.in.Tokenizer != nil && !j.spec.Strict && !j.spec.Dataset.SendIDs {
		back, err := decodes(j.in.Tokenizer)
		if err != nil {
			return err
		}
		m.byWords = !back
	}
	for done := 0; done < len(inputs) && len(order) > 0; {
		batch := make([]prompt, min(len(order), len(inputs)-done))
		if err := m.read(batch, order, inputs[done:]); err != nil {
			return err
		}
		// A document without a token leaves its lengths to the next one.
		filled := batch[:0]
		for i := range batch {
			if batch[i].empty {
				j.skipped.add("no token in its first turn", texts.name(order[i]))
				continue
			}
			filled = append(filled, batch[i])
		}
		order = order[len(batch):]
		if err := m.make(filled, inputs[done:]); err != nil {
			return err
		}
		for i := range filled {
			j.add(bench.Request{Prompt: filled[i].Prompt, InputTokens: filled[i].tokens, OutputTokens: outputs[done+i]})
		}
		done += len(filled)
	}
	m.report(len(j.set.Requests))
	return nil
}

// drawLengths draws the input lengths, then the output lengths. Where text is sent the server adds special tokens of its
// own, which are taken off the input.
func (j *job) drawLengths() (inputs, outputs []int) {
	d := &j.spec.Dataset
	inputs = lengths(j.rnd.NumPy, d.InputTokens, d.RangeRatio, d.Rows)
	outputs = lengths(j.rnd.NumPy, d.OutputTokens, d.RangeRatio, d.Rows)
	if !d.SendIDs && j.in.Tokenizer != nil {
		for i := range inputs {
			inputs[i] = max(1, inputs[i]-j.in.Tokenizer.NumSpecial())
		}
	}
	return inputs, outputs
}

// lengths draws n lengths from [max(⌊full·ratio⌋,1), full]; a length of 0 is not drawn.
func lengths(r *pyrand.NumPy, full int, ratio float64, n int) []int {
	out := make([]int, n)
	if full <= 0 {
		return out
	}
	for i, v := range r.Integers(int64(max(int(float64(full)*ratio), 1)), int64(full)+1, n) {
		out[i] = int(v)
	}
	return out
}

// prompt is a random request on its way.
type prompt struct {
	bench.Prompt
	tokens bench.Count
	text   string
	ids    []uint32
	empty  bool
}

// maker turns documents into prompts of asked lengths.
type maker struct {
	j     *job
	texts texts
	// byWords fits texts by their words, as the tokenizer does not decode.
	byWords        bool
	repaired, near atomic.Int64
}

// read fetches the documents of a batch and encodes them.
func (m *maker) read(batch []prompt, order, targets []int) error {
	// The original encodes a document with its special tokens and cuts after that. Sending such text gets them twice.
	special := m.j.spec.Strict || m.j.spec.Dataset.SendIDs
	calibration := m.j.calibration()
	return m.j.each(len(batch), func(i int, j *job) (err error) {
		p, tok := &batch[i], j.in.Tokenizer
		words := int(1.1*float64(targets[i])/builtInSlope) + 8
		if tok == nil {
			words = calibration.Words(targets[i])
		}
		for {
			if p.text, err = m.texts.text(order[i], words); err != nil {
				return err
			}
			if tok == nil {
				p.empty = isBlank(p.text)
				return nil
			}
			if p.ids, err = tok.Encode(p.text, special); err != nil {
				return fmt.Errorf("the tokenizer failed on a document of %s: %w", m.texts, err)
			}
			p.empty = len(p.ids) == 0
			if !m.texts.endless() || len(p.ids) > targets[i]+8 {
				return nil
			}
			words *= 2
		}
	})
}

func isBlank(s string) bool {
	for _, r := range s {
		if !isSpace(r) {
			return false
		}
	}
	return true
}

// make gives every prompt its length.
func (m *maker) make(batch []prompt, targets []int) error {
	return m.j.each(len(batch), func(i int, j *job) error {
		p, n, tok := &batch[i], targets[i], j.in.Tokenizer
		base := p.ids
		if tok == nil {
			p.Text = repeatWords(p.text, m.j.calibration().Words(n))
			p.text = ""
			return nil
		}
		text := p.text
		p.text, p.ids = "", nil
		if m.byWords {
			t, err := fitWords(tok, func(words int) string { return repeatWords(text, words) }, n)
			m.keep(p, t, n)
			return err
		}
		return m.fill(tok, p, n, cycle(base))
	})
}

// cycle repeats ids for ever.
func cycle(ids []uint32) func(from, to int) []uint32 {
	return func(from, to int) []uint32 {
		out := make([]uint32, 0, to-from)
		for k := from; k < to; k++ {
			out = append(out, ids[k%len(ids)])
		}
		return out
	}
}

// fill makes the prompt of n tokens from its drawn ids: the ids themselves, their text as it comes (strict), or their text
// mended to n tokens.
func (m *maker) fill(tok Tokenizer, p *prompt, n int, ids func(from, to int) []uint32) error {
	spec := m.j.spec
	switch {
	case spec.Dataset.SendIDs:
		p.IDs, p.tokens = ids(0, n), bench.Counted(n)
	case spec.Strict:
		text, err := tok.Decode(ids(0, n), false)
		if err != nil {
			return fmt.Errorf("the tokenizer cannot turn ids into text: %w", err)
		}
		p.Text, p.tokens = text, bench.Counted(n)
	default:
		t, err := mend(tok, ids, n)
		if err != nil {
			return err
		}
		m.keep(p, t, n)
	}
	return nil
}

// keep takes a text of n asked tokens into the prompt.
func (m *maker) keep(p *prompt, t mended, n int) {
	p.Text, p.tokens = t.text, bench.Counted(t.tokens+m.j.in.Tokenizer.NumSpecial())
	if t.changed {
		m.repaired.Add(1)
	}
	if t.tokens != n {
		m.near.Add(1)
	}
}

// report notes what was mended, of so many texts.
func (m *maker) report(total int) {
	m.j.set.Repaired = int(m.repaired.Load())
	if n := m.near.Load(); n > 0 {
		m.j.note("%s could not be brought to the asked number of tokens with this tokenizer: sent shorter, and counted as sent", bench.Part(int(n), total, "text"))
	}
}

// repeatWords gives exactly n words of a text, repeated from its start where it has fewer.
func repeatWords(text string, n int) string {
	have := countWords(text)
	if have >= n {
		return cutWords(text, n)
	}
	out := make([]byte, 0, len(text)*(n/have+1))
	for ; n > have; n -= have {
		out = append(append(out, text...), ' ')
	}
	return string(append(out, cutWords(text, n)...))
}

func countWords(text string) int {
	n, inWord := 0, false
	for _, r := range text {
		if space := isSpace(r); space == inWord {
			if inWord = !space; inWord {
				n++
			}
		}
	}
	return n
}

func checkRandom(s *bench.Spec) []error {
	d := &s.Dataset
	faults := checkRows(s)
	if d.InputTokens < 1 {
		faults = append(faults, fmt.Errorf("the input length is %d tokens: %s needs at least 1", d.InputTokens, d.Name))
	}
	if d.OutputTokens < 0 {
		faults = append(faults, fmt.Errorf("the output length is %d tokens: give 0 (ask for none, as for embeddings) or more", d.OutputTokens))
	}
	if !(d.RangeRatio >= 0 && d.RangeRatio <= 1) {
		faults = append(faults, fmt.Errorf("the range ratio is %v: give 0 to 1, where 1 means exactly the asked length and 0 anything from 1 token up to it", d.RangeRatio))
	}
	return faults
}

func readyRandom(s *bench.Spec, in *Inputs) []error {
	if s.Dataset.Path != "" || !s.Strict {
		return nil
	}
	if _, ok, err := shareGPT().cached(in); err != nil {
		return []error{err}
	} else if !ok {
		return []error{errors.New("with --strict-compat the random prompts are the original's, which come from ShareGPT, and that is not on this machine: " + bringShareGPT + ", or leave out --strict-compat to use the embedded corpus")}
	}
	return nil
}
