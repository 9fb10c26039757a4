package jinja

import "strings"

// sortKey gives what a value is ordered by: a text without case unless that matters.
func (r *run) sortKey(v Value, caseSensitive bool) (Value, error) {
	s, ok := v.(string)
	if !ok || caseSensitive {
		return v, nil
	}
	if err := r.remake(s); err != nil {
		return nil, err
	}
	return lower(s), nil
}

// sorted gives the places of values in ascending or descending order; equal ones keep theirs. It merges
// ever longer runs, so that an error, or a limit, ends it at once.
func (r *run) sorted(values []Value, descending bool) ([]int, error) {
	n := len(values)
	if err := r.alloc(slotBytes * n); err != nil {
		return nil, err
	}
	from, to := make([]int, n), make([]int, n)
	for i := range from {
		from[i] = i
	}
	before := func(i, j int) (bool, error) { // whether j, on the right, comes first
		if descending {
			i, j = j, i
		}
		c, err := r.order("<", values[j], values[i])
		return c == less, err
	}
	for width := 1; width < n; width *= 2 {
		for at := 0; at < n; at += 2 * width {
			left, right := from[at:min(at+width, n)], from[min(at+width, n):min(at+2*width, n)]
			for i := at; len(left)+len(right) > 0; i++ {
				first := len(left) == 0
				if !first && len(right) > 0 {
					var err error
					if first, err = before(left[0], right[0]); err != nil {
						return nil, err
					}
				}
				if first {
					to[i], right = right[0], right[1:]
				} else {
					to[i], left = left[0], left[1:]
				}
			}
		}
		from, to = to, from
	}
	return from, nil
}

// sortBy orders items by their keys.
func (r *run) sortBy(items, keys []Value, descending bool) ([]Value, error) {
	order, err := r.sorted(keys, descending)
	if err != nil {
		return nil, err
	}
	if err := r.alloc(slotBytes * len(items)); err != nil {
		return nil, err
	}
	out := make([]Value, len(items))
	for n, i := range order {
		out[n] = items[i]
	}
	return out, nil
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
		if err := r.alloc(textBytes * (1 + strings.Count(s, ","))); err != nil {
			return nil, err
		}
		paths = paths[:0]
		for part := range strings.SplitSeq(s, ",") {
			paths = append(paths, part)
		}
	}
	var gets []func(r *run, item Value) (Value, error)
	for _, path := range paths {
		get, err := r.getter(path)
		if err != nil {
			return nil, err
		}
		gets = append(gets, get)
	}
	keys := make([]Value, 0, min(len(items), maxRange))
	for _, item := range items {
		key, err := r.newList(make([]Value, len(gets)), false)
		if err != nil {
			return nil, err
		}
		for i, get := range gets {
			x, err := get(r, item)
			if err != nil {
				return nil, err
			}
			if key.Items[i], err = r.sortKey(x, truth(or(p[1], false))); err != nil {
				return nil, err
			}
		}
		keys = append(keys, key)
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
	pairs, err := r.pairs(d)
	if err != nil {
		return nil, err
	}
	keys := make([]Value, len(pairs))
	for i, pair := range pairs {
		if keys[i], err = r.sortKey(pair.(*List).Items[pos], truth(or(p[0], false))); err != nil {
			return nil, err
		}
	}
	out, err := r.sortBy(pairs, keys, truth(or(p[2], false)))
	return &List{Items: out}, err
}
