package bench

// VLLMData is what vLLM's data sets are asked for beside the settings that SGLang's have too.
type VLLMData struct {
	// OutputRangeRatio r draws output lengths from [⌊len·(1−r)⌋, ⌈len·(1+r)⌉]; DatasetSpec.RangeRatio is the input's, of the same form.
	OutputRangeRatio float64 `json:"output_range_ratio"`
	// PrefixTokens is the length of what all prompts of random, or of one group of prefix_repetition, begin with.
	PrefixTokens int `json:"prefix_tokens,omitempty"`
	// SuffixTokens and Prefixes belong to prefix_repetition: what follows a prefix, and how many prefixes there are.
	SuffixTokens int `json:"suffix_tokens,omitempty"`
	Prefixes     int `json:"prefixes,omitempty"`
	// Images belongs to random-mm and is nil for the others.
	Images *ImageBuckets `json:"images,omitempty"`
	// BatchSize is how many texts one request of random or random-rerank carries; 0 and 1 make one of each.
	BatchSize int `json:"batch_size,omitempty"`
	// Pairs counts random-rerank's query once a document, as a reranker reads it; else once a request.
	Pairs bool `json:"pairs,omitempty"`
	// KeepOrder leaves rows in the file's order.
	KeepOrder bool `json:"keep_order,omitempty"`
	// NoRepeat leaves a data set short where it has fewer rows than were asked for; else rows are repeated.
	NoRepeat bool `json:"no_repeat,omitempty"`
}

// Arrival is the family of gaps between requests at a finite rate.
type Arrival string

// The families. The zero Arrival is Poisson's: exponential gaps.
const (
	ArrivalPoisson  Arrival = ""
	ArrivalGamma    Arrival = "gamma"    // gamma gaps of shape LoadSpec.Burstiness
	ArrivalConstant Arrival = "constant" // equal gaps
)

// RampUp moves the rate from Start to End over the run, by a request's index.
type RampUp struct {
	Exponential bool    `json:"exponential,omitempty"` // else linear
	Start       float64 `json:"start"`
	End         float64 `json:"end"`
}
