package bench

import "time"

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

// Distribution describes a sample. N = 0 means not measured: nothing else in it has a meaning then.
type Distribution struct {
	N int `json:"n"`
	// Mean, Std (population), Min and Max are in the unit of the figure: seconds for times.
	Mean      float64    `json:"mean"`
	Std       float64    `json:"std"`
	Min       float64    `json:"min"`
	Max       float64    `json:"max"`
	Quantiles []Quantile `json:"quantiles,omitempty"`
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
	// Rate is good requests per second of the run's duration.
	Rate Measure `json:"rate"`
	// Attainment is good ÷ all sent (0..1); ByMetric the same for each SLO alone. An unmeasured metric counts as kept.
	Attainment Measure            `json:"attainment"`
	ByMetric   map[string]Measure `json:"by_metric"`
}

// GoalResult is a goal with what was reached.
type GoalResult struct {
	Goal  Goal    `json:"goal"`
	Value Measure `json:"value"`
	Met   bool    `json:"met"`
}

// Summary is what follows from a Plan and its Records, in any order.
type Summary struct {
	Planned   int `json:"planned"`
	Sent      int `json:"sent"`
	Completed int `json:"completed"`
	Failed    int `json:"failed"`
	Cancelled int `json:"cancelled"`
	// Empty counts successes that finished without text though the server counted tokens.
	Empty int `json:"empty"`
	// Resent and Replaced count the two repairs that are allowed: a refused field, a dead reused connection.
	Resent   int `json:"resent"`
	Replaced int `json:"replaced"`
	// Partial is true where the run was ended before every planned request had its record.
	Partial bool `json:"partial"`
	// Duration is first sent to last done.
	Duration time.Duration `json:"duration_ns"`

	// InputTokens is the server's count where every success has one, else the tokenizer's; InputByTokenizer stands beside it.
	InputTokens      Count       `json:"input_tokens"`
	InputSource      TokenSource `json:"input_source"`
	InputByTokenizer Count       `json:"input_by_tokenizer"`
	OutputTokens     Count       `json:"output_tokens"`
	OutputSource     TokenSource `json:"output_source"`
	ReasoningTokens  Count       `json:"reasoning_tokens"`
	Retokenized      Count       `json:"retokenized"`
	CachedTokens     Count       `json:"cached_tokens"`
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
	// PerUser is each request's output tokens ÷ its E2E, in tokens per second.
	PerUser Distribution `json:"per_user"`

	TTFT           Distribution   `json:"ttft"`
	FirstAnswer    Distribution   `json:"first_answer"`
	E2E            Distribution   `json:"e2e"`
	TPOT           Distribution   `json:"tpot"`
	ITL            Distribution   `json:"itl"`
	ChunkGap       Distribution   `json:"chunk_gap"`
	Connect        Distribution   `json:"connect"`
	TTFTFromDue    Distribution   `json:"ttft_from_due"`
	AnswerFromDue  Distribution   `json:"first_answer_from_due"`
	E2EFromDue     Distribution   `json:"e2e_from_due"`
	ClientQueue    Distribution   `json:"client_queue"` // admitted − due: the user's own cap
	Lateness       Distribution   `json:"lateness"`     // sent − admitted: ours
	Scheduled      bool           `json:"scheduled"`
	AskedRate      Measure        `json:"asked_rate"`
	AchievedRate   Measure        `json:"achieved_rate"`
	Failures       []FailureGroup `json:"failures,omitempty"`
	Goodput        *Goodput       `json:"goodput,omitempty"`
	Goals          []GoalResult   `json:"goals,omitempty"`
	Verdict        Verdict        `json:"verdict"`
	MalformedCount int            `json:"malformed_events"`
}
