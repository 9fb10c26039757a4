package bench

import "time"

// Telemetry is what the server and its GPUs said of themselves during a run.
type Telemetry struct {
	// Source is where the server's numbers are from ("GET /metrics, sglang:"), "" where it has none.
	Source string `json:"source,omitempty"`
	// Before and After are the server's counters just before and just after the load; their difference is the run's.
	Before Counters `json:"before"`
	After  Counters `json:"after"`
	// Samples are the gauges during the load, about one a second.
	Samples []Gauges `json:"samples,omitempty"`
	// Slowest is the longest that one scrape took, Failed how many came to nothing.
	Slowest time.Duration `json:"slowest_ns"`
	Failed  int           `json:"failed,omitempty"`
	// GPUSource is where power and energy are from, "" where nowhere.
	GPUSource string `json:"gpu_source,omitempty"`
}

// Counters are a server's totals since it was started. What it does not state is not measured.
type Counters struct {
	PromptTokens Measure `json:"prompt_tokens,omitzero"`
	OutputTokens Measure `json:"output_tokens,omitzero"`
	CachedTokens Measure `json:"cached_tokens,omitzero"`
	Preemptions  Measure `json:"preemptions,omitzero"`
	// Drafts are verifications of speculative tokens, Accepted the draft tokens that stood.
	Drafts   Measure `json:"drafts,omitzero"`
	Accepted Measure `json:"accepted,omitzero"`
	// Times, in seconds, with how many they are of.
	TTFT    Total `json:"ttft,omitzero"`
	Queue   Total `json:"queue,omitzero"`
	Prefill Total `json:"prefill,omitzero"`
	// Energy is in joules, of all GPUs.
	Energy Measure `json:"energy_joules,omitzero"`
}

// Total is the sum and the count of a histogram.
type Total struct {
	Sum   Measure `json:"sum,omitzero"`
	Count Measure `json:"count,omitzero"`
	// Buckets are how many were at or below each bound (seconds), rising.
	Buckets []Bucket `json:"buckets,omitempty"`
}

// IsZero reports whether nothing is known (for omitzero in JSON).
func (t Total) IsZero() bool { return !t.Sum.Known() && !t.Count.Known() && len(t.Buckets) == 0 }

// Bucket is one bound of a histogram; the last, open one is left out.
type Bucket struct {
	Bound float64 `json:"le"`
	Count float64 `json:"n"`
}

// Gauges are what holds at one instant.
type Gauges struct {
	At      Instant `json:"at_ns"`
	Running Measure `json:"running,omitzero"`
	Waiting Measure `json:"waiting,omitzero"`
	// KVUse is the share of the KV pool that is held, 0 to 1.
	KVUse Measure `json:"kv_use,omitzero"`
	// Preemptions is the counter at that instant.
	Preemptions Measure `json:"preemptions,omitzero"`
	// AcceptLength is tokens per verification, where the server states it as a gauge.
	AcceptLength Measure `json:"accept_length,omitzero"`
	// Power is in watts, of all GPUs.
	Power Measure `json:"power_watts,omitzero"`
}
