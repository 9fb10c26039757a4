package bench

// VLLMReport is how the results of DialectVLLM are shown and named.
type VLLMReport struct {
	// Metrics are those whose mean, median and percentiles are shown: "ttft", "tpot", "itl", "e2el", "client_queue_time",
	// "e2el_including_client_queue".
	Metrics []string `json:"metrics"`
	// Percentiles are in 0..100.
	Percentiles []float64 `json:"percentiles"`
	Label       string    `json:"label,omitempty"`
	// Metadata are pairs of key and value that stand in the result as they were typed.
	Metadata [][2]string `json:"metadata,omitempty"`
	// Detailed puts a list with one value for each request into the result.
	Detailed bool `json:"detailed,omitempty"`
	// ProbeRate is how many one-token requests are asked each second beside the load, outside its cap; 0 asks none.
	ProbeRate float64 `json:"probe_rate,omitempty"`
	// NoTokenizer leaves token figures out of what is shown, as the original does where it has no tokenizer.
	NoTokenizer bool `json:"no_tokenizer,omitempty"`
}
