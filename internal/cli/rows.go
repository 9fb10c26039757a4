package cli

import (
	"math"
	"time"

	"github.com/servemark/servemark/internal/bench"
)

// Bounds of how many prompts are made for a run that time ends.
const (
	mostRows     = 200_000
	leastPerSlot = 4
	unknownReply = 50 * time.Millisecond // a quick reply, where no smoke test has told
)

// rowsForTime sets how many requests are made for a run that time ends, and says where that is fewer than the time may take.
func (s *session) rowsForTime() {
	if s.spec.Load.Duration == 0 {
		return
	}
	if s.spec.Dataset.Rows = rowsFor(s.spec, s.smoke); s.spec.Dataset.Rows == mostRows {
		s.say("note: %d prompts are made, the most there are; if they are spent before %s are over, the run ends there and says so", mostRows, s.spec.Load.Duration)
	}
}

// rowsFor is how many requests are made for a run that time ends. On a schedule the rate decides, with room for six standard
// deviations; with a fixed concurrency the smoke test's time to the first token and pace decide, each taken four times as
// fast as it was seen, since caches and connections were cold. A run that comes to the end of its prompts says so and is SUSPECT.
func rowsFor(spec *bench.Spec, smoke *bench.Record) int {
	seconds := spec.Load.Duration.Seconds()
	if n, _ := spec.Load.Expected(); n > 0 || spec.Load.Rate > 0 {
		n = max(n, spec.Load.Rate*seconds)
		return min(mostRows, int(math.Ceil(n+6*math.Sqrt(n)))+10)
	}
	slots := spec.Load.Concurrency
	if slots == 0 {
		return mostRows
	}
	each := unknownReply
	if smoke != nil {
		if first, ok := bench.Elapsed(smoke.Sent, smoke.FirstChunk()); ok {
			each = first
			if n := len(smoke.Chunks); n > 1 && spec.Dataset.OutputTokens > 1 {
				pace := smoke.LastChunk().Sub(smoke.FirstChunk()) / time.Duration(n-1)
				each += pace * time.Duration(spec.Dataset.OutputTokens-1)
			}
			each /= 4
		}
	}
	each = max(each, time.Millisecond)
	perSlot := max(leastPerSlot, int(math.Ceil(seconds/each.Seconds()))+1)
	return min(mostRows, slots*perSlot)
}
