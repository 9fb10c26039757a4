package report

import (
	"io"
	"strings"
	"time"
)

// plotWidth is the longest bar.
const plotWidth = 50

// Plot draws output tokens per second over the time of a run, a bar for each step.
func Plot(w io.Writer, rates []float64, step time.Duration) error {
	t := &table{w: w}
	if len(rates) == 0 {
		t.printf("Output tokens per second: cannot be drawn, as tokens were not seen one by one\n")
		return t.err
	}
	most := 0.0
	for _, x := range rates {
		most = max(most, x)
	}
	t.printf("Output tokens per second, in steps of %s:\n", step)
	for i, x := range rates {
		bar := 0
		if most > 0 {
			bar = int(x/most*plotWidth + 0.5)
		}
		t.printf("%8s |%s %.0f\n", time.Duration(i)*step, strings.Repeat("#", bar), x)
	}
	return t.err
}
