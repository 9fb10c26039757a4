package dataset

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/servemark/servemark/internal/bench"
)

// spec_bench and speed_bench of vLLM: first turns of published questions, of one category or all, shuffled from seed 0 whatever
// the run's seed is, and short files repeated, as custom.

// fixedSeed is the seed that the original forgets to replace.
const fixedSeed = 0

func loadSpecBench(j *job) error {
	return j.promptFile(j.spec.Dataset.Path, fixedSeed, func(line []byte) (promptRow, string) {
		var row struct {
			Category string
			Turns    []string
		}
		if json.Unmarshal(line, &row) != nil {
			return promptRow{}, reasonBroken
		}
		if len(row.Turns) == 0 {
			return promptRow{}, "no turns"
		}
		return j.ofCategory(row.Category, row.Turns[0])
	})
}

func loadVLLMSpeedBench(j *job) error {
	return j.promptFile(fileOf(j.spec), fixedSeed, func(line []byte) (promptRow, string) {
		var row struct {
			Category string
			Messages []struct{ Content *string }
		}
		if json.Unmarshal(line, &row) != nil {
			return promptRow{}, reasonBroken
		}
		if len(row.Messages) == 0 || row.Messages[0].Content == nil {
			return promptRow{}, "no messages with a text"
		}
		return j.ofCategory(row.Category, *row.Messages[0].Content)
	})
}

// ofCategory is the row's prompt where its category is asked for.
func (j *job) ofCategory(category, prompt string) (promptRow, string) {
	if c := j.spec.Dataset.Category; c != "" && c != category {
		return promptRow{}, otherCategory
	}
	return promptRow{Prompt: prompt}, ""
}

// fileOf is the file that a data set reads: the path, or the subset's file in the folder it names.
func fileOf(s *bench.Spec) string {
	if s.Dataset.Subset == "" || strings.HasSuffix(s.Dataset.Path, ".jsonl") {
		return s.Dataset.Path
	}
	return filepath.Join(s.Dataset.Path, s.Dataset.Subset+".jsonl")
}

func checkSpecBench(s *bench.Spec) []error {
	var faults []error
	if s.Dataset.Path == "" {
		faults = append(faults, errors.New("spec_bench needs a file: bring data/spec_bench/question.jsonl of github.com/hemingkx/Spec-Bench and give its path with --dataset-path"))
	}
	return append(faults, checkBenchOutput(s)...)
}

func checkVLLMSpeedBench(s *bench.Spec) []error {
	var faults []error
	if s.Dataset.Path == "" {
		faults = append(faults, errors.New("speed_bench needs a folder of files like qualitative.jsonl: prepare the data set nvidia/SPEED-Bench as it says and give the folder with --dataset-path"))
	}
	return append(faults, checkBenchOutput(s)...)
}

func checkBenchOutput(s *bench.Spec) []error {
	if s.Dataset.FixedOutput < 1 {
		return []error{fmt.Errorf("the output length is %d: %s needs at least 1", s.Dataset.FixedOutput, s.Dataset.Name)}
	}
	return nil
}
