package endpoint

import (
	"encoding/json"

	"github.com/servemark/servemark/internal/bench"
)

// chatBody renders POST /v1/chat/completions: a text becomes one user message, messages pass through as they are.
//
// The output limit: SGLang, vLLM and OpenAI know max_completion_tokens. Others (Ollama, TGI, older llama.cpp, LMDeploy)
// know only max_tokens and would generate without limit, so a server that is not known to be one of the former is given
// both; the values are equal, and servers that know both take either.
func (e *Endpoint) chatBody(r *bench.Request, extra body) (body, error) {
	if e.o.Dialect == bench.DialectVLLM {
		return e.vllmChatBody(r, extra)
	}
	var b body
	b.setString("model", string(e.o.Served))
	switch {
	case r.Prompt.IDs != nil, r.Prompt.Texts != nil:
		return nil, e.refuse(r.Prompt, "ask /v1/completions or /generate, or send text")
	case r.Prompt.Messages != nil:
		raw, err := rawMessages(r.Prompt)
		if err != nil {
			return nil, err
		}
		b.set("messages", raw)
	default:
		raw := append(json.RawMessage(`[{"role":"user","content":`), jsonString(r.Prompt.Text)...)
		b.set("messages", append(raw, `}]`...))
	}
	b.setInt("max_completion_tokens", r.OutputTokens)
	if !e.o.Strict && e.o.Engine != bench.EngineSGLang && e.o.Engine != bench.EngineVLLM && !e.openAIHost() && !extra.has("max_completion_tokens") {
		b.setInt("max_tokens", r.OutputTokens)
	}
	e.sampling(&b, extra)
	b.merge(extra)
	e.adapt(&b, r)
	return b, nil
}

// completionsBody renders POST /v1/completions, and what Truss takes in its form: text or token ids.
func (e *Endpoint) completionsBody(r *bench.Request, extra body) (body, error) {
	if e.o.Dialect == bench.DialectVLLM {
		return e.vllmCompletionsBody(r, extra)
	}
	var b body
	b.setString("model", string(e.o.Served))
	switch {
	case r.Prompt.IDs != nil:
		b.set("prompt", jsonInts(r.Prompt.IDs))
	case r.Prompt.Messages != nil:
		raw, err := rawMessages(r.Prompt)
		if err != nil {
			return nil, err
		}
		if !e.o.Strict { // the original posts them as the prompt, which servers refuse
			return nil, e.refuse(r.Prompt, "ask /v1/chat/completions")
		}
		b.set("prompt", raw)
	case r.Prompt.Texts != nil:
		return nil, e.refuse(r.Prompt, "ask /v1/embeddings or /v1/rerank")
	default:
		b.setString("prompt", r.Prompt.Text)
	}
	if e.o.Strict && e.o.API == bench.APITruss {
		b.setFloat("temperature", 0) // that far forward in the original
	}
	if e.o.Strict {
		b.setInt("best_of", 1)
	}
	b.setInt("max_tokens", r.OutputTokens)
	e.sampling(&b, extra)
	if e.o.Body.Logprobs && e.o.Body.TopLogprobs > 0 {
		b.setInt("logprobs", e.o.Body.TopLogprobs)
	}
	b.merge(extra)
	e.adapt(&b, r)
	return b, nil
}

// sampling sets what both routes share. Temperature is 0 and the end-of-sequence token ignored unless extra says
// otherwise; where it is not to be ignored the key is left out, since servers by OpenAI's letter refuse it.
func (e *Endpoint) sampling(b *body, extra body) {
	b.setBool("stream", e.o.Stream)
	if e.o.Stream && !e.o.Strict {
		b.set("stream_options", json.RawMessage(usageOptions))
	}
	if !extra.has("temperature") {
		b.setFloat("temperature", 0)
	}
	if !extra.has("ignore_eos") && (e.o.Strict || e.o.Body.IgnoreEOS) {
		b.setBool("ignore_eos", e.o.Body.IgnoreEOS)
	}
}
