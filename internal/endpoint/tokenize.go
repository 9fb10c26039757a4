package endpoint

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/servemark/servemark/internal/bench"
)

// TokenizerOptions say how to ask a server for tokens.
type TokenizerOptions struct {
	Auth   Auth
	Served bench.ServedModel
	// Engine tells which route to try first; all are tried.
	Engine bench.Engine
	// Version is the program's, for the User-Agent header.
	Version string
}

// Tokenizer lets the server tokenize. It is for use outside the measured window only: the server's CPU tokenizes
// beside its live streams. Safe for concurrent use; at most eight questions are in flight, and answers are remembered. Who has
// many texts asks with EncodeAll, which puts many of them into one question where the server takes that.
type Tokenizer struct {
	asker
	shape   tokenizeShape
	served  bench.ServedModel
	special []uint32
	vocab   int
	slots   chan struct{}
	// encodes and decodes are what is known of lists in one question.
	encodes, decodes lists

	mu     sync.Mutex
	memory map[memoryKey][]uint32
	held   int
}

type memoryKey struct {
	text    string
	special bool
}

// Bounds of a Tokenizer.
const (
	tokenizeAtOnce  = 8
	tokenizeTimeout = 30 * time.Second
	tokenizeMemory  = 16 << 20 // bytes of text and ids remembered
)

// tokenizeShape is the way one family of servers wants to be asked.
type tokenizeShape struct {
	name   string
	engine bench.Engine
	path   string
	// ask puts one text, or a list of several, into a body.
	ask func(served bench.ServedModel, texts []string, special bool) body
	ids func(raw []byte) ([]uint32, error)
	// many reads the answer to a list; nil where a question has one text (llama.cpp would join a list into one text).
	many func(raw []byte) ([][]uint32, error)
	// back is the route that turns ids into text, or ""; its answer holds the text under one of the keys.
	back string
	keys []string
	// manyBack is true where back may take a list of lists.
	manyBack bool
}

// tokenizeShapes lists the shapes in the order in which they are tried. SGLang and LMDeploy take lists (sglang 0.5,
// serving_tokenize.py; lmdeploy 0.10, /v1/encode of api_server.py); vLLM refuses them in SGLang's shape.
func tokenizeShapes() []tokenizeShape {
	prompt := func(served bench.ServedModel, texts []string, special bool) (b body) {
		if served != "" {
			b.setString("model", string(served))
		}
		b.set("prompt", textOrList(texts))
		b.setBool("add_special_tokens", special)
		return b
	}
	return []tokenizeShape{
		{name: "/tokenize of SGLang and vLLM", engine: bench.EngineVLLM, path: "/tokenize", ask: prompt, ids: idsUnder("tokens"), many: listsUnder("tokens"),
			back: "/detokenize", keys: []string{"text", "prompt"}, manyBack: true},
		{name: "/tokenize of llama.cpp", engine: bench.EngineLlamaCpp, path: "/tokenize", ask: func(_ bench.ServedModel, texts []string, special bool) (b body) {
			b.set("content", textOrList(texts))
			b.setBool("add_special", special)
			return b
		}, ids: idsUnder("tokens"), back: "/detokenize", keys: []string{"content"}},
		{name: "/tokenize of TGI", path: "/tokenize", ask: func(_ bench.ServedModel, texts []string, special bool) (b body) {
			b.set("inputs", textOrList(texts))
			b.setBool("add_special_tokens", special)
			return b
		}, ids: idsListed},
		{name: "/v1/encode of LMDeploy", engine: bench.EngineLMDeploy, path: "/v1/encode", ask: func(_ bench.ServedModel, texts []string, special bool) (b body) {
			b.set("input", textOrList(texts))
			b.setBool("do_preprocess", false)
			b.setBool("add_bos", special)
			return b
		}, ids: idsUnder("input_ids"), many: listsUnder("input_ids")},
	}
}

// textOrList renders one text as a string and several as a list.
func textOrList(texts []string) json.RawMessage {
	if len(texts) == 1 {
		return jsonString(texts[0])
	}
	out := []byte{'['}
	for i, text := range texts {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, jsonString(text)...)
	}
	return append(out, ']')
}

// idsUnder reads {"tokens": [1, 2]}.
func idsUnder(key string) func([]byte) ([]uint32, error) { return under[[]uint32](key, "list of ids") }

// listsUnder reads {"tokens": [[1, 2], [3]]}.
func listsUnder(key string) func([]byte) ([][]uint32, error) {
	return under[[][]uint32](key, "lists of ids")
}

// under reads what stands under a key of an object.
func under[T any](key, what string) func([]byte) (T, error) {
	return func(raw []byte) (v T, err error) {
		var o map[string]json.RawMessage
		if err := json.Unmarshal(raw, &o); err != nil {
			return v, err
		}
		if err := json.Unmarshal(o[key], &v); err != nil {
			return v, fmt.Errorf("no %s under %q", what, key)
		}
		return v, nil
	}
}

// idsListed reads TGI's [{"id": 1, "text": "a"}].
func idsListed(raw []byte) ([]uint32, error) {
	var l []struct {
		ID *uint32 `json:"id"`
	}
	if err := json.Unmarshal(raw, &l); err != nil {
		return nil, errors.New("no list of tokens")
	}
	ids := make([]uint32, len(l))
	for i, t := range l {
		if t.ID == nil {
			return nil, errors.New("a token without id")
		}
		ids[i] = *t.ID
	}
	return ids, nil
}

// NewTokenizer finds out how the server tokenizes, if it does; the error lists what was tried and what came back.
func NewTokenizer(ctx context.Context, client *http.Client, base string, o TokenizerOptions) (*Tokenizer, error) {
	t := &Tokenizer{
		asker: newAsker(client, base, o.Version, o.Auth), served: o.Served,
		slots: make(chan struct{}, tokenizeAtOnce), memory: map[memoryKey][]uint32{},
	}
	shapes := tokenizeShapes()
	first := o.Engine
	if first == bench.EngineSGLang {
		first = bench.EngineVLLM // the same shape
	}
	slices.SortStableFunc(shapes, func(a, b tokenizeShape) int {
		return rank(a.engine == first && first != bench.EngineUnknown) - rank(b.engine == first && first != bench.EngineUnknown)
	})
	const sample = "One two, three."
	var tried []string
	for _, shape := range shapes {
		t.shape = shape
		bare, err := t.encode(ctx, sample, false)
		if err == nil && len(bare) == 0 {
			err = errors.New("no tokens for a text")
		}
		if err != nil {
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			tried = append(tried, fmt.Sprintf("%s: %v", shape.name, err))
			continue
		}
		full, err := t.encode(ctx, sample, true)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", shape.name, err)
		}
		t.special = without(full, bare)
		if shape.many == nil || o.Engine == bench.EngineVLLM {
			t.encodes.refuse()
		}
		if !shape.manyBack || o.Engine == bench.EngineVLLM {
			t.decodes.refuse()
		}
		t.vocab = t.vocabulary(ctx)
		return t, nil
	}
	return nil, &NoTokenizerError{tried}
}

func rank(first bool) int {
	if first {
		return 0
	}
	return 1
}

// without returns what stands around the inner list in the outer one; nil if it does not stand in it as a whole.
func without(outer, inner []uint32) []uint32 {
	for i := 0; i+len(inner) <= len(outer); i++ {
		if slices.Equal(outer[i:i+len(inner)], inner) {
			return append(slices.Clone(outer[:i]), outer[i+len(inner):]...)
		}
	}
	return nil
}

// vocabulary asks llama.cpp for the size of its vocabulary; no other server tells.
func (t *Tokenizer) vocabulary(ctx context.Context) int {
	if t.shape.engine != bench.EngineLlamaCpp {
		return 0
	}
	data, _ := t.get(ctx, routeModels, tokenizeTimeout).object()["data"].([]any)
	if len(data) == 0 {
		return 0
	}
	card, _ := data[0].(map[string]any)
	return number(card, "meta", "n_vocab").Or(0)
}

// Shape names the route and family that answer.
func (t *Tokenizer) Shape() string { return t.shape.name }

// NumSpecial returns how many special tokens the server adds around a text.
func (t *Tokenizer) NumSpecial() int { return len(t.special) }

// IsSpecial reports whether an id is one of those the server adds around a text; other special tokens are not known.
func (t *Tokenizer) IsSpecial(id uint32) bool { return slices.Contains(t.special, id) }

// VocabSize returns the size of the vocabulary, or 0 where the server does not tell (all but llama.cpp).
func (t *Tokenizer) VocabSize() int { return t.vocab }

// Encode returns the ids of a text, with the special tokens around it if special is true.
func (t *Tokenizer) Encode(text string, special bool) ([]uint32, error) {
	if ids, ok := t.recall(text, special); ok {
		return ids, nil
	}
	ids, err := t.encode(context.Background(), text, special)
	if err != nil {
		return nil, fmt.Errorf("the server's tokenizer: %w", err)
	}
	t.remember(text, special, ids)
	return ids, nil
}

func (t *Tokenizer) recall(text string, special bool) ([]uint32, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	ids, ok := t.memory[memoryKey{text, special}]
	return slices.Clone(ids), ok
}

// remember keeps an answer as long as there is room.
func (t *Tokenizer) remember(text string, special bool, ids []uint32) {
	t.mu.Lock()
	defer t.mu.Unlock()
	key := memoryKey{text, special}
	if _, ok := t.memory[key]; ok {
		return
	}
	if size := len(text) + 4*len(ids); t.held+size <= tokenizeMemory {
		t.held += size
		t.memory[key] = slices.Clone(ids)
	}
}

func (t *Tokenizer) encode(ctx context.Context, text string, special bool) ([]uint32, error) {
	a := t.exchange(ctx, t.shape.path, t.shape.ask(t.served, []string{text}, special))
	if !a.ok() {
		return nil, errors.New(a.fault())
	}
	return t.shape.ids(a.body)
}

// exchange posts a question when fewer than eight are in flight.
func (t *Tokenizer) exchange(ctx context.Context, path string, b body) answer {
	t.slots <- struct{}{}
	defer func() { <-t.slots }()
	return t.post(ctx, path, b.render(false), tokenizeTimeout)
}

// Decode returns the text of ids. skipSpecial leaves out the special tokens that are known (see IsSpecial).
func (t *Tokenizer) Decode(ids []uint32, skipSpecial bool) (string, error) {
	if err := t.decodable(); err != nil {
		return "", err
	}
	if ids = t.shown(ids, skipSpecial); len(ids) == 0 {
		return "", nil
	}
	text, err := t.decode(ids)
	if err != nil {
		return "", fmt.Errorf("the server's tokenizer: %w", err)
	}
	return text, nil
}

// decodable is an error where the server has no way back.
func (t *Tokenizer) decodable() error {
	if t.shape.back == "" {
		return &oneWayError{fmt.Sprintf("the server's tokenizer: it turns text into ids (%s) but not back", t.shape.name)}
	}
	return nil
}

// oneWayError is that of a server which turns no ids into text; it is errors.ErrUnsupported.
type oneWayError struct{ words string }

func (e *oneWayError) Error() string { return e.words }

func (e *oneWayError) Is(target error) bool { return target == errors.ErrUnsupported }

// shown leaves out the known special tokens, if asked to.
func (t *Tokenizer) shown(ids []uint32, skipSpecial bool) []uint32 {
	if skipSpecial {
		return slices.DeleteFunc(slices.Clone(ids), t.IsSpecial)
	}
	return ids
}

func (t *Tokenizer) decode(ids []uint32) (string, error) {
	a := t.exchange(context.Background(), t.shape.back, t.askBack(jsonInts(ids)))
	switch {
	case a.err == nil && slices.Contains([]int{http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusNotImplemented}, a.status):
		return "", &oneWayError{t.shape.back + ": " + a.fault()}
	case !a.ok():
		return "", errors.New(a.fault())
	}
	for _, key := range t.shape.keys {
		if raw := object(a.body)[key]; len(raw) > 0 && raw[0] == '"' {
			return str(raw), nil
		}
	}
	return "", fmt.Errorf("%s answers without a text: %.80q", t.shape.back, a.body)
}

// askBack asks for the text of ids, or the texts of lists of them.
func (t *Tokenizer) askBack(tokens json.RawMessage) (b body) {
	if t.served != "" {
		b.setString("model", string(t.served))
	}
	b.set("tokens", tokens)
	return b
}

// NoTokenizerError is a server without a tokenize route that could be used.
type NoTokenizerError struct {
	// Tried says of each way of asking what came of it.
	Tried []string
}

// Error says it in short; most servers of OpenAI's API have none.
func (e *NoTokenizerError) Error() string {
	return fmt.Sprintf("the server offers no tokenizer (%s of asking tried)", bench.Number(len(e.Tried), "way"))
}
