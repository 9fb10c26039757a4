package dataset

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/servemark/servemark/internal/bench"
)

// TestParquet reads what pyarrow wrote (testdata/parquet/make.py): several row groups, nulls, lists, groups, bytes.
func TestParquet(t *testing.T) {
	var out bytes.Buffer
	if err := writeParquet("testdata/parquet/longbench.parquet", &out); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	var row map[string]any
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &row); err != nil || len(lines) != 40 {
		t.Fatalf("%d lines, last %q (%v); want 40 JSON objects", len(lines), lines[len(lines)-1], err)
	}
	if row["n"] != 39.0 || row["difficulty"] != nil || row["context"] != "A lighthouse, number 39, stands on the cape. Grüße, 東京." {
		t.Errorf("last row = %v", row)
	}
	set := must(t, spec("longbench_v2", func(s *bench.Spec) { s.Dataset.Path, s.Dataset.Rows = "testdata/parquet/longbench.parquet", 40 }), Inputs{})
	if len(set.Requests) != 40 || !strings.Contains(set.Requests[0].Prompt.Text, "B. a lighthouse\n") || !strings.Contains(set.Source, "longbench.parquet") {
		t.Errorf("longbench_v2 from Parquet: %d requests of %q, the first %q", len(set.Requests), set.Source, set.Requests[0].Prompt.Text)
	}
	pictures := must(t, spec("mmmu", func(s *bench.Spec) {
		s.Target.API, s.Dataset.Path, s.Dataset.Rows, s.Dataset.OutputTokens = bench.APIChat, "testdata/parquet/mmmu.parquet", 3, 8
	}), Inputs{})
	if len(pictures.Requests) != 3 || !bytes.Contains(pictures.Requests[0].Prompt.Messages, []byte("data:image/png;base64,")) {
		t.Errorf("mmmu from Parquet: %d requests, the first %.200s", len(pictures.Requests), pictures.Requests[0].Prompt.Messages)
	}
}

func TestDamagedParquetIsAnError(t *testing.T) {
	whole, err := os.ReadFile("testdata/parquet/longbench.parquet")
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{"empty": nil, "cut": whole[:len(whole)/2], "no Parquet": []byte("PK\x03\x04 something else, long enough to hold a footer"),
		"garbled": append(append([]byte{}, whole[:200]...), bytes.Repeat([]byte{0xff}, len(whole)-200)...)} {
		path := filepath.Join(t.TempDir(), "f.parquet")
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := build(spec("longbench_v2", func(s *bench.Spec) { s.Dataset.Path = path }), Inputs{}); err == nil || !strings.Contains(err.Error(), "f.parquet") {
			t.Errorf("%s: error %v, want one that names the file", name, err)
		}
	}
}
