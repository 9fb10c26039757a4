package dataset

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/servemark/servemark/internal/bench"
	"github.com/servemark/servemark/internal/pyrand"
)

// timed_trace of vLLM: the replay of a trace in JSON Lines whose fields may have any names. A hash id stands for a block of random
// ids, the same wherever it stands. The original draws them from a hash that differs from process to process; here they are
// the same for the same seed. Where a line has fewer blocks than its length, ids of its own make up for them.
func loadTimedTrace(j *job) error {
	d := j.spec.Dataset.TimedTrace
	lines, err := j.readTimed()
	if err != nil {
		return err
	}
	if !j.spec.Strict && d.SelfTimed {
		slices.SortStableFunc(lines, func(a, b timedLine) int { return cmp.Compare(a.at, b.at) })
	}
	e := expander{ids: plainVocabulary(j.in), size: d.BlockTokens, seed: j.spec.Seed, made: map[string][]uint32{}}
	short := 0
	at := 0.0
	for i := range lines {
		l := &lines[i]
		ids := e.expand(l.hashes, l.input)
		if len(ids) < l.input && !j.spec.Strict {
			ids = append(ids, e.block(fmt.Sprintf("line %d", l.number), l.input-len(ids))...)
			short++
		}
		r, err := j.timedRequest(ids)
		if err != nil {
			return err
		}
		r.OutputTokens = l.output
		at = max(at, l.at) // one that comes late in the file is sent where it stands
		r.Due = bench.Instant(math.Round(at * float64(time.Second)))
		if !j.spec.Strict {
			r.Due = bench.Instant(math.Round((at - lines[0].at) * float64(time.Second)))
		}
		j.add(r)
	}
	if short > 0 {
		j.note("%s of the trace %s fewer blocks of %s than the length needs: text of %s own makes up for them", bench.Number(short, "line"), bench.Agree(short, "has", "have"), bench.Number(d.BlockTokens, "token"), bench.Agree(short, "its", "their"))
	}
	j.set.Timed = d.SelfTimed
	return nil
}

// timedRequest sends ids as they are where the route takes them, else as text of so many tokens.
func (j *job) timedRequest(ids []uint32) (bench.Request, error) {
	if api := j.spec.Target.API; api == bench.APICompletions || api == bench.APIGenerate {
		return bench.Request{Prompt: bench.Prompt{IDs: ids}, InputTokens: bench.Counted(len(ids))}, nil
	}
	tok := j.in.Tokenizer
	t, err := mend(tok, cycle(ids), max(1, len(ids)-tok.NumSpecial()))
	return bench.Request{Prompt: bench.Prompt{Text: t.text}, InputTokens: bench.Counted(t.tokens + tok.NumSpecial())}, err
}

// timedLine is one line of the trace.
type timedLine struct {
	at            float64 // seconds
	input, output int
	hashes        []string
	number        int
}

func (j *job) readTimed() ([]timedLine, error) {
	d := &j.spec.Dataset
	var lines []timedLine
	var broken skips
	f, err := openLines(d.Path, d.Rows, &broken, func(b []byte) string {
		l, err := readTimedLine(b, d.TimedTrace)
		if err != nil {
			return err.Error()
		}
		lines = append(lines, l)
		return ""
	})
	if err != nil {
		return nil, err
	}
	f.close()
	if bad := strings.TrimPrefix(broken.note(), "skipped "); bad != "" {
		return nil, fmt.Errorf("the trace cannot be replayed for %s; without these lines it would be another load: mend them, name the fields with --timed-trace-label-…, or ask for fewer --num-prompts so that they are not reached", bad)
	}
	for i := range lines {
		lines[i].number = f.at[i].number
	}
	return lines, j.read("trace "+d.Path, len(lines))
}

func readTimedLine(b []byte, names *bench.TimedTrace) (l timedLine, err error) {
	if !json.Valid(b) {
		return l, errors.New(reasonBroken)
	}
	fields := map[string][]byte{}
	if !eachMember(b, func(key string, value []byte) { fields[key] = value }) {
		return l, errors.New(reasonNotObject)
	}
	number := func(name string, least, most float64) float64 {
		raw, ok := fields[name]
		v, perr := strconv.ParseFloat(strings.Trim(string(raw), `"`), 64)
		switch {
		case err != nil:
		case !ok:
			err = fmt.Errorf("no %s", name)
		case perr != nil || !(v >= least && v <= most):
			err = fmt.Errorf("%s is %.20s", name, raw)
		}
		return v
	}
	l.at = number(names.Timestamp, 0, 1e12) * names.Seconds
	l.input, l.output = int(number(names.InputLength, 1, mostTokens)), int(number(names.OutputLength, 0, mostTokens))
	if raw := fields[names.HashIDs]; err == nil && raw != nil && string(raw) != "null" && !eachElement(raw, func(v []byte) { l.hashes = append(l.hashes, string(v)) }) {
		err = fmt.Errorf("%s is no list", names.HashIDs)
	}
	return l, err
}

// expander makes ids of hashes.
type expander struct {
	ids  []uint32
	size int
	seed int64
	made map[string][]uint32
}

// expand gives n ids, or fewer where the hashes do not reach.
func (e *expander) expand(hashes []string, n int) []uint32 {
	var out []uint32
	for _, h := range hashes {
		if len(out) >= n {
			break
		}
		out = append(out, e.block(h, min(e.size, n-len(out)))...)
	}
	return out
}

// block is the ids of one hash, cut short in its own way where it is the last of a prompt, as in the original.
func (e *expander) block(hash string, n int) []uint32 {
	key := fmt.Sprintf("%s:%d", hash, n)
	if ids, ok := e.made[key]; ok {
		return ids
	}
	sum := fnv.New32a()
	fmt.Fprintf(sum, "%d %s", e.seed, key)
	ids := make([]uint32, n)
	for i, k := range pyrand.NewPython(int64(sum.Sum32())).Choices(len(e.ids), n) {
		ids[i] = e.ids[k]
	}
	e.made[key] = ids
	return ids
}

// plainVocabulary lists all ids but the special ones.
func plainVocabulary(in *Inputs) []uint32 {
	special := in.special()
	return slices.DeleteFunc(slices.Clone(vocabularyOf(in.Tokenizer)), special)
}

func checkTimedTrace(s *bench.Spec) []error {
	faults := checkRows(s)
	d := s.Dataset.TimedTrace
	if d == nil {
		return append(faults, errors.New("timed_trace was asked for without its settings"))
	}
	if s.Dataset.Path == "" {
		faults = append(faults, fmt.Errorf(`timed_trace needs a trace: give --dataset-path JSON Lines like {"%s":0.5,"%s":600,"%s":100,"%s":[1,2]}`, d.Timestamp, d.InputLength, d.OutputLength, d.HashIDs))
	}
	if d.BlockTokens < 1 {
		faults = append(faults, fmt.Errorf("a hash id stands for %d tokens: give --timed-trace-chunk-hash-size at least 1", d.BlockTokens))
	}
	if !(d.Seconds >= 0) || math.IsInf(d.Seconds, 0) {
		faults = append(faults, fmt.Errorf("a unit of the trace's time is %v seconds: give 0 (all at once) or more", d.Seconds))
	}
	if s.Strict && s.Target.API != bench.APICompletions {
		faults = append(faults, fmt.Errorf("the original sends timed_trace as token ids, which the %s route does not take: choose a completions backend, or leave out --strict-compat", s.Target.API))
	}
	return faults
}

func readyTimedTrace(s *bench.Spec, in *Inputs) []error { return readyVocabulary(s.Dataset.Name, in) }
