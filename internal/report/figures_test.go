package report

import (
	"bytes"
	"encoding/csv"
	"strings"
	"testing"

	"github.com/servemark/servemark/internal/bench"
)

func TestFiguresAsTables(t *testing.T) {
	r := &Run{Plan: &bench.Plan{}, Summary: bench.Summary{
		Completed: 9, Failed: 1, OutputRate: bench.Measured(123.456),
		TTFT:    bench.Distribution{N: 9, Mean: 0.2, Quantiles: []bench.Quantile{{P: 50, Value: 0.15, Low: bench.Measured(0.1), High: bench.Measured(0.3)}, {P: 99, Value: 0.4, Low: bench.Measured(0.2)}}},
		Goals:   []bench.GoalResult{{Goal: bench.Goal{Name: "speed", Op: bench.AtLeast, Bound: 200, Unit: "tok/s"}, Value: bench.Measured(123.456)}},
		Verdict: bench.Verdict{Level: bench.Suspect},
	}}
	var out bytes.Buffer
	if err := Figures(&out, r, FormCSV); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(&out).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, row := range rows {
		got[row[0]] = strings.Join(row[1:], "|")
	}
	for name, want := range map[string]string{
		"completed": "9|requests|||", "output throughput": "123.46|tok/s|||", "input throughput": "n/a|tok/s|||",
		"TTFT p50": "150.00|ms|100.00|300.00|9", "TTFT p99": "400.00|ms|200.00||9", "verdict": "SUSPECT||||",
	} {
		if got[name] != want {
			t.Errorf("row %s = %q, want %q", name, got[name], want)
		}
	}
	if _, there := got["TPOT mean"]; there {
		t.Error("a figure that was not measured has a row of numbers")
	}
	out.Reset()
	if err := Figures(&out, r, FormMarkdown); err != nil || !strings.Contains(out.String(), "goal speed") || !strings.Contains(out.String(), "missed") || !strings.HasPrefix(out.String(), "|") {
		t.Errorf("Markdown (%v):\n%s", err, out.String())
	}
}
