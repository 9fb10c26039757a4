package bench

// Mooncake is how a trace of the data set mooncake is replayed.
type Mooncake struct {
	// Slowdown stretches the trace's times; 1 is as recorded.
	Slowdown float64 `json:"slowdown"`
	// Rounds is how many turns each line of the trace is asked for, each after the answer to the one before.
	Rounds int `json:"rounds"`
	// Workload names the published trace that is meant ("conversation").
	Workload string `json:"workload,omitempty"`
}

// AgenticTrace is which part of the data set agentic-trace is replayed.
type AgenticTrace struct {
	// Offset is the conversation to begin with; those before it come last.
	Offset int `json:"offset,omitempty"`
	// MaxTurns ends conversations after so many turns; 0 asks for all.
	MaxTurns int `json:"max_turns,omitempty"`
}

// TimedTrace is how a file of vLLM's data set timed_trace is read.
type TimedTrace struct {
	// BlockTokens is how many tokens one hash id stands for.
	BlockTokens int `json:"block_tokens"`
	// Seconds is how long one unit of the file's timestamps is.
	Seconds float64 `json:"seconds"`
	// SelfTimed takes due times from the file; else the load's rate decides.
	SelfTimed bool `json:"self_timed"`
	// The names of the fields in the file.
	Timestamp    string `json:"timestamp"`
	InputLength  string `json:"input_length"`
	OutputLength string `json:"output_length"`
	HashIDs      string `json:"hash_ids"`
}
