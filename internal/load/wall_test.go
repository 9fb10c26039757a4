package load

import (
	"testing"
	"time"
)

func TestWallDistance(t *testing.T) {
	w := &wall{clock: newClock()}
	w.restart()
	for range 50 {
		now := time.Now()
		if off := w.at(now.UnixNano()).Sub(w.clock.at(now)); off.Abs() > w.now.Load().err()+time.Microsecond {
			t.Errorf("at(now) is off by %v, want at most the stated %v", off, w.now.Load().err())
		}
		if w.check() {
			t.Error("check() = stepped, and nobody touched the clock")
		}
	}
	if steps, worst := w.told(); steps != 0 || worst <= 0 || worst > time.Millisecond {
		t.Errorf("told() = %d steps, error %v; want 0 and a small one", steps, worst)
	}
	// A step shows as a distance that nothing in between explains.
	old := w.now.Load()
	w.now.Store(&distance{old.low + 5e6, old.high + 5e6})
	if !w.check() {
		t.Error("check() after 5 ms of difference = no step, want one")
	}
	if steps, _ := w.told(); steps != 1 {
		t.Errorf("told() = %d steps, want 1", steps)
	}
	if now := time.Now(); w.at(now.UnixNano()).Sub(w.clock.at(now)).Abs() > time.Millisecond {
		t.Error("after a step at() is not right again")
	}
}
