package experiment

import (
	"context"
	"fmt"

	"github.com/servemark/servemark/internal/bench"
)

// Outcome is what one trial of a sweep came to.
type Outcome struct {
	Point Point `json:"point"`
	Seed  int64 `json:"seed"`
	// Fingerprint is the plan's.
	Fingerprint string `json:"fingerprint"`
	// Journal is the file of the trial's records, or "".
	Journal string        `json:"journal,omitempty"`
	Summary bench.Summary `json:"summary"`
	// Findings are what the server's own numbers mean, in words.
	Findings []string `json:"findings,omitempty"`
}

// Sweep tries the points in order and returns their outcomes in that order. done holds outcomes of an earlier, broken-off sweep,
// which are not tried again. each is told of every new outcome before the next trial begins. The first trial that fails ends the
// sweep: what was measured before is returned with its error.
func Sweep(ctx context.Context, points []Point, done map[int]Outcome, trial func(context.Context, Point) (Outcome, error), each func(Outcome) error) ([]Outcome, error) {
	var out []Outcome
	for _, p := range points {
		if o, ok := done[p.Index]; ok {
			out = append(out, o)
			continue
		}
		if err := ctx.Err(); err != nil {
			return out, err
		}
		o, err := trial(ctx, p)
		if err != nil {
			return out, fmt.Errorf("%s: %w", p.Name(), err)
		}
		out = append(out, o)
		if err := each(o); err != nil {
			return out, err
		}
	}
	return out, nil
}

// Pareto returns which outcomes no other beats both in output per second in all and in speed per user (median); the two pull
// against each other, and every sensible choice is among these. Outcomes without both numbers are never among them.
func Pareto(outcomes []Outcome) []bool {
	out := make([]bool, len(outcomes))
	for i := range outcomes {
		all, user, ok := speeds(&outcomes[i].Summary)
		out[i] = ok
		for k := range outcomes {
			a, u, known := speeds(&outcomes[k].Summary)
			if ok && known && k != i && a >= all && u >= user && (a > all || u > user) {
				out[i] = false
			}
		}
	}
	return out
}

// Knee returns the outcome with the largest product of output per second in all and speed per user (median), -1 where none has
// both: up to there more load buys more throughput than it costs each user, and beyond it costs more than it buys (Kleinrock's
// power, IEEE ICC 1979: throughput ÷ delay).
func Knee(outcomes []Outcome) int {
	best, most := -1, 0.0
	for i := range outcomes {
		if all, user, ok := speeds(&outcomes[i].Summary); ok && all*user > most {
			best, most = i, all*user
		}
	}
	return best
}

// speeds are output tokens per second in all and for the median user.
func speeds(s *bench.Summary) (all, user float64, ok bool) {
	all, ok = s.OutputRate.Get()
	q, known := s.PerUser.Quantile(50)
	return all, q.Value, ok && known
}
