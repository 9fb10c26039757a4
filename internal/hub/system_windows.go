package hub

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// tryLock takes the one-byte lock that Python's filelock takes, without waiting.
func tryLock(f *os.File) (bool, error) {
	err := windows.LockFileEx(windows.Handle(f.Fd()),
		windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, &windows.Overlapped{})
	switch {
	case err == nil:
		return true, nil
	case errors.Is(err, windows.ERROR_LOCK_VIOLATION), errors.Is(err, windows.ERROR_IO_PENDING):
		return false, nil
	}
	return false, err
}

func isNotDir(err error) bool { return errors.Is(err, windows.ERROR_DIRECTORY) }

func isDiskFull(err error) bool {
	return errors.Is(err, windows.ERROR_DISK_FULL) || errors.Is(err, windows.ERROR_HANDLE_DISK_FULL)
}

func isRefused(err error) bool { return errors.Is(err, windows.WSAECONNREFUSED) }
