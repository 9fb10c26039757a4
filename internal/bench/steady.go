package bench

// SteadyState is a run without its ramp-up and drain, with its numbers for that time alone.
type SteadyState struct {
	// Method names how the ends were found.
	Method string `json:"method"`
	// From and To bound the window: requests sent inside count for latency, tokens and ends inside for rates.
	From Instant `json:"from_ns"`
	To   Instant `json:"to_ns"`
	// Requests is how many successes were sent inside, CutBefore how many before.
	Requests  int `json:"requests"`
	CutBefore int `json:"cut_before"`
	// Reached is false where the start of the steady state lies in the second half of the run: it has not settled, and the
	// numbers of this window are worth no more than those of the whole run.
	Reached bool `json:"reached"`

	RequestRate Measure      `json:"request_throughput"`
	OutputRate  Measure      `json:"output_throughput"`
	PerUser     Distribution `json:"per_user"`
	TTFT        Distribution `json:"ttft"`
	E2E         Distribution `json:"e2e"`
	TPOT        Distribution `json:"tpot"`
}
