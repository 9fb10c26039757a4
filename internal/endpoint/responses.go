package endpoint

import (
	"encoding/json"
	"strings"

	"github.com/servemark/servemark/internal/bench"
)

// responsesBody renders POST /v1/responses. store is off, since servers keep what is stored for as long as they live.
func (e *Endpoint) responsesBody(r *bench.Request, extra body) (body, error) {
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
		b.set("input", raw)
	default:
		b.setString("input", r.Prompt.Text)
	}
	b.setInt("max_output_tokens", r.OutputTokens)
	b.setBool("stream", e.o.Stream)
	b.setBool("store", false)
	if e.o.Body.IgnoreEOS {
		b.setBool("ignore_eos", true)
	}
	b.merge(extra)
	e.adapt(&b, r)
	return b, nil
}

// responsesEvent reads one event of the Responses API, or the whole response. Each event names its kind in "type"; the last
// one carries the response with usage and status.
func (f *frame) responsesEvent(top map[string]json.RawMessage, text bool) {
	kind := str(top["type"])
	if str(top["object"]) == "response" {
		f.wholeResponse(top, text)
		return
	}
	switch kind {
	case "response.output_text.delta":
		f.addAnswer(str(top["delta"]), text)
	case "response.refusal.delta":
		if v := str(top["delta"]); v != "" {
			f.addRefusal(v, text)
		}
	case "response.reasoning_text.delta", "response.reasoning_summary_text.delta":
		f.addThinking(str(top["delta"]), text)
	case "response.function_call_arguments.delta", "response.custom_tool_call_input.delta":
		f.hasTool = str(top["delta"]) != ""
	case "response.completed", "response.incomplete", "response.failed", "response.cancelled":
		f.done = true
		f.endResponse(object(top["response"]))
	}
}

// endResponse takes usage and status.
func (f *frame) endResponse(o map[string]json.RawMessage) {
	u := object(o["usage"])
	f.usage.Prompt, f.usage.Completion = count(u["input_tokens"]), count(u["output_tokens"])
	f.usage.Cached = count(object(u["input_tokens_details"])["cached_tokens"])
	f.usage.Reasoning = count(object(u["output_tokens_details"])["reasoning_tokens"])
	switch status := str(o["status"]); status {
	case "failed", "cancelled":
		f.failed = true
		if f.words = words(o["error"]); f.words == "" {
			f.words = "the response ended with status " + status
		}
	case "incomplete":
		f.finish = "length"
		if why := str(object(o["incomplete_details"])["reason"]); why != "" && !strings.HasPrefix(why, "max_") {
			f.finish = why
		}
	default:
		f.finish = "stop"
	}
}

// wholeResponse reads a response that was not streamed.
func (f *frame) wholeResponse(o map[string]json.RawMessage, text bool) {
	f.done = true
	f.endResponse(o)
	for _, raw := range list(o["output"]) {
		item := object(raw)
		switch str(item["type"]) {
		case "function_call", "custom_tool_call":
			f.hasTool = true
		case "reasoning":
			for _, p := range append(list(item["content"]), list(item["summary"])...) {
				f.addThinking(str(object(p)["text"]), text)
			}
		default:
			for _, p := range list(item["content"]) {
				part := object(p)
				f.addAnswer(str(part["text"]), text)
				if v := str(part["refusal"]); v != "" {
					f.addRefusal(v, text)
				}
			}
		}
	}
}
