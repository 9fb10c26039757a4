package dataset

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/servemark/servemark/internal/bench"
)

// pair is a prompt and the reply that the data set holds to it.
type pair struct{ prompt, reply string }

// turn is one turn of a conversation, its text still a JSON string.
type turn struct {
	role string
	text []byte // nil where the turn has none
}

// shape is how a file writes a turn.
type shape struct {
	// keys are the names a turn's text may have, the first one present counts.
	keys []string
	// byRole pairs the first turn of a user with the assistant's next; else the first two turns are the pair.
	byRole bool
	// optionalReply takes a missing reply as an empty one.
	optionalReply bool
	// pluralOnly takes turns under "conversations" only, not under "conversation".
	pluralOnly bool
	// fit says why a pair of so many tokens is left out, or ""; nil is fitSGLang.
	fit func(d *bench.DatasetSpec, strict bool, input, output int) (reason string)
}

// Reasons for leaving a row out.
const (
	reasonNotObject = "not a JSON object"
	reasonNoTurns   = "no list of conversations"
	reasonFewTurns  = "fewer than two turns"
	reasonNotTurn   = "a turn is not an object"
	reasonNoText    = "a turn has no text"
	reasonNoPair    = "no turn of a user followed by one of the assistant"
	reasonShort     = "prompt or reply under two tokens"
	reasonLong      = "prompt and reply exceed the context limit"
	reasonBroken    = "not valid JSON"
)

// turns finds the turns of a row, at most limit of them (0: all); a reason says why there are none.
func (s shape) turns(row []byte, limit int) ([]turn, string) {
	var list []byte
	plural := false
	if !eachMember(row, func(key string, value []byte) {
		if key == "conversations" || key == "conversation" && !plural && !s.pluralOnly {
			list, plural = value, key == "conversations"
		}
	}) {
		return nil, reasonNotObject
	}
	var out []turn
	n, reason := 0, ""
	if !eachElement(list, func(value []byte) {
		if n++; reason != "" || limit > 0 && n > limit {
			return
		}
		t, ok := s.turn(value)
		if !ok {
			reason = reasonNotTurn
		}
		out = append(out, t)
	}) {
		return nil, reasonNoTurns
	}
	if n < 2 {
		return nil, reasonFewTurns
	}
	return out, reason
}

func (s shape) turn(value []byte) (t turn, ok bool) {
	best := len(s.keys)
	ok = eachMember(value, func(key string, v []byte) {
		if key == "from" || key == "role" {
			if json.Unmarshal(v, &t.role) != nil {
				t.role = ""
			}
			return
		}
		for rank, name := range s.keys {
			if key == name && rank <= best {
				best, t.text = rank, v
			}
		}
	})
	return t, ok
}

// usable says why the row cannot be paired, or "".
func (s shape) usable(row []byte) string {
	turns, reason := s.turns(row, 2)
	if reason != "" {
		return reason
	}
	if turns[0].text == nil && !s.optionalReply || turns[0].text != nil && turns[0].text[0] != '"' {
		return reasonNoText
	}
	if reply := turns[1].text; reply == nil && !s.optionalReply || reply != nil && reply[0] != '"' {
		return reasonNoText
	}
	return ""
}

// pair decodes the pair of a usable row.
func (s shape) pair(row []byte) (p pair, reason string) {
	limit := 2
	if s.byRole {
		limit = 0
	}
	turns, reason := s.turns(row, limit)
	if reason != "" {
		return p, reason
	}
	first, second := turns[0], turns[1]
	if s.byRole && hasRoles(turns) {
		i := firstExchange(turns)
		if i < 0 {
			return p, reasonNoPair
		}
		first, second = turns[i], turns[i+1]
	}
	var ok1, ok2 bool
	p.prompt, ok1 = s.text(first)
	p.reply, ok2 = s.text(second)
	if !ok1 || !ok2 {
		return p, reasonNoText
	}
	return p, ""
}

func (s shape) text(t turn) (text string, ok bool) {
	if t.text == nil {
		return "", s.optionalReply
	}
	if t.text[0] != '"' || json.Unmarshal(t.text, &text) != nil {
		return "", false
	}
	return text, true
}

func hasRoles(turns []turn) bool {
	for _, t := range turns {
		if isUser(t.role) || isAssistant(t.role) {
			return true
		}
	}
	return false
}

// firstExchange is the index of the first user's turn that the assistant answers, or -1.
func firstExchange(turns []turn) int {
	for i := range len(turns) - 1 {
		if isUser(turns[i].role) && isAssistant(turns[i+1].role) {
			return i
		}
	}
	return -1
}

func isUser(role string) bool { return role == "human" || role == "user" }

// isAssistant knows the names that ShareGPT's exporters gave the model's side.
func isAssistant(role string) bool {
	switch role {
	case "gpt", "assistant", "chatgpt", "bing", "bard", "model":
		return true
	}
	return false
}

// checkConversations checks what sharegpt and custom take from the Spec.
func checkConversations(s *bench.Spec) []error {
	d := &s.Dataset
	faults := checkRows(s)
	switch {
	case d.FixedOutput < 0:
		faults = append(faults, fmt.Errorf("the fixed output length is %d: give at least 1, or leave it out to take each row's own", d.FixedOutput))
	case s.Strict && s.Dialect == bench.DialectSGLang && d.FixedOutput > 0 && d.FixedOutput < 4:
		faults = append(faults, fmt.Errorf("the fixed output length is %d and the original refuses anything under 4: give 4 or more, or leave out --strict-compat", d.FixedOutput))
	}
	if d.ContextLimit < 0 {
		faults = append(faults, fmt.Errorf("the context limit is %d: give at least 1, or leave it out to keep every row", d.ContextLimit))
	}
	return faults
}

// checkRows wants at least one row.
func checkRows(s *bench.Spec) []error {
	if s.Dataset.Rows < 1 {
		return []error{fmt.Errorf("the number of prompts is %d: %s needs at least 1", s.Dataset.Rows, s.Dataset.Name)}
	}
	return nil
}

// candidate is a row on its way to being a request.
type candidate struct {
	pair
	reason        string
	ids           []uint32
	input, output bench.Count
}

// loadConversations shuffles the rows as the original does and takes them in that order until there are enough.
func (j *job) loadConversations(f *rows, s shape) error {
	order := make([]int, len(f.at))
	for i := range order {
		order[i] = i
	}
	if v := j.spec.Dataset.VLLM; v == nil || !v.KeepOrder {
		j.rnd.Python.Shuffle(len(order), func(a, b int) { order[a], order[b] = order[b], order[a] })
	}
	estimated := 0
	for want := j.spec.Dataset.Rows; len(order) > 0 && len(j.set.Requests) < want; {
		batch := make([]candidate, min(len(order), want-len(j.set.Requests)))
		err := j.each(len(batch), func(i int, j *job) error {
			row, err := f.read(order[i])
			if err != nil {
				return err
			}
			return j.consider(&batch[i], row, s)
		})
		if err != nil {
			return err
		}
		for i := range batch {
			if batch[i].reason != "" {
				j.skipped.add(batch[i].reason, f.name(order[i]))
				continue
			}
			estimated += j.take(&batch[i])
		}
		order = order[len(batch):]
	}
	if estimated > 0 {
		j.note("the output limits of %s are estimated from the words of the replies in the file (%.2f tokens a word), as there is no tokenizer; %s sets one for all", bench.Number(estimated, "prompt"), j.calibration().TokensPerWord, outputFlag(j.spec.Dialect))
	}
	return nil
}

// consider prepares a row's prompt, counts it and decides whether it is kept.
func (j *job) consider(c *candidate, row []byte, s shape) (err error) {
	if c.pair, c.reason = s.pair(row); c.reason != "" {
		return nil
	}
	if c.prompt, err = j.dress(c.prompt); err != nil {
		return err
	}
	d := &j.spec.Dataset
	if tok := j.in.Tokenizer; tok != nil {
		if c.ids, err = tok.Encode(c.prompt, true); err != nil {
			return fmt.Errorf("the tokenizer failed on a prompt of %s: %w", d.Path, err)
		}
		reply, err := tok.Encode(c.reply, true)
		if err != nil {
			return fmt.Errorf("the tokenizer failed on a reply of %s: %w", d.Path, err)
		}
		c.input, c.output = bench.Counted(len(c.ids)), bench.Counted(len(reply))
	}
	input, output := c.input.Or(j.guess(c.prompt)), c.output.Or(j.guess(c.reply))
	if d.FixedOutput > 0 {
		output = d.FixedOutput
	}
	fit := s.fit
	if fit == nil {
		fit = fitSGLang
	}
	c.reason = fit(d, j.spec.Strict, input, output)
	return nil
}

// fitSGLang leaves out what is under two tokens or over the context limit.
func fitSGLang(d *bench.DatasetSpec, strict bool, input, output int) string {
	switch {
	case input < 2 || output < 2 && (d.FixedOutput == 0 || strict):
		return reasonShort
	case d.ContextLimit > 0 && input+output > d.ContextLimit:
		return reasonLong
	}
	return ""
}

// guess is about how many tokens a text is, by its words.
func (j *job) guess(text string) int {
	return j.calibration().tokens(len(strings.Fields(text)))
}

// take adds a kept row; it returns 1 where its output limit is an estimate.
func (j *job) take(c *candidate) (estimated int) {
	r := bench.Request{Prompt: bench.Prompt{Text: c.prompt}, InputTokens: c.input}
	if j.spec.Dataset.SendIDs {
		r.Prompt = bench.Prompt{IDs: c.ids}
	}
	if r.OutputTokens = j.spec.Dataset.FixedOutput; r.OutputTokens == 0 {
		if !c.output.Known() {
			estimated = 1
		}
		r.OutputTokens = c.output.Or(j.guess(c.reply))
	}
	j.add(r)
	return estimated
}

// assistantMark ends prompts written as a dialogue; a suffix goes before it.
const assistantMark = "Assistant:"

// dress puts suffix and chat template around a prompt. The template's own opening token is taken out wherever it stands, as
// the server puts one in front of the text it gets.
func (j *job) dress(prompt string) (string, error) {
	if suffix := j.spec.Dataset.PromptSuffix; suffix != "" {
		prompt = strings.TrimSuffix(prompt, assistantMark) + suffix + assistantMark
	}
	if !j.spec.Dataset.ApplyTemplate {
		return prompt, nil
	}
	text, err := j.in.Template(userMessage(prompt), true)
	if err != nil {
		return "", fmt.Errorf("the chat template refused a prompt of %s: %w; leave out --apply-chat-template to send the text as it is", j.spec.Dataset.Path, err)
	}
	return j.withoutBOS(text), nil
}

// withoutBOS takes the opening token's text out.
func (j *job) withoutBOS(text string) string {
	if j.in.BOS == "" {
		return text
	}
	return strings.ReplaceAll(text, j.in.BOS, "")
}
