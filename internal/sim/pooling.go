package sim

import (
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/servemark/servemark/internal/sim/prose"
	"github.com/servemark/servemark/internal/sim/wire"
)

// pooling is a request whose prompts are only read: each runs through the engine as a prompt without output.
type pooling struct {
	model    string
	lora     adapterNames
	prompts  [][]int
	truncate *int // vLLM's truncate_prompt_tokens
	prefix   string
	dialect  wire.Dialect
}

// pool checks the prompts and answers when the engine has read them all.
func (s *Server) pool(w http.ResponseWriter, q *http.Request, f *Fault, accepted time.Duration, x pooling) *wire.Error {
	p := sampling{LoraPath: x.lora}
	if x.model != "" {
		if e := s.summon(&p, x.model); e != nil {
			return e
		}
	}
	answers := make([]*answer, len(x.prompts))
	for i, ids := range x.prompts {
		ids, e := s.truncated(ids, x.truncate)
		switch {
		case e != nil:
		case len(ids) == 0:
			e = badRequest("The input is empty.")
		case x.truncate == nil:
			e = s.tooLong(len(ids), 0)
		}
		if e != nil {
			return e
		}
		answers[i] = &answer{Answer: wire.Answer{Prompt: ids}, adapter: p.LoraPath.of(i)}
	}
	return s.respond(w, q, f, s.newReply(accepted, &p, x.prefix, answers), x.dialect)
}

// truncated cuts a prompt to its first tokens where vLLM is asked to: to so many, or to what fits (-1).
func (s *Server) truncated(ids []int, to *int) ([]int, *wire.Error) {
	if to == nil || s.cfg.Flavour != VLLM {
		return ids, nil
	}
	n := *to
	if n == -1 {
		n = s.contextLen()
	}
	if n < 1 || n > s.contextLen() {
		e := badRequest("truncate_prompt_tokens must be -1 or lie in 1..%d, got %d.", s.contextLen(), n)
		e.Param = "truncate_prompt_tokens"
		return nil, e
	}
	return ids[:min(n, len(ids))], nil
}

// embeddings answers /v1/embeddings.
func (s *Server) embeddings(w http.ResponseWriter, q *http.Request, f *Fault) *wire.Error {
	accepted := s.driver.now()
	var body struct {
		Model    string          `json:"model"`
		Input    json.RawMessage `json:"input"`
		Form     string          `json:"encoding_format"`
		LoRA     adapterNames    `json:"lora_path"`
		Truncate *int            `json:"truncate_prompt_tokens"`
	}
	e := s.readBody(q, &body)
	if e == nil && body.Model == "" {
		e = s.unknownModel("")
	}
	if e != nil {
		return e
	}
	prompts, _, err := s.prompts(body.Input)
	if err != nil {
		return badRequest("%v", err)
	}
	return s.pool(w, q, f, accepted, pooling{model: body.Model, lora: body.LoRA, prompts: prompts, truncate: body.Truncate, prefix: "embd-",
		dialect: &wire.Embedding{Base64: body.Form == "base64"}})
}

// pair joins two texts as a cross-encoder reads them: with one separator between.
func (s *Server) pair(query, document []int) []int {
	return slices.Concat(query, []int{s.separator}, document)
}

// rerank answers /v1/rerank and its other names.
func (s *Server) rerank(w http.ResponseWriter, q *http.Request, f *Fault) *wire.Error {
	accepted := s.driver.now()
	var body struct {
		Model     string       `json:"model"`
		Query     string       `json:"query"`
		Documents stringOrList `json:"documents"`
		Top       *int         `json:"top_n"`
		Truncate  *int         `json:"truncate_prompt_tokens"`
		Return    *bool        `json:"return_documents"`
	}
	e := s.readBody(q, &body)
	switch blank := func(t string) bool { return strings.TrimSpace(t) == "" }; {
	case e != nil:
	case blank(body.Query):
		e = badRequest("the query must not be empty")
	case len(body.Documents) == 0 || s.cfg.Flavour == SGLang && slices.ContainsFunc(body.Documents, blank):
		e = badRequest("documents must be texts, at least one, none of them empty")
	case body.Top != nil && *body.Top < 1 && s.cfg.Flavour == SGLang:
		e = badRequest("top_n must be at least 1, got %d", *body.Top)
	}
	if e != nil {
		return e
	}
	d := &wire.Ranking{Flavour: s.cfg.Flavour}
	if body.Top != nil {
		d.Top = *body.Top
	}
	if s.cfg.Flavour == VLLM || s.cfg.Flavour == SGLang && (body.Return == nil || *body.Return) {
		d.Documents = body.Documents
	}
	x := pooling{model: body.Model, truncate: body.Truncate, prefix: "rerank-", dialect: d}
	if s.cfg.Flavour == SGLang {
		x.model = "" // not a member of its request
	}
	query := s.tok.Encode(body.Query)
	for _, text := range body.Documents {
		x.prompts = append(x.prompts, s.pair(query, s.tok.Encode(text)))
		d.Scores = append(d.Scores, relevance(body.Query, text))
	}
	return s.pool(w, q, f, accepted, x)
}

// relevance is the share of the query's words that a document has, told apart by a trace of its own.
func relevance(query, document string) float64 {
	have, want, n := strings.Fields(strings.ToLower(document)), strings.Fields(strings.ToLower(query)), 0
	for _, word := range want {
		if slices.Contains(have, word) {
			n++
		}
	}
	return 0.98*float64(n)/float64(max(len(want), 1)) + 0.02*fraction(prose.Mix(textSeed(document)))
}

// fraction turns a hash into a number of 0..1.
func fraction(h uint64) float64 { return float64(h>>11) / (1 << 53) }

// score answers vLLM's /v1/score: two texts, one with several, or as many as there are of the other.
func (s *Server) score(w http.ResponseWriter, q *http.Request, f *Fault) *wire.Error {
	accepted := s.driver.now()
	var body struct {
		Model     string       `json:"model"`
		Text1     stringOrList `json:"text_1"`
		Text2     stringOrList `json:"text_2"`
		Data1     stringOrList `json:"data_1"`
		Data2     stringOrList `json:"data_2"`
		Queries   stringOrList `json:"queries"`
		Documents stringOrList `json:"documents"`
		Items     stringOrList `json:"items"`
		Truncate  *int         `json:"truncate_prompt_tokens"`
	}
	if e := s.readBody(q, &body); e != nil {
		return e
	}
	one := slices.Concat(body.Text1, body.Data1, body.Queries)
	two := slices.Concat(body.Text2, body.Data2, body.Documents, body.Items)
	if len(one) == 0 || len(two) == 0 || len(one) > 1 && len(one) != len(two) {
		return badRequest("texts to score must be 1 and 1, 1 and N or N and N; there are %d and %d", len(one), len(two))
	}
	d := &wire.Scores{}
	x := pooling{model: body.Model, truncate: body.Truncate, prefix: "score-", dialect: d}
	for i, text := range two {
		first := one[min(i, len(one)-1)]
		x.prompts = append(x.prompts, s.pair(s.tok.Encode(first), s.tok.Encode(text)))
		d.Scores = append(d.Scores, relevance(first, text))
	}
	return s.pool(w, q, f, accepted, x)
}

// scoreLabels answers SGLang's /v1/score: how probable each label is after the query and each item.
func (s *Server) scoreLabels(w http.ResponseWriter, q *http.Request, f *Fault) *wire.Error {
	accepted := s.driver.now()
	var body struct {
		Model     string          `json:"model"`
		Query     json.RawMessage `json:"query"`
		Items     json.RawMessage `json:"items"`
		Labels    []int           `json:"label_token_ids"`
		Softmax   bool            `json:"apply_softmax"`
		ItemFirst bool            `json:"item_first"`
	}
	if e := s.readBody(q, &body); e != nil {
		return e
	}
	query, _, err := s.prompts(body.Query)
	if err != nil || len(query) != 1 {
		return badRequest("query must be a text or token ids")
	}
	items, _, err := s.prompts(body.Items)
	switch {
	case err != nil:
		err = fmt.Errorf("items: %w", err)
	case len(body.Labels) == 0:
		err = fmt.Errorf("label_token_ids must name at least one token")
	default:
		err = s.checkIDs(body.Labels)
	}
	if err != nil {
		return badRequest("%v", err)
	}
	d := &wire.LabelScores{}
	x := pooling{model: body.Model, prefix: "score-", dialect: d}
	for _, item := range items {
		ids := slices.Concat(query[0], item)
		if body.ItemFirst {
			ids = slices.Concat(item, query[0])
		}
		x.prompts = append(x.prompts, ids)
		d.Scores = append(d.Scores, labelScores(ids, body.Labels, body.Softmax))
	}
	return s.pool(w, q, f, accepted, x)
}

// labelScores are the labels' probabilities after a prompt: among the labels alone, or among all tokens, of which the labels
// have nine tenths.
func labelScores(ids, labels []int, alone bool) []float64 {
	out, sum := make([]float64, len(labels)), 0.0
	for i, id := range labels {
		out[i] = math.Exp(4 * fraction(prose.Mix(prose.HashIDs(2, ids)^uint64(id))))
		sum += out[i]
	}
	if !alone {
		sum /= 0.9
	}
	for i := range out {
		out[i] /= sum
	}
	return out
}
