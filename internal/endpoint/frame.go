package endpoint

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"strconv"
	"strings"

	"github.com/servemark/servemark/internal/bench"
)

// frame is what one JSON event, or one whole JSON body, says. It has two readers with the same results: reference,
// plain and complete, and quick, which may answer that it is not sure.
type frame struct {
	// failed is true where there is an error object anywhere; words are the server's.
	failed bool
	words  string
	// choices is the number of choices; a usage-only chunk has none.
	choices int
	usage   bench.Usage
	finish  string
	// finishWords say more about the finish, where the server does.
	finishWords string
	// done is true of the event that ends a reply by its name; vectors counts the vectors or scores of a reply without text.
	done    bool
	vectors int

	hasAnswer, hasThinking, hasTool, hasRefusal bool
	// ids is the number of token ids; hasIDs tells an empty list from none. On SGLang's own route ids and answer are those
	// of the whole reply so far, unless the server streams increments.
	ids    int
	hasIDs bool
	// answer (refusals included) and thinking are the texts, filled only where wanted.
	answer, thinking []byte
}

// reset empties the frame and keeps its buffers.
func (f *frame) reset() {
	*f = frame{answer: f.answer[:0], thinking: f.thinking[:0]}
}

var errNotObject = errors.New("not a JSON object")

// other reads one event of a route that has a form of its own; what tells an error is the same everywhere.
func (f *frame) other(data []byte, read func(*frame, map[string]json.RawMessage, bool), text bool) error {
	top, err := f.top(data)
	if err != nil {
		return err
	}
	read(f, top, text)
	return nil
}

// top splits an event into its members and takes an error that stands there.
func (f *frame) top(data []byte) (map[string]json.RawMessage, error) {
	var top map[string]json.RawMessage
	if err := json.Unmarshal(data, &top); err != nil {
		return nil, err
	}
	if top == nil {
		return nil, errNotObject
	}
	if says(top["error"]) || str(top["object"]) == "error" || str(top["type"]) == "error" {
		f.failed, f.words = true, wordsOf(data)
	}
	return top, nil
}

// reference reads one event of SGLang's own route (native) or of OpenAI's with encoding/json, key names by exact case,
// the last of repeated keys winning, values of an unexpected kind ignored.
func (f *frame) reference(data []byte, native, text bool) error {
	top, err := f.top(data)
	if err != nil {
		return err
	}
	if native {
		f.nativeReply(top)
		return nil
	}
	f.readUsage(object(top["usage"]))
	if !f.usage.Completion.Known() {
		f.readUsage(object(object(top["x_groq"])["usage"]))
	}
	f.usage.CachedBy = cacheLevels(object(object(top["sglext"])["cached_tokens_details"]))
	f.usage.Cached = first(f.usage.Cached, f.usage.CachedBy.Sum())
	for _, raw := range list(top["choices"]) {
		f.choices++
		f.readChoice(object(raw), text)
	}
	return nil
}

// readChoice adds one of the choices.
func (f *frame) readChoice(c map[string]json.RawMessage, text bool) {
	if says(c["error"]) && !f.failed {
		f.failed, f.words = true, words(c["error"])
	}
	if f.finish == "" {
		f.readFinish(c["finish_reason"])
	}
	if !f.usage.Completion.Known() { // Moonshot's place for it
		f.readUsage(object(c["usage"]))
	}
	f.readDelta(object(c["delta"]), text)
	f.readDelta(object(c["message"]), text)
	f.addAnswer(str(c["text"]), text)
	if ids, ok := ids(c["token_ids"]); ok {
		f.hasIDs, f.ids = true, f.ids+ids
	}
}

// readDelta adds what is new in a delta, or the message of a whole reply. Thoughts go by several names: SGLang,
// LMDeploy and llama.cpp say reasoning_content, vLLM and Ollama reasoning, OpenRouter adds reasoning_details.
func (f *frame) readDelta(d map[string]json.RawMessage, text bool) {
	if d == nil {
		return
	}
	answer, thinking := content(d["content"])
	for _, name := range []string{"reasoning_content", "reasoning", "thinking"} {
		if thinking == "" {
			thinking, _ = content(d[name])
		}
	}
	if thinking == "" {
		thinking = reasoningDetails(d["reasoning_details"])
	}
	f.addThinking(thinking, text)
	f.addAnswer(answer, text)
	if refusal := str(d["refusal"]); refusal != "" {
		f.addRefusal(refusal, text)
	}
	if calls(d["function_call"]) {
		f.hasTool = true
	}
	for _, raw := range list(d["tool_calls"]) {
		call := object(raw)
		if calls(call["function"]) || calls(call["custom"]) {
			f.hasTool = true
		}
	}
}

func (f *frame) addAnswer(answer string, text bool) {
	if answer == "" {
		return
	}
	f.hasAnswer = true
	if text {
		f.answer = append(f.answer, answer...)
	}
}

func (f *frame) addThinking(thinking string, text bool) {
	if thinking == "" {
		return
	}
	f.hasThinking = true
	if text {
		f.thinking = append(f.thinking, thinking...)
	}
}

func (f *frame) addRefusal(refusal string, text bool) {
	f.hasRefusal = true
	if text {
		f.answer = append(f.answer, refusal...)
	}
}

// nativeReply reads an event of SGLang's /generate.
func (f *frame) nativeReply(top map[string]json.RawMessage) {
	f.addAnswer(str(top["text"]), true) // always kept: later events repeat it
	f.ids, f.hasIDs = ids(top["output_ids"])
	meta := object(top["meta_info"])
	f.usage = bench.Usage{
		Prompt: count(meta["prompt_tokens"]), Completion: count(meta["completion_tokens"]),
		Reasoning: count(meta["reasoning_tokens"]), Cached: count(meta["cached_tokens"]), Verifies: count(meta["spec_verify_ct"]),
		CachedBy: cacheLevels(object(meta["cached_tokens_details"])),
	}
	f.readFinish(meta["finish_reason"])
}

// readFinish takes a finish reason as a word or as SGLang's {"type": …, "message": …}.
func (f *frame) readFinish(raw json.RawMessage) {
	if f.finish = str(raw); f.finish == "" {
		o := object(raw)
		f.finish, f.finishWords = str(o["type"]), str(o["message"])
	}
}

// readUsage takes a usage object; null and missing members stay unknown.
func (f *frame) readUsage(u map[string]json.RawMessage) {
	if u == nil {
		return
	}
	f.usage.Prompt = first(count(u["prompt_tokens"]), f.usage.Prompt)
	f.usage.Completion = first(count(u["completion_tokens"]), f.usage.Completion)
	f.usage.Reasoning = first(count(object(u["completion_tokens_details"])["reasoning_tokens"]), count(u["reasoning_tokens"]), f.usage.Reasoning)
	f.usage.Cached = first(count(object(u["prompt_tokens_details"])["cached_tokens"]), count(u["cached_tokens"]),
		count(u["prompt_cache_hit_tokens"]), f.usage.Cached)
}

// first returns the first known count.
func first(counts ...bench.Count) bench.Count {
	for _, c := range counts {
		if c.Known() {
			return c
		}
	}
	return bench.Unknown
}

// cacheLevels reads SGLang's cached tokens by storage level.
func cacheLevels(d map[string]json.RawMessage) bench.CacheLevels {
	l := bench.CacheLevels{Device: count(d["device"]), Host: count(d["host"]), Storage: count(d["storage"])}
	if n := l.Storage.Or(0); n > 0 {
		l.Backend = str(d["storage_backend"])
	}
	return l
}

// content returns a content value's text: a string, or the typed parts that some servers send in its place, of which
// thinking is kept apart.
func content(raw json.RawMessage) (answer, thinking string) {
	if s := str(raw); s != "" {
		return s, ""
	}
	for _, p := range list(raw) {
		part := object(p)
		answer += str(part["text"])
		s, t := content(part["thinking"])
		thinking += s + t
	}
	return answer, thinking
}

// reasoningDetails returns the readable text of OpenRouter's list of thoughts.
func reasoningDetails(raw json.RawMessage) (text string) {
	for _, d := range list(raw) {
		part := object(d)
		text += str(part["text"]) + str(part["summary"])
	}
	return text
}

// calls reports whether a function or custom call has a name or arguments in it.
func calls(raw json.RawMessage) bool {
	o := object(raw)
	for _, name := range []string{"name", "arguments", "input"} {
		if v := o[name]; str(v) != "" || len(object(v)) > 0 {
			return true
		}
	}
	return false
}

// says reports whether a value is there and is neither null, false nor empty text.
func says(raw json.RawMessage) bool {
	switch string(raw) {
	case "", "null", "false", `""`:
		return false
	}
	return true
}

// str returns a string value, or "".
func str(raw json.RawMessage) (s string) {
	if len(raw) > 0 && raw[0] == '"' && json.Unmarshal(raw, &s) == nil {
		return s
	}
	return ""
}

// object returns an object's members, or nil.
func object(raw json.RawMessage) (o map[string]json.RawMessage) {
	if len(raw) > 0 && raw[0] == '{' && json.Unmarshal(raw, &o) == nil {
		return o
	}
	return nil
}

// list returns an array's elements, or nil.
func list(raw json.RawMessage) (l []json.RawMessage) {
	if len(raw) > 0 && raw[0] == '[' && json.Unmarshal(raw, &l) == nil {
		return l
	}
	return nil
}

// ids returns the length of a list of token ids and whether there is a list.
func ids(raw json.RawMessage) (n int, ok bool) {
	if len(raw) == 0 || raw[0] != '[' {
		return 0, false
	}
	return len(list(raw)), true
}

// count returns a whole number of at least 0, also where it is written as 5.0 or "5".
func count(raw json.RawMessage) bench.Count {
	s := strings.TrimSpace(string(bytes.Trim(raw, `"`)))
	if n, err := strconv.Atoi(s); err == nil {
		return bench.Counted(n)
	}
	if v, err := strconv.ParseFloat(s, 64); err == nil && v >= 0 && v == math.Trunc(v) && v < math.MaxInt32 {
		return bench.Counted(int(v))
	}
	return bench.Unknown
}
