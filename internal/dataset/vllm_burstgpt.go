package dataset

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/servemark/servemark/internal/bench"
	"github.com/servemark/servemark/internal/pyrand"
)

// burstgpt of vLLM: lengths drawn from the rows of a trace in CSV whose model is GPT-4 and whose answer was not empty, without
// repeating one where there are enough; prompt i has the ids from i on. The trace's times are not looked at.
func loadBurstGPT(j *job) error {
	d := &j.spec.Dataset
	lengths, err := readBurstGPT(d.Path)
	if err != nil {
		return fmt.Errorf("%s is no BurstGPT trace: %w; bring BurstGPT_1.csv of github.com/HPMLL/BurstGPT", d.Path, err)
	}
	if err := j.read("lengths of the trace "+d.Path, len(lengths)); err != nil {
		return err
	}
	draws := pyrand.NewNumPy(uint32(j.spec.Seed)) // of its own, as pandas has it
	var picks []int
	if d.Rows <= len(lengths) {
		picks = draws.Permutation(len(lengths))[:d.Rows]
	} else {
		for _, k := range draws.Integers(0, int64(len(lengths)), d.Rows) {
			picks = append(picks, int(k))
		}
	}
	m := maker{j: j}
	rows := make([]prompt, len(picks))
	tok := j.in.Tokenizer
	if tok == nil {
		inputs := make([]int64, len(picks))
		for i, k := range picks {
			inputs[i] = int64(lengths[k][0])
		}
		err = m.documents(rows, inputs, 0)
	} else {
		vocab := modelVocab(tok)
		err = j.each(len(rows), func(i int, j *job) error {
			ids := func(from, to int) []uint32 {
				out := make([]uint32, 0, to-from)
				for k := from; k < to; k++ {
					out = append(out, uint32((i+k)%vocab))
				}
				return out
			}
			n := lengths[picks[i]][0]
			if !j.spec.Strict {
				n = max(1, n-tok.NumSpecial())
			}
			return m.fill(j.in.Tokenizer, &rows[i], n, ids)
		})
	}
	if err != nil {
		return err
	}
	m.report(len(rows))
	for i := range rows {
		j.add(bench.Request{Prompt: rows[i].Prompt, InputTokens: rows[i].tokens, OutputTokens: lengths[picks[i]][1]})
	}
	return nil
}

// readBurstGPT gives request and response tokens of the usable rows.
func readBurstGPT(path string) (lengths [][2]int, err error) {
	f, r, err := open(path, "row")
	if err != nil {
		return nil, err
	}
	defer f.close()
	in := csv.NewReader(r)
	in.ReuseRecord = true
	header, err := in.Read()
	if err != nil {
		return nil, fmt.Errorf("its first line cannot be read: %w", err)
	}
	model, response := slices.Index(header, "Model"), slices.Index(header, "Response tokens")
	if model < 0 || response < 0 || len(header) < 4 {
		return nil, fmt.Errorf("its first line is %.80q and not Timestamp,Model,Request tokens,Response tokens,…", header)
	}
	for {
		row, err := in.Read()
		if errors.Is(err, io.EOF) {
			return lengths, nil
		}
		if err != nil {
			return nil, err
		}
		n, err := strconv.ParseFloat(row[response], 64)
		line, _ := in.FieldPos(0)
		if err != nil {
			return nil, fmt.Errorf("line %d: %q are no response tokens", line, row[response])
		}
		if row[model] != "GPT-4" || n <= 0 {
			continue
		}
		// The original takes the third and the fourth column, whatever they are called.
		input, err1 := strconv.ParseFloat(row[2], 64)
		output, err2 := strconv.ParseFloat(row[3], 64)
		if err1 != nil || err2 != nil || input < 0 || output < 0 || max(input, output) > mostTokens {
			return nil, fmt.Errorf("line %d: %q and %q are no lengths", line, row[2], row[3])
		}
		lengths = append(lengths, [2]int{int(input), int(output)})
	}
}

func checkBurstGPT(s *bench.Spec) []error {
	faults := checkRows(s)
	if s.Dataset.Path == "" {
		faults = append(faults, errors.New("burstgpt needs a trace: bring BurstGPT_1.csv of github.com/HPMLL/BurstGPT and give its path with --dataset-path"))
	}
	return faults
}

// readyBurstGPT wants a tokenizer that tells its size, or none where the embedded corpus may stand in.
func readyBurstGPT(s *bench.Spec, in *Inputs) []error {
	if in.Tokenizer == nil && !s.Strict {
		return nil
	}
	return readyVocabulary(s.Dataset.Name, in)
}
