package load

import (
	"time"

	"golang.org/x/sys/windows"
)

// used asks the system what this process has used.
func used() usage {
	var created, exited, kernel, user windows.Filetime
	if windows.GetProcessTimes(windows.CurrentProcess(), &created, &exited, &kernel, &user) != nil {
		return usage{}
	}
	return usage{cpu: ticks(kernel) + ticks(user)}
}

// ticks turns a duration in steps of 100 ns into a Duration.
func ticks(f windows.Filetime) time.Duration {
	return time.Duration(uint64(f.HighDateTime)<<32|uint64(f.LowDateTime)) * 100
}
