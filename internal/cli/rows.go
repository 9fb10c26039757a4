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

// rowsFor is how many requests a run limited by time can come to at most. On a schedule the rate decides; with a fixed
// concurrency a slot takes as long as the smoke test did, scaled to the asked length, since under load nothing gets faster.
func rowsFor(spec *bench.Spec, smoke *bench.Record) int {
	seconds := spec.Load.Duration.Seconds()
	if rate := spec.Load.Rate; rate > 0 {
		n := rate * seconds
		return min(mostRows, int(math.Ceil(n+6*math.Sqrt(n)))+10)
	}
	slots := spec.Load.Concurrency
	if slots == 0 {
		return mostRows
	}
	each := unknownReply
	if smoke != nil {
		if d, ok := bench.Elapsed(smoke.Sent, smoke.Done); ok {
			each = d / 2 // caches and connections were cold
			if n := smoke.Usage.Completion.Or(0); n > 1 && spec.Dataset.OutputTokens > n {
				each = each * time.Duration(spec.Dataset.OutputTokens) / time.Duration(n)
			}
		}
	}
	each = max(each, time.Millisecond)
	perSlot := max(leastPerSlot, int(math.Ceil(seconds/each.Seconds()))+1)
	return min(mostRows, slots*perSlot)
}
