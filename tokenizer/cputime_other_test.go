//go:build !unix

package tokenizer

import (
	"testing"
	"time"
)

// cpuTime is the wall time where the processor time is not to be had.
func cpuTime(*testing.B) time.Duration { return time.Duration(time.Now().UnixNano()) }
