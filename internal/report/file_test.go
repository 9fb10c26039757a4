package report

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/servemark/servemark/internal/bench"
)

func TestDefaultFileName(t *testing.T) {
	now := time.Date(2026, 3, 7, 23, 59, 0, 0, time.Local)
	for want, s := range map[string]bench.Spec{
		"sglang-oai_0307_32_256_128.jsonl": {Target: bench.Target{Backend: "sglang-oai"},
			Dataset: bench.DatasetSpec{Name: "random", Rows: 32, InputTokens: 256, OutputTokens: 128}},
		"vllm_0307_10_1_2.jsonl": {Target: bench.Target{Backend: "vllm"},
			Dataset: bench.DatasetSpec{Name: "random-ids", Rows: 10, InputTokens: 1, OutputTokens: 2}},
		"sglang_0307_1000_sharegpt.jsonl": {Target: bench.Target{Backend: "sglang"},
			Dataset: bench.DatasetSpec{Name: "sharegpt", Rows: 1000, InputTokens: 1024, OutputTokens: 1024}},
		"sglang_0307_4_64_16_2imgs_720p.jsonl": {Target: bench.Target{Backend: "sglang"},
			Dataset: bench.DatasetSpec{Name: "image", Rows: 4, InputTokens: 64, OutputTokens: 16, Images: &bench.Images{Count: 2, Resolution: "720p"}}},
		"chat_0307_5_custom.jsonl": {Target: bench.Target{API: bench.APIChat}, Dataset: bench.DatasetSpec{Name: "custom", Rows: 5}},
	} {
		if got := DefaultFileName(&s, now); got != want {
			t.Errorf("DefaultFileName(%+v) = %q, want %q", s.Dataset, got, want)
		}
	}
}

func TestAppendLine(t *testing.T) {
	for _, row := range []struct{ name, before, after string }{
		{"new", "", "{}\n"},
		{"whole", "old\n", "old\n{}\n"},
		{"torn", "old\n{\"ta", "old\n{\"ta\n{}\n"},
	} {
		path := filepath.Join(t.TempDir(), "out.jsonl")
		if row.name != "new" {
			if err := os.WriteFile(path, []byte(row.before), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if err := AppendLine(path, []byte("{}")); err != nil {
			t.Fatalf("%s: %v", row.name, err)
		}
		b, err := os.ReadFile(path)
		if err != nil || string(b) != row.after {
			t.Errorf("%s: the file is %q (%v), want %q", row.name, b, err, row.after)
		}
		if info, _ := os.Stat(path); runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
			t.Errorf("%s: mode %v, want 0600", row.name, info.Mode().Perm())
		}
	}
}

func TestAppendFaults(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "no", "out.jsonl")
	for name, f := range map[string]func() error{
		"AppendLine":  func() error { return AppendLine(missing, nil) },
		"CheckAppend": func() error { return CheckAppend(missing) },
	} {
		if err := f(); err == nil || !strings.Contains(err.Error(), "name another file") || !strings.Contains(err.Error(), "folder does not exist") {
			t.Errorf("%s(missing folder) = %v, want cause and cure", name, err)
		}
	}
	if _, err := os.Stat("/dev/full"); err == nil {
		if err := AppendLine("/dev/full", []byte("{}")); err == nil || !strings.Contains(err.Error(), "full") {
			t.Errorf("AppendLine(/dev/full) = %v, want an error that asks about the disk", err)
		}
	}
}

func TestCheckAppendLeavesNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out.jsonl")
	if err := CheckAppend(path); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("CheckAppend left a file")
	}
	if err := os.WriteFile(path, []byte("x\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := CheckAppend(path); err != nil {
		t.Fatal(err)
	}
	if b, _ := os.ReadFile(path); string(b) != "x\n" {
		t.Errorf("CheckAppend changed the file to %q", b)
	}
}
