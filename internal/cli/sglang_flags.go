package cli

import (
	"slices"
	"strings"

	"github.com/servemark/servemark/internal/bench"
)

//go:generate go run ./genflags genflags/sglang_bench_serving_0.5.23.json sglangTable flags_sglang.go
//go:generate go run ./genflags genflags/vllm_bench_serve_0.33.json vllmTable flags_vllm.go

// disposition says what becomes of one flag of an original: it is kept (does what it did), mapped (does it another way) or
// refused. A kept flag may be inert in a combination in which the original ignores it too; that is said in one line.
type disposition struct {
	flag  string
	state string // "kept", "mapped" or "refused"
	note  string
	// inert returns why the flag has no effect in this combination, or "". Nil means: never inert.
	inert func(dialectContext) string
}

// dialectContext is what inertness depends on.
type dialectContext struct {
	dataset string
	api     bench.API
	typed   func(string) bool
}

// Conditions under which the original reads a flag at all.

func onlyFor(datasets ...string) func(dialectContext) string {
	return func(c dialectContext) string {
		for _, d := range datasets {
			if c.dataset == d {
				return ""
			}
		}
		return "it has no effect with --dataset-name " + c.dataset
	}
}

func onlyNative(c dialectContext) string {
	if c.api == bench.APIGenerate {
		return ""
	}
	return "it has no effect on this backend, only on sglang's /generate; use --extra-request-body"
}

func logprobsOnly(c dialectContext) string {
	if c.api == bench.APIGenerate || c.api == bench.APICompletions {
		return ""
	}
	return "it has no effect on this backend, only on /generate and /v1/completions"
}

func notPooling(c dialectContext) string {
	if c.api.Pooling() {
		return "replies of this backend have no output tokens"
	}
	return ""
}

func without(flag string) func(dialectContext) string {
	return func(c dialectContext) string {
		if c.typed(flag) {
			return ""
		}
		return "it has no effect without --" + flag
	}
}

const (
	notYetData  = "the data set is not supported yet"
	reasonTrace = "the original never hands it to its scheduler: it only changes the printed rate"
)

// sglangFlags says what becomes of every flag of sglang.bench_serving 0.5.23.
var sglangFlags = []disposition{
	{flag: "help", state: "kept"},
	{flag: "backend", state: "kept", note: "all but gserver, for which the original only raises NotImplementedError. vllm-chat and lmdeploy-chat get their engines' default ports, which the original forgets"},
	{flag: "base-url", state: "kept", note: "a trailing slash or /v1 is taken off; without a scheme it is http, and said"},
	{flag: "host", state: "kept", inert: baseURLGiven},
	{flag: "port", state: "kept", inert: baseURLGiven},
	{flag: "ready-check-timeout-sec", state: "kept", note: "the cause is printed at once and every 5 s; a refused key ends the wait"},
	{flag: "dataset-name", state: "kept", note: sglangDatasetNote()},
	{flag: "dataset-path", state: "kept", note: "a bad path is refused; the original downloads ShareGPT instead for random", inert: func(c dialectContext) string {
		if c.dataset == "random-ids" || c.dataset == "image" || c.dataset == "generated-shared-prefix" {
			return c.dataset + " needs no file"
		}
		return ""
	}},
	{flag: "dataset-offset", state: "kept", inert: onlyFor("agentic-trace")},
	{flag: "agentic-max-turns", state: "kept", inert: onlyFor("agentic-trace")},
	{flag: "speed-bench-category", state: "kept", inert: onlyFor("speed-bench")},
	{flag: "speed-bench-output-len", state: "kept", inert: onlyFor("speed-bench")},
	{flag: "model", state: "kept", note: "the name sent; never taken for a repository unless it has the form org/name"},
	{flag: "served-model-name", state: "kept"},
	{flag: "tokenizer", state: "kept", note: "a file, a directory or org/name; optional: without one the server counts"},
	{flag: "num-prompts", state: "kept", note: "below 1 is refused, except for openai where it means all rows"},
	{flag: "sharegpt-output-len", state: "kept", inert: onlyFor("sharegpt", "custom", "openai", "longbench_v2", "agentic-trace")},
	{flag: "sharegpt-context-len", state: "kept", inert: onlyFor("sharegpt", "custom", "longbench_v2")},
	{flag: "random-input-len", state: "kept", inert: onlyFor("random", "random-ids", "image")},
	{flag: "random-output-len", state: "kept", inert: onlyFor("random", "random-ids", "image", "mmmu")},
	{flag: "random-range-ratio", state: "kept", note: "0 to 1; the default 0 draws from 1 to the length, which is said", inert: onlyFor("random", "random-ids", "image")},
	{flag: "image-count", state: "kept", inert: onlyFor("image")},
	{flag: "image-resolution", state: "kept", inert: onlyFor("image")},
	{flag: "random-image-count", state: "kept", inert: onlyFor("image")},
	{flag: "image-format", state: "kept", inert: onlyFor("image")},
	{flag: "image-content", state: "kept", inert: onlyFor("image")},
	{flag: "request-rate", state: "kept", note: "inf and -1 are unlimited; 0, nan and other negatives are refused; arrivals keep an absolute schedule"},
	{flag: "use-trace-timestamps", state: "kept", inert: func(dialectContext) string { return reasonTrace }},
	{flag: "max-concurrency", state: "kept", note: "0 and -1 are unlimited, and said; the wait for a slot is reported"},
	{flag: "output-file", state: "kept", note: "tried before the run; legal JSON"},
	{flag: "output-details", state: "kept"},
	{flag: "goodput", state: "kept"},
	{flag: "print-requests", state: "mapped", note: "one line for each request when it is done, with all its times; on every backend, not on sglang-oai-chat only"},
	{flag: "disable-tqdm", state: "kept"},
	{flag: "disable-stream", state: "kept", note: "TTFT, TPOT and ITL are then n/a, not made up", inert: func(c dialectContext) string {
		switch {
		case c.api == bench.APITriton:
			return "generate_stream always streams"
		case c.api.Pooling():
			return "vectors come in one piece"
		}
		return ""
	}},
	{flag: "return-logprob", state: "kept", inert: logprobsOnly},
	{flag: "top-logprobs-num", state: "kept", inert: logprobsOnly},
	{flag: "token-ids-logprob", state: "kept", inert: onlyNative},
	{flag: "logprob-start-len", state: "kept", inert: onlyNative},
	{flag: "return-routed-experts", state: "kept", inert: onlyNative},
	{flag: "cache-report", state: "kept", note: "also reads the standard usage keys, on every backend"},
	{flag: "seed", state: "kept", note: "the same draws as the original"},
	{flag: "disable-ignore-eos", state: "kept", inert: notPooling},
	{flag: "temperature", state: "kept", inert: onlyNative},
	{flag: "top-p", state: "kept", inert: onlyNative},
	{flag: "extra-request-body", state: "kept", note: "a JSON object, checked before the run"},
	{flag: "apply-chat-template", state: "kept", inert: onlyFor("sharegpt", "custom")},
	{flag: "profile", state: "kept", note: "a profiler that cannot be started refuses the run; keys and --header are sent; no folder is made on this machine"},
	{flag: "plot-throughput", state: "mapped", note: "a bar a second in text; no gnuplot needed"},
	{flag: "profile-activities", state: "kept", inert: without("profile")},
	{flag: "profile-start-step", state: "kept", inert: without("profile")},
	{flag: "profile-steps", state: "kept", inert: without("profile")},
	{flag: "profile-num-steps", state: "kept", inert: without("profile")},
	{flag: "profile-by-stage", state: "kept", inert: without("profile")},
	{flag: "profile-stages", state: "kept", inert: without("profile")},
	{flag: "profile-output-dir", state: "kept", inert: without("profile")},
	{flag: "profile-prefix", state: "kept", inert: without("profile")},
	{flag: "lora-name", state: "kept", note: "the same draws between the gaps; the adapter's name goes into model and lora_path"},
	{flag: "lora-request-distribution", state: "kept", inert: without("lora-name")},
	{flag: "lora-zipf-alpha", state: "kept", note: "checked even without --lora-name, as in the original", inert: without("lora-name")},
	{flag: "prompt-suffix", state: "kept", inert: onlyFor("sharegpt", "custom")},
	{flag: "pd-separated", state: "kept", inert: without("profile")},
	{flag: "profile-prefill-url", state: "kept", inert: without("profile")},
	{flag: "profile-decode-url", state: "kept", inert: without("profile")},
	{flag: "flush-cache", state: "kept"},
	{flag: "flush-cache-timeout", state: "kept", inert: without("flush-cache")},
	{flag: "warmup-requests", state: "kept", note: "the first is the smoke test and prints what came back; 0 posts nothing before the load"},
	{flag: "tokenize-prompt", state: "kept", note: "random, random-ids, generated-shared-prefix and mooncake, on every backend that takes token ids, sglang-native among them; refused on the others"},
	{flag: "gsp-num-groups", state: "kept", inert: onlyFor("generated-shared-prefix")},
	{flag: "gsp-prompts-per-group", state: "kept", inert: onlyFor("generated-shared-prefix")},
	{flag: "gsp-system-prompt-len", state: "kept", inert: onlyFor("generated-shared-prefix")},
	{flag: "gsp-question-len", state: "kept", inert: onlyFor("generated-shared-prefix")},
	{flag: "gsp-output-len", state: "kept", inert: onlyFor("generated-shared-prefix")},
	{flag: "gsp-range-ratio", state: "kept", inert: onlyFor("generated-shared-prefix")},
	{flag: "gsp-fast-prepare", state: "kept", note: "prompts are then not counted here; the original records 1 token each and keeps that in its cache file", inert: onlyFor("generated-shared-prefix")},
	{flag: "gsp-send-routing-key", state: "kept", inert: onlyFor("generated-shared-prefix")},
	{flag: "gsp-num-turns", state: "kept", note: "later turns are asked after the real answers", inert: onlyFor("generated-shared-prefix")},
	{flag: "gsp-ordered", state: "kept", inert: onlyFor("generated-shared-prefix")},
	{flag: "gsp-group-distribution", state: "kept", inert: onlyFor("generated-shared-prefix")},
	{flag: "gsp-zipf-alpha", state: "kept", inert: onlyFor("generated-shared-prefix")},
	{flag: "mooncake-slowdown-factor", state: "kept", note: "above 0", inert: onlyFor("mooncake")},
	{flag: "mooncake-num-rounds", state: "kept", note: "each round after the real answer, not all at once behind a made-up one", inert: onlyFor("mooncake")},
	{flag: "mooncake-workload", state: "kept", inert: onlyFor("mooncake")},
	{flag: "fake-prefill", state: "kept"},
	{flag: "tag", state: "kept"},
	{flag: "header", state: "kept", note: "an entry that is not KEY=VALUE is refused; sent on every request, introspection too"},
	{flag: "rust-client", state: "refused", note: "servemark is itself a compiled client; leave the flag out"},
	{flag: "rust-worker-threads", state: "kept", inert: without("rust-client")},
}

// sglangDatasetNote tells which of the original's data sets are refused.
func sglangDatasetNote() string {
	var out []string
	for _, name := range choicesOf(sglangTable, "dataset-name") {
		if !slices.Contains(sglangDatasets(), name) {
			out = append(out, name)
		}
	}
	if out == nil {
		return ""
	}
	return "refused for now: " + strings.Join(out, ", ")
}

// sglangOwn are servemark's own flags in this dialect.
var sglangOwn = append(goalFlags[:len(goalFlags):len(goalFlags)], []flagDef{
	dryRunFlag,
	{name: "strict-compat", arity: aritySwitch, own: true, help: "the original's bodies byte for byte and its formulas, from our records"},
	{name: "max-error-rate", kind: kindFloat, preset: []string{"0.01"}, own: true, help: "share of failed requests (0 to 1) above which the exit code is 1"},
	{name: "journal", own: true, help: "where the journal of the run goes (default: beside the output file); - for none"},
	{name: "save-text", arity: aritySwitch, own: true, help: "keep prompts and answers in the journal"},
	{name: "require-valid", arity: aritySwitch, own: true, help: "exit with 5 when the verdict is INVALID"},
	{name: "insecure", arity: aritySwitch, own: true, help: "accept any TLS certificate"},
	{name: "connect-timeout", kind: kindDuration, preset: []string{"10s"}, own: true, help: "limit for reaching the server"},
	{name: "first-byte-timeout", kind: kindDuration, preset: []string{"1h"}, own: true, help: "limit from sending to the first response byte"},
	{name: "idle-timeout", kind: kindDuration, preset: []string{"10m"}, own: true, help: "limit between two reads of a reply"},
	{name: "request-timeout", kind: kindDuration, preset: []string{"6h"}, own: true, help: "limit for a whole reply"},
}...)
