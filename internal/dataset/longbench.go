package dataset

import (
	"encoding/json"
	"fmt"

	"github.com/servemark/servemark/internal/bench"
	"github.com/servemark/servemark/internal/hub"
)

// longbench_v2: questions about long documents, one {"context","question","choice_A"…"choice_D"} a line, a JSON array or a Parquet file of them,
// shuffled. Answers are short: 10 tokens unless a fixed length is given. Prompts over the context limit are left out.
func loadLongBench(j *job) error {
	path, err := longBench().locate(j.spec, j.in)
	if err != nil {
		return err
	}
	lines, done, err := asLines(path)
	if err != nil {
		return err
	}
	defer done()
	f, err := openLinesOrArray(lines, &j.skipped, func(row []byte) string {
		_, reason := longBenchPrompt(row)
		return reason
	})
	if err != nil {
		return err
	}
	defer f.close()
	if err := j.read("questions of "+path, len(f.at)); err != nil {
		return err
	}
	output := j.spec.Dataset.FixedOutput
	if output == 0 {
		output = longBenchOutput
	}
	order := make([]int, len(f.at))
	for i := range order {
		order[i] = i
	}
	j.rnd.Python.Shuffle(len(order), func(a, b int) { order[a], order[b] = order[b], order[a] })
	return j.pick(f, order, func(j *job, row []byte) (r bench.Request, reason string, err error) {
		r.Prompt.Text, reason = longBenchPrompt(row)
		r.OutputTokens = output
		n := j.guess(r.Prompt.Text)
		if tok := j.in.Tokenizer; tok != nil && reason == "" {
			ids, err := tok.Encode(r.Prompt.Text, true)
			if err != nil {
				return r, "", fmt.Errorf("the tokenizer failed on a prompt of %s: %w", path, err)
			}
			n, r.InputTokens = len(ids), bench.Counted(len(ids))
		}
		if limit := j.spec.Dataset.ContextLimit; reason == "" && limit > 0 && n+output > limit {
			reason = "prompt and answer exceed the context limit"
		}
		return r, reason, nil
	})
}

// longBenchOutput is enough for the letter of an answer and a word about it.
const longBenchOutput = 10

// longBenchPrompt asks the question of a row, or says why there is none.
func longBenchPrompt(row []byte) (prompt, reason string) {
	var q struct {
		Context, Question                  *string
		ChoiceA, ChoiceB, ChoiceC, ChoiceD *string
	}
	fields := map[string]**string{"context": &q.Context, "question": &q.Question, "choice_A": &q.ChoiceA, "choice_B": &q.ChoiceB, "choice_C": &q.ChoiceC, "choice_D": &q.ChoiceD}
	if !json.Valid(row) || !eachMember(row, func(key string, value []byte) {
		if to := fields[key]; to != nil && json.Unmarshal(value, to) != nil {
			*to = nil
		}
	}) {
		return "", reasonBroken
	}
	for _, name := range []string{"context", "question", "choice_A", "choice_B", "choice_C", "choice_D"} {
		if *fields[name] == nil {
			return "", "no text " + name
		}
	}
	return fmt.Sprintf("%s\n\nQuestion: %s\nA. %s\nB. %s\nC. %s\nD. %s\nAnswer:", *q.Context, *q.Question, *q.ChoiceA, *q.ChoiceB, *q.ChoiceC, *q.ChoiceD), ""
}

// pick takes rows in the given order until there are as many requests as wanted. request gives what a row asks or the reason why
// nothing; it is called for several rows at once, each with a job of its own.
func (j *job) pick(f *rows, order []int, request func(j *job, row []byte) (r bench.Request, reason string, err error)) error {
	for want := j.spec.Dataset.Rows; len(order) > 0 && len(j.set.Requests) < want; {
		n := min(len(order), want-len(j.set.Requests))
		requests, reasons := make([]bench.Request, n), make([]string, n)
		err := j.each(n, func(i int, j *job) error {
			row, err := f.read(order[i])
			if err == nil {
				requests[i], reasons[i], err = request(j, row)
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
		order = order[n:]
	}
	return nil
}

func longBench() published {
	return published{
		repo: hub.Repo{ID: "THUDM/LongBench-v2", Kind: hub.Dataset}, file: "data.json",
		bring: "bring data.json of the data set THUDM/LongBench-v2 and give its path with --dataset-path (or Parquet or JSON Lines with context, question and choice_A to choice_D)",
	}
}

func checkLongBench(s *bench.Spec) []error {
	faults := checkRows(s)
	d := &s.Dataset
	if d.FixedOutput < 0 {
		faults = append(faults, fmt.Errorf("the fixed output length is %d: give at least 1, or leave it out for %d", d.FixedOutput, longBenchOutput))
	}
	if d.ContextLimit < 0 {
		faults = append(faults, fmt.Errorf("the context limit is %d: give at least 1, or leave it out to keep every row", d.ContextLimit))
	}
	return faults
}

func readyLongBench(s *bench.Spec, in *Inputs) []error { return longBench().ready(s, in) }
