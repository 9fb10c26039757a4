package endpoint

import (
	"encoding/json"

	"github.com/servemark/servemark/internal/bench"
)

// What vLLM's tool sends: no temperature unless asked, usage always, chat messages as lists of parts.

// vllmCompletionsBody renders its POST /v1/completions. repetition_penalty 1 keeps a server from taking another one from
// the model's own settings; log probabilities that nobody asked for stand there as null in the original only.
func (e *Endpoint) vllmCompletionsBody(r *bench.Request, extra body) (body, error) {
	var b body
	b.setString("model", string(e.o.Served))
	switch {
	case r.Prompt.IDs != nil:
		b.set("prompt", jsonInts(r.Prompt.IDs))
	case r.Prompt.Messages != nil:
		return nil, e.refuse(r.Prompt, "ask /v1/chat/completions")
	case r.Prompt.Texts != nil:
		return nil, e.refuse(r.Prompt, "ask /v1/embeddings or /v1/rerank")
	default:
		b.setString("prompt", r.Prompt.Text)
	}
	if e.o.Strict || !e.openAIHost() {
		b.setFloat("repetition_penalty", 1)
	}
	b.setInt("max_tokens", r.OutputTokens)
	switch {
	case e.o.Body.Logprobs:
		b.setInt("logprobs", e.o.Body.TopLogprobs)
	case e.o.Strict:
		b.set("logprobs", json.RawMessage("null"))
	}
	e.vllmCommon(&b, r, extra)
	return b, nil
}

// vllmChatBody renders its POST /v1/chat/completions.
func (e *Endpoint) vllmChatBody(r *bench.Request, extra body) (body, error) {
	var b body
	b.setString("model", string(e.o.Served))
	switch {
	case r.Prompt.IDs != nil, r.Prompt.Texts != nil:
		return nil, e.refuse(r.Prompt, "ask /v1/completions, or send text")
	case r.Prompt.Messages != nil:
		raw, err := rawMessages(r.Prompt)
		if err != nil {
			return nil, err
		}
		b.set("messages", raw)
	default:
		raw := append(json.RawMessage(`[{"role":"user","content":[{"type":"text","text":`), jsonString(r.Prompt.Text)...)
		b.set("messages", append(raw, `}]}]`...))
	}
	b.setInt("max_completion_tokens", r.OutputTokens)
	e.vllmCommon(&b, r, extra)
	return b, nil
}

// vllmCommon sets what both routes share.
func (e *Endpoint) vllmCommon(b *body, r *bench.Request, extra body) {
	b.setBool("stream", e.o.Stream)
	if e.o.Stream {
		b.set("stream_options", json.RawMessage(usageOptions))
	}
	if e.o.Body.IgnoreEOS {
		b.setBool("ignore_eos", true)
	}
	b.merge(extra)
	e.adapt(b, r)
}
