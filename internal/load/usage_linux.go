package load

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// used asks the kernel what this process has used.
func used() usage {
	var r unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &r) != nil {
		return usage{}
	}
	return usage{cpu: time.Duration(r.Utime.Nano() + r.Stime.Nano()), wait: runQueueWait(), peakRSS: int64(r.Maxrss) << 10}
}

// runQueueWait adds up how long the threads of this process were ready without a processor: the second number of each
// thread's schedstat, in nanoseconds. It is 0 where the kernel does not keep it.
func runQueueWait() time.Duration {
	threads, err := filepath.Glob("/proc/self/task/*/schedstat")
	if err != nil {
		return 0
	}
	var sum time.Duration
	for _, name := range threads {
		b, err := os.ReadFile(name)
		if err != nil {
			continue // the thread has ended
		}
		if f := bytes.Fields(b); len(f) > 1 {
			n, _ := strconv.ParseInt(string(f[1]), 10, 64)
			sum += time.Duration(n)
		}
	}
	return sum
}
