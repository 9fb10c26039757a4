package bench

// SharedPrefix is what the data set generated-shared-prefix is asked for: groups of prompts that begin alike.
type SharedPrefix struct {
	Groups          int `json:"groups"`
	PromptsPerGroup int `json:"prompts_per_group"`
	// Lengths in tokens: the shared part, what follows it in each prompt, and the output limit.
	SystemTokens   int `json:"system_tokens"`
	QuestionTokens int `json:"question_tokens"`
	// Turns is how many questions a conversation has, each after the answer to the one before; 0 and 1 make single prompts.
	Turns int `json:"turns,omitempty"`
	// RoutingKey gives the prompts of a group one routing key.
	RoutingKey   bool `json:"routing_key,omitempty"`
	OutputTokens int  `json:"output_tokens"`
	// RangeRatio r draws each length uniformly from [max(⌊len·r⌋,1), len].
	RangeRatio float64 `json:"range_ratio"`
	// Ordered keeps the prompts of a group together; else all are shuffled.
	Ordered bool `json:"ordered,omitempty"`
	// ZipfAlpha gives group k a share of prompts proportional to 1/kᵅ; 0 gives each group the same number.
	ZipfAlpha float64 `json:"zipf_alpha,omitempty"`
	// Fast leaves the prompts' tokens uncounted.
	Fast bool `json:"fast,omitempty"`
}
