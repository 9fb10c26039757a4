package dataset

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/servemark/servemark/internal/bench"
)

// speed-bench: first turns of {"category":"mixed","turns":["…"]} lines, of one category or all, within the chat template. Rows are drawn
// without repeating one; where too few are there, all are repeated and shuffled.
func loadSpeedBench(j *job) error {
	d := &j.spec.Dataset
	var texts []string
	f, err := openLines(d.Path, 0, &j.skipped, func(line []byte) string {
		var row struct {
			Category string
			Turns    []string
		}
		if err := json.Unmarshal(line, &row); err != nil {
			return reasonBroken
		}
		if d.Category != "" && row.Category != d.Category {
			return ""
		}
		if len(row.Turns) == 0 {
			return "no turns"
		}
		texts = append(texts, row.Turns[0])
		return ""
	})
	if err != nil {
		return err
	}
	f.close()
	source := "prompts of " + d.Path
	if d.Category != "" {
		source = d.Category + " " + source
	}
	if err := j.read(source, len(texts)); err != nil {
		return err
	}
	output := d.FixedOutput
	if output == 0 {
		output = speedBenchOutput
	}
	rows := make([]bench.Request, len(texts))
	if err := j.each(len(texts), func(i int, j *job) (err error) { rows[i], err = j.templatedPrompt(texts[i]); return err }); err != nil {
		return err
	}
	var order []int
	if d.Rows <= len(rows) {
		order = j.rnd.Python.Sample(len(rows), d.Rows)
	} else {
		for i := range d.Rows {
			order = append(order, i%len(rows))
		}
		j.rnd.Python.Shuffle(len(order), func(a, b int) { order[a], order[b] = order[b], order[a] })
		j.note("%s for %s (%s): %s %s one again, and will be found in the server's prefix cache", bench.Number(len(rows), "row"), bench.Number(d.Rows, "request"), j.set.Source, bench.Number(d.Rows-len(rows), "request"), bench.Agree(d.Rows-len(rows), "asks", "ask"))
	}
	for _, i := range order {
		r := rows[i]
		r.OutputTokens = output
		j.add(r)
	}
	return nil
}

const speedBenchOutput = 512

// templatedPrompt puts the chat template around a text, where there is one and the server does not do it. As the original
// does it, the text is what the template's ids decode to.
func (j *job) templatedPrompt(text string) (r bench.Request, err error) {
	r.Prompt.Text = text
	tok := j.in.Tokenizer
	if tok == nil {
		return r, nil
	}
	if j.in.Template != nil && (j.spec.Strict || j.spec.Target.API != bench.APIChat) {
		whole, err := j.in.Template(userMessage(text), true)
		if err == nil {
			ids, err := tok.Encode(whole, false)
			if err != nil {
				return r, fmt.Errorf("the tokenizer failed on a prompt of %s: %w", j.spec.Dataset.Path, err)
			}
			r.InputTokens = bench.Counted(len(ids))
			if j.spec.Strict {
				r.Prompt.Text, err = tok.Decode(ids, false)
				return r, err
			}
			r.Prompt.Text = j.withoutBOS(whole)
			return r, nil
		}
	}
	ids, err := tok.Encode(text, true)
	if err != nil {
		return r, fmt.Errorf("the tokenizer failed on a prompt of %s: %w", j.spec.Dataset.Path, err)
	}
	r.InputTokens = bench.Counted(len(ids))
	return r, nil
}

func checkSpeedBench(s *bench.Spec) []error {
	faults := checkRows(s)
	if s.Dataset.Path == "" {
		faults = append(faults, errors.New(`speed-bench needs a file: prepare the data set nvidia/SPEED-Bench as it says and give --dataset-path its JSON Lines, {"category":"mixed","turns":["…"]}`))
	}
	if s.Dataset.FixedOutput < 0 {
		faults = append(faults, fmt.Errorf("the output length is %d: give at least 1, or leave it out for %d", s.Dataset.FixedOutput, speedBenchOutput))
	}
	switch s.Dataset.Category {
	case "", "low_entropy", "mixed", "high_entropy":
	default:
		faults = append(faults, fmt.Errorf("there is no category %q: choose low_entropy, mixed or high_entropy, or leave it out for all", s.Dataset.Category))
	}
	return faults
}
