package dataset

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strconv"

	"github.com/servemark/servemark/internal/bench"
)

// openai: a file of one chat request a line, {"messages":[…],"max_tokens":64,"tools":[…],…}, in the file's order. Everything
// but messages, model and the limits goes into the body as it is.
func loadOpenAI(j *job) error {
	d := &j.spec.Dataset
	var kept []chatRow
	streamed := 0
	f, err := openLines(d.Path, d.Rows, &j.skipped, func(line []byte) string {
		row, reason := j.parseChat(line)
		if reason != "" {
			return reason
		}
		if row.stream {
			streamed++
		}
		kept = append(kept, row)
		return ""
	})
	if err != nil {
		return err
	}
	f.close()
	if err := j.read("chat requests of "+d.Path, len(kept)); err != nil {
		return err
	}
	if streamed > 0 {
		j.note("%s with a \"stream\" of %s own: left out of the body, as the run decides that", bench.Number(streamed, "row"), bench.Agree(streamed, "its", "their"))
	}
	counts := make([]chatCount, len(kept))
	if err := j.each(len(kept), func(i int, j *job) (err error) { counts[i], err = j.countChat(&kept[i]); return err }); err != nil {
		return err
	}
	refused := 0
	for i, row := range kept {
		if counts[i].refused {
			refused++
		}
		j.add(bench.Request{Prompt: bench.Prompt{Messages: row.messages}, InputTokens: counts[i].input,
			TemplatedTokens: counts[i].templated, OutputTokens: row.output, Extra: row.extra})
	}
	switch {
	case j.in.Tokenizer != nil && j.in.Template == nil:
		j.note("no chat template was found, so the tokens of the prompts are unknown before the server counts them")
	case refused > 0:
		j.note("the chat template refused %s: how many tokens is unknown before the server counts them", bench.Part(refused, len(kept), "prompt"))
	}
	return nil
}

// chatRow is one line, read.
type chatRow struct {
	messages, tools, extra json.RawMessage
	output                 int
	stream                 bool // it had a "stream" of its own, which was dropped
}

// defaultChatOutput is the limit of a row that states none.
const defaultChatOutput = 256

func (j *job) parseChat(line []byte) (row chatRow, reason string) {
	if !json.Valid(line) {
		return row, reasonBroken
	}
	var maxTokens, maxCompletion []byte
	var extra []member
	if !eachMember(line, func(key string, value []byte) {
		switch key {
		case "messages":
			row.messages = bytes.Clone(value)
		case "max_tokens":
			maxTokens = value
		case "max_completion_tokens":
			maxCompletion = value
		case "model":
		case "stream":
			if !j.spec.Strict {
				row.stream = true
				return
			}
			fallthrough
		default:
			extra = setMember(extra, key, value)
		}
	}) {
		return row, reasonNotObject
	}
	n := 0
	if !eachElement(row.messages, func([]byte) { n++ }) || n == 0 {
		return row, "no list of messages"
	}
	if j.spec.Strict {
		maxCompletion = nil // the original drops it and asks for its default
	}
	row.output = j.spec.Dataset.FixedOutput
	for _, limit := range [][]byte{maxTokens, maxCompletion} {
		if row.output > 0 || limit == nil || string(limit) == "null" {
			continue
		}
		v, err := strconv.ParseFloat(string(limit), 64)
		if err != nil || v < 1 || v != math.Trunc(v) || v > math.MaxInt32 {
			return row, "its token limit is not a whole number of at least 1"
		}
		row.output = int(v)
	}
	if row.output == 0 {
		row.output = defaultChatOutput
	}
	for _, m := range extra {
		if m.key == "tools" {
			row.tools = bytes.Clone(m.value)
		}
	}
	row.extra = joinMembers(extra)
	return row, ""
}

// member is a key of a JSON object with its value, in the file's bytes.
type member struct {
	key   string
	value []byte
}

// setMember appends a member, or gives one that is there its last value.
func setMember(list []member, key string, value []byte) []member {
	for i := range list {
		if list[i].key == key {
			list[i].value = value
			return list
		}
	}
	return append(list, member{key, value})
}

// joinMembers writes an object of the members in their order, or nil where there is none.
func joinMembers(list []member) json.RawMessage {
	if len(list) == 0 {
		return nil
	}
	out := []byte{'{'}
	for i, m := range list {
		if i > 0 {
			out = append(out, ',')
		}
		key, err := json.Marshal(m.key)
		if err != nil {
			panic(fmt.Sprintf("dataset: a string does not marshal: %v", err)) // cannot happen
		}
		out = append(append(append(out, key...), ':'), m.value...)
	}
	return append(out, '}')
}

// chatCount is what the tokenizer says of a chat row.
type chatCount struct {
	input, templated bench.Count
	refused          bool
}

// countChat counts the messages with the chat template around them; the tools' JSON is added to the input, as the original
// estimates it.
func (j *job) countChat(row *chatRow) (c chatCount, err error) {
	tok := j.in.Tokenizer
	if tok == nil || j.in.Template == nil {
		return c, nil
	}
	text, err := j.in.Template(row.messages, true)
	if err != nil {
		c.refused = true
		return c, nil
	}
	ids, err := tok.Encode(text, false)
	if err != nil {
		return c, fmt.Errorf("the tokenizer failed on a prompt of %s: %w", j.spec.Dataset.Path, err)
	}
	c.templated, c.input = bench.Counted(len(ids)), bench.Counted(len(ids))
	if row.tools != nil {
		tools, err := tok.Encode(pythonJSON(row.tools), true)
		if err != nil {
			return c, fmt.Errorf("the tokenizer failed on the tools of %s: %w", j.spec.Dataset.Path, err)
		}
		c.input = c.input.Plus(bench.Counted(len(tools)))
	}
	return c, nil
}

func checkOpenAI(s *bench.Spec) []error {
	var faults []error
	if s.Dataset.Path == "" {
		faults = append(faults, errNoPath("openai", `{"messages":[{"role":"user","content":"Hi"}],"max_tokens":64}`))
	}
	if s.Dataset.FixedOutput < 0 {
		faults = append(faults, fmt.Errorf("the fixed output length is %d: give at least 1, or leave it out to take each row's own", s.Dataset.FixedOutput))
	}
	if s.Target.API != bench.APIChat {
		faults = append(faults, fmt.Errorf("the data set openai is chat messages and the %s route takes text: choose a chat backend", s.Target.API))
	}
	return faults
}
