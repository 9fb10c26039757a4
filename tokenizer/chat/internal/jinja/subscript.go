package jinja

import (
	"strings"
	"unicode/utf8"
)

// item is v[key]: an element, else for a string key an attribute, else undefined.
func (r *run) item(v, key Value) (Value, error) {
	i, isInt := small(key)
	switch v := v.(type) {
	case *Undefined:
		return nil, v.err()
	case *Dict:
		x, ok, err := r.find(v, key)
		if e, isFault := err.(*Error); ok || err != nil && !(isFault && e.Kind == "TypeError") {
			return x, err
		} // what cannot be a key is not there
	case *List:
		if x, ok := at(v.Items, i); ok && isInt {
			return x, nil
		}
	case *rangeVal:
		if i < 0 {
			i += v.n
		}
		if isInt && i >= 0 && i < v.n {
			return v.start + i*v.step, nil
		}
	case string:
		if isInt {
			if err := r.work(len(v)); err != nil {
				return nil, err
			}
			if c, ok := runeAt(v, i); ok {
				return c, nil
			}
		}
	}
	if name, ok := key.(string); ok {
		x, found, err := r.member(v, name)
		if found || err != nil {
			return x, err
		}
	}
	return &Undefined{msg: noElement(v, key)}, nil
}

func at(items []Value, i int64) (Value, bool) {
	if i < 0 {
		i += int64(len(items))
	}
	if i < 0 || i >= int64(len(items)) {
		return nil, false
	}
	return items[i], true
}

// runeAt gives the one-rune text at a place that counts from the end if negative.
func runeAt(s string, i int64) (string, bool) {
	if i < 0 {
		i += int64(utf8.RuneCountInString(s))
	}
	if i < 0 || i >= int64(len(s)) {
		return "", false
	}
	for at := range s {
		if i == 0 {
			_, n := utf8.DecodeRuneInString(s[at:])
			return s[at : at+n], true
		}
		i--
	}
	return "", false
}

// noElement is the message of an undefined member.
func noElement(v, key Value) string {
	owner := typeName(v) + " object"
	if v == nil {
		owner = "None"
	}
	if name, ok := key.(string); ok {
		return pyRepr(owner) + " has no attribute " + quoted(name)
	}
	return owner + " has no element " + shown(key)
}

// attr is v.name: an attribute of the Python type first, then the element of that name.
func (r *run) attr(v Value, name string) (Value, error) {
	if u, ok := v.(*Undefined); ok {
		return nil, u.err()
	}
	x, found, err := r.member(v, name)
	if found || err != nil {
		return x, err
	}
	if d, ok := v.(*Dict); ok {
		if x, ok := d.Get(name); ok {
			return x, nil
		}
	}
	return &Undefined{msg: noElement(v, name)}, nil
}

// slice is v[a:b:c].
func (r *run) slice(v Value, n *sliceNode, s *scope) (Value, error) {
	var bounds [3]Value
	for i, e := range n.bounds {
		if e == nil {
			continue
		}
		var err error
		if bounds[i], err = r.eval(e, s); err != nil {
			return nil, err
		}
	}
	var size int
	var runes []rune
	switch v := v.(type) {
	case *Undefined:
		return nil, v.err()
	case string:
		if err := r.work(len(v)); err != nil {
			return nil, err
		}
		if bounds[2] == nil && isASCII(v) {
			size = len(v)
			break
		}
		if err := r.alloc(4 * len(v)); err != nil {
			return nil, err
		}
		runes = []rune(v)
		size = len(runes)
	case *List:
		size = len(v.Items)
	case *rangeVal:
		items, err := r.iterate(v)
		if err != nil {
			return nil, err
		}
		return r.slice(&List{Items: items}, n, s)
	case *Dict:
		return nil, typeError("unhashable type: 'slice'")
	default:
		return nil, typeError("'%s' object is not subscriptable", typeName(v))
	}
	start, stop, step, err := sliceBounds(bounds, size)
	if err != nil {
		return nil, err
	}
	return r.cut(v, runes, start, stop, step)
}

// sliceBounds resolves the bounds as Python's slice.indices does.
func sliceBounds(bounds [3]Value, size int) (start, stop, step int, err error) {
	num := func(v Value, dflt, lowest, highest int) int {
		if v == nil {
			return dflt
		}
		b, ok := integer(v)
		if !ok {
			err = typeError("slice indices must be integers or None or have an __index__ method")
			return dflt
		}
		i := lowest
		switch {
		case b.IsInt64():
			n := b.Int64()
			if n < 0 {
				n += int64(size)
			}
			i = int(max(int64(lowest), min(int64(highest), n)))
		case b.Sign() > 0:
			i = highest
		}
		return i
	}
	step = 1
	if bounds[2] != nil {
		b, ok := integer(bounds[2])
		if !ok || b.Sign() == 0 {
			return 0, 0, 0, fault("ValueError", "slice step cannot be zero")
		}
		if step = b.Sign() * (size + 1); b.IsInt64() && b.Int64() > -int64(size) && b.Int64() < int64(size) {
			step = int(b.Int64())
		}
	}
	if step > 0 {
		return num(bounds[0], 0, 0, size), num(bounds[1], size, 0, size), step, err
	}
	return num(bounds[0], size-1, -1, size-1), num(bounds[1], -1, -1, size-1), step, err
}

func (r *run) cut(v Value, runes []rune, start, stop, step int) (Value, error) {
	if s, ok := v.(string); ok && runes == nil {
		if start >= stop {
			return "", nil
		}
		return s[start:stop], nil
	}
	n := 0
	switch {
	case step > 0 && start < stop:
		n = (stop-start-1)/step + 1
	case step < 0 && start > stop:
		n = (start-stop-1)/-step + 1
	}
	list, ok := v.(*List)
	if !ok {
		if err := r.alloc(n * utf8.UTFMax); err != nil {
			return nil, err
		}
		var b strings.Builder
		for i := range n {
			b.WriteRune(runes[start+i*step])
		}
		return b.String(), nil
	}
	if err := r.alloc(listBytes + slotBytes*n); err != nil {
		return nil, err
	}
	items := make([]Value, n)
	for i := range items {
		items[i] = list.Items[start+i*step]
	}
	return &List{Items: items, Tuple: list.Tuple}, nil
}
