package report

import (
	"fmt"

	"github.com/servemark/servemark/internal/bench"
)

// ThinkWords says how long after an answer's end the turn that follows it is due.
func ThinkWords(d *bench.DatasetSpec) string {
	switch {
	case d.ThinkSpread == bench.ThinkExponential:
		return fmt.Sprintf("after a pause of %s on average (exponential)", d.ThinkTime)
	case d.ThinkSpread == bench.ThinkUniform:
		return fmt.Sprintf("after a pause of %s to %s (uniform)", d.ThinkTime, d.ThinkMost)
	case d.ThinkTime > 0:
		return fmt.Sprintf("after a pause of %s", d.ThinkTime)
	}
	return "at once"
}
