//go:build unix

package journal

import (
	"errors"
	"syscall"
)

// full reports whether a write failed for want of space.
func full(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || errors.Is(err, syscall.EFBIG)
}
