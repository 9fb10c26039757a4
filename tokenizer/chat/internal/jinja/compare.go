package jinja

import "strings"

// compare is a comparison operator, "in" and "notin" among them.
func (r *run) compare(op string, a, b Value) (bool, error) {
	switch op {
	case "==", "!=":
		eq, err := r.equal(a, b)
		return eq == (op == "=="), err
	case "in", "notin":
		in, err := r.contains(b, a)
		return in == (op == "in"), err
	}
	c, err := r.order(op, a, b)
	if err != nil {
		return false, err
	}
	switch op {
	case "<":
		return c == less, nil
	case "<=":
		return c == less || c == same, nil
	case ">":
		return c == greater, nil
	}
	return c == greater || c == same, nil
}

// equal is Python's ==.
func (r *run) equal(a, b Value) (bool, error) {
	if err := r.enter(); err != nil {
		return false, err
	}
	defer r.leave()
	switch x := a.(type) {
	case string:
		y, ok := b.(string)
		if ok && len(x) == len(y) {
			return x == y, r.step(len(x) >> 8)
		}
		return false, nil
	case nil:
		return b == nil, nil
	case *Undefined:
		_, ok := b.(*Undefined)
		return ok, nil
	case *List:
		y, ok := b.(*List)
		if !ok || x.Tuple != y.Tuple || len(x.Items) != len(y.Items) {
			return false, nil
		}
		for i := range x.Items {
			if eq, err := r.equal(x.Items[i], y.Items[i]); !eq || err != nil {
				return false, err
			}
		}
		return true, r.step(len(x.Items))
	case *Dict:
		y, ok := b.(*Dict)
		if !ok || x.Len() != y.Len() {
			return false, nil
		}
		for i, k := range x.keys {
			v, ok := y.Get(k)
			if !ok {
				return false, nil
			}
			if eq, err := r.equal(x.values[i], v); !eq || err != nil {
				return false, err
			}
		}
		return true, r.step(x.Len())
	case *rangeVal:
		y, ok := b.(*rangeVal)
		return ok && *x == *y, nil
	}
	if i, ok := integer(a); ok {
		if j, ok := integer(b); ok {
			return i.Cmp(j) == 0, nil
		}
	}
	if f, ok := number(a); ok {
		g, ok := number(b)
		return ok && f == g, nil
	}
	return a == b, nil
}

type ordering int

const (
	less ordering = iota
	same
	greater
	unordered // nan
)

// order compares two values of one kind; other pairs are a TypeError that names the operator.
func (r *run) order(op string, a, b Value) (ordering, error) {
	if err := r.enter(); err != nil {
		return same, err
	}
	defer r.leave()
	for _, v := range []Value{a, b} {
		if u, ok := v.(*Undefined); ok {
			return same, u.err()
		}
	}
	switch x := a.(type) {
	case string:
		if y, ok := b.(string); ok {
			return ordering(strings.Compare(x, y) + 1), r.step(min(len(x), len(y)) >> 8)
		}
	case *List:
		if y, ok := b.(*List); ok && x.Tuple == y.Tuple {
			return r.orderItems(op, x.Items, y.Items)
		}
	}
	if i, ok := integer(a); ok {
		if j, ok := integer(b); ok {
			return ordering(i.Cmp(j) + 1), nil
		}
	}
	f, okF := number(a)
	g, okG := number(b)
	if okF && okG {
		switch {
		case f < g:
			return less, nil
		case f > g:
			return greater, nil
		case f == g:
			return same, nil
		}
		return unordered, nil
	}
	return same, typeError("'%s' not supported between instances of '%s' and '%s'", op, typeName(a), typeName(b))
}

func (r *run) orderItems(op string, x, y []Value) (ordering, error) {
	for i := range min(len(x), len(y)) {
		eq, err := r.equal(x[i], y[i])
		if err != nil {
			return same, err
		}
		if !eq {
			return r.order(op, x[i], y[i])
		}
	}
	switch {
	case len(x) < len(y):
		return less, nil
	case len(x) > len(y):
		return greater, nil
	}
	return same, r.step(len(x))
}

// contains is Python's "item in v".
func (r *run) contains(v, item Value) (bool, error) {
	switch v := v.(type) {
	case string:
		s, ok := item.(string)
		if !ok {
			return false, typeError("'in <string>' requires string as left operand, not %s", typeName(item))
		}
		return strings.Contains(v, s), r.work(len(v))
	case *Dict:
		if _, err := hashKey(item); err != nil {
			return false, err
		}
		_, ok := v.Get(item)
		return ok, nil
	case *namespace, *macro, *function:
		return false, typeError("argument of type '%s' is not iterable", typeName(v))
	}
	if !isIterable(v) {
		return false, typeError("argument of type '%s' is not iterable", typeName(v))
	}
	items, err := r.iterate(v)
	if err != nil {
		return false, err
	}
	for _, x := range items {
		if eq, err := r.equal(x, item); eq || err != nil {
			return eq, err
		}
	}
	return false, nil
}
