package dataset

import (
	"encoding/json"
	"fmt"
	"math"

	"github.com/servemark/servemark/internal/bench"
)

// custom of vLLM: a file of one {"prompt":"…","output_tokens":10} a line, shuffled; the prompt goes through the chat template unless
// that is skipped. A short file's rows are repeated.
func loadVLLMCustom(j *job) error {
	return j.promptFile(j.spec.Dataset.Path, j.spec.Seed, readPromptRow)
}

// otherCategory is the reason for leaving out a row of a category that was not asked for; it needs no note.
const otherCategory = "of another category"

// promptFile takes the rows of a file in the order that a seed gives; read reads one line.
func (j *job) promptFile(path string, seed int64, read func(line []byte) (promptRow, string)) error {
	d := &j.spec.Dataset
	f, err := openLines(path, 0, &j.skipped, func(line []byte) string {
		_, reason := read(line)
		return reason
	})
	if err != nil {
		return err
	}
	defer f.close()
	j.skipped.forget(otherCategory)
	if err := j.read("prompts of "+path, len(f.at)); err != nil {
		return err
	}
	j.reseed(seed)
	if j.want < 1 {
		j.want = len(f.at)
	}
	order := make([]int, len(f.at))
	for i := range order {
		order[i] = i
	}
	if !j.vllm().KeepOrder {
		j.rnd.Python.Shuffle(len(order), func(a, b int) { order[a], order[b] = order[b], order[a] })
	}
	order = order[:min(len(order), j.want)]
	requests := make([]bench.Request, len(order))
	reasons := make([]string, len(order))
	err = j.each(len(order), func(i int, j *job) (err error) {
		line, err := f.read(order[i])
		if err == nil {
			requests[i], reasons[i], err = j.promptRequest(line, read)
		}
		return err
	})
	if err != nil {
		return err
	}
	for i := range requests {
		if reasons[i] != "" {
			j.skipped.add(reasons[i], f.name(order[i]))
			continue
		}
		j.add(requests[i])
	}
	if d.ApplyTemplate && j.spec.Target.API == bench.APIChat && len(requests) > 0 {
		j.note("prompts carry the chat template already and the chat route puts it around them again, as the original's do; --skip-chat-template sends them plain")
	}
	j.repeatRows(seed)
	return nil
}

// promptRow is one line; the limit is nil where it states none.
type promptRow struct {
	Prompt string
	Output *float64
}

func readPromptRow(line []byte) (promptRow, string) {
	var raw struct {
		Prompt *string  `json:"prompt"`
		Output *float64 `json:"output_tokens"`
	}
	if !json.Valid(line) {
		return promptRow{}, reasonBroken
	}
	if err := json.Unmarshal(line, &raw); err != nil || raw.Prompt == nil {
		return promptRow{}, `no "prompt" text, or "output_tokens" that is no number`
	}
	return promptRow{*raw.Prompt, raw.Output}, ""
}

func (j *job) promptRequest(line []byte, read func(line []byte) (promptRow, string)) (r bench.Request, reason string, err error) {
	row, reason := read(line)
	if reason != "" {
		return r, reason, nil
	}
	if r.OutputTokens = j.spec.Dataset.FixedOutput; r.OutputTokens == 0 {
		if row.Output == nil || *row.Output < 1 || *row.Output > math.MaxInt32 {
			return r, `no "output_tokens" of at least 1, and no --custom-output-len for all`, nil
		}
		r.OutputTokens = int(*row.Output)
	}
	r.Prompt.Text = row.Prompt
	if j.spec.Dataset.ApplyTemplate {
		if r.Prompt.Text, err = j.in.Template(userMessage(row.Prompt), true); err != nil {
			return r, "", fmt.Errorf("the chat template refused a prompt of %s: %w; give --skip-chat-template to send the text as it is", j.spec.Dataset.Path, err)
		}
		if !j.spec.Strict {
			r.Prompt.Text = j.withoutBOS(r.Prompt.Text)
		}
	}
	if j.in.Tokenizer != nil {
		ids, err := j.in.Tokenizer.Encode(r.Prompt.Text, true)
		if err != nil {
			return r, "", fmt.Errorf("the tokenizer failed on a prompt of %s: %w", j.spec.Dataset.Path, err)
		}
		r.InputTokens = bench.Counted(len(ids))
	}
	return r, "", nil
}

func checkVLLMCustom(s *bench.Spec) []error {
	var faults []error
	if s.Dataset.Path == "" {
		faults = append(faults, errNoPath("custom", `{"prompt":"Hi","output_tokens":10}`))
	}
	if s.Dataset.FixedOutput < 0 {
		faults = append(faults, fmt.Errorf("the fixed output length is %d: give at least 1, or -1 to take each row's own", s.Dataset.FixedOutput))
	}
	return faults
}
