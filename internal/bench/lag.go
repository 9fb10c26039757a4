package bench

import (
	"math/bits"
	"time"
)

// Lag is how long a token-bearing event lay in the kernel before this client read it, in one byte: exact to 1/8 of its value,
// from 1 µs to hours. Its zero value says that nobody knows: the event has no kernel stamp.
type Lag uint8

// maxLagMicros is the first value that no longer fits; larger lags are stored as the largest one.
const maxLagMicros = 1 << 34

// LagOf returns the Lag of d; a negative d (within the clock's error) counts as 0.
func LagOf(d time.Duration) Lag {
	us := uint64(min(max(d.Microseconds(), 0), maxLagMicros-1))
	octave := max(bits.Len64(us)-4, 0)
	return Lag(min(8*uint64(octave)+us>>octave+1, 255))
}

// Get returns the lag, rounded down to the byte's resolution, and whether it is known.
func (l Lag) Get() (d time.Duration, known bool) {
	if l == 0 {
		return 0, false
	}
	step := int64(l) - 1
	octave := max(step/8-1, 0)
	return time.Duration((step-8*octave)<<octave) * time.Microsecond, true
}
