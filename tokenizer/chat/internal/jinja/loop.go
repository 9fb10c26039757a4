package jinja

import "strings"

// loopVar is the name "loop" inside a loop.
type loopVar struct {
	node  *forNode
	scope *scope // the one around the loop
	items []Value
	pos   int
	depth int      // from 0
	last  *[]Value // what changed() saw, nil before
}

func (n *forNode) exec(r *run, s *scope, out *strings.Builder) error {
	v, err := r.eval(n.iter, s)
	if err != nil {
		return atLine(err, n.line)
	}
	return n.loop(r, s, v, 0, out)
}

func (n *forNode) loop(r *run, s *scope, v Value, depth int, out *strings.Builder) error {
	items, err := r.iterate(v)
	if err == nil && n.test != nil {
		items, err = n.filter(r, s, items)
	}
	if err != nil {
		return atLine(err, n.line)
	}
	finished := false // whether any pass came to its end: else the "else" runs, as in jinja2
	lv := &loopVar{node: n, scope: s, items: items, depth: depth}
	for i, item := range items {
		lv.pos = i
		inner := &scope{parent: s}
		inner.set("loop", lv)
		if err := r.assign(inner, n.target, item); err != nil {
			return atLine(err, n.line)
		}
		err := r.execAll(n.body, inner, out)
		if err == errBreak {
			break
		}
		if err != nil && err != errContinue {
			return err
		}
		finished = finished || err == nil
	}
	if finished {
		return nil
	}
	return r.execAll(n.orElse, &scope{parent: s}, out)
}

func (n *forNode) filter(r *run, s *scope, items []Value) ([]Value, error) {
	var kept []Value
	for _, item := range items {
		inner := &scope{parent: s}
		if err := r.assign(inner, n.target, item); err != nil {
			return nil, err
		}
		v, err := r.eval(n.test, inner)
		if err != nil {
			return nil, err
		}
		if truth(v) {
			kept = append(kept, item)
		}
	}
	return kept, nil
}

func (l *loopVar) member(name string) (Value, bool) {
	n, i := int64(len(l.items)), int64(l.pos)
	switch name {
	case "index":
		return i + 1, true
	case "index0":
		return i, true
	case "revindex":
		return n - i, true
	case "revindex0":
		return n - i - 1, true
	case "first":
		return i == 0, true
	case "last":
		return i == n-1, true
	case "length":
		return n, true
	case "depth":
		return int64(l.depth) + 1, true
	case "depth0":
		return int64(l.depth), true
	case "previtem":
		if i == 0 {
			return &Undefined{msg: "there is no previous item"}, true
		}
		return l.items[i-1], true
	case "nextitem":
		if i == n-1 {
			return &Undefined{msg: "there is no next item"}, true
		}
		return l.items[i+1], true
	case "cycle":
		return method(name, func(_ *run, a args) (Value, error) {
			if len(a.pos) == 0 {
				return nil, typeError("no items for cycling given")
			}
			return a.pos[l.pos%len(a.pos)], nil
		}), true
	case "changed":
		return method(name, l.changed), true
	}
	return nil, false
}

func (l *loopVar) changed(r *run, a args) (Value, error) {
	if l.last != nil {
		eq, err := r.equal(&List{Items: *l.last}, &List{Items: a.pos})
		if eq || err != nil {
			return false, err
		}
	}
	l.last = &a.pos
	return true, nil
}

// call runs the loop again over other items, where it is marked as recursive.
func (l *loopVar) call(r *run, a args) (Value, error) {
	p, err := a.take("loop", 1, "iterable")
	if err != nil {
		return nil, err
	}
	if !l.node.recursive {
		return nil, typeError("The loop must have the 'recursive' marker to be called recursively.")
	}
	if err := r.enter(); err != nil {
		return nil, err
	}
	defer r.leave()
	var b strings.Builder
	err = l.node.loop(r, l.scope, p[0], l.depth+1, &b)
	return b.String(), err
}
