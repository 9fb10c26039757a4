package endpoint

import (
	"encoding/json"

	"github.com/servemark/servemark/internal/bench"
)

// noSuchToken is the id that SGLang's tool names as end of sequence so that none ends the answer.
const noSuchToken = 1048576

// tritonBody renders POST /v2/models/ensemble/generate_stream of Triton with TensorRT-LLM: always a stream, which states no
// usage. As in the original an ignored end of sequence is a minimal length beside an end that no token has.
func (e *Endpoint) tritonBody(r *bench.Request, extra body) (body, error) {
	if r.Prompt.Messages != nil || r.Prompt.IDs != nil || r.Prompt.Texts != nil {
		return nil, e.refuse(r.Prompt, "send text")
	}
	var b body
	b.setBool("accumulate_tokens", true)
	b.setString("text_input", r.Prompt.Text)
	b.set("temperature", json.RawMessage("1e-06"))
	b.setFloat("top_p", 1)
	b.setInt("max_tokens", r.OutputTokens)
	b.setBool("stream", true)
	if e.o.Body.IgnoreEOS {
		b.setInt("min_length", r.OutputTokens)
		b.setInt("end_id", noSuchToken)
	}
	b.merge(extra)
	return b, nil
}

// tritonEvent reads one piece of text.
func (f *frame) tritonEvent(top map[string]json.RawMessage, text bool) {
	f.addAnswer(str(top["text_output"]), text)
}
