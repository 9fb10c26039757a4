package cli

import (
	"strings"
	"testing"
	"time"

	"github.com/servemark/servemark/internal/bench"
	"github.com/servemark/servemark/internal/report"
)

func TestThinkTimeFlag(t *testing.T) {
	for _, tt := range []struct {
		words  string
		want   bench.DatasetSpec
		fault  string
		spoken string
	}{
		{"2s", bench.DatasetSpec{ThinkTime: 2 * time.Second}, "", "after a pause of 2s"},
		{"0", bench.DatasetSpec{}, "", "at once"},
		{"2s exponential", bench.DatasetSpec{ThinkTime: 2 * time.Second, ThinkSpread: bench.ThinkExponential}, "", "after a pause of 2s on average (exponential)"},
		{"500ms 3", bench.DatasetSpec{ThinkTime: time.Second / 2, ThinkSpread: bench.ThinkUniform, ThinkMost: 3 * time.Second}, "", "after a pause of 500ms to 3s (uniform)"},
		{"0 exponential", bench.DatasetSpec{}, "a mean of 0", ""},
		{"5s 1s", bench.DatasetSpec{}, "is not TIME, TIME exponential, or FROM TO", ""},
		{"-5s", bench.DatasetSpec{}, "is not TIME", ""},
		{"5s poisson", bench.DatasetSpec{}, "is not TIME", ""},
		{"1s 2s 3s", bench.DatasetSpec{}, "is not TIME", ""},
		{"1s --dataset sharegpt", bench.DatasetSpec{}, "has no effect with --dataset sharegpt", ""},
	} {
		a := parse(runTable, strings.Fields("host:1 --dataset agentic-trace --dataset-path x --think-time "+tt.words))
		d := runJob(a, func(string) string { return "" }).spec.Dataset
		if tt.fault != "" {
			if len(a.faults) != 1 || !strings.Contains(a.faults[0].String(), tt.fault) {
				t.Errorf("--think-time %s: faults %v, want one with %q", tt.words, a.faults, tt.fault)
			}
			continue
		}
		if len(a.faults) > 0 || d.ThinkTime != tt.want.ThinkTime || d.ThinkSpread != tt.want.ThinkSpread || d.ThinkMost != tt.want.ThinkMost {
			t.Errorf("--think-time %s = %v %q %v, faults %v; want %v %q %v", tt.words, d.ThinkTime, d.ThinkSpread, d.ThinkMost, a.faults, tt.want.ThinkTime, tt.want.ThinkSpread, tt.want.ThinkMost)
		}
		if got := report.ThinkWords(&d); got != tt.spoken {
			t.Errorf("ThinkWords of %s = %q, want %q", tt.words, got, tt.spoken)
		}
	}
}
