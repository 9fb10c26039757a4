package report

import (
	"io"
	"strconv"

	"github.com/servemark/servemark/internal/bench"
	"github.com/servemark/servemark/internal/stats"
)

// ToolFigures prints another tool's figures, each with its rule; a rule is told once, under the first figure that it rules.
func ToolFigures(w io.Writer, tool string, figures []stats.ToolFigure) error {
	t := &table{w: w}
	t.printf("As %s defines them, from this run's records:\n\n", stats.ToolTitle(tool))
	told := ""
	for _, f := range figures {
		if f.Rule != "" && f.Rule != told {
			t.printf("%s: %s\n", f.Word, f.Rule)
			told = f.Rule
		}
		value := f.Why
		if x, ok := f.Value.Get(); ok {
			value = figureWord(x) + " " + f.Unit
		}
		t.printf("  %-38s %s\n", f.Name, value)
	}
	return t.err
}

// figureWord writes whole numbers as such and others with two decimals.
func figureWord(x float64) string {
	if x == float64(int64(x)) {
		return strconv.FormatInt(int64(x), 10)
	}
	return decimals(bench.Measured(x), 1)
}
