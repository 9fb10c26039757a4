package load

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/servemark/servemark/internal/bench"
)

// wall maps instants of the wall clock, on which the kernel stamps, to a run's clock. Both clocks run at the same rate (what
// slews one slews the other), so their distance stays the same until somebody sets the wall clock. Each measurement bounds the
// distance by an interval; intervals are intersected, which narrows the error, and one that is disjoint is a step.
type wall struct {
	clock *Clock
	now   atomic.Pointer[distance]

	mu    sync.Mutex // measurements
	steps int
	worst time.Duration // the largest error that conversions have had
}

// distance is an interval that holds wall clock − run clock, in nanoseconds.
type distance struct{ low, high int64 }

// Measuring the distance: a handful of tries, since one may be interrupted between its two looks at the clock; and how far
// two intervals may be apart by rounding alone.
const (
	wallTries = 8
	wallSlack = 100 // ns
)

// restart forgets the distance and measures it anew; the run's clock has been restarted.
func (w *wall) restart() {
	w.mu.Lock()
	defer w.mu.Unlock()
	d := w.look()
	w.now.Store(&d)
	w.steps, w.worst = 0, d.err()
}

// look measures the distance: the wall clock is read between two looks at the run's clock.
func (w *wall) look() distance {
	d := distance{-1 << 62, 1 << 62}
	for range wallTries {
		before := int64(w.clock.Now())
		t := time.Now() // reads the wall clock, then the monotonic one
		after := int64(w.clock.at(t))
		d.low = max(d.low, t.UnixNano()-after)
		d.high = min(d.high, t.UnixNano()-before)
	}
	if d.low > d.high { // a step in between
		d.low, d.high = d.high, d.low
	}
	return d
}

// check measures once more and reports whether the wall clock has been stepped since.
func (w *wall) check() (stepped bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	old, d := w.now.Load(), w.look()
	if d.low > old.high+wallSlack || d.high < old.low-wallSlack {
		w.steps++
		stepped = true
	} else {
		d = distance{max(d.low, old.low), min(d.high, old.high)}
		if d.low > d.high {
			d.low, d.high = d.high, d.low
		}
	}
	w.worst = max(w.worst, d.err())
	w.now.Store(&d)
	return stepped
}

// at returns what the run's clock read when the wall clock read ns since 1970.
func (w *wall) at(ns int64) bench.Instant {
	d := w.now.Load()
	return bench.Instant(ns - d.low - (d.high-d.low)/2)
}

// err is the most by which the middle of the interval can be wrong.
func (d distance) err() time.Duration { return time.Duration(d.high-d.low+1) / 2 }

// told returns the steps seen and the largest error of conversions.
func (w *wall) told() (steps int, worst time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.steps, w.worst
}

// wallInterval is how often the distance is measured during a run where the system does not announce steps.
const wallInterval = 200 * time.Millisecond

// watch keeps the distance right until quit is closed. stepped, where not nil, yields when the system says that the wall
// clock was set.
func (w *wall) watch(quit <-chan struct{}, stepped <-chan struct{}) {
	tick := time.NewTicker(wallInterval)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case _, ok := <-stepped:
			if !ok {
				stepped = nil
			}
		case <-quit:
			return
		}
		w.check()
	}
}
