package jinja

import (
	"slices"
	"strings"
)

// library holds what names mean to every template. It is built once per template and only read.
type library struct {
	filters map[string]filter
	tests   map[string]test
	strings map[string]strMethod
	globals map[string]Value
}

type (
	filter    func(r *run, v Value, a args) (Value, error)
	test      func(r *run, v Value, a args) (Value, error)
	strMethod func(r *run, s string, a args) (Value, error)
)

func newLibrary() *library {
	l := &library{filters: map[string]filter{}, tests: tests(), strings: strMethods(), globals: globals()}
	addTextFilters(l.filters)
	addListFilters(l.filters)
	return l
}

// method makes a bound method.
func method(name string, call func(r *run, a args) (Value, error)) Value {
	return &function{name, call}
}

// member gives an attribute of a value's Python type, as far as the sandbox lets a template have it.
// found is false where the type has no such attribute.
func (r *run) member(v Value, name string) (x Value, found bool, err error) {
	if strings.HasPrefix(name, "__") && strings.HasSuffix(name, "__") && len(name) > 4 {
		return unsafe(v, name), true, nil
	}
	if err := r.match(len(name)); err != nil {
		return nil, false, err
	}
	switch v := v.(type) {
	case string:
		m, ok := r.lib.strings[name]
		if ok {
			return method(name, func(r *run, a args) (Value, error) {
				if err := r.work(len(v)); err != nil {
					return nil, err
				}
				return m(r, v, a)
			}), true, nil
		}
		if slices.Contains([]string{"encode", "translate", "maketrans", "format_map"}, name) {
			return nil, true, unsupported("str." + name)
		}
	case *List:
		x, found = listMember(v, name)
	case *Dict:
		x, found = dictMember(v, name)
	case *namespace:
		x, found = v.attrs.Get(name)
	case *loopVar:
		x, found = v.member(name)
	case *macro:
		if err := r.alloc(2 * slotBytes * len(v.params)); err != nil {
			return nil, false, err
		}
		x, found = v.member(name)
	case *cycler:
		x, found = v.member(name)
	case *rangeVal:
		x, found = map[string]Value{"start": v.start, "stop": v.start + v.n*v.step, "step": v.step}[name]
	case *joiner:
		x, found = map[string]Value{"sep": v.sep, "used": v.used}[name]
	case float64:
		if name == "is_integer" {
			return method(name, func(*run, args) (Value, error) { return v == float64(int64(v)), nil }), true, nil
		}
	}
	return x, found, nil
}

func unsafe(v Value, name string) Value {
	return &Undefined{msg: "access to attribute " + quoted(name) + " of " + pyRepr(typeName(v)) + " object is unsafe.", security: true}
}

func listMember(l *List, name string) (Value, bool) {
	switch name {
	case "count":
		return method(name, func(r *run, a args) (Value, error) {
			p, err := a.take(name, 1, "value")
			if err != nil {
				return nil, err
			}
			n := int64(0)
			for _, item := range l.Items {
				eq, err := r.equal(item, p[0])
				if err != nil {
					return nil, err
				}
				n += boolInt(eq)
			}
			return n, nil
		}), true
	case "index":
		return method(name, func(r *run, a args) (Value, error) {
			p, err := a.take(name, 1, "value")
			if err != nil {
				return nil, err
			}
			for i, item := range l.Items {
				if eq, err := r.equal(item, p[0]); eq || err != nil {
					return int64(i), err
				}
			}
			return nil, fault("ValueError", "%s is not in list", shown(p[0]))
		}), true
	}
	if l.group && name == "grouper" {
		return l.Items[0], true
	}
	if l.group && name == "list" {
		return l.Items[1], true
	}
	if l.Tuple {
		return nil, false
	}
	switch name {
	case "copy":
		return method(name, func(r *run, _ args) (Value, error) {
			items, err := r.copyItems(l.Items)
			return &List{Items: items}, err
		}), true
	case "append", "clear", "pop", "reverse", "insert", "sort", "extend", "remove":
		return unsafe(l, name), true
	}
	return nil, false
}

func dictMember(d *Dict, name string) (Value, bool) {
	give := func(kind string, items func(r *run) ([]Value, error)) (Value, bool) {
		return method(name, func(r *run, a args) (Value, error) {
			if _, err := a.take(name, 0); err != nil {
				return nil, err
			}
			list, err := items(r)
			return &view{list, kind}, err
		}), true
	}
	switch name {
	case "get":
		return method(name, func(r *run, a args) (Value, error) {
			p, err := a.take(name, 1, "key", "default")
			if err != nil {
				return nil, err
			}
			v, ok, err := r.find(d, p[0])
			if !ok {
				v = or(p[1], nil)
			}
			return v, err
		}), true
	case "items":
		return give("dict_items", func(r *run) ([]Value, error) { return r.pairs(d) })
	case "keys":
		return give("dict_keys", func(*run) ([]Value, error) { return d.keys, nil })
	case "values":
		return give("dict_values", func(*run) ([]Value, error) { return d.values, nil })
	case "copy":
		return method(name, func(r *run, _ args) (Value, error) { return r.copyDict(d) }), true
	case "clear", "pop", "popitem", "setdefault", "update":
		return unsafe(d, name), true
	}
	return nil, false
}

// or gives an argument, or what stands for it where it was not given.
func or(v, dflt Value) Value {
	if v == (missing{}) {
		return dflt
	}
	return v
}

func (c *cycler) member(name string) (Value, bool) {
	switch name {
	case "current":
		return c.items[c.pos], true
	case "next":
		return method(name, func(*run, args) (Value, error) {
			v := c.items[c.pos]
			c.pos = (c.pos + 1) % len(c.items)
			return v, nil
		}), true
	case "reset":
		return method(name, func(*run, args) (Value, error) {
			c.pos = 0
			return nil, nil
		}), true
	}
	return nil, false
}
