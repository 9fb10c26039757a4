package endpoint

import (
	"bytes"
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
// beside its live streams. Safe for concurrent use; at most eight questions are in flight, and answers are remembered.
type Tokenizer struct {
	asker
	shape   tokenizeShape
	served  bench.ServedModel
	special []uint32
	vocab   int
	slots   chan struct{}

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
	ask    func(served bench.ServedModel, text string, special bool) body
	ids    func(raw []byte) ([]uint32, error)
	// back is the route that turns ids into text, or ""; its answer holds the text under one of the keys.
	back string
	keys []string
}

// tokenizeShapes lists the shapes in the order in which they are tried.
func tokenizeShapes() []tokenizeShape {
	prompt := func(served bench.ServedModel, text string, special bool) (b body) {
		if served != "" {
			b.setString("model", string(served))
		}
		b.setString("prompt", text)
		b.setBool("add_special_tokens", special)
		return b
	}
	return []tokenizeShape{
		{name: "/tokenize of SGLang and vLLM", engine: bench.EngineVLLM, path: "/tokenize", ask: prompt, ids: idsUnder("tokens"), back: "/detokenize", keys: []string{"text", "prompt"}},
		{name: "/tokenize of llama.cpp", engine: bench.EngineLlamaCpp, path: "/tokenize", ask: func(_ bench.ServedModel, text string, special bool) (b body) {
			b.setString("content", text)
			b.setBool("add_special", special)
			return b
		}, ids: idsUnder("tokens"), back: "/detokenize", keys: []string{"content"}},
		{name: "/tokenize of TGI", path: "/tokenize", ask: func(_ bench.ServedModel, text string, special bool) (b body) {
			b.setString("inputs", text)
			b.setBool("add_special_tokens", special)
			return b
		}, ids: idsListed},
		{name: "/v1/encode of LMDeploy", engine: bench.EngineLMDeploy, path: "/v1/encode", ask: func(_ bench.ServedModel, text string, special bool) (b body) {
			b.setString("input", text)
			b.setBool("do_preprocess", false)
			b.setBool("add_bos", special)
			return b
		}, ids: idsUnder("input_ids")},
	}
}

// idsUnder reads {"tokens": [1, 2]}.
func idsUnder(key string) func([]byte) ([]uint32, error) {
	return func(raw []byte) ([]uint32, error) {
		var o map[string]json.RawMessage
		if err := json.Unmarshal(raw, &o); err != nil {
			return nil, err
		}
		var ids []uint32
		if err := json.Unmarshal(o[key], &ids); err != nil {
			return nil, fmt.Errorf("no list of ids under %q", key)
		}
		return ids, nil
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
	key := memoryKey{text, special}
	t.mu.Lock()
	ids, ok := t.memory[key]
	t.mu.Unlock()
	if ok {
		return slices.Clone(ids), nil
	}
	ids, err := t.encode(context.Background(), text, special)
	if err != nil {
		return nil, fmt.Errorf("the server's tokenizer: %w", err)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if size := len(text) + 4*len(ids); t.held+size <= tokenizeMemory {
		t.held += size
		t.memory[key] = slices.Clone(ids)
	}
	return ids, nil
}

func (t *Tokenizer) encode(ctx context.Context, text string, special bool) ([]uint32, error) {
	t.slots <- struct{}{}
	defer func() { <-t.slots }()
	a := t.post(ctx, t.shape.path, t.shape.ask(t.served, text, special).render(false), tokenizeTimeout)
	if !a.ok() {
		return nil, errors.New(a.fault())
	}
	return t.shape.ids(a.body)
}

// Decode returns the text of ids. skipSpecial leaves out the special tokens that are known (see IsSpecial).
func (t *Tokenizer) Decode(ids []uint32, skipSpecial bool) (string, error) {
	if t.shape.back == "" {
		return "", fmt.Errorf("the server's tokenizer: it turns text into ids (%s) but not back", t.shape.name)
	}
	if skipSpecial {
		ids = slices.DeleteFunc(slices.Clone(ids), t.IsSpecial)
	}
	if len(ids) == 0 {
		return "", nil
	}
	var b body
	if t.served != "" {
		b.setString("model", string(t.served))
	}
	b.set("tokens", jsonInts(ids))
	t.slots <- struct{}{}
	defer func() { <-t.slots }()
	a := t.post(context.Background(), t.shape.back, b.render(false), tokenizeTimeout)
	if !a.ok() {
		return "", fmt.Errorf("the server's tokenizer: %s", a.fault())
	}
	var o map[string]json.RawMessage
	if json.Unmarshal(a.body, &o) == nil {
		for _, key := range t.shape.keys {
			if raw := bytes.TrimSpace(o[key]); len(raw) > 0 && raw[0] == '"' {
				return str(raw), nil
			}
		}
	}
	return "", fmt.Errorf("the server's tokenizer: %s answers without a text: %.80q", t.shape.back, a.body)
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
