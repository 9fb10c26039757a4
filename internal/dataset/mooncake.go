package dataset

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/servemark/servemark/internal/bench"
)

// mooncake: the replay of a trace {"timestamp":ms,"input_length":6758,"output_length":500,"hash_ids":[0,1]} line by line, at its
// times. A hash id stands for a block of 512 tokens: lines that begin with the same ids begin with the same text. A prompt has
// exactly input_length tokens. Further rounds ask the same again, each after the real answer to the one before. With
// --strict-compat it is the original's text, which stands for the ids but not for the length, and all rounds are sent at once.
func loadMooncake(j *job) error {
	lines, err := j.readTrace()
	if err != nil {
		return err
	}
	slices.SortStableFunc(lines, func(a, b traceLine) int {
		switch {
		case *a.Timestamp < *b.Timestamp:
			return -1
		case *a.Timestamp > *b.Timestamp:
			return 1
		}
		return 0
	})
	d := j.spec.Dataset.Mooncake
	j.set.Timed = true
	if j.spec.Strict && j.spec.Dataset.SendIDs {
		j.note("%s has no effect on the original's mooncake", sendIDs)
	}
	requests := make([][]bench.Request, len(lines))
	made := map[int64]string{}
	if !j.spec.Strict {
		if made, err = j.blocks(lines); err != nil {
			return err
		}
	}
	err = j.each(len(lines), func(i int, j *job) (err error) {
		if j.spec.Strict {
			requests[i], err = j.storyRounds(&lines[i], d.Rounds)
		} else {
			requests[i], err = (&blocks{j, made}).rounds(&lines[i], d.Rounds)
		}
		due := (*lines[i].Timestamp - *lines[0].Timestamp) * d.Slowdown * float64(time.Millisecond)
		for k := range requests[i] {
			requests[i][k].Due = bench.Instant(math.Round(due))
		}
		return err
	})
	if err != nil {
		return err
	}
	if j.spec.Strict {
		j.want *= d.Rounds // the original's rounds do not wait for one another
		j.set.Requests = slices.Concat(requests...)
		return nil
	}
	j.addConversations(requests)
	return nil
}

// traceLine is one line of the trace; nil where a field is missing.
type traceLine struct {
	Timestamp    *float64 `json:"timestamp"`
	InputLength  *int     `json:"input_length"`
	OutputLength *int     `json:"output_length"`
	HashIDs      []int64  `json:"hash_ids"`
	TextInput    string   `json:"text_input"`
	number       int
}

// What stands in for fields that a line lacks.
const (
	traceOutput = 256
	traceBlock  = 512 // tokens that one hash id stands for
	// mostTokens bounds prompts: a length beyond it is a slip, and would fill the memory.
	mostTokens = 1 << 26
)

// readTrace reads the first lines of the trace. One that cannot be read refuses the whole: a replay without it is another
// load.
func (j *job) readTrace() ([]traceLine, error) {
	d := &j.spec.Dataset
	var lines []traceLine
	var broken skips
	noOutput, noHashes := 0, 0
	f, err := openLines(d.Path, d.Rows, &broken, func(b []byte) string {
		var l traceLine
		if err := json.Unmarshal(b, &l); err != nil {
			return err.Error()
		}
		switch {
		case l.Timestamp == nil:
			return "no timestamp"
		case l.TextInput == "" && l.InputLength == nil && len(l.HashIDs) == 0:
			return "neither input_length nor hash_ids nor text_input"
		case l.InputLength != nil && *l.InputLength < 1:
			return "input_length is under 1"
		case l.tokens() > mostTokens:
			return "its prompt would be longer than any model's context"
		case l.OutputLength != nil && *l.OutputLength < 0:
			return "output_length is under 0"
		}
		if l.OutputLength == nil {
			noOutput++
		}
		if l.HashIDs == nil && l.TextInput == "" {
			noHashes++
		}
		lines = append(lines, l)
		return ""
	})
	if err != nil {
		return nil, err
	}
	f.close()
	if bad := strings.TrimPrefix(broken.note(), "skipped "); bad != "" {
		return nil, fmt.Errorf("the trace cannot be replayed for %s; without these lines it would be another load: mend them, or ask for fewer --num-prompts so that they are not reached", bad)
	}
	if noOutput > 0 {
		j.note("%s of the trace %s no output_length: %d tokens are asked for", bench.Number(noOutput, "line"), bench.Agree(noOutput, "has", "have"), traceOutput)
	}
	if noHashes > 0 && !j.spec.Strict {
		j.note("%s of the trace without hash_ids: %s no beginning with other prompts", bench.Number(noHashes, "line"), bench.Agree(noHashes, "it shares", "they share"))
	}
	for i := range lines {
		lines[i].number = f.at[i].number
	}
	return lines, j.read("trace "+d.Path, len(lines))
}

func (l *traceLine) output() int {
	if l.OutputLength == nil {
		return traceOutput
	}
	return *l.OutputLength
}

// tokens is how long the line's prompt is.
func (l *traceLine) tokens() int {
	if l.InputLength == nil {
		return traceBlock * len(l.HashIDs)
	}
	return *l.InputLength
}

// blocks makes prompts of blocks that are the same wherever their id stands.
type blocks struct {
	j    *job
	made map[int64]string // their texts
}

// blocks makes the blocks that the lines are made of, each once.
func (j *job) blocks(lines []traceLine) (map[int64]string, error) {
	made := map[int64]string{}
	var ids []int64
	for i := range lines {
		for _, id := range lines[i].blocks() {
			if _, ok := made[id]; !ok {
				made[id], ids = "", append(ids, id)
			}
		}
	}
	texts := make([]string, len(ids))
	err := j.each(len(ids), func(i int, j *job) (err error) {
		texts[i], err = (&blocks{j: j}).write(ids[i])
		return err
	})
	for i, id := range ids {
		made[id] = texts[i]
	}
	return made, err
}

// blocks are the ids of the blocks that the line's prompt has, the last of them perhaps in part.
func (l *traceLine) blocks() []int64 {
	if l.TextInput != "" {
		return nil
	}
	return l.HashIDs[:min(len(l.HashIDs), (l.tokens()+traceBlock-1)/traceBlock)]
}

// rounds asks for a line, and then for the same again after each answer.
func (b *blocks) rounds(l *traceLine, n int) ([]bench.Request, error) {
	first, err := b.request(l)
	if err != nil || n == 1 {
		return []bench.Request{first}, err
	}
	says := []string{first.Prompt.Text}
	for k := 1; k < n; k++ {
		says = append(says, fmt.Sprintf("Round %d: %s", k+1, first.Prompt.Text))
	}
	if b.j.spec.Target.API == bench.APIChat {
		turns, err := b.j.dialogue(says)
		for k := range turns {
			turns[k].OutputTokens = first.OutputTokens
		}
		turns[0].InputTokens = first.InputTokens
		return turns, err
	}
	turns := []bench.Request{first} // of the line's length, with nothing around it
	for _, text := range says[1:] {
		turns = append(turns, bench.Request{Prompt: bench.Prompt{Text: "\n\n" + text + "\n\n"}, OutputTokens: first.OutputTokens, After: &bench.After{}})
	}
	return turns, nil
}

// request makes a line's prompt: its blocks' texts one after the other, and text of its own behind them as far as needed.
func (b *blocks) request(l *traceLine) (bench.Request, error) {
	r := bench.Request{OutputTokens: l.output()}
	tok, n := b.j.in.Tokenizer, l.tokens()
	if l.TextInput != "" {
		r.Prompt.Text = l.TextInput
		if tok == nil {
			return r, nil
		}
		ids, err := tok.Encode(l.TextInput, true)
		r.InputTokens = bench.Counted(len(ids))
		if b.j.spec.Dataset.SendIDs {
			r.Prompt = bench.Prompt{IDs: ids}
		}
		return r, err
	}
	var text strings.Builder
	for _, id := range l.blocks() {
		text.WriteString(b.made[id])
	}
	own := b.document(-int64(l.number))
	if tok == nil {
		words := b.j.calibration().Words(n)
		text.WriteString(document(own, max(1, words-countWords(text.String()))))
		r.Prompt.Text = cutWords(text.String(), words)
		return r, nil
	}
	ids, err := b.enough(text.String(), own, n)
	if err != nil {
		return r, err
	}
	if b.j.spec.Dataset.SendIDs {
		r.Prompt.IDs, r.InputTokens = ids[:n], bench.Counted(n)
		return r, nil
	}
	t, err := mend(tok, cycle(ids), max(1, n-tok.NumSpecial()))
	r.Prompt.Text, r.InputTokens = t.text, bench.Counted(t.tokens+tok.NumSpecial())
	return r, err
}

// enough encodes a text with as much of document own behind it as makes more than n tokens.
func (b *blocks) enough(text string, own, n int) ([]uint32, error) {
	ids, err := b.j.in.Tokenizer.Encode(text, false)
	for words := 16; err == nil && len(ids) < n+8; words *= 2 {
		words = max(words, int(1.1*float64(n-len(ids))/builtInSlope))
		ids, err = b.j.in.Tokenizer.Encode(text+document(own, words), false)
	}
	if err != nil {
		err = fmt.Errorf("the tokenizer failed on a prompt: %w", err)
	}
	return ids, err
}

// write makes the text of a hash id.
func (b *blocks) write(id int64) (string, error) {
	tok := b.j.in.Tokenizer
	if tok == nil {
		c := b.j.calibration()
		c.Offset = 0
		words := c.Words(traceBlock)
		return cutWords(document(b.document(id), words), words) + "\n", nil
	}
	ids, err := b.enough("", b.document(id), traceBlock)
	if err != nil {
		return "", err
	}
	text, _, err := recode(tok, ids[:traceBlock])
	return text, err
}

// document is the number of the embedded corpus's document for a block or, negative, a line; another for another seed.
func (b *blocks) document(id int64) int {
	return int(mix(uint64(id)^mix(uint64(b.j.spec.Seed))) >> 33)
}

// storyRounds is the original's text for a line: its ids among greetings, in as many rounds of a made-up dialogue, all due at
// once.
func (j *job) storyRounds(l *traceLine, rounds int) ([]bench.Request, error) {
	var query strings.Builder
	for _, id := range l.HashIDs {
		fmt.Fprintf(&query, "%d%s", id, strings.Repeat("hi ", 127)+"hi")
	}
	query.WriteString("Tell me a story based on this context.")
	var history []message
	var out []bench.Request
	for i := range rounds {
		history = append(history, message{"user", fmt.Sprintf("Round %d: %s", i+1, query.String())})
		text, err := "", errors.ErrUnsupported
		if j.in.Template != nil {
			text, err = j.in.Template(marshal(history), true)
		}
		if err != nil { // the original goes on without a template
			var lines []string
			for _, m := range history {
				lines = append(lines, fmt.Sprintf("%s: %s", m.Role, m.Content))
			}
			text = strings.Join(lines, "\n")
		}
		ids, err := j.in.Tokenizer.Encode(text, true)
		if err != nil {
			return nil, fmt.Errorf("the tokenizer failed on a prompt: %w", err)
		}
		out = append(out, bench.Request{Prompt: bench.Prompt{Text: text}, InputTokens: bench.Counted(len(ids)), OutputTokens: l.output()})
		history = append(history, message{"assistant", strings.TrimSuffix(strings.Repeat("story ", l.output()), " ")})
	}
	return out, nil
}

func checkMooncake(s *bench.Spec) []error {
	faults := checkRows(s)
	d := s.Dataset.Mooncake
	if d == nil {
		return append(faults, errors.New("mooncake was asked for without its replay settings"))
	}
	if s.Dataset.Path == "" {
		faults = append(faults, fmt.Errorf("mooncake needs a trace: bring %s_trace.jsonl of github.com/kvcache-ai/Mooncake (FAST25-release) and give its path with --dataset-path", d.Workload))
	}
	if !(d.Slowdown >= 0) || math.IsInf(d.Slowdown, 0) {
		faults = append(faults, fmt.Errorf("the slowdown factor is %v: give 0 (all at once) or more; 1 replays as recorded", d.Slowdown))
	}
	switch {
	case d.Rounds < 1:
		faults = append(faults, fmt.Errorf("the number of rounds is %d: give at least 1", d.Rounds))
	case d.Rounds > 1 && !s.Strict && s.Dataset.SendIDs:
		faults = append(faults, fmt.Errorf("%d rounds cannot be sent as token ids, as answers come back as text: leave out --tokenize-prompt, or ask for one round", d.Rounds))
	case d.Rounds > 1 && !s.Strict:
		faults = append(faults, checkTurns(s)...)
	}
	return faults
}

func readyMooncake(s *bench.Spec, in *Inputs) []error {
	if s.Strict && in.Tokenizer == nil {
		return []error{errors.New("with --strict-compat mooncake counts its prompts and no tokenizer was found: give --tokenizer a tokenizer.json, its folder or org/name, or leave out --strict-compat")}
	}
	return nil
}
