package hub

import (
	"context"
	"errors"
	"os"
	"time"
)

const lockPoll = 50 * time.Millisecond // how often a held lock is tried again

// lock waits for the lock file that the Python tools use for the same blob. exclusive is false where
// the file system has no locks: then nothing is held and the caller must do without. The file stays
// behind on purpose: removing it while another process waits on it would give two holders.
func lock(ctx context.Context, path string) (release func(), exclusive bool, err error) {
	for {
		f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o664)
		if err != nil {
			return nil, false, err
		}
		held, err := tryLock(f)
		if errors.Is(err, errors.ErrUnsupported) {
			_ = f.Close()
			return func() {}, false, nil
		}
		if err != nil {
			_ = f.Close()
			return nil, false, err
		}
		if held && isStillAt(f, path) {
			return func() { _ = f.Close() }, true, nil
		}
		_ = f.Close()
		select {
		case <-time.After(lockPoll):
		case <-ctx.Done():
			return nil, false, ctx.Err()
		}
	}
}

// isStillAt tells whether the locked file is the one that others find: a tool that removes lock files
// may have done so between open and lock.
func isStillAt(f *os.File, path string) bool {
	mine, err := f.Stat()
	if err != nil {
		return false
	}
	theirs, err := os.Stat(path)
	return err == nil && os.SameFile(mine, theirs)
}
