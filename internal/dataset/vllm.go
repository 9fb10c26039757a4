package dataset

import (
	"errors"
	"fmt"

	"github.com/servemark/servemark/internal/bench"
	"github.com/servemark/servemark/internal/pyrand"
)

// What vLLM's data sets share. Its client seeds Python's and NumPy's generators anew for each data set, so each draws from
// the beginning of its streams.

// vllm is the part of the Spec that only vLLM's data sets have.
func (j *job) vllm() bench.VLLMData {
	if v := j.spec.Dataset.VLLM; v != nil {
		return *v
	}
	return bench.VLLMData{}
}

// reseed begins Python's stream anew, as vLLM's data sets do.
func (j *job) reseed(seed int64) { *j.rnd.Python = *pyrand.NewPython(seed) }

// repeatRows fills up a short data set with rows drawn from those it has.
func (j *job) repeatRows(seed int64) {
	rows := j.set.Requests
	missing := j.want - len(rows)
	if missing <= 0 || len(rows) == 0 || j.vllm().NoRepeat {
		return
	}
	j.reseed(seed)
	for range missing {
		j.add(rows[j.rnd.Python.Below(len(rows))])
	}
	j.note("%s for %s (%s): %s %s one again, and will be found in the server's prefix cache; --no-oversample leaves such out", bench.Number(len(rows), "row"), bench.Number(j.want, "request"), j.set.Source, bench.Number(missing, "request"), bench.Agree(missing, "asks", "ask"))
}

// maxRetries is how often the original cuts or lengthens before it takes what it has.
const maxRetries = 10

// settle decodes ids and encodes the text, and again with ids cut off or drawn until the text has n tokens, as
// gen_prompt_decode_to_target_len does: the draws depend on what the tokenizer makes of each text.
func settle(tok Tokenizer, ids []uint32, n int, draw func(n int) []int64) (text string, out []uint32, err error) {
	for try := 0; ; try++ {
		if text, err = tok.Decode(ids, false); err != nil {
			return "", nil, fmt.Errorf("the tokenizer cannot turn ids into text: %w", err)
		}
		if ids, err = tok.Encode(text, false); err != nil {
			return "", nil, fmt.Errorf("the tokenizer failed on a prompt: %w", err)
		}
		if try == maxRetries || len(ids) == n {
			return text, ids, nil
		}
		for _, id := range draw(max(0, n-len(ids))) {
			ids = append(ids, uint32(id))
		}
		ids = ids[:n]
	}
}

// settled makes a request's text of what settle found: as it is (strict), or brought to n tokens where it is not.
func (m *maker) settled(p *prompt, text string, ids []uint32, n int) error {
	if m.j.spec.Strict {
		p.Text, p.tokens = text, bench.Counted(len(ids))
		return nil
	}
	t := mended{text, len(ids), false}
	if len(ids) != n && len(ids) > 0 {
		var err error
		if t, err = mend(m.j.in.Tokenizer, cycle(ids), n); err != nil {
			return err
		}
		t.changed = true
	}
	m.keep(p, t, n)
	return nil
}

// checkVLLMRatio wants a ratio that leaves lengths above nothing.
func checkVLLMRatio(what string, ratio float64) error {
	if ratio >= 0 && ratio < 1 {
		return nil
	}
	return fmt.Errorf("the %s range ratio is %v: give 0 (exactly the asked length) to under 1 (lengths from len·(1−r) to len·(1+r))", what, ratio)
}

// readyVocabulary wants a tokenizer that tells its size.
func readyVocabulary(name string, in *Inputs) []error {
	switch {
	case in.Tokenizer == nil:
		return []error{errors.New(name + " draws from the tokenizer's vocabulary and no tokenizer was found: give --tokenizer a tokenizer.json, its folder or org/name")}
	case modelVocab(in.Tokenizer) < 1:
		return []error{errors.New(name + " draws from the tokenizer's vocabulary and this one does not tell its size (a server's tokenize route does not): give --tokenizer a tokenizer.json, its folder or org/name")}
	}
	return nil
}
