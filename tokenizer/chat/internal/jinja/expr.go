package jinja

import (
	"slices"
	"strings"
)

// expr is a node that has a value.
type expr interface {
	eval(r *run, s *scope) (Value, error)
}

type (
	constNode struct{ v Value }
	nameNode  struct{ name string }
	listNode  struct {
		items []expr
		tuple bool
	}
	dictNode struct{ keys, values []expr }
	condNode struct {
		test, then, orElse expr // orElse is nil without "else"
		line               int
	}
	logicNode struct {
		left, right expr
		isOr        bool
	}
	notNode struct{ e expr }
	negNode struct {
		e        expr
		negative bool
	}
	compareNode struct {
		first expr
		ops   []string
		rest  []expr
	}
	binaryNode struct {
		op          string
		left, right expr
	}
	concatNode struct{ parts []expr }
	attrNode   struct {
		e    expr
		name string
	}
	itemNode  struct{ e, key expr }
	sliceNode struct{ bounds [3]expr } // nil where left out
	argNodes  struct {
		pos            []expr
		kwNames        []string
		kw             []expr
		star, starStar expr
	}
	callNode struct {
		f    expr
		args argNodes
	}
	filterNode struct {
		arg    expr // nil: the text of a block
		name   string
		filter filter
		args   argNodes
	}
	testNode struct {
		arg  expr
		name string
		test test
		args argNodes
	}
)

// eval gives the value of an expression; it counts as one step and one frame.
func (r *run) eval(e expr, s *scope) (Value, error) {
	if err := r.push(); err != nil {
		return nil, err
	}
	defer r.pop()
	if err := r.step(1); err != nil {
		return nil, err
	}
	return e.eval(r, s)
}

func (r *run) evalAll(es []expr, s *scope) ([]Value, error) {
	out := make([]Value, len(es))
	for i, e := range es {
		var err error
		if out[i], err = r.eval(e, s); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (n *constNode) eval(*run, *scope) (Value, error)    { return n.v, nil }
func (n *nameNode) eval(r *run, s *scope) (Value, error) { return r.lookup(s, n.name), nil }

func (n *listNode) eval(r *run, s *scope) (Value, error) {
	items, err := r.evalAll(n.items, s)
	if err != nil {
		return nil, err
	}
	return r.newList(items, n.tuple)
}

func (n *dictNode) eval(r *run, s *scope) (Value, error) {
	d := NewDict()
	for i := range n.keys {
		k, err := r.eval(n.keys[i], s)
		if err != nil {
			return nil, err
		}
		v, err := r.eval(n.values[i], s)
		if err != nil {
			return nil, err
		}
		if err := r.put(d, k, v); err != nil {
			return nil, err
		}
	}
	return d, nil
}

func (n *condNode) eval(r *run, s *scope) (Value, error) {
	v, err := r.eval(n.test, s)
	if err != nil {
		return nil, err
	}
	switch {
	case truth(v):
		return r.eval(n.then, s)
	case n.orElse != nil:
		return r.eval(n.orElse, s)
	}
	return &Undefined{msg: "the inline if-expression on line " + intText(int64(n.line)) +
		" evaluated to false and no else section was defined."}, nil
}

func (n *logicNode) eval(r *run, s *scope) (Value, error) {
	v, err := r.eval(n.left, s)
	if err != nil || truth(v) == n.isOr {
		return v, err
	}
	return r.eval(n.right, s)
}

func (n *notNode) eval(r *run, s *scope) (Value, error) {
	v, err := r.eval(n.e, s)
	return !truth(v), err
}

func (n *negNode) eval(r *run, s *scope) (Value, error) {
	v, err := r.eval(n.e, s)
	if err != nil {
		return nil, err
	}
	return r.negate(v, n.negative)
}

func (n *compareNode) eval(r *run, s *scope) (Value, error) {
	left, err := r.eval(n.first, s)
	if err != nil {
		return nil, err
	}
	for i, op := range n.ops {
		right, err := r.eval(n.rest[i], s)
		if err != nil {
			return nil, err
		}
		ok, err := r.compare(op, left, right)
		if err != nil || !ok {
			return false, err
		}
		left = right
	}
	return true, nil
}

func (n *binaryNode) eval(r *run, s *scope) (Value, error) {
	left, err := r.eval(n.left, s)
	if err != nil {
		return nil, err
	}
	right, err := r.eval(n.right, s)
	if err != nil {
		return nil, err
	}
	return r.binary(n.op, left, right)
}

func (n *concatNode) eval(r *run, s *scope) (Value, error) {
	var b strings.Builder
	for _, part := range n.parts {
		v, err := r.eval(part, s)
		if err != nil {
			return nil, err
		}
		text, err := r.str(v)
		if err != nil {
			return nil, err
		}
		if err := r.write(&b, text); err != nil {
			return nil, err
		}
	}
	return b.String(), nil
}

func (n *attrNode) eval(r *run, s *scope) (Value, error) {
	v, err := r.eval(n.e, s)
	if err != nil {
		return nil, err
	}
	return r.attr(v, n.name)
}

func (n *itemNode) eval(r *run, s *scope) (Value, error) {
	v, err := r.eval(n.e, s)
	if err != nil {
		return nil, err
	}
	if sl, ok := n.key.(*sliceNode); ok {
		cut, err := r.slice(v, sl, s)
		if err != nil && isConstant(n.e) { // jinja2 folds it, and drops the error on the way
			return &Undefined{msg: typeName(v) + " object has no element slice"}, nil
		}
		return cut, err
	}
	key, err := r.eval(n.key, s)
	if err != nil {
		return nil, err
	}
	return r.item(v, key)
}

// isConstant tells whether jinja2 would compute an expression while it compiles.
func isConstant(e expr) bool {
	switch n := e.(type) {
	case *constNode:
		return true
	case *negNode:
		return isConstant(n.e)
	case *listNode:
		return !slices.ContainsFunc(n.items, func(e expr) bool { return !isConstant(e) })
	case *dictNode:
		return !slices.ContainsFunc(append(slices.Clone(n.keys), n.values...), func(e expr) bool { return !isConstant(e) })
	}
	return false
}

func (n *sliceNode) eval(*run, *scope) (Value, error) {
	return nil, typeError("a slice among several subscripts")
}

// eval gives the arguments in order, * and ** spread out.
func (n *argNodes) eval(r *run, s *scope) (args, error) {
	var a args
	var err error
	if a.pos, err = r.evalAll(n.pos, s); err != nil {
		return a, err
	}
	a.kwNames = append(a.kwNames, n.kwNames...)
	if a.kw, err = r.evalAll(n.kw, s); err != nil {
		return a, err
	}
	if n.star != nil {
		v, err := r.eval(n.star, s)
		if err != nil {
			return a, err
		}
		items, err := r.iterate(v)
		if err != nil {
			return a, err
		}
		if err := r.alloc(slotBytes * len(items)); err != nil {
			return a, err
		}
		a.pos = append(a.pos, items...)
	}
	if n.starStar != nil {
		v, err := r.eval(n.starStar, s)
		if err != nil {
			return a, err
		}
		d, ok := v.(*Dict)
		if !ok {
			return a, typeError("argument after ** must be a mapping, not %s", typeName(v))
		}
		if err := r.alloc(2 * slotBytes * d.Len()); err != nil {
			return a, err
		}
		if err := r.step(d.Len()); err != nil {
			return a, err
		}
		for i, k := range d.keys {
			name, ok := k.(string)
			if !ok {
				return a, typeError("keywords must be strings")
			}
			a.kwNames, a.kw = append(a.kwNames, name), append(a.kw, d.values[i])
		}
	}
	return a, nil
}

func (n *callNode) eval(r *run, s *scope) (Value, error) {
	f, err := r.eval(n.f, s)
	if err != nil {
		return nil, err
	}
	a, err := n.args.eval(r, s)
	if err != nil {
		return nil, err
	}
	return r.callValue(f, a)
}

// callValue calls what can be called.
func (r *run) callValue(f Value, a args) (Value, error) {
	switch f := f.(type) {
	case *function:
		return f.call(r, a)
	case *macro:
		return f.call(r, a)
	case *loopVar:
		return f.call(r, a)
	case *joiner:
		if !f.used {
			f.used = true
			return "", nil
		}
		return f.sep, nil
	case *Undefined:
		return nil, f.err()
	}
	return nil, typeError("'%s' object is not callable", typeName(f))
}

func (n *filterNode) eval(r *run, s *scope) (Value, error) {
	arg := Value(nil)
	var err error
	if n.arg == nil {
		arg = r.lookup(s, blockText)
	} else if arg, err = r.eval(n.arg, s); err != nil {
		return nil, err
	}
	a, err := n.args.eval(r, s)
	if err != nil {
		return nil, err
	}
	if err := r.weigh(arg); err != nil {
		return nil, err
	}
	return n.filter(r, arg, a)
}

func (n *testNode) eval(r *run, s *scope) (Value, error) {
	arg, err := r.eval(n.arg, s)
	if err != nil {
		return nil, err
	}
	a, err := n.args.eval(r, s)
	if err != nil {
		return nil, err
	}
	if err := r.weigh(arg); err != nil {
		return nil, err
	}
	return n.test(r, arg, a)
}
