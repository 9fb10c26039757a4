//go:build unix

package hub

import (
	"errors"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// tryLock takes the whole-file lock that Python's filelock takes, without waiting.
func tryLock(f *os.File) (bool, error) {
	err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	switch {
	case err == nil:
		return true, nil
	case errors.Is(err, unix.EWOULDBLOCK), errors.Is(err, unix.EINTR):
		return false, nil
	case errors.Is(err, unix.ENOLCK): // a network file system without a lock service
		return false, errors.ErrUnsupported
	}
	return false, err
}

func isNotDir(err error) bool { return errors.Is(err, syscall.ENOTDIR) }

func isDiskFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}

func isRefused(err error) bool { return errors.Is(err, syscall.ECONNREFUSED) }
