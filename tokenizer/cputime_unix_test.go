//go:build unix

package tokenizer

import (
	"syscall"
	"testing"
	"time"
)

// cpuTime is the processor time of this process: a machine that others use too makes wall time useless.
func cpuTime(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
