// Package lateness counts how late a server worked off its instants, at the same cost for any number of events.
package lateness

import (
	"math/bits"
	"time"
)

// Log holds counts in buckets of 1/8 octave of a microsecond. It is guarded by its owner; the zero value is empty.
type Log struct {
	n       uint64
	max     time.Duration
	buckets [256]uint64
}

// Add counts one event that was d late; an early one counts as on time.
func (l *Log) Add(d time.Duration) {
	d = max(d, 0)
	l.n++
	l.max = max(l.max, d)
	l.buckets[bucketOf(uint64(d/time.Microsecond))]++
}

// bucketOf maps microseconds to a bucket: 0..7 exactly, above that 8 buckets an octave.
func bucketOf(us uint64) int {
	if us < 8 {
		return int(us)
	}
	oct := bits.Len64(us) - 4
	return min(8+oct*8+int(us>>oct)-8, 255)
}

// bucketTop is the largest number of microseconds in a bucket.
func bucketTop(i int) uint64 {
	if i < 8 {
		return uint64(i)
	}
	oct, sub := (i-8)/8, uint64((i-8)%8)
	return (8+sub+1)<<oct - 1
}

// Quantile is an upper bound of the q-quantile that is at most 12.5 % too high; 0 when nothing was counted.
func (l *Log) Quantile(q float64) time.Duration {
	if l.n == 0 {
		return 0
	}
	want, seen := uint64(q*float64(l.n-1))+1, uint64(0)
	for i, c := range l.buckets {
		if seen += c; seen >= want {
			return min(time.Duration(bucketTop(i)+1)*time.Microsecond, l.max)
		}
	}
	return l.max
}

// Report is a Log in four numbers.
type Report struct {
	N   uint64        `json:"n"`
	P50 time.Duration `json:"p50_ns"`
	P99 time.Duration `json:"p99_ns"`
	Max time.Duration `json:"max_ns"`
}

// Report sums the log up.
func (l *Log) Report() Report {
	return Report{N: l.n, P50: l.Quantile(0.5), P99: l.Quantile(0.99), Max: l.max}
}
