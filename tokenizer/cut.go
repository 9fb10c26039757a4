package tokenizer

import "fmt"

// behavior is what becomes of the matches of a pattern at which a text is cut.
type behavior int

const (
	removed behavior = iota
	isolated
	mergedWithPrevious
	mergedWithNext
	contiguous
)

func behaviorNamed(c *component) (behavior, error) {
	for b, name := range []string{"Removed", "Isolated", "MergedWithPrevious", "MergedWithNext", "Contiguous"} {
		if c.Behavior == name {
			return behavior(b), nil
		}
	}
	return 0, fmt.Errorf("%s %s: behavior %q is not known", c.role, c.Type, c.Behavior)
}

// span is a part of a piece: a match of the pattern or what lies between two.
type span struct {
	from, to int
	match    bool
}

// cut turns spans, in order and covering the piece, into pieces.
func (b behavior) cut(dst []piece, p piece, spans []span) []piece {
	switch b {
	case removed:
		for _, s := range spans {
			if !s.match {
				dst = append(dst, p.part(s.from, s.to))
			}
		}
		return dst
	case isolated:
		for _, s := range spans {
			dst = append(dst, p.part(s.from, s.to))
		}
		return dst
	case mergedWithNext:
		return cutMergedWithNext(dst, p, spans)
	}
	before, n := false, len(dst)
	from := 0
	for _, s := range spans {
		join := s.match && !before
		if b == contiguous {
			join = s.match == before
		}
		if !join || len(dst) == n {
			from = s.from
			dst = append(dst, p.part(s.from, s.to))
		} else {
			dst[len(dst)-1] = p.part(from, s.to)
		}
		before = s.match
	}
	return dst
}

func cutMergedWithNext(dst []piece, p piece, spans []span) []piece {
	n := len(dst)
	before, to := false, 0
	for i := len(spans) - 1; i >= 0; i-- {
		s := spans[i]
		if s.match && !before && len(dst) > n {
			dst[len(dst)-1] = p.part(s.from, to)
		} else {
			to = s.to
			dst = append(dst, p.part(s.from, s.to))
		}
		before = s.match
	}
	for i, j := n, len(dst)-1; i < j; i, j = i+1, j-1 {
		dst[i], dst[j] = dst[j], dst[i]
	}
	return dst
}

func (p piece) part(from, to int) piece { return piece{p.s[from:to], max(0, min(p.zero, to)-from)} }

// spansOf covers s with the matches of m and what lies between them.
func spansOf(m matcher, s string, invert bool) ([]span, error) {
	var spans []span
	last := 0
	err := m.matches(s, func(from, to int) {
		if last != from {
			spans = append(spans, span{last, from, invert})
		}
		spans = append(spans, span{from, to, !invert})
		last = to
	})
	if last != len(s) {
		spans = append(spans, span{last, len(s), invert})
	}
	return spans, err
}
