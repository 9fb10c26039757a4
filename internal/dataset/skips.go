package dataset

import (
	"fmt"
	"strings"
)

// skips counts rows that were left out, by reason, and remembers where the first of each lie.
type skips struct {
	reasons []*skip
}

type skip struct {
	reason string
	count  int
	places []string
}

// shown is how many places a note names per reason.
const shown = 5

func (s *skips) add(reason, place string) {
	for _, r := range s.reasons {
		if r.reason == reason {
			r.count++
			if len(r.places) < shown {
				r.places = append(r.places, place)
			}
			return
		}
	}
	s.reasons = append(s.reasons, &skip{reason, 1, []string{place}})
}

// notes says it, one reason a line.
func (s *skips) notes() []string {
	var out []string
	for _, r := range s.reasons {
		where := strings.Join(r.places, ", ")
		if r.count > len(r.places) {
			where += ", …"
		}
		noun := "rows"
		if r.count == 1 {
			noun = "row"
		}
		out = append(out, fmt.Sprintf("skipped %d %s: %s (%s)", r.count, noun, r.reason, where))
	}
	return out
}
