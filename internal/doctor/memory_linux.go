package doctor

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// FreeMemory is how many bytes this process can still take: what the kernel calls available, or what its control group (a
// container, a job) leaves of its limit where that is less. ok is false where nothing is known.
func FreeMemory() (bytes float64, ok bool) { return freeMemory("/proc", "/sys/fs/cgroup") }

func freeMemory(proc, groups string) (bytes float64, ok bool) {
	info, err := os.ReadFile(filepath.Join(proc, "meminfo"))
	if err == nil {
		bytes, ok = available(string(info))
	}
	own, _ := os.ReadFile(filepath.Join(proc, "self", "cgroup"))
	for line := range strings.Lines(string(own)) { // number:controllers:path, of version 2 without controllers
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(parts) < 3 {
			continue
		}
		left, limited := 0.0, false
		switch parts[1] {
		case "":
			left, limited = leftIn(groups, parts[2], "memory.max", "memory.current")
		case "memory":
			left, limited = leftIn(filepath.Join(groups, "memory"), parts[2], "memory.limit_in_bytes", "memory.usage_in_bytes")
		}
		if limited && (!ok || left < bytes) {
			bytes, ok = left, true
		}
	}
	return bytes, ok
}

// leftIn is the least that a group and those above it leave of their limits.
func leftIn(root, path, limit, usage string) (bytes float64, ok bool) {
	for dir := filepath.Join(root, path); strings.HasPrefix(dir, root); dir = filepath.Dir(dir) {
		most, limited := number(filepath.Join(dir, limit))
		taken, known := number(filepath.Join(dir, usage))
		if left := max(0, most-taken); limited && known && (!ok || left < bytes) {
			bytes, ok = left, true
		}
	}
	return bytes, ok
}

// available reads the line "MemAvailable:   12345 kB".
func available(meminfo string) (bytes float64, ok bool) {
	for line := range strings.Lines(meminfo) {
		if rest, found := strings.CutPrefix(line, "MemAvailable:"); found {
			n, err := strconv.ParseFloat(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(rest), "kB")), 64)
			return 1024 * n, err == nil
		}
	}
	return 0, false
}

// number reads a file that holds one number; "max" is none.
func number(path string) (n float64, ok bool) {
	text, err := os.ReadFile(path)
	if err != nil {
		return 0, false
	}
	n, err = strconv.ParseFloat(strings.TrimSpace(string(text)), 64)
	return n, err == nil
}
