package tokenizer

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// class reads a bracket expression, with nested ones and intersections.
func (t *translator) class() (runeSet, error) {
	if t.depth++; t.depth > maxJSONDepth {
		return nil, t.refuse("brackets nested that deep")
	}
	defer func() { t.depth-- }()
	t.pos++
	not := false
	if t.pos < len(t.in) && t.in[t.pos] == '^' {
		not = true
		t.pos++
	}
	var set, left runeSet
	met := false // an && was read; left is what stood before it
	finish := func() runeSet {
		set = set.clean()
		if met {
			set = left.intersect(set)
		}
		if not {
			set = set.negate()
		}
		return set
	}
	for first := true; ; first = false {
		rest := t.in[t.pos:]
		switch {
		case rest == "":
			return nil, fmt.Errorf("an open [")
		case rest[0] == ']' && !first:
			t.pos++
			return finish(), nil
		case strings.HasPrefix(rest, "&&"):
			set = set.clean()
			if met {
				set = left.intersect(set)
			}
			left, set, met = set, nil, true
			t.pos += 2
		case strings.HasPrefix(rest, "[:"):
			s, err := t.posix()
			if err != nil {
				return nil, err
			}
			set = append(set, s...)
		case rest[0] == '[':
			s, err := t.class()
			if err != nil {
				return nil, err
			}
			set = append(set, s...)
		default:
			s, err := t.classRange()
			if err != nil {
				return nil, err
			}
			set = append(set, s...)
		}
	}
}

func (t *translator) posix() (runeSet, error) {
	rest := t.in[t.pos:]
	end := strings.Index(rest, ":]")
	if end < 0 {
		return nil, fmt.Errorf("an open [:")
	}
	name, not := strings.CutPrefix(rest[2:end], "^")
	set, err := posixSet(name)
	set = inBrackets(name, set)
	if err == nil && not {
		set = set.negate()
	}
	t.pos += end + 2
	return set, err
}

// classRange reads one character, escape or range of a class.
func (t *translator) classRange() (runeSet, error) {
	set, single, err := t.classAtom()
	if err != nil || !single {
		return set, err
	}
	rest := t.in[t.pos:]
	if len(rest) < 2 || rest[0] != '-' || rest[1] == ']' || rest[1] == '[' {
		return set, nil
	}
	t.pos++
	to, single, err := t.classAtom()
	if err != nil {
		return nil, err
	}
	if !single || to[0].lo < set[0].lo {
		return nil, fmt.Errorf("a range in a class is out of order")
	}
	return runeSet{{set[0].lo, to[0].lo}}, nil
}

func (t *translator) classAtom() (runeSet, bool, error) {
	if t.in[t.pos] == '\\' {
		if t.pos+1 >= len(t.in) {
			return nil, false, fmt.Errorf("it ends in a backslash")
		}
		if t.in[t.pos+1] == 'b' {
			t.pos += 2
			return runeSet{{'\b', '\b'}}, true, nil
		}
		return t.escaped()
	}
	r, size := utf8.DecodeRuneInString(t.in[t.pos:])
	t.pos += size
	return runeSet{{r, r}}, true, nil
}
