package jinja

import (
	"strconv"
	"strings"
)

// getter gives a function that looks an attribute path ("a.b.0") up; no path gives the item itself.
func (r *run) getter(path Value) (func(r *run, item Value) (Value, error), error) {
	var keys []Value
	switch p := path.(type) {
	case nil:
	case string:
		if err := r.alloc(textBytes * (1 + strings.Count(p, "."))); err != nil {
			return nil, err
		}
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
			err := r.step(1)
			if err == nil {
				item, err = r.item(item, k)
			}
			if err != nil {
				return nil, err
			}
		}
		return item, nil
	}, nil
}

// filterNamed gives a filter that is named by a value, as map does.
func (r *run) filterNamed(name Value) (filter, error) {
	s, ok := name.(string)
	if err := r.match(len(s)); err != nil {
		return nil, err
	}
	f := r.lib.filters[s]
	if !ok || f == nil {
		return nil, fault("TemplateRuntimeError", "No filter named %s.", shown(name))
	}
	return f, nil
}

// testNamed gives a test that is named by a value, as select does.
func (r *run) testNamed(name Value) (test, error) {
	s, ok := name.(string)
	if err := r.match(len(s)); err != nil {
		return nil, err
	}
	t := r.lib.tests[s]
	if !ok || t == nil {
		return nil, fault("TemplateRuntimeError", "No test named %s.", shown(name))
	}
	return t, nil
}

func filterMap(r *run, v Value, a args) (Value, error) {
	var each func(r *run, item Value) (Value, error)
	if len(a.pos) == 0 {
		p, err := a.take("map", 0, "attribute", "default")
		if err != nil || p[0] == (missing{}) {
			return nil, fault("FilterArgumentError", "map requires a filter argument")
		}
		get, err := r.getter(p[0])
		if err != nil {
			return nil, err
		}
		each = func(r *run, item Value) (Value, error) {
			x, err := get(r, item)
			if _, undefined := x.(*Undefined); undefined && or(p[1], nil) != nil {
				return p[1], err
			}
			return x, err
		}
	} else {
		f, err := r.filterNamed(a.pos[0])
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
	if err := r.alloc(2 * slotBytes * len(items)); err != nil { // what a text or number takes behind its place, too
		return nil, err
	}
	out := make([]Value, len(items))
	for i, item := range items {
		if err := r.step(1); err != nil {
			return nil, err
		}
		if out[i], err = each(r, item); err != nil {
			return nil, err
		}
	}
	return &iterator{items: out, name: "generator"}, nil
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
		path := Value(nil)
		if byAttr {
			if len(a.pos) == 0 {
				return nil, fault("FilterArgumentError", "Missing parameter for attribute name")
			}
			path = a.pos[0]
			a.pos = a.pos[1:]
		}
		get, err := r.getter(path)
		if err != nil {
			return nil, err
		}
		var check test
		if len(a.pos) > 0 {
			if check, err = r.testNamed(a.pos[0]); err != nil {
				return nil, err
			}
			a.pos = a.pos[1:]
		}
		items, err := r.iterateOptional(v)
		if err != nil {
			return nil, err
		}
		if err := r.alloc(slotBytes * len(items)); err != nil {
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
		return &iterator{items: out, name: "generator"}, nil
	}
}
