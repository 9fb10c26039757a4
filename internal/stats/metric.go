package stats

import (
	"github.com/servemark/servemark/internal/bench"
)

// Dimension is what a metric is measured in.
type Dimension int

// The dimensions. Times are in seconds, shares from 0 to 1.
const (
	Plain  Dimension = iota // a number without a unit
	Times                   // seconds
	Tokens                  // tokens per second
	Rates                   // requests per second
	Shares
)

// Metric is a number that goals, sweeps and comparisons may name.
type Metric struct {
	Name      string
	Dimension Dimension
	// Spread metrics have one value for each request (or token), so that a statistic must be named: "p99 ttft".
	Spread bool
	// More is true where more is better.
	More  bool
	About string

	figure func(*bench.Summary) bench.Measure
	values func(*bench.Summary) *bench.Distribution
}

// Metrics returns every metric, in the order in which they are listed for users.
func Metrics() []Metric {
	spread := func(name string, dim Dimension, more bool, about string, f func(*bench.Summary) *bench.Distribution) Metric {
		return Metric{Name: name, Dimension: dim, Spread: true, More: more, About: about, values: f}
	}
	figure := func(name string, dim Dimension, more bool, about string, f func(*bench.Summary) bench.Measure) Metric {
		return Metric{Name: name, Dimension: dim, More: more, About: about, figure: f}
	}
	return []Metric{
		figure("output_throughput", Tokens, true, "output tokens per second in all", func(s *bench.Summary) bench.Measure { return s.OutputRate }),
		figure("total_throughput", Tokens, true, "input and output tokens per second", func(s *bench.Summary) bench.Measure { return s.TotalRate }),
		figure("input_throughput", Tokens, true, "input tokens per second", func(s *bench.Summary) bench.Measure { return s.InputRate }),
		figure("peak_output_throughput", Tokens, true, "most output tokens in one second", func(s *bench.Summary) bench.Measure { return s.PeakOutputRate }),
		figure("request_throughput", Rates, true, "successes per second", func(s *bench.Summary) bench.Measure { return s.RequestRate }),
		figure("single_stream", Tokens, true, "tokens per second of one request alone; a stage of its own at concurrency 1", aloneSpeed),
		figure("concurrency", Plain, true, "mean requests in flight", func(s *bench.Summary) bench.Measure { return s.Concurrency }),
		figure("error_rate", Shares, false, "failed of all that were tried", errorRate),
		figure("slo_attainment", Shares, true, "requests within every --slo limit", func(s *bench.Summary) bench.Measure {
			if s.Goodput == nil {
				return bench.Measure{}
			}
			return s.Goodput.Attainment
		}),
		figure("request_goodput", Rates, true, "requests per second within every --slo limit", func(s *bench.Summary) bench.Measure {
			if s.Goodput == nil {
				return bench.Measure{}
			}
			return s.Goodput.Rate
		}),
		figure("cached_share", Shares, true, "prompt tokens found in the prefix cache", CachedShare),
		spread("ttft", Times, false, "time to the first token (from due where there is a schedule)", nil),
		spread("e2e", Times, false, "time to the last token (from due where there is a schedule)", nil),
		spread("first_answer", Times, false, "time to the first token that is not reasoning (from due where there is a schedule)", nil),
		spread("ttft_from_sent", Times, false, "time to the first token, from sent", func(s *bench.Summary) *bench.Distribution { return &s.TTFT }),
		spread("e2e_from_sent", Times, false, "time to the last token, from sent", func(s *bench.Summary) *bench.Distribution { return &s.E2E }),
		spread("tpot", Times, false, "time per output token after the first, of each request", func(s *bench.Summary) *bench.Distribution { return &s.TPOT }),
		spread("itl", Times, false, "time between tokens, all requests together", func(s *bench.Summary) *bench.Distribution { return &s.ITL }),
		spread("chunk_gap", Times, false, "time between chunks, all requests together", func(s *bench.Summary) *bench.Distribution { return &s.ChunkGap }),
		spread("per_user", Tokens, true, "output tokens ÷ time of each request", func(s *bench.Summary) *bench.Distribution { return &s.PerUser }),
		spread("client_queue", Times, false, "waiting for the run's own cap on concurrency", func(s *bench.Summary) *bench.Distribution { return &s.ClientQueue }),
		spread("lateness", Times, false, "how late this client sent", func(s *bench.Summary) *bench.Distribution { return &s.Lateness }),
	}
}

// metricAliases are names that other tools have for the same.
var metricAliases = map[string]string{
	"e2el": "e2e", "e2e_latency": "e2e", "latency": "e2e", "throughput": "output_throughput", "total_token_throughput": "total_throughput",
	"goodput": "request_goodput", "attainment": "slo_attainment", "errors": "error_rate", "tok/s": "output_throughput",
}

// MetricNamed finds a metric by its name or by what other tools call it.
func MetricNamed(name string) (Metric, bool) {
	if to, ok := metricAliases[name]; ok {
		name = to
	}
	for _, m := range Metrics() {
		if m.Name == name {
			return m, true
		}
	}
	return Metric{}, false
}

// Figure returns the metric's one number, not measured for a Spread metric.
func (m Metric) Figure(s *bench.Summary) bench.Measure {
	if m.figure == nil {
		return bench.Measure{}
	}
	return m.figure(s)
}

// Values returns a Spread metric's distribution; those with two clocks count from due where the run has a schedule and is not
// in a drop-in's dialect.
func (m Metric) Values(s *bench.Summary, fromDue bool) *bench.Distribution {
	switch m.Name {
	case "ttft":
		return either(fromDue, &s.TTFTFromDue, &s.TTFT)
	case "e2e":
		return either(fromDue, &s.E2EFromDue, &s.E2E)
	case "first_answer":
		return either(fromDue, &s.AnswerFromDue, &s.FirstAnswer)
	}
	if m.values == nil {
		return &bench.Distribution{}
	}
	return m.values(s)
}

func either(first bool, a, b *bench.Distribution) *bench.Distribution {
	if first {
		return a
	}
	return b
}

// aloneSpeed is the median speed of requests, which is a single stream's where they went one after another.
func aloneSpeed(s *bench.Summary) bench.Measure {
	q, ok := s.PerUser.Quantile(50)
	if !ok {
		return bench.Measure{}
	}
	return bench.Measured(q.Value)
}

func errorRate(s *bench.Summary) bench.Measure {
	return ratio(s.Failed, s.Failed+s.Completed)
}

// CachedShare is the share of the prompt tokens that the server says it had cached.
func CachedShare(s *bench.Summary) bench.Measure {
	cached, ok := s.CachedTokens.Get()
	all, known := s.InputTokens.Get()
	if !ok || !known {
		return bench.Measure{}
	}
	return ratio(cached, all)
}

func ratio(a, b int) bench.Measure {
	if b <= 0 {
		return bench.Measure{}
	}
	return bench.Measured(float64(a) / float64(b))
}
