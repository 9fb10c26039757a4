//go:build !linux

package load

import "time"

// kernelSleep is the runtime's sleep: timing claims are for Linux.
func kernelSleep(d time.Duration) { time.Sleep(d) }
