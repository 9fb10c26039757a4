package report

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/servemark/servemark/internal/bench"
	"github.com/servemark/servemark/internal/stats"
)

// Spread writes how far several runs of one kind lie apart, and what they say of the goals together.
func Spread(w io.Writer, b *stats.Between, form Form) error {
	if form == FormJSON {
		enc := json.NewEncoder(w)
		enc.SetIndent("", "  ")
		return enc.Encode(b)
	}
	t := &table{w: w}
	if form == "" {
		form = FormText
	}
	if form == FormText {
		t.printf("\n%d runs, each with prompts of its own:\n", b.Runs)
	}
	g := Grid{Head: []string{"", "mean of runs", "95 % interval", "std between runs", "lowest", "highest"}}
	for _, row := range b.Rows {
		unit := unitOf(row.Dimension)
		low, high := row.Values[0], row.Values[0]
		for _, x := range row.Values {
			low, high = min(low, x), max(high, x)
		}
		spread := unmeasured
		if sd, ok := row.Deviation.Get(); ok && row.Mean != 0 {
			spread = fmt.Sprintf("%.2g %%", 100*sd/row.Mean)
		}
		show := func(x float64) string { return Quantity(bench.Measured(x), unit) }
		g.Rows = append(g.Rows, []string{row.Name, show(row.Mean), Quantity(row.Low, unit) + " to " + Quantity(row.High, unit), spread, show(low), show(high)})
	}
	if t.err == nil {
		t.err = g.Write(w, form)
	}
	if form == FormText {
		t.goals(b.Goals)
	}
	return t.err
}

// unitOf is how a dimension is shown.
func unitOf(d stats.Dimension) string {
	switch d {
	case stats.Times:
		return "ms"
	case stats.Tokens:
		return "tok/s"
	case stats.Rates:
		return "req/s"
	case stats.Shares:
		return "%"
	}
	return ""
}
