package jinja

import (
	"slices"
	"strings"
)

// sortKey gives what a value is ordered by: a text without case unless that matters.
func sortKey(v Value, caseSensitive bool) Value {
	if s, ok := v.(string); ok && !caseSensitive {
		return lower(s)
	}
	return v
}

// sortBy orders items by keys; equal ones keep their order, backwards too.
func (r *run) sortBy(items []Value, keys []Value, reverse bool) ([]Value, error) {
	if err := r.alloc(32 * len(items)); err != nil {
		return nil, err
	}
	order := make([]int, len(items))
	for i := range order {
		order[i] = i
	}
	var fail error
	slices.SortStableFunc(order, func(i, j int) int {
		if fail != nil {
			return 0
		}
		c, err := r.order("<", keys[i], keys[j])
		if err == nil {
			err = r.step(1)
		}
		if err != nil {
			fail = err
			return 0
		}
		if c == unordered {
			return 0
		}
		if reverse {
			return int(same) - int(c)
		}
		return int(c) - int(same)
	})
	out := make([]Value, len(items))
	for n, i := range order {
		out[n] = items[i]
	}
	return out, fail
}

func filterSort(r *run, v Value, a args) (Value, error) {
	p, err := a.take("sort", 0, "reverse", "case_sensitive", "attribute")
	if err != nil {
		return nil, err
	}
	items, err := r.iterate(v)
	if err != nil {
		return nil, err
	}
	paths := []Value{or(p[2], nil)}
	if s, ok := paths[0].(string); ok {
		paths = paths[:0]
		for part := range strings.SplitSeq(s, ",") {
			paths = append(paths, part)
		}
	}
	keys := make([]Value, len(items))
	for i, item := range items {
		key := &List{}
		for _, path := range paths {
			x, err := getter(path)(r, item)
			if err != nil {
				return nil, err
			}
			key.Items = append(key.Items, sortKey(x, truth(or(p[1], false))))
		}
		keys[i] = key
	}
	out, err := r.sortBy(items, keys, truth(or(p[0], false)))
	return &List{Items: out}, err
}

func filterDictSort(r *run, v Value, a args) (Value, error) {
	p, err := a.take("dictsort", 0, "case_sensitive", "by", "reverse")
	if err != nil {
		return nil, err
	}
	pos := 0
	switch or(p[1], "key") {
	case "key":
	case "value":
		pos = 1
	default:
		return nil, fault("FilterArgumentError", `You can only sort by either "key" or "value"`)
	}
	d, ok := v.(*Dict)
	if !ok {
		if u, ok := v.(*Undefined); ok {
			return nil, u.err()
		}
		return nil, fault("AttributeError", "'%s' object has no attribute 'items'", typeName(v))
	}
	pairs := d.pairs()
	keys := make([]Value, len(pairs))
	for i, pair := range pairs {
		keys[i] = sortKey(pair.(*List).Items[pos], truth(or(p[0], false)))
	}
	out, err := r.sortBy(pairs, keys, truth(or(p[2], false)))
	return &List{Items: out}, err
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
	get := getter(or(p[1], nil))
	seen := map[any]bool{}
	var out []Value
	for _, item := range items {
		x, err := get(r, item)
		if err != nil {
			return nil, err
		}
		k, err := hashKey(sortKey(x, truth(or(p[0], false))))
		if err != nil {
			return nil, err
		}
		if !seen[k] {
			seen[k] = true
			out = append(out, item)
		}
	}
	return &iterator{items: out, name: "generator"}, r.alloc(32 * len(items))
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
	get := getter(p[0])
	pairs, keys := make([]Value, len(items)), make([]Value, len(items))
	for i, item := range items {
		x, err := get(r, item)
		if err != nil {
			return nil, err
		}
		if _, undefined := x.(*Undefined); undefined && or(p[1], nil) != nil {
			x = p[1]
		}
		pairs[i], keys[i] = &List{Items: []Value{x, item}}, sortKey(x, truth(or(p[2], false)))
	}
	if pairs, err = r.sortBy(pairs, keys, false); err != nil {
		return nil, err
	}
	out := &List{}
	var last Value
	for i, pair := range pairs {
		x, item := pair.(*List).Items[0], pair.(*List).Items[1]
		key := sortKey(x, truth(or(p[2], false)))
		if i > 0 {
			eq, err := r.equal(last, key)
			if err != nil {
				return nil, err
			}
			if eq {
				group := out.Items[len(out.Items)-1].(*List).Items[1].(*List)
				group.Items = append(group.Items, item)
				continue
			}
		}
		last = key
		out.Items = append(out.Items, &List{Items: []Value{x, NewList(item)}, Tuple: true, group: true})
	}
	return out, r.alloc(64 * len(items))
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
		get := getter(or(p[1], nil))
		var best, bestKey Value
		for i, item := range items {
			x, err := get(r, item)
			if err != nil {
				return nil, err
			}
			key := sortKey(x, truth(or(p[0], false)))
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
