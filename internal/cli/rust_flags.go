package cli

import "slices"

// Flags that only the compiled clients of SGLang and vLLM have beside those of the Python ones. Prefixes do not resolve to
// them, as they are not of the drop-in's own list.

// sglangRustTable and sglangRustFlags are those of SGLang's (0.5.23).
var (
	sglangRustTable = []flagDef{
		{name: "protocol", preset: []string{"http"}, choices: []string{"http", "grpc"}, own: true},
		{name: "worker-threads", kind: kindInt, own: true},
		{name: "vocab-size", kind: kindInt, own: true},
		{name: "disable-retokenize", arity: aritySwitch, own: true},
	}
	sglangRustFlags = []disposition{
		{flag: "protocol", state: "mapped", note: "http; grpc is refused"},
		{flag: "worker-threads", state: "refused", note: "threads follow the processors; the environment's GOMAXPROCS limits them"},
		{flag: "vocab-size", state: "refused", note: "without a tokenizer lengths are made by words and counted by the server; leave the flag out"},
		{flag: "disable-retokenize", state: "kept", note: "answers are then not counted by the tokenizer"},
	}
)

// vllmRustTable and vllmRustFlags are those of vllm-bench (0.1.0).
var (
	vllmRustTable = []flagDef{
		{name: "max-model-len", kind: kindInt, own: true}, {name: "per-turn-input-len", kind: kindInt, own: true},
		{name: "random-cache-hit-fraction", kind: kindFloat, own: true}, {name: "random-cache-ratio", kind: kindFloat, own: true},
		{name: "prompt-token-ids", arity: aritySwitch, own: true}, {name: "steady-state-threshold", kind: kindFloat, own: true},
		{name: "steady-state-min-window", kind: kindFloat, own: true}, {name: "no-steady-state", arity: aritySwitch, own: true},
		{name: "profile-batch-threshold", kind: kindInt, own: true}, {name: "profile-duration", kind: kindFloat, own: true},
		{name: "sweep-summary-percentiles", own: true}, {name: "sonnet-input-len", kind: kindInt, own: true},
		{name: "sonnet-output-len", kind: kindInt, own: true}, {name: "sonnet-prefix-len", kind: kindInt, own: true},
		{name: "speed-bench-config", own: true}, {name: "speed-bench-max-input-len", kind: kindInt, own: true}, {name: "hf-text-column", own: true},
		{name: "compare", arity: arityMany, own: true}, {name: "sweep-max-concurrency", own: true}, {name: "sweep-num-prompts-factor", own: true},
		{name: "sweep-request-rate", own: true}, {name: "reset-prefix-cache", arity: aritySwitch, own: true},
		{name: "num-runs", kind: kindInt, preset: []string{"1"}, own: true},
		{name: "multi-turn", arity: aritySwitch, own: true}, {name: "multi-turn-num-turns", kind: kindInt, own: true},
		{name: "multi-turn-min-turns", kind: kindInt, own: true}, {name: "multi-turn-max-turns", kind: kindInt, own: true},
		{name: "multi-turn-concurrency", kind: kindInt, own: true}, {name: "multi-turn-delay-ms", kind: kindFloat, own: true},
		{name: "multi-turn-prefix-global-ratio", kind: kindFloat, own: true}, {name: "multi-turn-prefix-conversation-ratio", kind: kindFloat, own: true},
		{name: "version", arity: aritySwitch, own: true},
	}
	vllmRustFlags = []disposition{
		{flag: "max-model-len", state: "refused", note: "the server states its context length, and requests beyond it are told before the run"},
		{flag: "per-turn-input-len", state: "refused", note: rustTurns},
		{flag: "random-cache-hit-fraction", state: "refused", note: rustPrefix},
		{flag: "random-cache-ratio", state: "refused", note: rustPrefix},
		{flag: "prompt-token-ids", state: "refused", note: "prompts of this dialect go as text; servemark bench_serving --backend vllm --tokenize-prompt sends ids"},
		{flag: "steady-state-threshold", state: "refused", note: rustSteady},
		{flag: "steady-state-min-window", state: "refused", note: rustSteady},
		{flag: "no-steady-state", state: "refused", note: rustSteady},
		{flag: "profile-batch-threshold", state: "refused", note: "the profiler runs for the whole load (--profile)"},
		{flag: "profile-duration", state: "refused", note: "the profiler runs for the whole load (--profile)"},
		{flag: "sweep-summary-percentiles", state: "refused", note: rustSweep},
		{flag: "sonnet-input-len", state: "refused", note: rustSonnet},
		{flag: "sonnet-output-len", state: "refused", note: rustSonnet},
		{flag: "sonnet-prefix-len", state: "refused", note: rustSonnet},
		{flag: "speed-bench-config", state: "refused", note: "it is called --speed-bench-dataset-subset by vllm bench serve"},
		{flag: "speed-bench-max-input-len", state: "refused", note: "rows are taken whole"},
		{flag: "hf-text-column", state: "refused", note: "the data set hf is not supported yet"},
		{flag: "compare", state: "refused", note: "servemark compare A B compares two journals"},
		{flag: "sweep-max-concurrency", state: "refused", note: rustSweep},
		{flag: "sweep-num-prompts-factor", state: "refused", note: rustSweep},
		{flag: "sweep-request-rate", state: "refused", note: rustSweep},
		{flag: "reset-prefix-cache", state: "kept", note: "before the load, after the warm-up; a server that cannot refuses the run"},
		{flag: "num-runs", state: "mapped", note: "each run has prompts of its own (seed, seed+1, …), and the spread between runs is shown"},
		{flag: "multi-turn", state: "refused", note: rustTurns},
		{flag: "multi-turn-num-turns", state: "refused", note: rustTurns},
		{flag: "multi-turn-min-turns", state: "refused", note: rustTurns},
		{flag: "multi-turn-max-turns", state: "refused", note: rustTurns},
		{flag: "multi-turn-concurrency", state: "refused", note: rustTurns},
		{flag: "multi-turn-delay-ms", state: "refused", note: rustTurns},
		{flag: "multi-turn-prefix-global-ratio", state: "refused", note: rustTurns},
		{flag: "multi-turn-prefix-conversation-ratio", state: "refused", note: rustTurns},
		{flag: "version", state: "refused", note: "type servemark --version"},
	}
)

// Reasons that several flags share.
const (
	rustTurns  = "conversations are made by servemark bench_serving --dataset-name generated-shared-prefix --gsp-num-turns"
	rustPrefix = "shared prefixes are made by --dataset-name prefix_repetition, or --random-prefix-len"
	rustSteady = "the steady stretch is always found and shown beside the figures of the whole run"
	rustSweep  = "servemark sweep runs grids of loads"
	rustSonnet = "vllm bench serve has this data set no more"
)

// refusals tells the flags of a list that are known and not done.
func (a *arguments) refusals(lists ...[]disposition) {
	for _, d := range slices.Concat(lists...) {
		if d.state == "refused" && a.typed(d.flag) {
			a.wrong(d.flag, "refused: "+d.note, "")
		}
	}
}
