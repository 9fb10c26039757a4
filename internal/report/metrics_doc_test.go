package report

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/servemark/servemark/internal/bench"
)

// docs/metrics.md names every key of the JSON line, and no key of six figures that does not exist.
func TestMetricsPageNamesKeys(t *testing.T) {
	b, err := os.ReadFile("../../docs/metrics.md")
	if err != nil {
		t.Fatal(err)
	}
	page := string(b)
	r := full()
	r.Records, r.Figures = []bench.Record{bench.NewRecord(0)}, []bench.Figures{{}}
	line, err := SGLangLine(r)
	if err != nil {
		t.Fatal(err)
	}
	six := regexp.MustCompile(`^(mean|median|std|p90|p95|p99)_(.*_ms)$`)
	have := map[string]bool{}
	for _, k := range keys(t, line) {
		if m := six.FindStringSubmatch(k); m != nil {
			have["*_"+m[2]] = true
		}
		have[k] = true
		if m := six.FindStringSubmatch(k); !strings.Contains(page, "`"+k+"`") && (m == nil || !strings.Contains(page, "`*_"+m[2]+"`")) {
			t.Errorf("docs/metrics.md does not name the key %s", k)
		}
	}
	for _, m := range regexp.MustCompile("`(\\*_[a-z0-9_]+_ms)`").FindAllStringSubmatch(page, -1) {
		if m[1] != "*_x_ms" && !have[m[1]] {
			t.Errorf("docs/metrics.md names %s, which the line does not have", m[1])
		}
	}
}
