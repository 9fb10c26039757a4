package bench

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"time"
)

// Instant is a point in time as nanoseconds since the run's clock started, on the monotonic clock. Never marks an
// event that did not happen or has no time; it is not zero, so that a zero Record does not claim to have been sent.
type Instant int64

// Never is the Instant of an event that did not happen.
const Never Instant = math.MinInt64

// At returns the Instant d after the start of the clock.
func At(d time.Duration) Instant { return Instant(d) }

// Known reports whether the event happened.
func (t Instant) Known() bool { return t != Never }

// Sub returns t−u. Both must be known.
func (t Instant) Sub(u Instant) time.Duration { return time.Duration(t - u) }

// Add returns t+d; Never stays Never.
func (t Instant) Add(d time.Duration) Instant {
	if t == Never {
		return Never
	}
	return t + Instant(d)
}

// MarshalJSON writes nanoseconds, or null for Never.
func (t Instant) MarshalJSON() ([]byte, error) {
	if t == Never {
		return []byte("null"), nil
	}
	return strconv.AppendInt(nil, int64(t), 10), nil
}

// UnmarshalJSON reads what MarshalJSON writes.
func (t *Instant) UnmarshalJSON(b []byte) error {
	if string(b) == "null" {
		*t = Never
		return nil
	}
	n, err := strconv.ParseInt(string(b), 10, 64)
	if err != nil {
		return fmt.Errorf("instant %s is not a whole number of nanoseconds", b)
	}
	*t = Instant(n)
	return nil
}

// Count is a number of tokens (or of anything counted) that may be unknown. Its zero value is "unknown", so that
// nothing is counted by accident.
type Count struct{ n1 int } // the count plus one; 0 means unknown

// Unknown is the Count nobody stated.
var Unknown = Count{}

// Counted returns the known count n; n must not be negative.
func Counted(n int) Count {
	if n < 0 {
		return Count{}
	}
	return Count{n + 1}
}

// Get returns the count and whether it is known.
func (c Count) Get() (n int, known bool) { return c.n1 - 1, c.n1 > 0 }

// Known reports whether the count is known.
func (c Count) Known() bool { return c.n1 > 0 }

// Or returns the count, or n where it is unknown.
func (c Count) Or(n int) int {
	if c.n1 > 0 {
		return c.n1 - 1
	}
	return n
}

// Plus adds two counts; the sum is unknown as soon as one part is.
func (c Count) Plus(d Count) Count {
	if !c.Known() || !d.Known() {
		return Unknown
	}
	return Counted(c.n1 - 1 + d.n1 - 1)
}

// IsZero reports whether the count is unknown (for omitzero in JSON).
func (c Count) IsZero() bool { return c.n1 == 0 }

// String returns the number, or "n/a".
func (c Count) String() string {
	if !c.Known() {
		return "n/a"
	}
	return strconv.Itoa(c.n1 - 1)
}

// MarshalJSON writes the number, or null where it is unknown.
func (c Count) MarshalJSON() ([]byte, error) {
	if !c.Known() {
		return []byte("null"), nil
	}
	return strconv.AppendInt(nil, int64(c.n1-1), 10), nil
}

// UnmarshalJSON reads what MarshalJSON writes; a negative number is an error.
func (c *Count) UnmarshalJSON(b []byte) error {
	if string(b) == "null" {
		*c = Unknown
		return nil
	}
	n, err := strconv.Atoi(string(b))
	if err != nil || n < 0 {
		return fmt.Errorf("count %s is not a whole number of at least 0", b)
	}
	*c = Counted(n)
	return nil
}

// Measure is a computed number that may be "not measured". Its zero value is not measured, never 0.
type Measure struct {
	v  float64
	ok bool
}

// Measured returns the measure v; NaN and infinities count as not measured.
func Measured(v float64) Measure {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return Measure{}
	}
	return Measure{v, true}
}

// Get returns the value and whether it was measured.
func (m Measure) Get() (v float64, ok bool) { return m.v, m.ok }

// Known reports whether the value was measured.
func (m Measure) Known() bool { return m.ok }

// IsZero reports whether the value was not measured (for omitzero in JSON).
func (m Measure) IsZero() bool { return !m.ok }

// MarshalJSON writes the value, or null where it was not measured.
func (m Measure) MarshalJSON() ([]byte, error) {
	if !m.ok {
		return []byte("null"), nil
	}
	return json.Marshal(m.v)
}

// UnmarshalJSON reads what MarshalJSON writes.
func (m *Measure) UnmarshalJSON(b []byte) error {
	if string(b) == "null" {
		*m = Measure{}
		return nil
	}
	var v float64
	if err := json.Unmarshal(b, &v); err != nil {
		return err
	}
	*m = Measured(v)
	return nil
}
