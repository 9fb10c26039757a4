package load

import (
	"time"

	"github.com/servemark/servemark/internal/bench"
)

// Clock counts from its start, on the monotonic clock.
type Clock struct{ start time.Time }

// newClock starts a clock.
func newClock() *Clock { return &Clock{start: time.Now()} }

// restart lets the clock count from now. Nobody may be reading it.
func (c *Clock) restart() { c.start = time.Now() }

// Now returns the time since the clock started.
func (c *Clock) Now() bench.Instant { return bench.At(time.Since(c.start)) }

// at returns what the clock read, or would have read, at t; the zero time is Never.
func (c *Clock) at(t time.Time) bench.Instant {
	if t.IsZero() {
		return bench.Never
	}
	return bench.At(t.Sub(c.start))
}

// Start returns the wall time at which the clock started.
func (c *Clock) Start() time.Time { return c.start }

// pause sleeps until the clock reads t or the channel closes, and reports whether t was reached.
func (c *Clock) pause(t bench.Instant, quit <-chan struct{}, fine func(time.Duration)) bool {
	for {
		left := t.Sub(c.Now())
		if left <= 0 {
			return true
		}
		if fine != nil && left <= fineSleep {
			fine(left)
			continue
		}
		coarse := left
		if fine != nil {
			coarse = left - fineSleep
		}
		timer := time.NewTimer(coarse)
		select {
		case <-timer.C:
		case <-quit:
			timer.Stop()
			return false
		}
	}
}

// fineSleep is how long before a due time the runtime's timers, which round to whole milliseconds while the program is
// idle, hand over to an exact one.
const fineSleep = 3 * time.Millisecond
