package stats

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/servemark/servemark/internal/bench"
)

// stay is the time one request was in flight.
type stay struct{ from, to bench.Instant }

// stays returns when each request that was sent was in flight: from its first byte to its end. A stay is never empty, so
// that a reply that came within one tick of the clock still counts.
func stays(records []*bench.Record) []stay {
	out := make([]stay, 0, len(records))
	for _, r := range records {
		if !r.Sent.Known() {
			continue
		}
		end := r.Sent
		for _, at := range [...]bench.Instant{r.Written, r.Header, r.LastChunk(), r.Done} {
			if at.Known() {
				end = max(end, at)
			}
		}
		out = append(out, stay{r.Sent, max(end, r.Sent+1)})
	}
	return out
}

// edge is a moment at which the number of requests in flight changes.
type edge struct {
	at    bench.Instant
	delta int
}

// edges returns the starts and ends of stays in time order, ends first among equals: a request that starts as another ends
// does not overlap it.
func edges(in []stay) []edge {
	out := make([]edge, 0, 2*len(in))
	for _, s := range in {
		out = append(out, edge{s.from, 1}, edge{s.to, -1})
	}
	slices.SortFunc(out, func(a, b edge) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.delta, b.delta)) })
	return out
}

// peakConcurrency is the largest number of stays at one instant.
func peakConcurrency(sweep []edge) int {
	now, peak := 0, 0
	for _, e := range sweep {
		now += e.delta
		peak = max(peak, now)
	}
	return peak
}

// arrival is a number of tokens received at one instant.
type arrival struct {
	at     bench.Instant
	tokens int64
}

// arrivals returns the tokens of the replies as they were received, in time order; ok is false where the tokens of a
// streamed reply cannot be laid on its chunks, or a reply was not streamed: its tokens were made before they were seen.
func arrivals(replies []reply) (out []arrival, ok bool) {
	chunks := 0
	for i := range replies {
		chunks += len(replies[i].tokens)
	}
	out = make([]arrival, 0, chunks)
	for i := range replies {
		r := &replies[i]
		if !r.rec.Streamed || len(r.rec.Chunks) > 0 && r.tokens == nil {
			return nil, false
		}
		for k, n := range r.tokens {
			if n > 0 {
				out = append(out, arrival{r.rec.Chunks[k].At, n})
			}
		}
	}
	slices.SortFunc(out, func(a, b arrival) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.tokens, b.tokens)) })
	return out, true
}

// peakWindow is the width of the window of the peak output rate.
const peakWindow = time.Second

// peakOutputRate is the most tokens in any half-open window of one second, per second. In a run shorter than that the
// window is the run itself.
func peakOutputRate(in []arrival, run time.Duration) bench.Measure {
	if len(in) == 0 || run <= 0 {
		return bench.Measure{}
	}
	var sum, most int64
	first := 0
	for _, a := range in {
		sum += a.tokens
		for uint64(a.at-in[first].at) >= uint64(peakWindow) {
			sum -= in[first].tokens
			first++
		}
		most = max(most, sum)
	}
	return bench.Measured(float64(most) / min(run, peakWindow).Seconds())
}

// The steady stretch: at least steadyShare of the peak in flight, for at least steadyLeast of the run.
const (
	steadyShare = 0.95
	steadyLeast = 0.1
)

// steady finds the longest stretch with nearly as many requests in flight as at the peak, and the rates inside it. It is nil
// where requests never overlapped or the stretch is too short a part of the run to speak for it.
func steady(sweep []edge, peak int, replies []reply, in []arrival, inKnown bool, run time.Duration) *bench.Steady {
	if peak < 2 {
		return nil
	}
	s := bench.Steady{AtLeast: int(math.Ceil(float64(peak)*steadyShare - 1e-9))}
	now, from := 0, bench.Never
	for i, e := range sweep {
		now += e.delta
		switch {
		case i+1 < len(sweep) && sweep[i+1].at == e.at: // more changes at this very instant
		case now >= s.AtLeast && !from.Known():
			from = e.at
		case now < s.AtLeast && from.Known():
			if e.at-from > s.To-s.From {
				s.From, s.To = from, e.at
			}
			from = bench.Never
		}
	}
	length := s.To.Sub(s.From).Seconds()
	if length <= 0 || length < steadyLeast*run.Seconds() {
		return nil
	}
	done := 0
	for i := range replies {
		if at := replies[i].rec.Done; at > s.From && at <= s.To {
			done++
		}
	}
	if done >= s.AtLeast { // each place was taken anew once: fewer say nothing about a rate
		s.RequestRate = bench.Measured(float64(done) / length)
	}
	if inKnown {
		var tokens int64
		for _, a := range in {
			if a.at > s.From && a.at <= s.To {
				tokens += a.tokens
			}
		}
		s.OutputRate = bench.Measured(float64(tokens) / length)
	}
	return &s
}
