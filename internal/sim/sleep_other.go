//go:build !linux

package sim

import "time"

// preciseSleep is the runtime's sleep; timing claims are for Linux.
func preciseSleep(d time.Duration) { time.Sleep(d) }
