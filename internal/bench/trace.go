package bench

// Mooncake is how a trace of the data set mooncake is replayed.
type Mooncake struct {
	// Slowdown stretches the trace's times; 1 is as recorded.
	Slowdown float64 `json:"slowdown"`
	// Rounds is how many turns each line of the trace is asked for.
	Rounds int `json:"rounds"`
	// Workload names the published trace that is meant ("conversation").
	Workload string `json:"workload,omitempty"`
}
