package doctor

import (
	"os"
	"path/filepath"
	"testing"
)

func TestFreeMemory(t *testing.T) {
	const info = "MemTotal: 999 kB\nMemAvailable:   2000 kB\n"
	for _, tt := range []struct {
		name  string
		files map[string]string
		want  float64
		ok    bool
	}{
		{"nothing known", nil, 0, false},
		{"a whole machine", map[string]string{"proc/meminfo": info, "proc/self/cgroup": "0::/\n"}, 2000 << 10, true},
		{"a group without limit", map[string]string{"proc/meminfo": info, "proc/self/cgroup": "0::/a\n", "sys/a/memory.max": "max\n", "sys/a/memory.current": "5\n"}, 2000 << 10, true},
		{"a limit above", map[string]string{"proc/meminfo": info, "proc/self/cgroup": "0::/a/b\n", "sys/a/memory.max": "1000\n", "sys/a/memory.current": "400\n",
			"sys/a/b/memory.max": "900\n", "sys/a/b/memory.current": "100\n"}, 600, true},
		{"version 1", map[string]string{"proc/meminfo": info, "proc/self/cgroup": "4:memory:/a\n0::/\n", "sys/memory/a/memory.limit_in_bytes": "700\n", "sys/memory/a/memory.usage_in_bytes": "50\n"}, 650, true},
		{"pages of files", map[string]string{"proc/meminfo": info, "proc/self/cgroup": "0::/a\n", "sys/a/memory.max": "1000\n", "sys/a/memory.current": "990\n",
			"sys/a/memory.stat": "anon 40\nfile 950\ninactive_file 900\nactive_file 50\n"}, 910, true},
		{"pages of files, version 1", map[string]string{"proc/meminfo": info, "proc/self/cgroup": "4:memory:/a\n", "sys/memory/a/memory.limit_in_bytes": "700\n",
			"sys/memory/a/memory.usage_in_bytes": "690\n", "sys/memory/a/memory.stat": "inactive_file 7\ntotal_inactive_file 600\n"}, 610, true},
		{"a limit that is passed", map[string]string{"proc/self/cgroup": "3:cpu:/x\n0::/a\n", "sys/a/memory.max": "10\n", "sys/a/memory.current": "40\n"}, 0, true},
	} {
		dir := t.TempDir()
		for name, text := range tt.files {
			path := filepath.Join(dir, name)
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if got, ok := freeMemory(filepath.Join(dir, "proc"), filepath.Join(dir, "sys")); got != tt.want || ok != tt.ok {
			t.Errorf("%s: freeMemory = %v, %v, want %v, %v", tt.name, got, ok, tt.want, tt.ok)
		}
	}
	if n, ok := FreeMemory(); ok && n < 1<<20 {
		t.Errorf("FreeMemory() = %v bytes, want what this test runs in at least", n)
	}
}
