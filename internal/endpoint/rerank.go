package endpoint

import (
	"encoding/json"
	"fmt"

	"github.com/servemark/servemark/internal/bench"
)

// rerankBody renders POST /v1/rerank: the first text is the query, the others are the documents. vLLM's tool sends nothing of
// the user's own here.
func (e *Endpoint) rerankBody(r *bench.Request, extra body) (body, error) {
	if len(r.Prompt.Texts) < 2 {
		return nil, fmt.Errorf("%s takes a query and documents, and this prompt is %s; use the data set random-rerank", e.Path(), promptKind(r.Prompt))
	}
	var b body
	b.setString("model", string(e.o.Served))
	b.setString("query", r.Prompt.Texts[0])
	b.set("documents", jsonStrings(r.Prompt.Texts[1:]))
	b.setInt("truncate_prompt_tokens", -1)
	if !e.o.Strict {
		b.merge(extra)
	}
	return b, nil
}

// rerankReply counts the scores. SGLang answers with the bare list, calls them "score", and tells a document's tokens beside each.
func (f *frame) rerankReply(top map[string]json.RawMessage, _ bool) {
	tokens := bench.Counted(0)
	for _, raw := range list(top["results"]) {
		one := object(raw)
		if len(one["relevance_score"]) > 0 || len(one["score"]) > 0 {
			f.vectors++
		}
		tokens = tokens.Plus(count(object(one["meta_info"])["prompt_tokens"]))
	}
	f.pooled(object(top["usage"]))
	if !f.usage.Prompt.Known() && f.vectors > 0 {
		f.usage.Prompt = tokens
	}
}
