package report

import (
	"fmt"
	"io"
	"strconv"

	"github.com/servemark/servemark/internal/bench"
)

// Figures writes a run as one table, a row for each figure with its 95 % interval, and a row for each goal: for documents
// (FormMarkdown) and spreadsheets (FormCSV). Times are in milliseconds. Text and JSON have forms of their own.
func Figures(w io.Writer, r *Run, form Form) error {
	switch form {
	case FormText:
		return Text(w, r)
	case FormJSON:
		return JSON(w, r)
	}
	g := Grid{Head: []string{"figure", "value", "unit", "95 % from", "to", "n"}}
	s := &r.Summary
	count := func(name string, n int) {
		g.Rows = append(g.Rows, []string{name, strconv.Itoa(n), "requests", "", "", ""})
	}
	count("completed", s.Completed)
	count("failed", s.Failed)
	count("cancelled", s.Cancelled)
	g.Rows = append(g.Rows, []string{"duration", number(bench.Measured(s.Duration.Seconds())), "s", "", "", ""})
	for _, m := range []struct {
		name, unit string
		value      bench.Measure
	}{{"request throughput", "req/s", s.RequestRate}, {"input throughput", "tok/s", s.InputRate}, {"output throughput", "tok/s", s.OutputRate},
		{"total throughput", "tok/s", s.TotalRate}, {"peak output throughput", "tok/s", s.PeakOutputRate}, {"concurrency", "requests", s.Concurrency}} {
		g.Rows = append(g.Rows, []string{m.name, number(m.value), m.unit, "", "", ""})
	}
	for _, d := range []struct {
		name string
		d    *bench.Distribution
	}{{"TTFT", &s.TTFT}, {"TTFT from due", &s.TTFTFromDue}, {"first answer", &s.FirstAnswer}, {"E2E", &s.E2E}, {"E2E from due", &s.E2EFromDue}, {"TPOT", &s.TPOT},
		{"ITL", &s.ITL}, {"chunk gap", &s.ChunkGap}, {"client queue", &s.ClientQueue}, {"lateness", &s.Lateness}} {
		if d.d.Measured() {
			g.distribution(d.name, d.d)
		}
	}
	for i := range s.Goals {
		goal := &s.Goals[i]
		word := "met"
		if !goal.Met {
			word = "missed"
		}
		g.Rows = append(g.Rows, []string{fmt.Sprintf("goal %s (%s): %s", Escape(goal.Goal.Name), GoalBound(goal.Goal), word), number(goal.Value), Escape(goal.Goal.Unit), number(goal.Low), number(goal.High), ""})
	}
	g.Rows = append(g.Rows, []string{"verdict", string(s.Verdict.Level), "", "", "", ""})
	return g.Write(w, form)
}

// distribution adds the mean and the percentiles of a time in milliseconds.
func (g *Grid) distribution(name string, d *bench.Distribution) {
	n := strconv.Itoa(d.N)
	g.Rows = append(g.Rows, []string{name + " mean", number(millis(d.Mean)), "ms", "", "", n})
	for _, q := range d.Quantiles {
		row := []string{fmt.Sprintf("%s p%v", name, q.P), number(millis(q.Value)), "ms", "", "", n}
		for i, m := range []bench.Measure{q.Low, q.High} {
			if v, ok := m.Get(); ok {
				row[3+i] = number(millis(v))
			}
		}
		g.Rows = append(g.Rows, row)
	}
}

func millis(seconds float64) bench.Measure { return bench.Measured(1000 * seconds) }

// number is a plain number for tables, or n/a.
func number(m bench.Measure) string {
	v, ok := m.Get()
	if !ok {
		return unmeasured
	}
	return strconv.FormatFloat(v, 'f', 2, 64)
}
