package jinja

import (
	"cmp"
	"math/big"
	"strings"
)

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

// equal is Python's ==. A value with parts equals itself whatever they are.
func (r *run) equal(a, b Value) (bool, error) {
	if err := r.step(1); err != nil {
		return false, err
	}
	switch x := a.(type) {
	case string:
		y, ok := b.(string)
		if !ok || len(x) != len(y) {
			return false, nil
		}
		err := r.match(len(x))
		return err == nil && x == y, err
	case nil:
		return b == nil, nil
	case *Undefined:
		_, ok := b.(*Undefined)
		return ok, nil
	case *List:
		y, ok := b.(*List)
		if !ok || x == y || x.Tuple != y.Tuple || len(x.Items) != len(y.Items) {
			return x == y, nil
		}
		return r.equalItems(x.Items, y.Items)
	case *Dict:
		y, ok := b.(*Dict)
		if !ok || x == y || x.Len() != y.Len() {
			return x == y, nil
		}
		return r.equalDicts(x, y)
	case *rangeVal:
		y, ok := b.(*rangeVal)
		return ok && x.key() == y.key(), nil
	}
	if c, ok := orderNumbers(a, b); ok {
		return c == same, nil
	}
	return a == b, nil
}

func (r *run) equalItems(x, y []Value) (bool, error) {
	if err := r.enter(); err != nil {
		return false, err
	}
	defer r.leave()
	for i := range x {
		if eq, err := r.equal(x[i], y[i]); !eq || err != nil {
			return false, err
		}
	}
	return true, nil
}

func (r *run) equalDicts(x, y *Dict) (bool, error) {
	if err := r.enter(); err != nil {
		return false, err
	}
	defer r.leave()
	for i, k := range x.keys {
		v, ok, err := r.find(y, k)
		if !ok || err != nil {
			return false, err
		}
		if eq, err := r.equal(x.values[i], v); !eq || err != nil {
			return false, err
		}
	}
	return true, nil
}

type ordering int

const (
	less ordering = iota
	same
	greater
	unordered // nan
)

// orderNumbers compares two numbers exactly, integers with floats too; ok is false for anything else.
func orderNumbers(a, b Value) (c ordering, ok bool) {
	if x, ok := small(a); ok {
		if y, ok := small(b); ok {
			return ordering(cmp.Compare(x, y) + 1), true
		}
	}
	i, isIntA := integer(a)
	j, isIntB := integer(b)
	f, isFloatA := a.(float64)
	g, isFloatB := b.(float64)
	switch {
	case isIntA && isIntB:
		return ordering(i.Cmp(j) + 1), true
	case !isIntA && !isFloatA || !isIntB && !isFloatB:
		return same, false
	case f != f || g != g:
		return unordered, true
	case isIntA:
		return ordering(new(big.Float).SetInt(i).Cmp(big.NewFloat(g)) + 1), true
	case isIntB:
		return ordering(big.NewFloat(f).Cmp(new(big.Float).SetInt(j)) + 1), true
	}
	return ordering(cmp.Compare(f, g) + 1), true
}

// order compares two values of one kind; other pairs are a TypeError that names the operator.
func (r *run) order(op string, a, b Value) (ordering, error) {
	if err := r.step(1); err != nil {
		return same, err
	}
	for _, v := range []Value{a, b} {
		if u, ok := v.(*Undefined); ok {
			return same, u.err()
		}
	}
	switch x := a.(type) {
	case string:
		if y, ok := b.(string); ok {
			err := r.match(min(len(x), len(y)))
			return ordering(strings.Compare(x, y) + 1), err
		}
	case *List:
		if y, ok := b.(*List); ok && x.Tuple == y.Tuple {
			if x == y {
				return same, nil
			}
			return r.orderItems(op, x.Items, y.Items)
		}
	}
	if c, ok := orderNumbers(a, b); ok {
		return c, nil
	}
	return same, typeError("'%s' not supported between instances of '%s' and '%s'", op, typeName(a), typeName(b))
}

func (r *run) orderItems(op string, x, y []Value) (ordering, error) {
	if err := r.enter(); err != nil {
		return same, err
	}
	defer r.leave()
	for i := range min(len(x), len(y)) {
		eq, err := r.equal(x[i], y[i])
		if err != nil {
			return same, err
		}
		if !eq {
			return r.order(op, x[i], y[i])
		}
	}
	return ordering(cmp.Compare(len(x), len(y)) + 1), nil
}

// contains is Python's "item in v".
func (r *run) contains(v, item Value) (bool, error) {
	switch v := v.(type) {
	case string:
		s, ok := item.(string)
		if !ok {
			return false, typeError("'in <string>' requires string as left operand, not %s", typeName(item))
		}
		err := r.work(len(v))
		return err == nil && strings.Contains(v, s), err
	case *Dict:
		_, ok, err := r.find(v, item)
		return ok, err
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
