package bench

import (
	"encoding/json"
	"time"
)

// TokenSource says who counted tokens.
type TokenSource string

// Sources of token counts.
const (
	TokensByServer    TokenSource = "server usage"
	TokensByTokenizer TokenSource = "tokenizer"
	TokensMixed       TokenSource = "server usage, tokenizer where it is missing"
	TokensUnknown     TokenSource = "unknown"
)

// Quantile is a percentile with its 95 % interval.
type Quantile struct {
	// P is in 0..100.
	P     float64 `json:"p"`
	Value float64 `json:"value"`
	// Low and High bound the 95 % interval by order statistics; an end is not measured where the sample is too small to bound it.
	Low  Measure `json:"low"`
	High Measure `json:"high"`
}

// Distribution describes a sample. N = 0 means not measured: nothing else in it has a meaning then, and JSON has null.
type Distribution struct {
	N int `json:"n"`
	// Effective is how many independent values the sample is worth, since requests of one run hang together; 0 where the
	// sample has no order or is too small to tell. Intervals rest on it.
	Effective float64 `json:"effective_n,omitempty"`
	// Pooled is true where one request gives many values (gaps, token times): they hang together, so quantiles have no interval.
	Pooled bool `json:"pooled,omitempty"`
	// Mean, Std (population), Min and Max are in the unit of the figure: seconds for times.
	Mean      float64    `json:"mean"`
	Std       float64    `json:"std"`
	Min       float64    `json:"min"`
	Max       float64    `json:"max"`
	Quantiles []Quantile `json:"quantiles,omitempty"`
}

// Measured reports whether there is anything in the sample.
func (d *Distribution) Measured() bool { return d.N > 0 }

// MarshalJSON writes the object, or null where nothing was measured.
func (d Distribution) MarshalJSON() ([]byte, error) {
	if d.N == 0 {
		return []byte("null"), nil
	}
	type plain Distribution
	return json.Marshal(plain(d))
}

// Quantile returns the percentile p (0..100) where it was computed.
func (d *Distribution) Quantile(p float64) (Quantile, bool) {
	for _, q := range d.Quantiles {
		if q.P == p {
			return q, true
		}
	}
	return Quantile{}, false
}

// FailureGroup counts failures of one kind and wording.
type FailureGroup struct {
	Kind    FailureKind `json:"kind"`
	Status  int         `json:"status,omitempty"`
	Message string      `json:"message"`
	Count   int         `json:"count"`
}

// VerdictLevel says whether a run's numbers can be believed.
type VerdictLevel string

// The verdicts, best first.
const (
	Valid   VerdictLevel = "VALID"
	Suspect VerdictLevel = "SUSPECT"
	Invalid VerdictLevel = "INVALID"
)

// Verdict is the judgement with its causes in words.
type Verdict struct {
	Level  VerdictLevel `json:"level"`
	Causes []string     `json:"causes,omitempty"`
}

// Goodput counts requests that keep every SLO.
type Goodput struct {
	Good int `json:"good"`
	// FromDue is true where latency counts from when a request was due, not from when it was sent.
	FromDue bool `json:"from_due"`
	// Rate is good requests per second of the run's duration.
	Rate Measure `json:"rate"`
	// Attainment is good ÷ all sent and not cancelled (0..1); ByMetric the same for each SLO alone. An unmeasured metric of a
	// success counts as kept; a failed request keeps nothing.
	Attainment Measure            `json:"attainment"`
	ByMetric   map[string]Measure `json:"by_metric"`
}

// Summary is what follows from a Plan and its Records, in any order.
type Summary struct {
	Planned int `json:"planned"`
	// Sent counts requests tried: those whose first byte went out and those that failed before it.
	Sent      int `json:"sent"`
	Completed int `json:"completed"`
	Failed    int `json:"failed"`
	// Cancelled requests are in neither Completed nor Failed; they are in Sent where their first byte went out.
	Cancelled int `json:"cancelled"`
	// Empty counts successes that finished without text though the server counted tokens.
	Empty int `json:"empty"`
	// Resent and Replaced count the two repairs that are allowed: a refused field, a dead reused connection.
	Resent   int `json:"resent"`
	Replaced int `json:"replaced"`
	// Partial is true where the run was ended before every planned request had its record; a run that its own
	// Duration ended is whole.
	Partial bool `json:"partial"`
	// Duration is first sent to last done.
	Duration time.Duration `json:"duration_ns"`

	// InputTokens is the server's count where every success has one, else the tokenizer's. InputByTokenizer stands beside it,
	// and InputTemplated, the tokenizer's count with the chat template.
	InputTokens      Count       `json:"input_tokens"`
	InputSource      TokenSource `json:"input_source"`
	InputByTokenizer Count       `json:"input_by_tokenizer"`
	InputTemplated   Count       `json:"input_templated"`
	OutputTokens     Count       `json:"output_tokens"`
	OutputSource     TokenSource `json:"output_source"`
	ReasoningTokens  Count       `json:"reasoning_tokens"`
	Retokenized      Count       `json:"retokenized"`
	// CachedTokens adds up what CachedStated of the successes say; servers may leave it out where it is 0.
	CachedTokens Count `json:"cached_tokens"`
	CachedStated int   `json:"cached_stated"`
	// CachedBy tells CachedTokens apart by storage level, where answers say.
	CachedBy CacheLevels `json:"cached_by,omitzero"`
	// AcceptLength is output tokens per verification of speculative decoding, by the answers' own counts; one that every success
	// must have.
	AcceptLength Measure `json:"accept_length"`
	// ChunkTokens says in words how tokens were spread over chunks.
	ChunkTokens string `json:"chunk_tokens"`

	RequestRate Measure `json:"request_throughput"` // successes per second
	InputRate   Measure `json:"input_throughput"`   // tokens per second
	OutputRate  Measure `json:"output_throughput"`
	TotalRate   Measure `json:"total_throughput"`
	// Concurrency is Σ E2E ÷ duration; PeakConcurrency the largest number in flight at one instant.
	Concurrency     Measure `json:"concurrency"`
	PeakConcurrency int     `json:"peak_concurrency"`
	// PeakOutputRate is the most output tokens in any one-second window.
	PeakOutputRate Measure `json:"peak_output_throughput"`
	// Steady is the longest stretch at or near the peak concurrency, where there is one worth the name.
	Steady *Steady `json:"steady,omitempty"`
	// PerUser is each request's output tokens ÷ its E2E, in tokens per second.
	PerUser Distribution `json:"per_user"`

	TTFT          Distribution   `json:"ttft"`
	FirstAnswer   Distribution   `json:"first_answer"`
	E2E           Distribution   `json:"e2e"`
	TPOT          Distribution   `json:"tpot"`
	ITL           Distribution   `json:"itl"`
	ChunkGap      Distribution   `json:"chunk_gap"`
	Connect       Distribution   `json:"connect"`
	TTFTFromDue   Distribution   `json:"ttft_from_due"`
	AnswerFromDue Distribution   `json:"first_answer_from_due"`
	E2EFromDue    Distribution   `json:"e2e_from_due"`
	ClientQueue   Distribution   `json:"client_queue"` // waiting for the user's own cap
	Lateness      Distribution   `json:"lateness"`     // between "may go" and sent, connecting left out: ours
	Scheduled     bool           `json:"scheduled"`
	AskedRate     Measure        `json:"asked_rate"`    // of the drawn schedule, over the requests sent
	AchievedRate  Measure        `json:"achieved_rate"` // the same requests as they were sent
	Failures      []FailureGroup `json:"failures,omitempty"`
	Goodput       *Goodput       `json:"goodput,omitempty"`
	// SteadyState is the run without its ramp-up and drain, where they could be told from the rest.
	SteadyState *SteadyState `json:"steady_state,omitempty"`
	Goals       []GoalResult `json:"goals,omitempty"`
	// Lag is how long events waited in the kernel until this client read them; SharedStamps the share of events (0..1) that
	// have the time of a later one because they were read late. Both are of events with a kernel stamp.
	Lag          Distribution `json:"receive_lag"`
	SharedStamps Measure      `json:"shared_stamps"`
	// Health is what the load engine knew of itself; nil for journals that do not have it.
	Health         *Health `json:"health,omitempty"`
	Verdict        Verdict `json:"verdict"`
	MalformedCount int     `json:"malformed_events"`
	// Notes are facts a reader must know that do not touch the verdict.
	Notes []string `json:"notes,omitempty"`
}

// Steady is a stretch of a run with at least AtLeast requests in flight all the time.
type Steady struct {
	From    Instant `json:"from_ns"`
	To      Instant `json:"to_ns"`
	AtLeast int     `json:"at_least"`
	// RequestRate counts successes that ended inside, where they are at least AtLeast; OutputRate tokens received inside.
	RequestRate Measure `json:"request_throughput"`
	OutputRate  Measure `json:"output_throughput"`
}

// Figures are one request's numbers, as a Summary counts them.
type Figures struct {
	ID     int
	Input  Count
	Output Count
	// TTFT and E2E are in seconds; ITL has one value for each token whose gap was measured, in seconds.
	TTFT Measure
	E2E  Measure
	ITL  []float64
}
