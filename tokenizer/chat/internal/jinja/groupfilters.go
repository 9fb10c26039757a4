package jinja

import "slices"

// keyGetter gives a function that looks an attribute path up and makes of it what items are compared by.
func (r *run) keyGetter(path Value, caseSensitive bool) (func(item Value) (Value, error), error) {
	get, err := r.getter(path)
	return func(item Value) (Value, error) {
		x, err := get(r, item)
		if err != nil {
			return nil, err
		}
		return r.sortKey(x, caseSensitive)
	}, err
}

func filterUnique(r *run, v Value, a args) (Value, error) {
	p, err := a.take("unique", 0, "case_sensitive", "attribute")
	if err != nil {
		return nil, err
	}
	items, err := r.iterate(v)
	if err != nil {
		return nil, err
	}
	keyOf, err := r.keyGetter(or(p[1], nil), truth(or(p[0], false)))
	if err != nil {
		return nil, err
	}
	seen := map[any]bool{}
	var out []Value
	for _, item := range items {
		key, err := keyOf(item)
		if err != nil {
			return nil, err
		}
		k, err := r.hashKey(key)
		if err != nil {
			return nil, err
		}
		if seen[k] {
			continue
		}
		if err := r.alloc(entryBytes); err != nil {
			return nil, err
		}
		seen[k] = true
		out = append(out, item)
	}
	return &iterator{items: out, name: "generator"}, nil
}

func filterGroupBy(r *run, v Value, a args) (Value, error) {
	p, err := a.take("groupby", 1, "attribute", "default", "case_sensitive")
	if err != nil {
		return nil, err
	}
	items, err := r.iterate(v)
	if err != nil {
		return nil, err
	}
	get, err := r.getter(p[0])
	if err != nil {
		return nil, err
	}
	if err := r.alloc((listBytes + 6*slotBytes) * len(items)); err != nil {
		return nil, err
	}
	triples, keys := make([]Value, len(items)), make([]Value, len(items)) // value, item, key
	for i, item := range items {
		x, err := get(r, item)
		if err != nil {
			return nil, err
		}
		if _, undefined := x.(*Undefined); undefined && or(p[1], nil) != nil {
			x = p[1]
		}
		if keys[i], err = r.sortKey(x, truth(or(p[2], false))); err != nil {
			return nil, err
		}
		triples[i] = &List{Items: []Value{x, item, keys[i]}}
	}
	if triples, err = r.sortBy(triples, keys, false); err != nil {
		return nil, err
	}
	return r.groups(triples)
}

// groups joins neighbours with equal keys.
func (r *run) groups(triples []Value) (Value, error) {
	out := &List{}
	var last Value
	for i, triple := range triples {
		parts := triple.(*List).Items
		if i > 0 {
			eq, err := r.equal(last, parts[2])
			if err != nil {
				return nil, err
			}
			if eq {
				group := out.Items[len(out.Items)-1].(*List).Items[1].(*List)
				group.Items = append(group.Items, parts[1])
				continue
			}
		}
		if err := r.alloc(2*listBytes + 4*slotBytes); err != nil {
			return nil, err
		}
		last = parts[2]
		out.Items = append(out.Items, &List{Items: []Value{parts[0], NewList(parts[1])}, Tuple: true, group: true})
	}
	return out, nil
}

// extreme makes min and max; the first of equal items wins.
func extreme(want ordering) filter {
	return func(r *run, v Value, a args) (Value, error) {
		p, err := a.take("min or max", 0, "case_sensitive", "attribute")
		if err != nil {
			return nil, err
		}
		items, err := r.iterate(v)
		if err != nil {
			return nil, err
		}
		if len(items) == 0 {
			return &Undefined{msg: "No aggregated item, sequence was empty."}, nil
		}
		keyOf, err := r.keyGetter(or(p[1], nil), truth(or(p[0], false)))
		if err != nil {
			return nil, err
		}
		var best, bestKey Value
		for i, item := range items {
			key, err := keyOf(item)
			if err != nil {
				return nil, err
			}
			if i > 0 {
				c, err := r.order(map[ordering]string{less: "<", greater: ">"}[want], key, bestKey)
				if err != nil {
					return nil, err
				}
				if c != want {
					continue
				}
			}
			best, bestKey = item, key
		}
		return best, nil
	}
}

func filterBatch(r *run, v Value, a args) (Value, error) {
	p, err := a.take("batch", 1, "linecount", "fill_with")
	if err != nil {
		return nil, err
	}
	n, err := count("batch", p[0], 0)
	if err != nil {
		return nil, err
	}
	items, err := r.iterate(v)
	if err != nil {
		return nil, err
	}
	if err := r.alloc((listBytes + 2*slotBytes) * len(items)); err != nil {
		return nil, err
	}
	var out []Value
	size := int(max(1, min(n, int64(len(items)))))
	if n > 0 && len(items) == 0 {
		size = 1
	}
	for part := range slices.Chunk(items, size) {
		out = append(out, &List{Items: slices.Clone(part)})
	}
	if fill := or(p[1], nil); fill != nil && len(out) > 0 {
		last := out[len(out)-1].(*List)
		lack := n - int64(len(last.Items))
		if err := r.alloc(times(slotBytes, int(lack))); err != nil {
			return nil, err
		}
		if lack > 0 {
			last.Items = append(last.Items, slices.Repeat([]Value{fill}, int(lack))...)
		}
	}
	return &iterator{items: out, name: "generator"}, nil
}

func filterSlice(r *run, v Value, a args) (Value, error) {
	p, err := a.take("slice", 1, "slices", "fill_with")
	if err != nil {
		return nil, err
	}
	n, err := count("slice", p[0], 0)
	if err != nil {
		return nil, err
	}
	items, err := r.iterate(v)
	if err != nil {
		return nil, err
	}
	if n == 0 {
		return nil, fault("ZeroDivisionError", "integer division or modulo by zero")
	}
	if err := r.alloc(times(listBytes+2*slotBytes, int(n))); err != nil {
		return nil, err
	}
	if err := r.alloc(slotBytes * len(items)); err != nil {
		return nil, err
	}
	var out []Value
	at := 0
	for i := range max(n, 0) {
		size := len(items) / int(n)
		extra := i < int64(len(items))%n
		if extra {
			size++
		}
		part := slices.Clone(items[at : at+size])
		at += size
		if fill := or(p[1], nil); fill != nil && !extra {
			part = append(part, fill)
		}
		out = append(out, &List{Items: part})
	}
	return &iterator{items: out, name: "generator"}, nil
}
