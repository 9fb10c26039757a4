package jinja

import (
	"math/rand/v2"
	"slices"
)

// addListFilters adds the filters that read or give several values.
func addListFilters(m map[string]filter) {
	m["length"], m["count"] = filterLength, filterLength
	m["list"] = func(r *run, v Value, _ args) (Value, error) {
		items, err := r.iterate(v)
		if err == nil {
			items, err = r.copyItems(items)
		}
		return &List{Items: items}, err
	}
	m["first"], m["last"] = filterFirst, filterLast
	m["random"] = filterRandom
	m["reverse"] = filterReverse
	m["join"] = filterJoin
	m["default"], m["d"] = filterDefault, filterDefault
	m["attr"] = func(r *run, v Value, a args) (Value, error) {
		p, err := a.take("attr", 1, "name")
		if err != nil {
			return nil, err
		}
		if u, ok := v.(*Undefined); ok {
			return nil, u.err()
		}
		name, err := r.str(p[0])
		if err != nil {
			return nil, err
		}
		if x, found, err := r.member(v, name); found || err != nil {
			return x, err
		}
		return &Undefined{msg: noElement(v, name)}, nil
	}
	m["items"] = func(r *run, v Value, _ args) (Value, error) {
		switch v := v.(type) {
		case *Undefined:
			return &iterator{name: "generator"}, nil
		case *Dict:
			pairs, err := r.pairs(v)
			return &iterator{items: pairs, name: "generator"}, err
		}
		return nil, typeError("Can only get item pairs from a mapping.")
	}
	m["map"] = filterMap
	m["select"], m["reject"] = choose(false, true), choose(false, false)
	m["selectattr"], m["rejectattr"] = choose(true, true), choose(true, false)
	m["sort"], m["dictsort"] = filterSort, filterDictSort
	m["unique"], m["groupby"] = filterUnique, filterGroupBy
	m["min"], m["max"] = extreme(less), extreme(greater)
	m["sum"] = filterSum
	m["batch"], m["slice"] = filterBatch, filterSlice
	for _, name := range []string{"items", "map", "select", "reject", "selectattr", "rejectattr", "unique", "batch", "slice"} {
		m[name] = generator(m[name])
	}
}

// generator makes a filter fail as Python's generators do: not when it is applied, but when it is read.
// A limit that was reached fails at the next step all the same.
func generator(f filter) filter {
	return func(r *run, v Value, a args) (Value, error) {
		out, err := f(r, v, a)
		if err != nil {
			return &iterator{name: "generator", err: err}, nil
		}
		return out, nil
	}
}

func filterLength(_ *run, v Value, a args) (Value, error) {
	if _, err := a.take("length", 0); err != nil {
		return nil, err
	}
	n, err := length(v)
	return int64(n), err
}

func filterFirst(r *run, v Value, _ args) (Value, error) {
	if it, ok := v.(*iterator); ok && len(it.items) > 0 {
		x := it.items[0]
		it.items = it.items[1:]
		return x, nil
	}
	if s, ok := v.(string); ok {
		if c, ok := runeAt(s, 0); ok {
			return c, nil
		}
	}
	items, err := r.iterate(v)
	if err != nil {
		return nil, err
	}
	if len(items) == 0 {
		return &Undefined{msg: "No first item, sequence was empty."}, nil
	}
	return items[0], nil
}

func filterLast(r *run, v Value, _ args) (Value, error) {
	items, err := r.reversible(v)
	if err != nil {
		return nil, err
	}
	if len(items) == 0 {
		return &Undefined{msg: "No last item, sequence was empty."}, nil
	}
	return items[len(items)-1], nil
}

// reversible gives the items of what Python's reversed() takes.
func (r *run) reversible(v Value) ([]Value, error) {
	if _, ok := v.(*iterator); ok || !isIterable(v) {
		return nil, typeError("'%s' object is not reversible", typeName(v))
	}
	return r.iterate(v)
}

// filterRandom draws from a fixed seed, so that the same input makes the same prompt.
func filterRandom(r *run, v Value, _ args) (Value, error) {
	items, err := r.iterate(v)
	if err != nil {
		return nil, err
	}
	if len(items) == 0 {
		return &Undefined{msg: "No random item, sequence was empty."}, nil
	}
	r.draws++
	i := rand.New(rand.NewPCG(1, r.draws)).IntN(len(items))
	if d, ok := v.(*Dict); ok { // Python draws a number and takes it for a key
		x, ok, err := r.find(d, int64(i))
		if !ok && err == nil {
			err = fault("KeyError", "%d", i)
		}
		return x, err
	}
	return items[i], nil
}

func filterReverse(r *run, v Value, _ args) (Value, error) {
	items, err := r.iterate(v)
	if err != nil {
		return nil, fault("FilterArgumentError", "argument must be iterable")
	}
	out, err := r.copyItems(items)
	if err != nil {
		return nil, err
	}
	slices.Reverse(out)
	if _, ok := v.(string); ok {
		return strJoin(r, "", args{pos: []Value{&List{Items: out}}})
	}
	if _, ok := v.(*iterator); ok {
		return &List{Items: out}, nil
	}
	return &iterator{items: out, name: "list_reverseiterator"}, nil
}

func filterJoin(r *run, v Value, a args) (Value, error) {
	p, err := a.take("join", 0, "d", "attribute")
	if err != nil {
		return nil, err
	}
	sep, err := r.str(or(p[0], ""))
	if err != nil {
		return nil, err
	}
	items, err := r.iterate(v)
	if err != nil {
		return nil, err
	}
	get, err := r.getter(or(p[1], nil))
	if err != nil {
		return nil, err
	}
	if err := r.alloc(slotBytes * len(items)); err != nil {
		return nil, err
	}
	parts := make([]string, len(items))
	for i, item := range items {
		x, err := get(r, item)
		if err != nil {
			return nil, err
		}
		if parts[i], err = r.str(x); err != nil {
			return nil, err
		}
	}
	return r.joinTexts(parts, sep)
}

func filterDefault(_ *run, v Value, a args) (Value, error) {
	p, err := a.take("default", 0, "default_value", "boolean")
	if err != nil {
		return nil, err
	}
	_, undefined := v.(*Undefined)
	if undefined || truth(or(p[1], false)) && !truth(v) {
		return or(p[0], ""), nil
	}
	return v, nil
}

func filterSum(r *run, v Value, a args) (Value, error) {
	p, err := a.take("sum", 0, "attribute", "start")
	if err != nil {
		return nil, err
	}
	items, err := r.iterate(v)
	if err != nil {
		return nil, err
	}
	get, err := r.getter(or(p[0], nil))
	if err != nil {
		return nil, err
	}
	total := or(p[1], int64(0))
	if _, ok := total.(string); ok {
		return nil, typeError("sum() can't sum strings [use ''.join(seq) instead]")
	}
	for _, item := range items {
		x, err := get(r, item)
		if err != nil {
			return nil, err
		}
		if err := r.step(1); err != nil {
			return nil, err
		}
		if total, err = r.binary("+", total, x); err != nil {
			return nil, err
		}
	}
	return total, nil
}
