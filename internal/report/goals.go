package report

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/servemark/servemark/internal/bench"
)

// goals prints each goal with what was reached, how far that is from the bound, and its 95 % interval.
func (t *table) goals(goals []bench.GoalResult) {
	if len(goals) == 0 {
		return
	}
	t.printf("  Goals:\n")
	for i := range goals {
		t.printf("    %s\n", goalLine(&goals[i]))
	}
}

// goalLine is one goal in words.
func goalLine(g *bench.GoalResult) string {
	word := "met   "
	if !g.Met {
		word = "missed"
	}
	line := fmt.Sprintf("%s  %s: ", word, Escape(g.Goal.Name))
	if !g.Value.Known() {
		return line + fmt.Sprintf("not measured, counts as met (goal: %s)", GoalBound(g.Goal))
	}
	unit := Escape(g.Goal.Unit)
	line += fmt.Sprintf("%s (goal: %s", Quantity(g.Value, unit), GoalBound(g.Goal))
	if m, ok := g.Margin().Get(); ok {
		line += fmt.Sprintf("; %s", margin(m))
	}
	if g.Low.Known() || g.High.Known() {
		line += fmt.Sprintf("; 95 %% interval %s to %s", end(g.Low, unit), end(g.High, unit))
		if !g.Sure() {
			line += ", not beyond doubt"
		}
	}
	return line + ")"
}

func end(m bench.Measure, unit string) string {
	if !m.Known() {
		return "open"
	}
	return Quantity(m, unit)
}

// margin says how far inside or outside a bound a value is.
func margin(m float64) string {
	share, words := 100*math.Abs(m), "% to spare"
	if m < 0 {
		words = "% short"
	}
	if share >= 1000 {
		return fmt.Sprintf("%.0f %s", share, words)
	}
	return fmt.Sprintf("%.3g %s", share, words)
}

// GoalBound writes a goal's comparison and bound: "at least 1000 tok/s".
func GoalBound(g bench.Goal) string {
	words := map[bench.Comparison]string{bench.AtMost: "at most", bench.LessThan: "below", bench.MoreThan: "above"}[g.Op]
	if words == "" {
		words = "at least"
	}
	return strings.TrimSpace(words + " " + strconv.FormatFloat(math.Round(g.Bound*inUnit(g.Unit)*1e9)/1e9, 'f', -1, 64) + " " + Escape(g.Unit))
}

// Quantity writes a measure in a unit: times are kept in seconds and shares from 0 to 1, and shown as the unit says.
func Quantity(m bench.Measure, unit string) string {
	x, ok := m.Get()
	if !ok {
		return unmeasured
	}
	return strings.TrimSpace(digits(x*inUnit(unit)) + " " + unit)
}

// inUnit is how many of the unit a second (or a whole, for a share) has.
func inUnit(unit string) float64 {
	switch unit {
	case "ms":
		return 1e3
	case "us":
		return 1e6
	case "%":
		return 100
	}
	return 1
}

// digits writes a number with four significant digits, never in powers of ten where it can be read otherwise.
func digits(x float64) string {
	a := math.Abs(x)
	switch {
	case a == 0:
		return "0"
	case a >= 1000:
		return strconv.FormatFloat(x, 'f', 0, 64)
	case a < 1e-4:
		return strconv.FormatFloat(x, 'g', 3, 64)
	}
	return strconv.FormatFloat(x, 'f', max(0, 3-int(math.Floor(math.Log10(a)))), 64)
}
