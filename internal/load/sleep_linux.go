package load

import (
	"time"

	"golang.org/x/sys/unix"
)

// kernelSleep sleeps in the kernel's high-resolution timer; an interrupted sleep returns early and the caller looks at
// the clock again.
func kernelSleep(d time.Duration) {
	ts := unix.NsecToTimespec(int64(d))
	_ = unix.Nanosleep(&ts, nil) // EINTR means: early
}
