package jinja

import (
	"math/big"
	"slices"
	"unicode/utf8"
)

// Value is a value of the template language. Its Go types are nil (None), bool, int64, *big.Int (only
// beyond int64), float64, string, and pointers to the types below.
type Value any

// List is a Python list or tuple.
type List struct {
	Items []Value
	Tuple bool
	group bool // a tuple of groupby, whose parts are also .grouper and .list
}

// Undefined stands for what is not there. It prints as nothing and counts as false; to use it fails.
type Undefined struct {
	msg      string
	security bool
}

func (u *Undefined) err() error {
	if u.security {
		return &Error{Kind: "SecurityError", Msg: u.msg}
	}
	return &Error{Kind: "UndefinedError", Msg: u.msg}
}

// rangeVal is a Python range, never longer than maxRange.
type rangeVal struct{ start, step, n int64 }

// iterator is a Python iterator or generator: always true, without length, used up by reading.
type iterator struct {
	items []Value
	name  string // its Python type
	err   error  // what reading it fails with
}

// view is what dict.keys(), values() and items() give.
type view struct {
	items []Value
	name  string
}

// namespace is what namespace() makes: the only value whose attributes a template can set.
type namespace struct {
	attrs *Dict
	shown bool // its repr is being written
}

// function is a callable of the engine or of Python's types.
type function struct {
	name string
	call func(r *run, a args) (Value, error)
}

// cycler and joiner are jinja2's helpers of these names.
type cycler struct {
	items []Value
	pos   int
}

type joiner struct {
	sep  string
	used bool
}

// args are the arguments of one call.
type args struct {
	pos     []Value
	kwNames []string
	kw      []Value
}

// missing marks an argument that was not given.
type missing struct{}

// take sorts arguments into the given parameters, the first `required` of which must be there; the
// others are missing{} where absent.
func (a args) take(fn string, required int, names ...string) ([]Value, error) {
	if len(a.pos) > len(names) {
		return nil, typeError("%s() takes at most %d arguments (%d given)", fn, len(names), len(a.pos))
	}
	out := make([]Value, len(names))
	for i := range out {
		out[i] = missing{}
	}
	copy(out, a.pos)
next:
	for i, kw := range a.kwNames {
		for j, n := range names {
			if n != kw {
				continue
			}
			if out[j] != (missing{}) {
				return nil, typeError("%s() got multiple values for argument '%s'", fn, kw)
			}
			out[j] = a.kw[i]
			continue next
		}
		return nil, typeError("%s() got an unexpected keyword argument '%s'", fn, kw)
	}
	for i := range required {
		if out[i] == (missing{}) {
			return nil, typeError("%s() missing required argument '%s'", fn, names[i])
		}
	}
	return out, nil
}

// NewList makes a list of the given items.
func NewList(items ...Value) *List { return &List{Items: items} }

func boolInt(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// truth is Python's bool().
func truth(v Value) bool {
	switch v := v.(type) {
	case nil, *Undefined:
		return false
	case bool:
		return v
	case int64:
		return v != 0
	case float64:
		return v != 0
	case string:
		return v != ""
	case *List:
		return len(v.Items) > 0
	case *Dict:
		return len(v.keys) > 0
	case *view:
		return len(v.items) > 0
	case *rangeVal:
		return v.n > 0
	}
	return true
}

// typeName is the name of the value's Python type, as messages show it.
func typeName(v Value) string {
	switch v := v.(type) {
	case nil:
		return "NoneType"
	case bool:
		return "bool"
	case int64, *big.Int:
		return "int"
	case float64:
		return "float"
	case string:
		return "str"
	case *List:
		if v.Tuple {
			return "tuple"
		}
		return "list"
	case *Dict:
		return "dict"
	case *Undefined:
		return "Undefined"
	case *rangeVal:
		return "range"
	case *iterator:
		return v.name
	case *view:
		return v.name
	case *namespace:
		return "Namespace"
	case *macro:
		return "Macro"
	case *loopVar:
		return "LoopContext"
	case *cycler:
		return "Cycler"
	case *joiner:
		return "Joiner"
	}
	return "builtin_function_or_method"
}

// length is Python's len().
func length(v Value) (int, error) {
	switch v := v.(type) {
	case string:
		return utf8.RuneCountInString(v), nil
	case *List:
		return len(v.Items), nil
	case *Dict:
		return len(v.keys), nil
	case *view:
		return len(v.items), nil
	case *rangeVal:
		return int(v.n), nil
	case *Undefined:
		return 0, nil
	case *loopVar:
		return len(v.items), nil
	}
	return 0, typeError("object of type '%s' has no len()", typeName(v))
}

// iterate is Python's iter() read to its end.
func (r *run) iterate(v Value) ([]Value, error) {
	var items []Value
	switch v := v.(type) {
	case *List:
		items = v.Items
	case *Dict:
		items = v.keys
	case *view:
		items = v.items
	case *iterator:
		if v.err != nil {
			return nil, v.err
		}
		items = v.items
		v.items = nil
	case *Undefined:
	case *rangeVal:
		if err := r.alloc(times(int(v.n), slotBytes+8)); err != nil {
			return nil, err
		}
		items = make([]Value, v.n)
		for i := range items {
			items[i] = v.start + int64(i)*v.step
		}
	case string:
		n := utf8.RuneCountInString(v)
		if err := r.alloc(times(n, textBytes)); err != nil {
			return nil, err
		}
		items = make([]Value, 0, n)
		for len(v) > 0 {
			_, n := utf8.DecodeRuneInString(v)
			items = append(items, v[:n])
			v = v[n:]
		}
	case *namespace:
		return nil, typeError("'Namespace' object is not iterable")
	default:
		return nil, typeError("'%s' object is not iterable", typeName(v))
	}
	return items, r.step(len(items))
}

func isIterable(v Value) bool {
	switch v.(type) {
	case *List, *Dict, *view, *iterator, *Undefined, *rangeVal, string:
		return true
	}
	return false
}

// newList makes a list or tuple and counts it.
func (r *run) newList(items []Value, tuple bool) (*List, error) {
	return &List{Items: items, Tuple: tuple}, r.alloc(listBytes + slotBytes*len(items))
}

// copyItems counts and makes a copy of items.
func (r *run) copyItems(items []Value) ([]Value, error) {
	if err := r.alloc(slotBytes * len(items)); err != nil {
		return nil, err
	}
	return slices.Clone(items), nil
}
