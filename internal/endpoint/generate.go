package endpoint

import (
	"encoding/json"

	"github.com/servemark/servemark/internal/bench"
)

// generateBody renders SGLang's own POST /generate: text or token ids. As in the original, extra fields land at the top
// level (an extra temperature does not reach sampling_params) and the two log-probability lists are set after them.
func (e *Endpoint) generateBody(r *bench.Request, extra body) (body, error) {
	var b body
	switch {
	case r.Prompt.IDs != nil:
		b.set("input_ids", jsonInts(r.Prompt.IDs))
	case r.Prompt.Messages != nil:
		raw, err := rawMessages(r.Prompt)
		if err != nil {
			return nil, err
		}
		if !e.o.Strict { // the original posts them as token ids, which the server refuses
			return nil, e.refuse(r.Prompt, "ask /v1/chat/completions")
		}
		b.set("input_ids", raw)
	case r.Prompt.Texts != nil:
		return nil, e.refuse(r.Prompt, "ask /v1/embeddings or /v1/rerank")
	default:
		b.setString("text", r.Prompt.Text)
	}
	s := e.o.Body
	var params body
	params.setFloat("temperature", s.Temperature)
	params.setInt("max_new_tokens", r.OutputTokens)
	params.setBool("ignore_eos", s.IgnoreEOS)
	if s.TopP > 0 && s.TopP < 1 {
		params.setFloat("top_p", s.TopP)
	}
	b.set("sampling_params", params.render(false))
	b.setBool("stream", e.o.Stream)
	b.set("lora_path", json.RawMessage("null"))
	if r.Adapter != "" {
		b.setString("lora_path", r.Adapter)
	}
	b.setBool("return_logprob", s.Logprobs)
	b.setBool("return_routed_experts", s.RoutedExperts)
	b.setInt("logprob_start_len", s.LogprobStart)
	b.merge(extra)
	if s.TopLogprobs > 0 {
		b.setInt("top_logprobs_num", s.TopLogprobs)
	}
	if s.TokenIDLogprobs != nil {
		b.set("token_ids_logprob", jsonInts(s.TokenIDLogprobs))
	}
	return b, nil
}
