package dataset

import (
	"os"
	"strings"
	"testing"

	"github.com/servemark/servemark/internal/bench"
)

// TestEveryDataSetIsDocumented: docs/datasets.md has a row for each, under its dialect's command, and none for another.
func TestEveryDataSetIsDocumented(t *testing.T) {
	page, err := os.ReadFile("../../docs/datasets.md")
	if err != nil {
		t.Fatal(err)
	}
	sections := strings.Split(string(page), "\n## ")
	for heading, d := range map[string]bench.Dialect{"`servemark bench_serving`": bench.DialectSGLang, "`servemark bench serve`": bench.DialectVLLM} {
		var rows []string
		for _, s := range sections {
			if !strings.HasPrefix(s, heading) {
				continue
			}
			for _, line := range strings.Split(s, "\n") {
				if name, ok := strings.CutPrefix(line, "| `"); ok {
					name, _, _ = strings.Cut(name, "`")
					rows = append(rows, name)
				}
			}
		}
		names := map[string]bool{}
		for _, name := range Names(d) {
			names[name] = true
		}
		for _, name := range rows {
			if !names[name] {
				t.Errorf("under %s there is a row %q, which is no data set of its, or there are two", heading, name)
			}
			delete(names, name)
		}
		for name := range names {
			t.Errorf("under %s there is no row for %q", heading, name)
		}
	}
}
