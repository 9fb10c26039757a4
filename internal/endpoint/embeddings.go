package endpoint

import (
	"encoding/json"

	"github.com/servemark/servemark/internal/bench"
)

// embeddingsBody renders POST /v1/embeddings: a text, several, or token ids. SGLang's tool puts the input first; vLLM's asks
// the server to cut prompts that are too long.
func (e *Endpoint) embeddingsBody(r *bench.Request, extra body) (body, error) {
	var input json.RawMessage
	switch {
	case r.Prompt.Messages != nil:
		return nil, e.refuse(r.Prompt, "send texts")
	case r.Prompt.IDs != nil:
		input = jsonInts(r.Prompt.IDs)
	case r.Prompt.Texts != nil:
		input = jsonStrings(r.Prompt.Texts)
	default:
		input = jsonString(r.Prompt.Text)
	}
	var b body
	if e.o.Dialect == bench.DialectVLLM {
		b.setString("model", string(e.o.Served))
		b.set("input", input)
		b.setInt("truncate_prompt_tokens", -1)
	} else {
		b.set("input", input)
		b.setString("model", string(e.o.Served))
		e.adapt(&b, r)
	}
	b.merge(extra)
	return b, nil
}

// embeddingsReply reads the vectors' number and the usage. A vector has no output tokens.
func (f *frame) embeddingsReply(top map[string]json.RawMessage, _ bool) {
	for _, raw := range list(top["data"]) {
		if v := object(raw)["embedding"]; len(v) > 2 { // neither [] nor ""
			f.vectors++
		}
	}
	f.pooled(object(top["usage"]))
}

// pooled takes the usage of a reply without text; some servers state a total only, which is the prompt's.
func (f *frame) pooled(u map[string]json.RawMessage) {
	f.usage.Prompt = first(count(u["prompt_tokens"]), count(u["total_tokens"]))
	f.usage.Completion = bench.Counted(0)
}

// jsonStrings renders a list of texts.
func jsonStrings(list []string) json.RawMessage {
	out := json.RawMessage{'['}
	for i, s := range list {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, jsonString(s)...)
	}
	return append(out, ']')
}
