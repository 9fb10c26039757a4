package dataset

import (
	"slices"
	"testing"
	"time"

	"github.com/servemark/servemark/internal/bench"
)

// gaps are the think times of a Spec with 200 conversations of six turns.
func gaps(t *testing.T, change func(*bench.DatasetSpec)) []time.Duration {
	t.Helper()
	s := sharedPrefix(func(s *bench.Spec) {
		s.Target.API = bench.APIChat
		*s.Dataset.SharedPrefix = bench.SharedPrefix{Groups: 1, PromptsPerGroup: 200, SystemTokens: 2, QuestionTokens: 2, OutputTokens: 9, RangeRatio: 1, Turns: 6}
		s.Dataset.Rows = 200
		change(&s.Dataset)
	})
	var out []time.Duration
	for _, r := range must(t, s, Inputs{}).Requests {
		if r.After != nil {
			out = append(out, r.After.Gap)
		}
	}
	return out
}

func TestThinkTimes(t *testing.T) {
	mean := func(list []time.Duration) time.Duration {
		sum := time.Duration(0)
		for _, d := range list {
			sum += d
		}
		return sum / time.Duration(len(list))
	}
	for _, tt := range []struct {
		name      string
		change    func(*bench.DatasetSpec)
		low, high time.Duration // of all
		mean      time.Duration // within a tenth, three standard errors and more
	}{
		{"none", func(*bench.DatasetSpec) {}, 0, 0, 0},
		{"fixed", func(d *bench.DatasetSpec) { d.ThinkTime = time.Second }, time.Second, time.Second, time.Second},
		{"exponential", func(d *bench.DatasetSpec) { d.ThinkTime, d.ThinkSpread = time.Second, bench.ThinkExponential }, 0, time.Minute, time.Second},
		{"uniform", func(d *bench.DatasetSpec) {
			d.ThinkTime, d.ThinkSpread, d.ThinkMost = time.Second, bench.ThinkUniform, 3*time.Second
		}, time.Second, 3 * time.Second, 2 * time.Second},
	} {
		got := gaps(t, tt.change)
		if m := mean(got); len(got) != 1000 || slices.Min(got) < tt.low || slices.Max(got) > tt.high || m < tt.mean-tt.mean/10 || m > tt.mean+tt.mean/10 {
			t.Errorf("%s: %d think times from %v to %v, mean %v; want 1000 from %v to %v, mean about %v", tt.name, len(got), slices.Min(got), slices.Max(got), m, tt.low, tt.high, tt.mean)
		}
		if !slices.Equal(got, gaps(t, tt.change)) {
			t.Errorf("%s: the same seed gives other think times", tt.name)
		}
	}
}
