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
			left, limited = leftIn(groups, parts[2], memoryFiles{"memory.max", "memory.current", "inactive_file "})
		case "memory":
			left, limited = leftIn(filepath.Join(groups, "memory"), parts[2], memoryFiles{"memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file "})
		}
		if limited && (!ok || left < bytes) {
			bytes, ok = left, true
		}
	}
	return bytes, ok
}

// memoryFiles are the names by which a version of control groups tells of memory. cached is a word of memory.stat: pages of
// files that the kernel gives back when memory is wanted, and that usage counts.
type memoryFiles struct{ limit, usage, cached string }

// leftIn is the least that a group and those above it leave of their limits.
func leftIn(root, path string, name memoryFiles) (bytes float64, ok bool) {
	for dir := filepath.Join(root, path); strings.HasPrefix(dir, root); dir = filepath.Dir(dir) {
		most, limited := number(filepath.Join(dir, name.limit))
		taken, known := number(filepath.Join(dir, name.usage))
		stat, _ := os.ReadFile(filepath.Join(dir, "memory.stat"))
		for line := range strings.Lines(string(stat)) {
			if n, found := strings.CutPrefix(line, name.cached); found {
				cached, _ := strconv.ParseFloat(strings.TrimSpace(n), 64)
				taken = max(0, taken-cached)
			}
		}
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
