package bench

import (
	"encoding/json"
	"time"
)

// Spec is what the user asked for: typed, complete with defaults, nothing looked up, no secret in it.
type Spec struct {
	Dialect Dialect `json:"dialect"`
	// Strict asks for the original tool's request bodies byte for byte and its formulas (--strict-compat).
	Strict  bool        `json:"strict,omitempty"`
	Target  Target      `json:"target"`
	Model   Model       `json:"model"`
	Dataset DatasetSpec `json:"dataset"`
	Load    LoadSpec    `json:"load"`
	Body    BodySpec    `json:"body"`
	// Warmup is the number of requests sent and waited for before the clock starts; 0 posts nothing before the load.
	Warmup int `json:"warmup"`
	// SLOs are the per-request limits that goodput counts by.
	SLOs []SLO `json:"slos,omitempty"`
	// Goals are what the whole run has to reach.
	Goals []Goal `json:"goals,omitempty"`
	// MaxErrorRate is the share of failed among sent requests (0 to 1) above which the run exits with 1.
	MaxErrorRate float64 `json:"max_error_rate"`
	// KeepText stores answers in the journal; KeepPrompts the prompts.
	KeepText    bool `json:"keep_text,omitempty"`
	KeepPrompts bool `json:"keep_prompts,omitempty"`
	// CacheReport shows the prefix cache's hits in a section of their own.
	CacheReport bool `json:"cache_report,omitempty"`
	// LoRA spreads requests over adapters; nil asks for none.
	LoRA *LoRA `json:"lora,omitempty"`
	// VLLM is how DialectVLLM's results are shown and named; nil for the others.
	VLLM *VLLMReport `json:"vllm,omitempty"`
	Seed int64       `json:"seed"`
	Tag  string      `json:"tag,omitempty"`
}

// Target is where and how to ask.
type Target struct {
	// BaseURL is scheme://host[:port][/prefix] without a trailing slash, "/v1" or credentials.
	BaseURL string `json:"base_url"`
	// Replicas are base URLs of further servers of the same model; requests go to all in turn.
	Replicas []string `json:"replicas,omitempty"`
	// Backend is the name the user gave it ("sglang-oai-chat"), or "" where the program chose.
	Backend string `json:"backend,omitempty"`
	API     API    `json:"api"`
	// Path is the route asked, where it is not the API's usual one.
	Path string `json:"path,omitempty"`
	// Engine limits introspection to that engine's routes; EngineUnknown asks all.
	Engine Engine `json:"engine,omitempty"`
	Stream bool   `json:"stream"`
	// KeyFrom names the environment variable that holds the API key, never the key.
	KeyFrom string `json:"key_from,omitempty"`
	// HeaderNames are the extra headers' names; their values may be secrets and live elsewhere.
	HeaderNames  []string      `json:"header_names,omitempty"`
	ReadyTimeout time.Duration `json:"ready_timeout_ns"`
	// RequestIDPrefix, where not empty, stands before each request's number in the header x-request-id.
	RequestIDPrefix string `json:"request_id_prefix,omitempty"`
}

// Model holds the three names that must not be taken for each other. Empty means: to be found out.
type Model struct {
	// Asked is --model as typed: a served name, a repository or a path; the preflight decides which.
	Asked     string          `json:"asked,omitempty"`
	Served    ServedModel     `json:"served,omitempty"`
	Repo      ModelRepo       `json:"repo,omitempty"`
	Tokenizer TokenizerSource `json:"tokenizer,omitempty"`
	// TokenizerDiffers says where the tokenizer parted from the server's own on probes before the run; "" where it did not, or was
	// not compared.
	TokenizerDiffers string `json:"tokenizer_differs,omitempty"`
}

// DatasetSpec says what to ask.
type DatasetSpec struct {
	Name string `json:"name"`
	// Path is a local file, or "" for the data set's own source.
	Path string `json:"path,omitempty"`
	// Rows is the number of requests wanted; 0 means all rows of the file (where the data set allows it).
	Rows int `json:"rows"`
	// InputTokens and OutputTokens are the lengths of the random data sets.
	InputTokens  int `json:"input_tokens,omitempty"`
	OutputTokens int `json:"output_tokens,omitempty"`
	// RangeRatio r draws lengths uniformly from [max(⌊len·r⌋,1), len]; 1 means exactly len.
	RangeRatio float64 `json:"range_ratio"`
	// FixedOutput overrides the rows' own output lengths; 0 keeps them.
	FixedOutput int `json:"fixed_output,omitempty"`
	// ContextLimit drops rows whose input and output exceed it; 0 keeps all.
	ContextLimit int `json:"context_limit,omitempty"`
	// PromptSuffix is put behind each prompt (sharegpt, custom).
	PromptSuffix string `json:"prompt_suffix,omitempty"`
	// ApplyTemplate renders each prompt through the model's chat template on this side.
	ApplyTemplate bool `json:"apply_template,omitempty"`
	// SendIDs sends token ids in place of text.
	SendIDs bool `json:"send_ids,omitempty"`
	// ThinkTime is how long after an answer's end the next turn of its conversation is due: exactly so long, unless ThinkSpread says
	// how it is drawn for each turn; ThinkMost is its upper end where that is uniform.
	ThinkTime   time.Duration `json:"think_time_ns,omitempty"`
	ThinkSpread ThinkSpread   `json:"think_spread,omitempty"`
	ThinkMost   time.Duration `json:"think_most_ns,omitempty"`
	// Category keeps only the rows of that category (speed-bench, spec_bench, speed_bench); Subset is which file of a folder is
	// read (speed_bench).
	Category string `json:"category,omitempty"`
	Subset   string `json:"subset,omitempty"`
	// SharedPrefix belongs to generated-shared-prefix and is nil for the others.
	SharedPrefix *SharedPrefix `json:"shared_prefix,omitempty"`
	// Mooncake belongs to mooncake and is nil for the others.
	Mooncake *Mooncake `json:"mooncake,omitempty"`
	// Agentic belongs to agentic-trace; nil asks for all of it.
	Agentic *AgenticTrace `json:"agentic,omitempty"`
	// Images belongs to image and is nil for the others.
	Images *Images `json:"images,omitempty"`
	// TimedTrace belongs to timed_trace and is nil for the others.
	TimedTrace *TimedTrace `json:"timed_trace,omitempty"`
	// VLLM belongs to DialectVLLM's data sets and is nil for the others.
	VLLM *VLLMData `json:"vllm,omitempty"`
}

// LoadSpec says when to ask.
type LoadSpec struct {
	// Rate is the mean arrival rate in requests per second; 0 means unlimited (no schedule).
	Rate float64 `json:"rate,omitempty"`
	// Arrival is how gaps are spread around the rate; Burstiness is the shape of ArrivalGamma: under 1 burstier than Poisson, over 1
	// more even.
	Arrival    Arrival `json:"arrival,omitempty"`
	Burstiness float64 `json:"burstiness,omitempty"`
	// RampUp replaces Rate where it is set.
	RampUp *RampUp `json:"ramp_up,omitempty"`
	// Stages replace Rate where they are set: one rate after another, each for its time.
	Stages []Stage `json:"stages,omitempty"`
	// Trace is true where the data set itself says when each request is due; a plan sets it.
	Trace bool `json:"trace,omitempty"`
	// Concurrency caps the requests in flight; 0 means no cap. A conversation keeps one place from its first turn to its last.
	Concurrency int `json:"concurrency,omitempty"`
	// Duration stops admitting requests after that long; 0 means: until the plan is done.
	Duration time.Duration `json:"duration_ns,omitempty"`
	// Deadlines of one request; 0 means none.
	ConnectTimeout   time.Duration `json:"connect_timeout_ns,omitempty"`
	FirstByteTimeout time.Duration `json:"first_byte_timeout_ns,omitempty"`
	IdleTimeout      time.Duration `json:"idle_timeout_ns,omitempty"`
	RequestTimeout   time.Duration `json:"request_timeout_ns,omitempty"`
	// Insecure accepts any TLS certificate.
	Insecure bool `json:"insecure,omitempty"`
	// HTTP2 asks with HTTP/2 (in clear text for http://), whose events have no kernel stamps.
	HTTP2 bool `json:"http2,omitempty"`
}

// Stage is a rate, in requests per second, that holds for a time.
type Stage struct {
	Rate float64       `json:"rate"`
	For  time.Duration `json:"for_ns"`
}

// Expected is the mean number of requests that the stages ask for, and their time in all.
func (l LoadSpec) Expected() (requests float64, total time.Duration) {
	for _, s := range l.Stages {
		requests += s.Rate * s.For.Seconds()
		total += s.For
	}
	return requests, total
}

// Scheduled reports whether requests have due times of their own.
func (l LoadSpec) Scheduled() bool {
	return l.Rate > 0 || l.RampUp != nil || len(l.Stages) > 0 || l.Trace
}

// BodySpec is what goes into every request beside the prompt.
type BodySpec struct {
	// Temperature and TopP apply to SGLang's own route; the OpenAI routes send temperature 0 unless Extra says otherwise.
	Temperature float64 `json:"temperature"`
	TopP        float64 `json:"top_p"`
	IgnoreEOS   bool    `json:"ignore_eos"`
	// Extra is merged last into the body and wins.
	Extra json.RawMessage `json:"extra,omitempty"`
	// Logprobs and the three below ask for log probabilities (SGLang's own route; completions: Logprobs and TopLogprobs).
	Logprobs        bool  `json:"logprobs,omitempty"`
	TopLogprobs     int   `json:"top_logprobs,omitempty"`
	TokenIDLogprobs []int `json:"token_id_logprobs,omitempty"`
	LogprobStart    int   `json:"logprob_start"`
	RoutedExperts   bool  `json:"routed_experts,omitempty"`
	// CacheDetails asks SGLang for the cached tokens by level.
	CacheDetails bool `json:"cache_details,omitempty"`
	// FakePrefill adds the disaggregation fields of SGLang's --fake-prefill.
	FakePrefill bool `json:"fake_prefill,omitempty"`
}

// SLO is a limit one request must keep to count as good: its metric ("ttft", "tpot", "e2el") at most Max.
type SLO struct {
	Metric string        `json:"metric"`
	Max    time.Duration `json:"max_ns"`
}
