package stats

import (
	"slices"
	"strings"
)

// Definition says what one word of the field means, by servemark's rule and by those of other tools.
type Definition struct {
	// Name is the word as users type it; Aliases are other words for it.
	Name    string
	Aliases []string
	// Title spells it out, Meaning says in a sentence or two what it tells, Key is its key in the result.
	Title, Meaning, Key string
	// Ours is servemark's rule, Theirs those of other tools, in the order of Tools.
	Ours   string
	Theirs []ToolRule
}

// ToolRule is one tool's rule.
type ToolRule struct{ Tool, Rule string }

// The tools whose rules are known, by the names that users type.
const (
	toolSGLang    = "sglang"
	toolVLLM      = "vllm"
	toolAIPerf    = "aiperf"
	toolGuideLLM  = "guidellm"
	toolInference = "inference-perf"
	toolMLPerf    = "mlperf"
)

// Tools lists the tools whose figures can be computed from a journal.
func Tools() []string {
	return []string{toolSGLang, toolVLLM, toolAIPerf, toolGuideLLM, toolInference, toolMLPerf}
}

// ToolTitle names a tool with the version whose rules are meant.
func ToolTitle(tool string) string {
	return map[string]string{
		toolSGLang: "sglang.bench_serving 0.5.23", toolVLLM: "vllm bench serve 0.33", toolAIPerf: "AIPerf 0.13", toolGuideLLM: "GuideLLM 0.8",
		toolInference: "inference-perf 0.7", toolMLPerf: "MLPerf Inference, Server scenario",
	}[tool]
}

// Define finds a word, by its name or another one for it.
func Define(word string) (Definition, bool) {
	word = strings.ToLower(strings.ReplaceAll(word, "_", "-"))
	for _, d := range Definitions() {
		if d.Name == word || slices.Contains(d.Aliases, word) {
			return d, true
		}
	}
	return Definition{}, false
}

// ruleOf is a tool's rule for a word, or "" where it has none.
func ruleOf(tool, word string) string {
	d, _ := Define(word)
	for _, t := range d.Theirs {
		if t.Tool == tool {
			return t.Rule
		}
	}
	return ""
}

// Definitions lists every word that is explained.
func Definitions() []Definition {
	return slices.Concat(latencyDefinitions(), tokenDefinitions(), loadDefinitions())
}

func latencyDefinitions() []Definition {
	return []Definition{
		{Name: "ttft", Title: "time to first token", Key: "*_ttft_ms, *_ttft_from_due_ms",
			Meaning: "How long until the answer begins: queueing and prefill. It does not exist for a reply that came in one piece.",
			Ours:    "first chunk with content, reasoning, tool call, refusal or new ids, minus sent; and minus due where there is a schedule",
			Theirs: []ToolRule{
				{toolSGLang, "first non-empty content or reasoning minus send; the connection it opens for each request is inside, the wait for the cap is not"},
				{toolVLLM, "first chunk with choices (completions) or with output in its delta (chat) minus send; the wait for the cap is not inside"},
				{toolAIPerf, "first non-empty content or reasoning minus send"},
				{toolGuideLLM, "first non-empty content or reasoning minus send (before 0.7: content only)"},
				{toolInference, "first non-empty delta.content minus send; reasoning is not seen"},
				{toolMLPerf, "first token minus the scheduled instant"},
			}},
		{Name: "first-answer", Aliases: []string{"answer", "ttfo", "time-to-first-answer"}, Title: "time to first answer token", Key: "*_first_answer_ms",
			Meaning: "How long until the user reads an answer and not a model's thoughts.",
			Ours:    "first chunk that is not reasoning, minus sent; and minus due where there is a schedule",
			Theirs: []ToolRule{
				{toolAIPerf, "time to first output token: first content that is not reasoning minus send"},
				{toolGuideLLM, "time_to_first_output_token: first content that is not reasoning minus send"},
				{toolInference, "its TTFT is this number"},
			}},
		{Name: "tpot", Aliases: []string{"time-per-output-token"}, Title: "time per output token", Key: "*_tpot_ms",
			Meaning: "How fast an answer runs once it has begun, one number for each request.",
			Ours:    "(E2E − TTFT) ÷ (output tokens − 1) for each request of more than one token; percentiles over requests",
			Theirs: []ToolRule{
				{toolSGLang, "(E2E − TTFT) ÷ (n − 1) with E2E to the last line, [DONE] and usage inside; n is the usage, else the length that was asked"},
				{toolVLLM, "(E2E − TTFT) ÷ (n − 1); one-token replies count as 0 for goodput"},
				{toolGuideLLM, "(last token − start) ÷ n: TTFT is inside"},
				{toolInference, "(last token − first token) ÷ (n − 1), n by its own tokenizer"},
				{toolMLPerf, "(last token − first token) ÷ (n − 1) for each request"},
			}},
		{Name: "itl", Aliases: []string{"inter-token-latency", "tbt"}, Title: "inter-token latency", Key: "*_itl_ms",
			Meaning: "The time from one token to the next, all requests together: it shows stalls that TPOT averages away.",
			Ours:    "gap between chunks ÷ tokens of the chunk, once for each token; the tokens by usage, ids or the tokenizer, which is said",
			Theirs: []ToolRule{
				{toolSGLang, "gaps between chunks of all requests; on /generate divided by the new tokens, on the OpenAI routes not"},
				{toolVLLM, "gaps between chunks of all requests, whatever their tokens"},
				{toolAIPerf, "(E2E − TTFT) ÷ (n − 1), one number for each request; raw gaps are its inter-chunk latency"},
				{toolGuideLLM, "(last token − first token) ÷ (n − 1), one number for each request"},
				{toolInference, "gaps between the tokens of all requests; those of one chunk have gaps of 0 (here where the server states how many it holds)"},
			}},
		{Name: "chunk-gap", Aliases: []string{"icl", "inter-chunk-latency"}, Title: "gap between chunks", Key: "*_chunk_gap_ms",
			Meaning: "The time between two events on the wire; with speculative decoding or batching servers a chunk holds several tokens.",
			Ours:    "time between token chunks, all requests together",
			Theirs:  []ToolRule{{toolAIPerf, "inter-chunk latency: raw gaps between chunks"}, {toolSGLang, "called ITL"}, {toolVLLM, "called ITL"}}},
		{Name: "e2e", Aliases: []string{"e2el", "latency", "e2e-latency", "request-latency"}, Title: "end-to-end latency", Key: "*_e2e_latency_ms, *_e2e_latency_from_due_ms",
			Meaning: "How long until the answer is complete.",
			Ours:    "last token chunk minus sent; and minus due where there is a schedule. The end of the stream is kept apart",
			Theirs: []ToolRule{
				{toolSGLang, "last line of the stream minus send, usage and [DONE] inside"},
				{toolVLLM, "last token chunk minus send"},
				{toolAIPerf, "last response minus send"},
				{toolGuideLLM, "end of the request minus its start"},
				{toolInference, "end of the stream minus send"},
				{toolMLPerf, "last token minus the scheduled instant"},
			}},
	}
}

func tokenDefinitions() []Definition {
	return []Definition{
		{Name: "output-tokens", Aliases: []string{"tokens"}, Title: "output tokens", Key: "total_output_tokens",
			Meaning: "Who counts decides TPOT and throughput.",
			Ours:    "the server's usage, else the tokenizer's count of the text, else unknown; the source is printed",
			Theirs: []ToolRule{
				{toolSGLang, "usage, else the length that was asked"},
				{toolVLLM, "usage, else its tokenizer, else 1"},
				{toolAIPerf, "its own tokenizer's count of the text, unless told to take usage"},
				{toolGuideLLM, "usage, else its tokenizer"},
				{toolInference, "its own tokenizer's count of the text"},
				{toolMLPerf, "the tokens that the harness returned"},
			}},
		{Name: "throughput", Aliases: []string{"output-throughput", "tokens-per-second"}, Title: "output throughput", Key: "output_throughput",
			Meaning: "Output tokens a second of the whole server. Ramp-up and tail are inside; the steady stretch stands beside it.",
			Ours:    "output tokens of successes ÷ (last done − first sent)",
			Theirs: []ToolRule{
				{toolSGLang, "output tokens of successes ÷ duration, a call of /server_info after the last reply inside"},
				{toolVLLM, "output tokens of successes ÷ (last reply − start of the loop)"},
				{toolAIPerf, "output tokens ÷ (last response − first request)"},
				{toolGuideLLM, "output tokens of successes ÷ duration"},
				{toolInference, "output tokens of successes ÷ duration"},
				{toolMLPerf, "tokens of completed requests ÷ duration; a server's figure counts only if its latency bounds hold"},
			}},
		{Name: "input-tokens", Title: "input tokens", Key: "total_input_tokens",
			Meaning: "How long prompts were; with a chat template they are longer than their text.",
			Ours:    "the server's usage where every success has it, else the tokenizer's; ours beside it, and with the chat template",
			Theirs: []ToolRule{
				{toolSGLang, "the data set's count, without the chat template"},
				{toolVLLM, "usage, else the data set's count"},
				{toolAIPerf, "its own tokenizer's count"},
			}},
		{Name: "percentile", Aliases: []string{"p50", "p90", "p95", "p99", "median"}, Title: "percentile", Key: "p99_*_ms",
			Meaning: "The value that so many percent of the sample do not exceed. Of few requests a p99 is mostly luck: the interval says how much.",
			Ours:    "linear between order statistics (numpy's default), population standard deviation; with n and a 95 % interval",
			Theirs: []ToolRule{
				{toolSGLang, "numpy's linear, population standard deviation; an empty list is 0"},
				{toolVLLM, "numpy's linear, population standard deviation; an empty list is 0"},
				{toolMLPerf, "the early-stopping bound: above the percentile with 99 % confidence; 459 requests at least for a p99"},
			}},
	}
}

func loadDefinitions() []Definition {
	return []Definition{
		{Name: "duration", Title: "duration", Key: "duration",
			Meaning: "What every rate is divided by.",
			Ours:    "first sent to last done, with no other calls inside",
			Theirs: []ToolRule{
				{toolSGLang, "before the first request is handed out to after the last reply, stopping the profiler and /server_info"},
				{toolVLLM, "start of the loop to the last reply"},
			}},
		{Name: "concurrency", Title: "concurrency", Key: "concurrency, max_concurrent_requests",
			Meaning: "How many requests were being answered, on average and at most.",
			Ours:    "Σ E2E ÷ duration; the peak by a sweep over starts and ends",
			Theirs: []ToolRule{
				{toolSGLang, "Σ E2E ÷ duration; the peak counts every request that touches a one-second bin, so a cap of 1 can print 2"},
				{toolVLLM, "no average; the peak counts every request that touches a one-second bin"},
			}},
		{Name: "peak-throughput", Title: "peak output throughput", Key: "max_output_tokens_per_s",
			Meaning: "The best second.",
			Ours:    "most tokens in any sliding window of one second",
			Theirs:  []ToolRule{{toolSGLang, "most chunks in a one-second bin"}, {toolVLLM, "most chunks in a one-second bin"}}},
		{Name: "goodput", Title: "goodput", Key: "request_goodput, slo_attainment",
			Meaning: "Only requests that meet every limit count.",
			Ours:    "requests that keep every limit ÷ duration; attainment over all sent, failed ones too",
			Theirs: []ToolRule{
				{toolSGLang, "good ÷ duration; attainment over all sent; limits from send, so the wait for the cap is not seen"},
				{toolVLLM, "good ÷ duration over successes; limits from send"},
			}},
		{Name: "queue", Aliases: []string{"client-queue", "client-queue-time"}, Title: "client queue", Key: "*_client_queue_ms",
			Meaning: "How long a request waited for a slot under the user's own cap. Leaving it out hides an overloaded server.",
			Ours:    "slot granted minus due, where there are a schedule and a cap",
			Theirs:  []ToolRule{{toolSGLang, "not measured"}, {toolVLLM, "sent minus handed out, shown only where asked for"}}},
		{Name: "lateness", Title: "lateness", Key: "*_lateness_ms",
			Meaning: "How late this client was: the only delay that can spoil a run by itself.",
			Ours:    "sent minus the later of due and slot granted, connecting left out"},
		{Name: "accept-length", Aliases: []string{"acceptance", "speculation"}, Title: "accept length", Key: "accept_length",
			Meaning: "Tokens that one verification of speculative decoding yields.",
			Ours:    "of this run: output tokens ÷ verifications by the answers' own counts, else by the difference of the server's counters",
			Theirs: []ToolRule{
				{toolSGLang, "the server's average since its start"},
				{toolVLLM, "1 + accepted ÷ drafts by the difference of the server's counters"},
			}},
		{Name: "cache-hit-rate", Aliases: []string{"cache"}, Title: "prefix-cache hit rate", Key: "cache_report",
			Meaning: "The share of prompt tokens that did not have to be computed.",
			Ours:    "cached ÷ prompt tokens of successes, by usage.prompt_tokens_details, sglext or meta_info",
			Theirs:  []ToolRule{{toolSGLang, "the same by sglext or meta_info only; what is not stated is 0"}}},
	}
}
