//go:build unix

package doctor

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// ownFiles is what the program itself keeps open besides its connections: standard streams, journal, poller, resolver.
const ownFiles = 32

// OpenFiles makes room for that many connections at once by raising the soft limit of open files, and returns an error
// that names the limit and the need where the hard limit forbids it.
func OpenFiles(connections int) error {
	need := uint64(connections + ownFiles)
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		return fmt.Errorf("the limit of open files cannot be read: %w", err)
	}
	if uint64(limit.Cur) >= need {
		return nil
	}
	if uint64(limit.Max) < need {
		return fmt.Errorf("%d connections at once need %d open files and the limit of this shell is %d: raise it with `ulimit -n %d`, or lower the concurrency to %d",
			connections, need, limit.Max, need, max(1, int(limit.Max)-ownFiles))
	}
	limit.Cur = max(limit.Cur, min(limit.Max, 65535))
	for uint64(limit.Cur) < need {
		limit.Cur = limit.Max
	}
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		return fmt.Errorf("the limit of open files cannot be raised to %d: %w", limit.Cur, err)
	}
	return nil
}
