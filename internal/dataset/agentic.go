package dataset

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/servemark/servemark/internal/bench"
)

// agentic-trace: the replay of recorded conversations, {"conversations":[[{"messages":[…],"prompt_tokens":73821},…],…]}. A turn
// holds only what is new in it, without the assistant's words: those are the server's own.
func loadAgentic(j *job) error {
	f, err := openConversations(j.spec.Dataset.Path)
	if err != nil {
		return err
	}
	defer f.close()
	if err := j.read("conversations of "+j.spec.Dataset.Path, len(f.at)); err != nil {
		return err
	}
	var a bench.AgenticTrace
	if j.spec.Dataset.Agentic != nil {
		a = *j.spec.Dataset.Agentic
	}
	output := j.spec.Dataset.FixedOutput
	if output == 0 {
		output = agenticOutput
	}
	want := j.want
	if want < 1 {
		want = len(f.at)
	}
	for begun, k := 0, 0; begun < want && k < len(f.at); {
		batch := make([][]bench.Request, min(want-begun, len(f.at)-k))
		row := func(n int) int { return (k + n + a.Offset) % len(f.at) }
		err := j.each(len(batch), func(n int, j *job) (err error) {
			if batch[n], err = j.replay(f, row(n), a.MaxTurns); err != nil {
				err = fmt.Errorf("%s: %s: %w; the replay without it would be another load: mend it or take it out", f.path, f.name(row(n)), err)
			}
			return err
		})
		if err != nil {
			return err
		}
		for n, turns := range batch {
			if len(turns) == 0 {
				j.skipped.add("no turn with messages", f.name(row(n)))
				continue
			}
			for i := range turns {
				turns[i].OutputTokens = output
			}
			j.addConversation(turns)
			begun++
		}
		k += len(batch)
	}
	return nil
}

// agenticOutput is the limit of each turn where none is given: the mean of such traces' answers, as in the original.
const agenticOutput = 220

// replay makes the turns of conversation i.
func (j *job) replay(f *rows, i, most int) ([]bench.Request, error) {
	raw, err := f.read(i)
	if err != nil {
		return nil, err
	}
	var recorded []struct {
		Messages     []map[string]json.RawMessage `json:"messages"`
		PromptTokens float64                      `json:"prompt_tokens"`
	}
	if err := json.Unmarshal(raw, &recorded); err != nil {
		return nil, err
	}
	var turns []bench.Request
	for n, t := range recorded {
		if len(t.Messages) == 0 || most > 0 && len(turns) == most {
			continue
		}
		messages, err := plainMessages(t.Messages)
		if err != nil {
			return nil, fmt.Errorf("turn %d: %w", n+1, err)
		}
		r := bench.Request{Prompt: bench.Prompt{Messages: messages}, Extra: j.usageOptions()}
		if len(turns) > 0 {
			r.After = &bench.After{}
		}
		turns = append(turns, r)
	}
	if len(turns) == 0 {
		return nil, nil
	}
	if err := j.countMessages(&turns[0]); err != nil {
		return nil, err
	}
	if turns[0].InputTokens = turns[0].TemplatedTokens; j.spec.Strict {
		turns[0].InputTokens = bench.Counted(int(recorded[0].PromptTokens)) // what the trace says, by its own tokenizer
	}
	return turns, nil
}

// plainMessages keeps role and content of each message, as the original does: what else a recording holds belongs to calls that
// the server's answers will not have made.
func plainMessages(list []map[string]json.RawMessage) (json.RawMessage, error) {
	out := []byte{'['}
	for i, m := range list {
		role, content := m["role"], m["content"]
		if role == nil || content == nil {
			return nil, fmt.Errorf("message %d has no role or no content", i+1)
		}
		if i > 0 {
			out = append(out, ',')
		}
		out = fmt.Appendf(out, `{"role":%s,"content":%s}`, role, content)
	}
	return append(out, ']'), nil
}

// openConversations indexes the array "conversations" of a file that is one JSON object.
func openConversations(path string) (*rows, error) {
	f, r, err := open(path, "conversation")
	if err != nil {
		return nil, err
	}
	dec := json.NewDecoder(r)
	if err = f.indexMember(dec, "conversations"); err == nil && len(f.at) == 0 {
		err = errors.New(`its "conversations" are missing or empty`)
	}
	if err != nil {
		f.close()
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			err = errors.New("it ends in the middle; the download may be incomplete")
		}
		return nil, fmt.Errorf(`%s is no agentic trace {"conversations":[[{"messages":[…]},…],…]}: %w`, path, err)
	}
	return f, nil
}

// indexMember notes where the elements of the named array lie in an object.
func (f *rows) indexMember(dec *json.Decoder, name string) error {
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return fmt.Errorf("it is not a JSON object: %w", orElse(err, "it begins with %v", t))
	}
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return err
		}
		var value json.RawMessage
		if key != name {
			if err := dec.Decode(&value); err != nil {
				return err
			}
			continue
		}
		f.at = nil // of a key that is there twice the last counts
		if t, err := dec.Token(); err != nil || t != json.Delim('[') {
			return orElse(err, "its %q are no list", name)
		}
		for dec.More() {
			if err := dec.Decode(&value); err != nil {
				return err
			}
			f.at = append(f.at, place{dec.InputOffset() - int64(len(value)), len(value), len(f.at) + 1})
		}
		if _, err := dec.Token(); err != nil {
			return err
		}
	}
	_, err := dec.Token()
	return err
}

// orElse is the error, or where there is none one of the given words.
func orElse(err error, format string, args ...any) error {
	if err != nil {
		return err
	}
	return fmt.Errorf(format, args...)
}

func checkAgentic(s *bench.Spec) []error {
	d := &s.Dataset
	var faults []error
	if d.Path == "" {
		faults = append(faults, errors.New(`agentic-trace needs a file: give --dataset-path a JSON file {"conversations":[[{"messages":[…]},…],…]}`))
	}
	if d.FixedOutput < 0 {
		faults = append(faults, fmt.Errorf("the fixed output length is %d: give at least 1, or leave it out for %d a turn", d.FixedOutput, agenticOutput))
	}
	if a := d.Agentic; a != nil && a.Offset < 0 {
		faults = append(faults, fmt.Errorf("the offset is %d: give the number of the conversation to begin with, from 0", a.Offset))
	}
	if a := d.Agentic; a != nil && a.MaxTurns < 0 {
		faults = append(faults, fmt.Errorf("the most turns are %d: give at least 1, or 0 for all", a.MaxTurns))
	}
	if s.Target.API != bench.APIChat {
		faults = append(faults, fmt.Errorf("agentic-trace is chat messages and the %s route takes text: choose a chat backend", s.Target.API))
	}
	return faults
}
