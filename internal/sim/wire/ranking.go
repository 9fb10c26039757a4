package wire

import (
	"cmp"
	"encoding/json"
	"slices"
)

// Ranking is the JSON body of a reranked list, best first: an object of vLLM or llama.cpp, the bare list of SGLang.
type Ranking struct {
	unpooled
	Flavour Flavour
	// Scores are those of the documents in the client's order; Top is how many are told, 0 for all.
	Scores []float64
	Top    int
	// Documents are repeated where not nil.
	Documents []string
}

// unpooled are the parts of a dialect that is never streamed.
type unpooled struct{ unframed }

// Tokens writes nothing.
func (unpooled) Tokens(*SSE, *Reply, *Answer, int, int) {}

// Fail writes nothing: what is not streamed fails before anything was sent.
func (unpooled) Fail(*SSE, string) {}

// Whole is the list in the flavour's form.
func (d *Ranking) Whole(r *Reply) []byte {
	order := make([]int, len(d.Scores))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(d.Scores[b], d.Scores[a]) })
	if d.Top > 0 && d.Top < len(order) {
		order = order[:d.Top]
	}
	list := make([]any, len(order))
	for k, i := range order {
		list[k] = d.entry(r, i)
	}
	if d.Flavour == SGLang {
		return asJSON(list)
	}
	prompt, _, _, _ := r.totals()
	body := map[string]any{"model": r.Model, "usage": map[string]int{"prompt_tokens": prompt, "total_tokens": prompt}, "results": list}
	if d.Flavour == LlamaCpp {
		body["object"] = "list"
	} else {
		body["id"] = r.ID
	}
	return asJSON(body)
}

func (d *Ranking) entry(r *Reply, i int) map[string]any {
	if d.Flavour == SGLang {
		one := map[string]any{"index": i, "score": d.Scores[i], "meta_info": map[string]any{
			"id": r.ID, "prompt_tokens": r.Answers[i].PromptTokens(), "e2e_latency": r.Elapsed().Seconds()}}
		if d.Documents != nil {
			one["document"] = d.Documents[i]
		}
		return one
	}
	one := map[string]any{"index": i, "relevance_score": d.Scores[i]}
	if d.Documents != nil {
		one["document"] = map[string]any{"text": d.Documents[i], "multi_modal": nil}
	}
	return one
}

// Scores is vLLM's list of scores, one for each pair.
type Scores struct {
	unpooled
	Scores []float64
}

// Whole is the list with usage.
func (d *Scores) Whole(r *Reply) []byte {
	list := make([]any, len(d.Scores))
	for i, x := range d.Scores {
		list[i] = map[string]any{"index": i, "object": "score", "score": x}
	}
	return asJSON(map[string]any{"id": r.ID, "object": "list", "created": r.Created, "model": r.Model, "data": list, "usage": pooledUsage(r)})
}

// LabelScores is SGLang's matrix: the probability of each label after each item.
type LabelScores struct {
	unpooled
	Scores [][]float64
}

// Whole is the matrix with usage.
func (d *LabelScores) Whole(r *Reply) []byte {
	return asJSON(map[string]any{"object": "scoring", "model": r.Model, "scores": d.Scores, "usage": pooledUsage(r), "pooled_hidden_states": nil, "token_logprobs": nil})
}

func pooledUsage(r *Reply) map[string]any {
	prompt, _, _, _ := r.totals()
	return map[string]any{"prompt_tokens": prompt, "total_tokens": prompt, "completion_tokens": 0, "prompt_tokens_details": nil}
}

// asJSON renders what is made of texts and finite numbers, which cannot fail.
func asJSON(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		return nil
	}
	return b
}
