// Package dataset decides what is asked: it turns a data set's name, its file and a seed into requests with prompt, token
// counts and output limit. Lengths, ids and order are drawn as sglang.bench_serving draws them from the same seed. A
// member of the family is one file with its rules; the list of them is kinds.
package dataset

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/servemark/servemark/internal/bench"
	"github.com/servemark/servemark/internal/hub"
	"github.com/servemark/servemark/internal/pyrand"
)

// Tokenizer is what a data set asks of the model's tokenizer. It is called from several goroutines at once.
type Tokenizer interface {
	// Encode gives the ids of a text, with the special tokens a server puts around a prompt where special is set.
	Encode(text string, special bool) ([]uint32, error)
	// Decode gives the text of ids; skipSpecial leaves special tokens out of it. A tokenizer without a way back gives
	// errors.ErrUnsupported.
	Decode(ids []uint32, skipSpecial bool) (string, error)
	// NumSpecial is how many tokens special adds to a single text.
	NumSpecial() int
	// VocabSize is the number of tokens there are; 0 where it is not known.
	VocabSize() int
}

// Cache finds files of published data sets that lie on this machine already.
type Cache interface {
	Cached(repo hub.Repo, file string) (path string, ok bool, err error)
}

// Inputs is what the data sets draw on beside the Spec. The zero value is a run without tokenizer, template and cache.
type Inputs struct {
	// Tokenizer is nil where there is none: then counts are unknown and lengths follow Calibration.
	Tokenizer Tokenizer
	// Calibration says how many tokens a word of the embedded corpus is; its zero value is BuiltInCalibration.
	Calibration Calibration
	// Template renders a JSON array of messages through the model's chat template; nil where there is none.
	Template func(messages json.RawMessage, addGenerationPrompt bool) (string, error)
	// BOS is the text of the token that opens a sequence, or "".
	BOS string
	// SpecialIDs are the ids that the tokenizer's configuration names as special (Hugging Face's all_special_ids), which vLLM's
	// random leaves out; nil where that is not known: then those that the tokenizer itself calls special.
	SpecialIDs []uint32
	// Cache may be nil.
	Cache Cache
	// Fetch brings a file that the cache lacks; nil where nothing may be downloaded.
	Fetch func(repo hub.Repo, file string) (path string, err error)
}

// Set is a data set's answer.
type Set struct {
	// Requests have dense ids, and no due time unless Timed.
	Requests []bench.Request
	// Timed is true where the data set itself says when each request is due, in ascending order (turns that follow others aside).
	Timed bool
	// Source says in words where the prompts come from.
	Source string
	// Notes are what the user must know: rows skipped and why, a short file, limits that were estimated.
	Notes []string
	// Repaired counts prompts whose text was mended to the asked token length.
	Repaired int
}

// Streams are the two generators that the original seeds once and then draws everything from, in order.
type Streams struct {
	Python *pyrand.Python
	NumPy  *pyrand.NumPy
}

// NewStreams seeds both. The seed must fit in 32 bits, as NumPy's does.
func NewStreams(seed int64) (Streams, error) {
	if seed < 0 || seed > math.MaxUint32 {
		return Streams{}, fmt.Errorf("seed %d is outside 0 to %d, the range that NumPy's generator takes: choose another seed", seed, uint32(math.MaxUint32))
	}
	return Streams{pyrand.NewPython(seed), pyrand.NewNumPy(uint32(seed))}, nil
}

// kind is one member of the family.
type kind struct {
	name string
	// uses are the optional settings that mean something to it.
	uses []setting
	// check reports what is wrong by the Spec alone.
	check func(s *bench.Spec) []error
	// ready reports what is missing on this machine: file, tokenizer, template.
	ready func(s *bench.Spec, in *Inputs) []error
	load  func(j *job) error
}

// kinds lists the data sets of a dialect, in the order in which they are named to users.
func kinds(d bench.Dialect) []kind {
	if d == bench.DialectVLLM {
		return []kind{
			{"random", nil, checkVLLMRandom, readyVLLMRandom, loadVLLMRandom},
			{"sharegpt", []setting{path, fixedOutput}, checkConversations, readyShareGPT, loadVLLMShareGPT},
			{"custom", []setting{path, fixedOutput, template}, checkVLLMCustom, nothingMissing, loadVLLMCustom},
			{"spec_bench", []setting{path, fixedOutput, template, category}, checkSpecBench, nothingMissing, loadSpecBench},
			{"speed_bench", []setting{path, fixedOutput, template, category}, checkVLLMSpeedBench, nothingMissing, loadVLLMSpeedBench},
			{"burstgpt", []setting{path}, checkBurstGPT, readyBurstGPT, loadBurstGPT},
			{"timed_trace", []setting{path, sendIDs}, checkTimedTrace, readyTimedTrace, loadTimedTrace},
			{"random-mm", nil, checkVLLMImages, readyVLLMImages, loadVLLMImages},
			{"random-rerank", nil, checkRerank, readyRerank, loadRerank},
			{"prefix_repetition", nil, checkPrefixRepetition, readyPrefixRepetition, loadPrefixRepetition},
		}
	}
	return []kind{
		{"random", []setting{path, sendIDs}, checkRandom, readyRandom, loadRandom},
		{"random-ids", []setting{sendIDs}, checkRandom, readyRandomIDs, loadRandomIDs},
		{"sharegpt", conversationSettings(), checkConversations, readyShareGPT, loadShareGPT},
		{"custom", conversationSettings(), checkCustom, nothingMissing, loadCustom},
		{"generated-shared-prefix", []setting{sendIDs}, checkSharedPrefix, readySharedPrefix, loadSharedPrefix},
		{"image", nil, checkImages, readyImages, loadImages},
		{"mmmu", []setting{path}, checkMMMU, nothingMissing, loadMMMU},
		{"mooncake", []setting{path, sendIDs}, checkMooncake, readyMooncake, loadMooncake},
		{"openai", []setting{path, fixedOutput}, checkOpenAI, nothingMissing, loadOpenAI},
		{"longbench_v2", []setting{path, fixedOutput, contextLimit}, checkLongBench, readyLongBench, loadLongBench},
		{"speed-bench", []setting{path, fixedOutput, category}, checkSpeedBench, nothingMissing, loadSpeedBench},
		{"agentic-trace", []setting{path, fixedOutput}, checkAgentic, nothingMissing, loadAgentic},
	}
}

// Names lists the data sets of a dialect.
func Names(d bench.Dialect) []string {
	var names []string
	for _, k := range kinds(d) {
		names = append(names, k.name)
	}
	return names
}

func find(s *bench.Spec) (kind, error) {
	for _, k := range kinds(s.Dialect) {
		if k.name == s.Dataset.Name {
			return k, nil
		}
	}
	return kind{}, fmt.Errorf("there is no data set %q: choose one of %s", s.Dataset.Name, strings.Join(Names(s.Dialect), ", "))
}

// CheckSpec reports every fault that the Spec alone shows, without opening anything.
func CheckSpec(s *bench.Spec) []error {
	k, err := find(s)
	if err != nil {
		return []error{err}
	}
	var faults []error
	if _, err := NewStreams(s.Seed); err != nil {
		faults = append(faults, err)
	}
	if s.Dialect == bench.DialectNative {
		for _, x := range k.inert(s) {
			faults = append(faults, fmt.Errorf("%s means nothing to the data set %s: leave it out", x, k.name))
		}
	}
	if s.Dataset.SendIDs && s.Target.API == bench.APIChat {
		faults = append(faults, errors.New("token ids cannot be sent to a chat route, which takes messages: leave out --tokenize-prompt, or choose a completions or generate backend"))
	}
	return append(faults, k.check(s)...)
}

// CheckInputs reports every fault of what the data set needs on this machine: a file, a tokenizer, a chat template.
func CheckInputs(s *bench.Spec, in *Inputs) []error {
	k, err := find(s)
	if err != nil {
		return []error{err}
	}
	var faults []error
	if k.takes(path) && s.Dataset.Path != "" {
		if err := checkFile(fileOf(s)); err != nil {
			faults = append(faults, err)
		}
	}
	if k.takes(sendIDs) && s.Dataset.SendIDs && in.Tokenizer == nil {
		faults = append(faults, errors.New("sending token ids (--tokenize-prompt) needs a tokenizer and none was found: give --tokenizer a tokenizer.json, its folder or org/name"))
	}
	if k.takes(template) && s.Dataset.ApplyTemplate && in.Template == nil {
		faults = append(faults, errors.New(templateFlag(s.Dialect)+" needs the model's chat template and none was found beside the tokenizer: give --tokenizer a folder or repository with tokenizer_config.json or chat_template.jinja, or "+withoutTemplate(s.Dialect)))
	}
	return append(faults, k.ready(s, in)...)
}

// Load makes the requests, drawing from rnd as the original does. CheckSpec and CheckInputs must have found nothing.
func Load(s *bench.Spec, in *Inputs, rnd Streams) (*Set, error) {
	k, err := find(s)
	if err != nil {
		return nil, err
	}
	j := &job{spec: s, in: in, rnd: rnd, set: &Set{}, want: s.Dataset.Rows}
	for _, x := range k.inert(s) {
		j.note("%s has no effect on the data set %s", x, k.name)
	}
	if err := k.load(j); err != nil {
		return nil, err
	}
	got := j.begun()
	if got == 0 {
		return nil, j.noRow()
	}
	if skipped := j.skipped.note(); skipped != "" {
		j.set.Notes = append(j.set.Notes, skipped)
	}
	if got < j.want {
		j.note("%s %s asked for and %d found (%s): the run has %d", bench.Number(j.want, "prompt"), bench.Agree(j.want, "was", "were"), got, j.set.Source, got)
	}
	if err := j.countTemplated(); err != nil {
		return nil, err
	}
	for i := range j.set.Requests {
		j.set.Requests[i].ID = i
		if !j.set.Timed || j.set.Requests[i].After != nil {
			j.set.Requests[i].Due = bench.Never
		}
	}
	return j.set, nil
}

// job is one Load on its way.
type job struct {
	spec     *bench.Spec
	in       *Inputs
	rnd      Streams
	set      *Set
	skipped  skips
	want     int           // rows
	thoughts *pyrand.NumPy // draws think times; nil before the first
	// look ends the loader once it has read its file.
	look bool
}

func (j *job) note(format string, args ...any) {
	j.set.Notes = append(j.set.Notes, fmt.Sprintf(format, args...))
}

// begun counts the requests that follow no other: a conversation is one row.
func (j *job) begun() int {
	n := 0
	for i := range j.set.Requests {
		if j.set.Requests[i].After == nil {
			n++
		}
	}
	return n
}

func (j *job) add(r bench.Request) { j.set.Requests = append(j.set.Requests, r) }

// countTemplated fills in what the chat template makes of each prompt, where template and tokenizer are known and the
// server is the one that applies it.
func (j *job) countTemplated() error {
	if j.spec.Target.API != bench.APIChat || j.in.Template == nil || j.in.Tokenizer == nil {
		return nil
	}
	failed := make([]error, len(j.set.Requests))
	err := j.each(len(j.set.Requests), func(i int, j *job) error {
		r := &j.set.Requests[i]
		if r.Prompt.Messages != nil || r.After != nil {
			return nil // counted by the data set itself, or not known before the answers are
		}
		text, err := j.in.Template(userMessage(r.Prompt.Text), true)
		if err != nil {
			failed[i] = err
			return nil
		}
		ids, err := j.in.Tokenizer.Encode(text, false)
		r.TemplatedTokens = bench.Counted(len(ids))
		return err
	})
	if err != nil {
		return err
	}
	n := 0
	for _, e := range failed {
		if e != nil {
			n++
		}
	}
	if n > 0 {
		j.note("the chat template refused %s: how long with the template is unknown: %v", bench.Part(n, len(failed), "prompt"), firstError(failed))
	}
	return nil
}

func firstError(errs []error) error {
	for _, e := range errs {
		if e != nil {
			return e
		}
	}
	return nil
}
