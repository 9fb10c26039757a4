package jinja

import (
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
)

// addListFilters adds the filters that read or give several values.
func addListFilters(m map[string]filter) {
	m["length"], m["count"] = filterLength, filterLength
	m["list"] = func(r *run, v Value, _ args) (Value, error) {
		items, err := r.iterate(v)
		if err != nil {
			return nil, err
		}
		return r.newList(slices.Clone(items), false)
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
			return &iterator{items: v.pairs(), name: "generator"}, r.alloc(32 * v.Len())
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
		x, ok := d.Get(int64(i))
		if !ok {
			return nil, fault("KeyError", "%d", i)
		}
		return x, nil
	}
	return items[i], nil
}

func filterReverse(r *run, v Value, _ args) (Value, error) {
	items, err := r.iterate(v)
	if err != nil {
		return nil, fault("FilterArgumentError", "argument must be iterable")
	}
	out := slices.Clone(items)
	slices.Reverse(out)
	if err := r.alloc(16 * len(out)); err != nil {
		return nil, err
	}
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
	get := getter(or(p[1], nil))
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

// getter gives a function that looks an attribute path ("a.b.0") up; no path gives the item itself.
func getter(path Value) func(r *run, item Value) (Value, error) {
	var keys []Value
	switch p := path.(type) {
	case nil:
	case string:
		for part := range strings.SplitSeq(p, ".") {
			if n, err := strconv.ParseInt(part, 10, 64); err == nil && n >= 0 {
				keys = append(keys, n)
			} else {
				keys = append(keys, part)
			}
		}
	default:
		keys = []Value{p}
	}
	return func(r *run, item Value) (Value, error) {
		for _, k := range keys {
			var err error
			if item, err = r.item(item, k); err != nil {
				return nil, err
			}
		}
		return item, nil
	}
}

// call applies a filter by name, as map and select do.
func (r *run) callFilter(name Value) (filter, error) {
	s, ok := name.(string)
	f := r.lib.filters[s]
	if !ok || f == nil {
		return nil, fault("TemplateRuntimeError", "No filter named %s.", atomRepr(name))
	}
	return f, nil
}

func filterMap(r *run, v Value, a args) (Value, error) {
	var each func(r *run, item Value) (Value, error)
	if len(a.pos) == 0 {
		p, err := a.take("map", 0, "attribute", "default")
		if err != nil || p[0] == (missing{}) {
			return nil, fault("FilterArgumentError", "map requires a filter argument")
		}
		get := getter(p[0])
		each = func(r *run, item Value) (Value, error) {
			x, err := get(r, item)
			if _, undefined := x.(*Undefined); undefined && or(p[1], nil) != nil {
				return p[1], err
			}
			return x, err
		}
	} else {
		f, err := r.callFilter(a.pos[0])
		if err != nil {
			return nil, err
		}
		rest := args{pos: a.pos[1:], kwNames: a.kwNames, kw: a.kw}
		each = func(r *run, item Value) (Value, error) {
			if err := r.weigh(item); err != nil {
				return nil, err
			}
			return f(r, item, rest)
		}
	}
	items, err := r.iterateOptional(v)
	if err != nil {
		return nil, err
	}
	out := make([]Value, len(items))
	for i, item := range items {
		if out[i], err = each(r, item); err != nil {
			return nil, err
		}
	}
	return &iterator{items: out, name: "generator"}, r.alloc(16 * len(out))
}

// iterateOptional takes a value that is false, None among them, as empty, as jinja2's map and select do.
func (r *run) iterateOptional(v Value) ([]Value, error) {
	if !truth(v) {
		return nil, nil
	}
	return r.iterate(v)
}

// choose makes select, reject, selectattr and rejectattr.
func choose(byAttr, keep bool) filter {
	return func(r *run, v Value, a args) (Value, error) {
		get := getter(nil)
		if byAttr {
			if len(a.pos) == 0 {
				return nil, fault("FilterArgumentError", "Missing parameter for attribute name")
			}
			get = getter(a.pos[0])
			a.pos = a.pos[1:]
		}
		var check test
		if len(a.pos) > 0 {
			name, _ := a.pos[0].(string)
			if check = r.lib.tests[name]; check == nil {
				return nil, fault("TemplateRuntimeError", "No test named %s.", atomRepr(a.pos[0]))
			}
			a.pos = a.pos[1:]
		}
		items, err := r.iterateOptional(v)
		if err != nil {
			return nil, err
		}
		var out []Value
		for _, item := range items {
			x, err := get(r, item)
			if err == nil {
				err = r.weigh(x)
			}
			if err == nil && check != nil {
				x, err = check(r, x, a)
			}
			if err != nil {
				return nil, err
			}
			if truth(x) == keep {
				out = append(out, item)
			}
		}
		return &iterator{items: out, name: "generator"}, r.alloc(16 * len(out))
	}
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
	get := getter(or(p[0], nil))
	total := or(p[1], int64(0))
	if _, ok := total.(string); ok {
		return nil, typeError("sum() can't sum strings [use ''.join(seq) instead]")
	}
	for _, item := range items {
		x, err := get(r, item)
		if err != nil {
			return nil, err
		}
		if total, err = r.binary("+", total, x); err != nil {
			return nil, err
		}
	}
	return total, nil
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
		if err := r.alloc(int(16 * max(0, min(lack, 1<<40)))); err != nil {
			return nil, err
		}
		for range max(lack, 0) {
			last.Items = append(last.Items, fill)
		}
	}
	return &iterator{items: out, name: "generator"}, r.alloc(16 * len(items))
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
	if err := r.alloc(int(64*max(0, min(n, 1<<40))) + 16*len(items)); err != nil {
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
