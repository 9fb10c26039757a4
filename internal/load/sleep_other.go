//go:build !linux

package load

import "time"

// alarms sleep with the runtime's timers: timing claims are for Linux.
type alarms struct{}

func newAlarms() *alarms { return &alarms{} }

func (*alarms) sleep(d time.Duration) { time.Sleep(d) }

func (*alarms) close() {}
