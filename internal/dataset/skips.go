package dataset

import (
	"fmt"
	"slices"
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

// forget drops a reason that is none to speak of.
func (s *skips) forget(reason string) {
	s.reasons = slices.DeleteFunc(s.reasons, func(r *skip) bool { return r.reason == reason })
}

// note says it in one line: how many in all, then each reason with the first places; "" where nothing was left out.
func (s *skips) note() string {
	total := 0
	var parts []string
	for _, r := range s.reasons {
		total += r.count
		where := strings.Join(r.places, ", ")
		if r.count > len(r.places) {
			where += ", …"
		}
		parts = append(parts, fmt.Sprintf("%d × %s (%s)", r.count, r.reason, where))
	}
	if total == 0 {
		return ""
	}
	noun := "rows"
	if total == 1 {
		noun = "row"
	}
	return fmt.Sprintf("skipped %d %s: %s", total, noun, strings.Join(parts, "; "))
}
