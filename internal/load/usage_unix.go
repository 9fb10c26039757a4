//go:build unix && !linux

package load

import (
	"time"

	"golang.org/x/sys/unix"
)

// used asks the system what this process has used.
func used() usage {
	var r unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &r) != nil {
		return usage{}
	}
	return usage{cpu: time.Duration(r.Utime.Nano() + r.Stime.Nano())}
}
