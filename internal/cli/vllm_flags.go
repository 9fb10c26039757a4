package cli

import (
	"slices"
	"strings"

	"github.com/servemark/servemark/internal/bench"
)

// Conditions under which vLLM's client reads a flag.

func onlyAPI(words string, apis ...bench.API) func(dialectContext) string {
	return func(c dialectContext) string {
		if slices.Contains(apis, c.api) {
			return ""
		}
		return "it has no effect on this backend, only on " + words
	}
}

func withoutBoth(a, b string) func(dialectContext) string {
	return func(c dialectContext) string {
		if c.typed(a) || c.typed(b) {
			return ""
		}
		return "it has no effect without --" + a + " or --" + b
	}
}

// hfOnly is the reason of flags that belong to the data set hf.
var hfOnly = onlyFor("hf")

// vllmFlags says what becomes of every flag of vllm bench serve 0.33.0.
var vllmFlags = []disposition{
	{flag: "help", state: "kept"},
	{flag: "trust-remote-code", state: "mapped", note: "no code of a repository is ever run: tokenizers are read from their files", inert: func(dialectContext) string { return "no remote code is ever run here" }},
	{flag: "seed", state: "kept", note: "the same draws as the original"},
	{flag: "num-prompts", state: "kept", note: "at least 1"},
	{flag: "dataset-name", state: "kept", note: vllmDatasetNote()},
	{flag: "no-stream", state: "kept", note: "of the data set hf, which it reads whole", inert: hfOnly},
	{flag: "dataset-path", state: "kept", note: "refused with data sets that need no file, as in the original"},
	{flag: "no-oversample", state: "kept", note: "without it a short data set repeats rows, which is said: they will be found in the prefix cache", inert: onlyFor("sharegpt", "custom", "spec_bench", "speed_bench", "hf", "burstgpt", "timed_trace", "custom_image")},
	{flag: "skip-chat-template", state: "kept", note: "also for spec_bench, where the original forgets it, unless --strict-compat is given", inert: onlyFor("custom", "spec_bench", "speed_bench", "hf")},
	{flag: "enable-multimodal-chat", state: "refused", note: "messages with images are built where the data set has images"},
	{flag: "disable-shuffle", state: "kept", inert: func(c dialectContext) string {
		if c.dataset == "random" || c.dataset == "random-mm" || c.dataset == "random-rerank" {
			return "it has no effect with --dataset-name " + c.dataset
		}
		return ""
	}},
	{flag: "custom-output-len", state: "kept", note: "the default of 256 overrides the rows' own limits, which is said; -1 takes the rows'", inert: onlyFor("custom")},
	{flag: "custom-ensure-client-side-data", state: "refused", note: "images by URL are not supported yet"},
	{flag: "spec-bench-output-len", state: "kept", inert: onlyFor("spec_bench")},
	{flag: "spec-bench-category", state: "kept", inert: onlyFor("spec_bench")},
	{flag: "sharegpt-output-len", state: "kept", inert: onlyFor("sharegpt")},
	{flag: "timed-trace-chunk-hash-size", state: "kept", note: "blocks are the same for the same seed; the original's differ from process to process", inert: onlyFor("timed_trace")},
	{flag: "timed-trace-sec-multiplier", state: "kept", inert: onlyFor("timed_trace")},
	{flag: "timed-trace-label-timestamp", state: "kept", inert: onlyFor("timed_trace")},
	{flag: "timed-trace-label-input-length", state: "kept", inert: onlyFor("timed_trace")},
	{flag: "timed-trace-label-output-length", state: "kept", inert: onlyFor("timed_trace")},
	{flag: "timed-trace-label-hash-ids", state: "kept", inert: onlyFor("timed_trace")},
	{flag: "blazedit-min-distance", state: "kept", inert: hfOnly},
	{flag: "blazedit-max-distance", state: "kept", inert: hfOnly},
	{flag: "asr-max-audio-len-sec", state: "kept", inert: hfOnly},
	{flag: "asr-min-audio-len-sec", state: "kept", inert: hfOnly},
	{flag: "random-input-len", state: "kept", inert: onlyFor("random", "random-mm", "random-rerank")},
	{flag: "random-output-len", state: "kept", inert: onlyFor("random", "random-mm", "random-rerank")},
	{flag: "random-range-ratio", state: "kept", note: "from 0 to under 1, or an object with input and output", inert: onlyFor("random", "random-mm", "random-rerank")},
	{flag: "random-prefix-len", state: "kept", inert: onlyFor("random", "random-mm", "random-rerank")},
	{flag: "random-batch-size", state: "kept", note: "above 1 on embeddings and rerank", inert: onlyFor("random", "random-rerank")},
	{flag: "no-reranker", state: "kept", inert: onlyFor("random-rerank")},
	{flag: "random-mm-base-items-per-request", state: "kept", inert: onlyFor("random-mm")},
	{flag: "random-mm-num-mm-items-range-ratio", state: "kept", inert: onlyFor("random-mm")},
	{flag: "random-mm-limit-mm-per-prompt", state: "kept", inert: onlyFor("random-mm")},
	{flag: "random-mm-bucket-config", state: "kept", inert: onlyFor("random-mm")},
	{flag: "hf-subset", state: "kept", inert: hfOnly},
	{flag: "hf-split", state: "kept", inert: hfOnly},
	{flag: "hf-name", state: "kept", inert: hfOnly},
	{flag: "hf-output-len", state: "kept", inert: hfOnly},
	{flag: "bfcl-categories", state: "kept", inert: hfOnly},
	{flag: "prefix-repetition-prefix-len", state: "kept", inert: onlyFor("prefix_repetition")},
	{flag: "prefix-repetition-suffix-len", state: "kept", inert: onlyFor("prefix_repetition")},
	{flag: "prefix-repetition-num-prefixes", state: "kept", inert: onlyFor("prefix_repetition")},
	{flag: "prefix-repetition-output-len", state: "kept", inert: onlyFor("prefix_repetition")},
	{flag: "speed-bench-dataset-subset", state: "kept", inert: onlyFor("speed_bench")},
	{flag: "speed-bench-output-len", state: "kept", inert: onlyFor("speed_bench")},
	{flag: "speed-bench-category", state: "kept", inert: onlyFor("speed_bench")},
	{flag: "label", state: "kept"},
	{flag: "backend", state: "kept", note: vllmBackendNote()},
	{flag: "base-url", state: "kept", note: "a trailing slash or /v1 is taken off; without a scheme it is http, and said"},
	{flag: "host", state: "kept", inert: baseURLGiven},
	{flag: "port", state: "kept", inert: baseURLGiven},
	{flag: "endpoint", state: "kept", note: "left out it is the backend's own route, where the original refuses its default"},
	{flag: "header", state: "kept", note: "sent on every request, introspection too"},
	{flag: "max-concurrency", state: "kept", note: "at least 1, as in the original; the wait for a slot is reported"},
	{flag: "model", state: "kept", note: "the name sent; never taken for a repository unless it has the form org/name"},
	{flag: "input-len", state: "kept", inert: onlyFor("random", "random-mm", "random-rerank")},
	{flag: "output-len", state: "kept", inert: onlyFor("random", "random-mm", "random-rerank", "sharegpt", "custom", "hf", "spec_bench", "prefix_repetition")},
	{flag: "tokenizer", state: "kept", note: "a file, a directory or org/name; optional: without one the server counts"},
	{flag: "tokenizer-mode", state: "mapped", note: "auto and hf; tokenizers are read in one way"},
	{flag: "use-beam-search", state: "kept", inert: func(dialectContext) string { return "its client never reads it" }},
	{flag: "logprobs", state: "kept", inert: onlyAPI("completions", bench.APICompletions)},
	{flag: "request-rate", state: "kept", note: "inf and -1 are unlimited; arrivals keep an absolute schedule, rescaled as in the original"},
	{flag: "burstiness", state: "kept", note: "above 0; inf makes equal gaps", inert: withoutBoth("request-rate", "ramp-up-strategy")},
	{flag: "probe-request-rate", state: "kept", note: "probes go at their times; the original waits for each answer first, so that its rate is lower than asked"},
	{flag: "disable-tqdm", state: "kept"},
	{flag: "num-warmups", state: "kept", note: "prompts of their own that touch no measured row; the first is the smoke test. With --strict-compat copies of the first row"},
	{flag: "profile", state: "kept", note: "a profiler that cannot be started refuses the run"},
	{flag: "save-result", state: "kept", note: "legal JSON, tried before the run"},
	{flag: "save-detailed", state: "kept", inert: withoutBoth("save-result", "append-result")},
	{flag: "append-result", state: "kept"},
	{flag: "metadata", state: "kept", note: "checked before the run"},
	{flag: "result-dir", state: "kept", inert: withoutBoth("save-result", "append-result")},
	{flag: "result-filename", state: "kept", inert: withoutBoth("save-result", "append-result")},
	{flag: "ignore-eos", state: "kept", note: "on for random and timed_trace, as in the original"},
	{flag: "self-timed", state: "kept", note: "for timed_trace only, as in the original"},
	{flag: "no-self-timed", state: "kept", note: "for timed_trace only, as in the original"},
	{flag: "percentile-metrics", state: "kept", note: "a name that is none is refused; the original prints nothing for it"},
	{flag: "metric-percentiles", state: "kept", note: "checked before the run"},
	{flag: "goodput", state: "kept"},
	{flag: "request-id-prefix", state: "kept", note: "by default bench- and eight random hexadecimal digits"},
	{flag: "top-p", state: "kept", inert: notPooling},
	{flag: "top-k", state: "kept", inert: notPooling},
	{flag: "min-p", state: "kept", inert: notPooling},
	{flag: "temperature", state: "kept", note: "none is sent by default, as in the original, which is said", inert: notPooling},
	{flag: "frequency-penalty", state: "kept", inert: notPooling},
	{flag: "presence-penalty", state: "kept", inert: notPooling},
	{flag: "repetition-penalty", state: "kept", inert: notPooling},
	{flag: "served-model-name", state: "kept"},
	{flag: "lora-modules", state: "kept", note: "the same draws; the adapter's name is sent as the model"},
	{flag: "lora-assignment", state: "kept", inert: without("lora-modules")},
	{flag: "ramp-up-strategy", state: "kept", note: "by request, as in the original"},
	{flag: "ramp-up-start-rps", state: "kept", note: "at least 1: from 0 the original fails in the run", inert: without("ramp-up-strategy")},
	{flag: "ramp-up-end-rps", state: "kept", inert: without("ramp-up-strategy")},
	{flag: "ready-check-timeout-sec", state: "mapped", note: "waits for GET /v1/models; the original asks for a whole answer"},
	{flag: "chat-template-kwargs", state: "refused", note: "templates are rendered here without arguments of the user's; on chat backends use --skip-chat-template and --extra-body"},
	{flag: "extra-body", state: "kept", note: "a JSON object, checked before the run"},
	{flag: "skip-tokenizer-init", state: "kept", note: "token counts are then the server's usage; the original hides them"},
	{flag: "insecure", state: "kept"},
	{flag: "plot-timeline", state: "refused", note: "no HTML timeline is written yet; --save-detailed has every time"},
	{flag: "timeline-itl-thresholds", state: "kept", inert: without("plot-timeline")},
	{flag: "plot-dataset-stats", state: "refused", note: "no picture of the data set is drawn; --dry-run prints every length"},
}

// baseURLGiven is why --host and --port have no effect.
func baseURLGiven(c dialectContext) string {
	if c.typed("base-url") {
		return "--base-url is given"
	}
	return ""
}

// vllmDatasetNote and vllmBackendNote tell what is refused.
func vllmDatasetNote() string {
	var out []string
	for _, name := range choicesOf(vllmTable, "dataset-name") {
		if !slices.Contains(vllmDatasets(), name) {
			out = append(out, name)
		}
	}
	return "refused for now: " + strings.Join(out, ", ")
}

func vllmBackendNote() string {
	var out []string
	for _, name := range choicesOf(vllmTable, "backend") {
		if vllmBackends[name].why != "" {
			out = append(out, name)
		}
	}
	return "refused for now: " + strings.Join(out, ", ")
}

// choicesOf lists what a flag of a table may be.
func choicesOf(table []flagDef, name string) []string {
	for i := range table {
		if table[i].name == name {
			return table[i].choices
		}
	}
	return nil
}

// vllmOwn are servemark's own flags in this dialect; --insecure is the original's too.
func vllmOwn() []flagDef {
	return slices.DeleteFunc(slices.Clone(sglangOwn), func(d flagDef) bool { return d.name == "insecure" })
}

// vllmCommand is the drop-in for vllm bench serve.
func vllmCommand() command {
	return command{
		name: "bench", operands: "serve [flags]", short: "Drop-in for vllm bench serve: same flags, same labels, right numbers",
		long: "Takes the flags of vllm bench serve 0.33, with _ for - too, and their unique prefixes; docs/compat.md says what becomes of\n" +
			"each. The last ones below are servemark's own.",
		table: slices.Concat(vllmTable, vllmOwn(), vllmRustTable), underscores: true,
		act: benchServe,
	}
}
