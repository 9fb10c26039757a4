package lateness

import (
	"testing"
	"time"
)

func TestQuantiles(t *testing.T) {
	var l Log
	for us := 1; us <= 1000; us++ {
		l.Add(time.Duration(us) * time.Microsecond)
	}
	for q, want := range map[float64]time.Duration{0.5: 500 * time.Microsecond, 0.99: 990 * time.Microsecond, 1: time.Millisecond} {
		if got := l.Quantile(q); got < want || got > want*9/8+time.Microsecond {
			t.Errorf("quantile(%v) = %v, want %v to an eighth above", q, got, want)
		}
	}
	for us := range uint64(100000) {
		if i := bucketOf(us); us > bucketTop(i) || i > 0 && us <= bucketTop(i-1) {
			t.Fatalf("bucketOf(%d) = %d, whose range is %d..%d", us, i, bucketTop(max(i-1, 0))+1, bucketTop(i))
		}
	}
}
