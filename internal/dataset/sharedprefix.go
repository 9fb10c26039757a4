package dataset

import (
	"errors"
	"fmt"
	"math"

	"github.com/servemark/servemark/internal/bench"
	"github.com/servemark/servemark/internal/pyrand"
)

// generated-shared-prefix: groups of prompts with one system part each, "system\n\nquestion", and where turns are asked for as many
// further questions, each after the answer to the one before. Lengths are drawn by group, then by question; the ids of the
// parts from the whole vocabulary; then the order. Without a tokenizer the parts are documents of the embedded corpus.
func loadSharedPrefix(j *job) error {
	d := j.spec.Dataset.SharedPrefix
	total, turns := d.Groups*d.PromptsPerGroup, max(d.Turns, 1)
	j.want = total
	if j.spec.Dataset.Rows != total {
		j.note("generated-shared-prefix makes %s of %d: %s; --num-prompts has no part in it", bench.Number(d.Groups, "group"), d.PromptsPerGroup, bench.Number(total, "prompt"))
	}
	lens := lengths(j.rnd.NumPy, d.SystemTokens, d.RangeRatio, d.Groups)
	lens = append(lens, lengths(j.rnd.NumPy, d.QuestionTokens, d.RangeRatio, total*turns)...)
	outputs := lengths(j.rnd.NumPy, d.OutputTokens, d.RangeRatio, total)
	parts, err := j.parts(lens)
	if err != nil {
		return err
	}
	groups := assign(d, uint64(j.spec.Seed))
	rows := make([][]bench.Request, total)
	err = j.each(total, func(i int, j *job) (err error) {
		rows[i], err = j.join(&parts[groups[i]], parts[d.Groups+i*turns:][:turns])
		for k := range rows[i] {
			rows[i][k].OutputTokens = outputs[i]
			if d.RoutingKey {
				rows[i][k].RoutingKey = fmt.Sprintf("servemark_%d_%d", j.spec.Seed, groups[i])
			}
		}
		return err
	})
	if err != nil {
		return err
	}
	if !d.Ordered {
		j.rnd.Python.Shuffle(total, func(a, b int) { rows[a], rows[b] = rows[b], rows[a] })
	}
	j.addConversations(rows)
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
	err := j.each(len(out), func(i int, j *job) error {
		if lens[i] == 0 {
			return nil
		}
		// What mending needs beyond the draws is taken from their beginning again, to leave the stream where it is.
		return m.fill(j.in.Tokenizer, &out[i], lens[i], cycle(drawn[i]))
	})
	m.report(len(out))
	return out, err
}

// join makes a request of a shared part and a question, or a conversation of several questions.
func (j *job) join(system *prompt, questions []prompt) ([]bench.Request, error) {
	if j.spec.Dataset.SendIDs {
		ids := append(append([]uint32{}, system.IDs...), questions[0].IDs...)
		return []bench.Request{{Prompt: bench.Prompt{IDs: ids}, InputTokens: bench.Counted(len(ids))}}, nil
	}
	says := []string{system.Text + "\n\n" + questions[0].Text}
	for _, q := range questions[1:] {
		says = append(says, q.Text)
	}
	turns := []bench.Request{{Prompt: bench.Prompt{Text: says[0]}}}
	if len(says) > 1 {
		var err error
		if turns, err = j.dialogue(says); err != nil {
			return nil, err
		}
	}
	switch {
	case j.spec.Dataset.SharedPrefix.Fast && j.spec.Strict:
		turns[0].InputTokens = bench.Counted(1) // what the original records then
		return turns, nil
	case j.spec.Dataset.SharedPrefix.Fast || j.in.Tokenizer == nil:
		return turns, nil
	}
	ids, err := j.in.Tokenizer.Encode(says[0], true)
	if err != nil {
		return nil, fmt.Errorf("the tokenizer failed on a prompt: %w", err)
	}
	turns[0].InputTokens = bench.Counted(len(ids))
	return turns, nil
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
	switch {
	case d.Turns < 0:
		faults = append(faults, fmt.Errorf("the number of turns is %d: generated-shared-prefix needs at least 1", d.Turns))
	case d.Turns > 1 && s.Dataset.SendIDs:
		faults = append(faults, fmt.Errorf("%d turns cannot be sent as token ids, as answers come back as text: leave out --tokenize-prompt, or ask for one turn", d.Turns))
	case d.Turns > 1:
		faults = append(faults, checkTurns(s)...)
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
