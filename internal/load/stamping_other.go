//go:build !linux

package load

import "time"

// stamping does not exist here.
type stamping struct{}

func newStamping() *stamping               { return nil }
func (*stamping) await(time.Duration) bool { return false }
func (*stamping) close()                   {}

// clockSteps tells nothing here.
func clockSteps() (stepped <-chan struct{}, closeIt func()) { return nil, func() {} }
