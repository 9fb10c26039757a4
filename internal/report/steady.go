package report

import (
	"fmt"

	"github.com/servemark/servemark/internal/bench"
)

// steadyState prints the numbers of the run without its ramp-up and drain beside those of the whole run.
func (t *table) steadyState(s *bench.Summary) {
	w := s.SteadyState
	if w == nil {
		return
	}
	t.title("Steady State", "-")
	t.row("Method:", w.Method)
	if !w.Reached {
		t.row("Settled:", "no, still changing in the second half of the run")
		t.printf("A longer run is needed: whether these numbers would stay so is not known.\n")
		return
	}
	t.row("Window:", fmt.Sprintf("%.2f s to %.2f s, %s sent (%d before it)", seconds(w.From), seconds(w.To), bench.Number(w.Requests, "request"), w.CutBefore))
	for _, row := range []struct {
		label         string
		window, whole bench.Measure
		unit          string
	}{
		{"  Requests per second, window / run:", w.RequestRate, s.RequestRate, "req/s"},
		{"  Output per second, window / run:", w.OutputRate, s.OutputRate, "tok/s"},
		{"  First token, median, window / run:", percentile(&w.TTFT, 50), percentile(&s.TTFT, 50), "ms"},
		{"  First token, p99, window / run:", percentile(&w.TTFT, 99), percentile(&s.TTFT, 99), "ms"},
		{"  Whole answer, median, window / run:", percentile(&w.E2E, 50), percentile(&s.E2E, 50), "ms"},
		{"  Whole answer, p99, window / run:", percentile(&w.E2E, 99), percentile(&s.E2E, 99), "ms"},
		{"  Time per token, median, window / run:", percentile(&w.TPOT, 50), percentile(&s.TPOT, 50), "ms"},
	} {
		t.row(row.label, fmt.Sprintf("%s / %s", Quantity(row.window, row.unit), Quantity(row.whole, row.unit)))
	}
	if e := s.E2E.Effective; e > 0 {
		t.row("Requests worth (effective n of E2E):", fmt.Sprintf("%.0f of %d", e, s.E2E.N))
	}
}

func seconds(at bench.Instant) float64 { return at.Sub(0).Seconds() }
