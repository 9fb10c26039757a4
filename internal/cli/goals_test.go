package cli

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/servemark/servemark/internal/bench"
)

func TestParseGoal(t *testing.T) {
	for in, want := range map[string]bench.Goal{
		"output_throughput >= 1000":     {Metric: "output_throughput", Op: bench.AtLeast, Bound: 1000, Unit: "tok/s"},
		"throughput>=1,000 tok/s":       {Metric: "output_throughput", Op: bench.AtLeast, Bound: 1000, Unit: "tok/s"},
		"p99 ttft < 500ms":              {Metric: "ttft", Statistic: "p99", Op: bench.LessThan, Bound: 0.5, Unit: "ms"},
		"TTFT P99 <= 0.5 s":             {Metric: "ttft", Statistic: "p99", Op: bench.AtMost, Bound: 0.5, Unit: "s"},
		"median e2el ≤ 2s":              {Metric: "e2e", Statistic: "p50", Op: bench.AtMost, Bound: 2, Unit: "s"},
		"p99.9 itl < 250 µs":            {Metric: "itl", Statistic: "p99.9", Op: bench.LessThan, Bound: 250e-6, Unit: "us"},
		"error_rate <= 1%":              {Metric: "error_rate", Op: bench.AtMost, Bound: 0.01, Unit: "%"},
		"slo_attainment > 0.95":         {Metric: "slo_attainment", Op: bench.MoreThan, Bound: 0.95, Unit: "%"},
		"mean per_user >= 20":           {Metric: "per_user", Statistic: "mean", Op: bench.AtLeast, Bound: 20, Unit: "tok/s"},
		"request_throughput > 3.5req/s": {Metric: "request_throughput", Op: bench.MoreThan, Bound: 3.5, Unit: "req/s"},
		"max ttft < 1min":               {Metric: "ttft", Statistic: "max", Op: bench.LessThan, Bound: 60, Unit: "s"},
	} {
		got, err := parseGoal(in)
		want.Name = in
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("parseGoal(%q) = %v (-want +got):\n%s", in, err, diff)
		}
	}
	for _, in := range []string{"", "ttft", "p99 ttft 500ms", "ttft < 500ms", "p0 ttft < 1s", "p100 ttft < 1s", "p99 ttft < 500", "p99 ttft == 5ms",
		"p99 ttft < fast", "p99 error_rate < 1%", "p99 p95 ttft < 1s", "error_rate < 1ms", "concurrency > 3tok/s", "p99 ttft < -1ms", "p99 ttft < NaNms", "p99 ttft < 1e999s"} {
		if got, err := parseGoal(in); err == nil {
			t.Errorf("parseGoal(%q) = %+v, want an error", in, got)
		}
	}
}

// FuzzParseGoal: never panics, and what is read is read again from its own name.
func FuzzParseGoal(f *testing.F) {
	for _, s := range []string{"p99 ttft < 500ms", "ttft p99<=1s", "error_rate ≤ 1 %", "<", "p99 ttft <", "output_throughput >= 1_000", "p99. ttft < 1s"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, in string) {
		got, err := parseGoal(in)
		if err != nil {
			return
		}
		again, err := parseGoal(got.Name)
		if err != nil || again != got {
			t.Errorf("parseGoal(%q) = %+v, and of its name %+v, %v", in, got, again, err)
		}
	})
}
