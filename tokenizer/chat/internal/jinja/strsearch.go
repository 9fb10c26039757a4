package jinja

import (
	"strings"
	"unicode/utf8"
)

func strip(left, right bool) strMethod {
	return func(r *run, s string, a args) (Value, error) {
		p, err := a.take("strip", 0, "chars")
		if err != nil {
			return nil, err
		}
		in := isSpace
		if chars := or(p[0], nil); chars != nil {
			set, err := text("strip", chars)
			if err != nil {
				return nil, err
			}
			if in, err = r.runeSet(set); err != nil {
				return nil, err
			}
		}
		if left {
			s = strings.TrimLeftFunc(s, in)
		}
		if right {
			s = strings.TrimRightFunc(s, in)
		}
		return s, nil
	}
}

// runeSet gives the test for a rune to be one of a text's, in a time that does not grow with the text.
func (r *run) runeSet(text string) (func(rune) bool, error) {
	if len(text) <= 16 {
		return func(c rune) bool { return strings.ContainsRune(text, c) }, nil
	}
	if err := r.alloc(times(len(text), slotBytes)); err != nil {
		return nil, err
	}
	set := map[rune]bool{}
	for _, c := range text {
		set[c] = true
	}
	return func(c rune) bool { return set[c] }, nil
}

// window cuts a text to the optional start and end arguments that find, count and startswith take, and
// tells how many runes were cut in front; ok is false where the window lies outside.
func (r *run) window(s string, start, end Value) (w string, front int, ok bool, err error) {
	start, end = or(start, nil), or(end, nil)
	if start == nil && end == nil {
		return s, 0, true, nil
	}
	if err := r.alloc(5 * len(s)); err != nil {
		return "", 0, false, err
	}
	runes := []rune(s)
	from, to, _, err := sliceBounds([3]Value{start, end, nil}, len(runes))
	if err != nil {
		return "", 0, false, err
	}
	if n, isInt := small(start); isInt && n > int64(len(runes)) || from > to {
		return "", 0, false, nil
	}
	return string(runes[from:to]), from, true, nil
}

func affix(name string, has func(s, part string) bool) strMethod {
	return func(r *run, s string, a args) (Value, error) {
		p, err := a.take(name, 1, "prefix", "start", "end")
		if err != nil {
			return nil, err
		}
		w, _, ok, err := r.window(s, p[1], p[2])
		if err != nil {
			return nil, err
		}
		parts := []Value{p[0]}
		if l, isList := p[0].(*List); isList && l.Tuple {
			parts = l.Items
		}
		for _, part := range parts {
			t, isText := part.(string)
			if !isText {
				return nil, typeError("%s first arg must be str or a tuple of str, not %s", name, typeName(part))
			}
			if err := r.match(len(t)); err != nil {
				return nil, err
			}
			if ok && has(w, t) {
				return true, nil
			}
		}
		return false, nil
	}
}

func finder(name string, find func(s, part string) int, must bool) strMethod {
	return func(r *run, s string, a args) (Value, error) {
		p, err := a.take(name, 1, "sub", "start", "end")
		if err != nil {
			return nil, err
		}
		part, err := text(name, p[0])
		if err != nil {
			return nil, err
		}
		w, front, ok, err := r.window(s, p[1], p[2])
		if err != nil {
			return nil, err
		}
		i := -1
		if ok {
			i = find(w, part)
		}
		if i < 0 {
			if must {
				return nil, fault("ValueError", "substring not found")
			}
			return int64(-1), nil
		}
		return int64(front + utf8.RuneCountInString(w[:i])), nil
	}
}

func cutAffix(name string, cut func(s, part string) string) strMethod {
	return func(_ *run, s string, a args) (Value, error) {
		p, err := a.take(name, 1, "part")
		if err != nil {
			return nil, err
		}
		part, err := text(name, p[0])
		return cut(s, part), err
	}
}

func strCount(r *run, s string, a args) (Value, error) {
	p, err := a.take("count", 1, "sub", "start", "end")
	if err != nil {
		return nil, err
	}
	part, err := text("count", p[0])
	if err != nil {
		return nil, err
	}
	w, _, ok, err := r.window(s, p[1], p[2])
	if !ok || err != nil {
		return int64(0), err
	}
	return int64(strings.Count(w, part)), nil
}

func strReplace(r *run, s string, a args) (Value, error) {
	p, err := a.take("replace", 2, "old", "new", "count")
	if err != nil {
		return nil, err
	}
	before, err := text("replace", p[0])
	if err != nil {
		return nil, err
	}
	after, err := text("replace", p[1])
	if err != nil {
		return nil, err
	}
	n, err := count("replace", p[2], -1)
	if err != nil {
		return nil, err
	}
	return r.replace(s, before, after, n)
}

// replace counts its result before it is made.
func (r *run) replace(s, before, after string, n int64) (Value, error) {
	hits := strings.Count(s, before)
	if n >= 0 && n < int64(hits) {
		hits = int(n)
	}
	if err := r.step(hits); err != nil {
		return nil, err
	}
	if size := times(hits, len(after)-len(before)); size > r.longest {
		return nil, r.newText(size)
	} else if err := r.newText(len(s) + size); err != nil {
		return nil, err
	}
	return strings.Replace(s, before, after, hits), nil
}
