package sim

import (
	"syscall"
	"time"
)

// preciseSleep sleeps in the kernel, past the runtime's timers, which wake up to a millisecond late on an idle process.
func preciseSleep(d time.Duration) {
	ts := syscall.NsecToTimespec(int64(d))
	_ = syscall.Nanosleep(&ts, nil) // cut short by a signal: the caller looks at the clock again
}
