package jinja

import (
	"errors"
	"strings"
)

// stmt is a node that writes text or changes names.
type stmt interface {
	exec(r *run, s *scope, out *strings.Builder) error
}

// What break and continue return on their way to the loop.
var (
	errBreak    = errors.New("break outside a loop")
	errContinue = errors.New("continue outside a loop")
)

type (
	dataNode   struct{ text string }
	outputNode struct {
		e    expr
		line int
	}
	ifNode struct {
		tests  []expr
		bodies [][]stmt
		orElse []stmt
	}
	forNode struct {
		target    target
		iter      expr
		test      expr // nil without "if"
		body      []stmt
		orElse    []stmt
		recursive bool
		line      int
	}
	setNode struct {
		target target
		value  expr
		line   int
	}
	setBlockNode struct {
		target target
		filter expr // nil without filters
		body   []stmt
		line   int
	}
	macroNode struct {
		name                            string
		params                          []string
		defaults                        []expr // nil where there is none
		body                            []stmt
		useCaller, useVarargs, useKwarg bool
	}
	callBlockNode struct {
		call   *callNode
		caller *macroNode
		line   int
	}
	filterBlockNode struct {
		filter expr
		body   []stmt
		line   int
	}
	// scopeNode runs its body in a scope of its own, with the names of a "with"; flat: in the scope around.
	scopeNode struct {
		targets []target
		values  []expr
		body    []stmt
		flat    bool
	}
	jumpNode struct{ isBreak bool }
	failNode struct {
		err  *Error
		line int
	}
	// target is what is stored into: a name, an attribute of a namespace, or parts that are unpacked into.
	target struct {
		name, attr string
		parts      []target
	}
)

// execAll runs statements in order; each counts as one step and one frame.
func (r *run) execAll(body []stmt, s *scope, out *strings.Builder) error {
	if err := r.push(); err != nil {
		return err
	}
	defer r.pop()
	for _, n := range body {
		if err := r.step(1); err != nil {
			return err
		}
		if err := n.exec(r, s, out); err != nil {
			return err
		}
	}
	return nil
}

// capture gives the text that statements write.
func (r *run) capture(body []stmt, s *scope) (string, error) {
	var b strings.Builder
	err := r.execAll(body, s, &b)
	return b.String(), err
}

func (r *run) write(out *strings.Builder, s string) error {
	if err := r.alloc(len(s)); err != nil {
		return err
	}
	out.WriteString(s)
	return nil
}

func (n *dataNode) exec(r *run, _ *scope, out *strings.Builder) error { return r.write(out, n.text) }

func (n *outputNode) exec(r *run, s *scope, out *strings.Builder) error {
	v, err := r.eval(n.e, s)
	if err != nil {
		return atLine(err, n.line)
	}
	text, err := r.str(v)
	if err != nil {
		return atLine(err, n.line)
	}
	return r.write(out, text)
}

func (n *ifNode) exec(r *run, s *scope, out *strings.Builder) error {
	for i, test := range n.tests {
		v, err := r.eval(test, s)
		if err != nil {
			return err
		}
		if truth(v) {
			return r.execAll(n.bodies[i], s, out)
		}
	}
	return r.execAll(n.orElse, s, out)
}

// loopVar is the name "loop" inside a loop.
type loopVar struct {
	node   *forNode
	scope  *scope // the one around the loop
	items  []Value
	pos    int
	depth  int      // from 0
	last   *[]Value // what changed() saw, nil before
	parent *run
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

func (r *run) assign(s *scope, t target, v Value) error {
	switch {
	case t.parts != nil:
		items, err := r.iterate(v)
		if err != nil {
			return typeError("cannot unpack non-iterable %s object", typeName(v))
		}
		if len(items) > len(t.parts) {
			return fault("ValueError", "too many values to unpack (expected %d)", len(t.parts))
		}
		if len(items) < len(t.parts) {
			return fault("ValueError", "not enough values to unpack (expected %d, got %d)", len(t.parts), len(items))
		}
		for i, part := range t.parts {
			if err := r.assign(s, part, items[i]); err != nil {
				return err
			}
		}
	case t.attr != "":
		ns, ok := r.lookup(s, t.name).(*namespace)
		if !ok {
			return fault("TemplateRuntimeError", "cannot assign attribute on non-namespace object")
		}
		return ns.set(t.attr, v)
	default:
		s.set(t.name, v)
	}
	return nil
}

func (ns *namespace) set(name string, v Value) error {
	if strings.HasPrefix(name, "_") {
		return fault("SecurityError", "Chat templates cannot store underscore-prefixed attributes on a namespace, but got %s. Please rename the attribute.", pyRepr(name))
	}
	return ns.attrs.Set(name, v)
}

func (n *setNode) exec(r *run, s *scope, _ *strings.Builder) error {
	v, err := r.eval(n.value, s)
	if err == nil {
		err = r.assign(s, n.target, v)
	}
	return atLine(err, n.line)
}

func (n *setBlockNode) exec(r *run, s *scope, _ *strings.Builder) error {
	text, err := r.capture(n.body, &scope{parent: s})
	if err != nil {
		return err
	}
	v, err := r.filterText(n.filter, s, text)
	if err == nil {
		err = r.assign(s, n.target, v)
	}
	return atLine(err, n.line)
}

func (n *filterBlockNode) exec(r *run, s *scope, out *strings.Builder) error {
	text, err := r.capture(n.body, &scope{parent: s})
	if err != nil {
		return err
	}
	v, err := r.filterText(n.filter, s, text)
	if err == nil {
		text, err = r.str(v)
	}
	if err != nil {
		return atLine(err, n.line)
	}
	return r.write(out, text)
}

// filterText applies filters whose innermost argument was left open to a block's text.
func (r *run) filterText(filter expr, s *scope, text string) (Value, error) {
	if filter == nil {
		return text, nil
	}
	inner := &scope{parent: s}
	inner.set(blockText, text)
	return r.eval(filter, inner)
}

// blockText is the name, impossible in a template, under which a filter without argument finds its text.
const blockText = "{text}"

func (n *scopeNode) exec(r *run, s *scope, out *strings.Builder) error {
	inner := s
	if !n.flat {
		inner = &scope{parent: s}
	}
	for i, t := range n.targets {
		v, err := r.eval(n.values[i], s)
		if err == nil {
			err = r.assign(inner, t, v)
		}
		if err != nil {
			return err
		}
	}
	return r.execAll(n.body, inner, out)
}

func (n *jumpNode) exec(*run, *scope, *strings.Builder) error {
	if n.isBreak {
		return errBreak
	}
	return errContinue
}

func (n *failNode) exec(*run, *scope, *strings.Builder) error {
	e := *n.err
	return atLine(&e, n.line)
}

// macro is a macro with the scope that it was defined in, whose later changes it sees.
type macro struct {
	*macroNode
	scope *scope
}

func (n *macroNode) uses(name string) {
	n.useCaller = n.useCaller || name == "caller"
	n.useVarargs = n.useVarargs || name == "varargs"
	n.useKwarg = n.useKwarg || name == "kwargs"
}

func (n *macroNode) exec(_ *run, s *scope, _ *strings.Builder) error {
	s.set(n.name, &macro{n, s})
	return nil
}

func (n *callBlockNode) exec(r *run, s *scope, out *strings.Builder) error {
	f, err := r.eval(n.call.f, s)
	if err != nil {
		return atLine(err, n.line)
	}
	a, err := n.call.args.eval(r, s)
	if err != nil {
		return atLine(err, n.line)
	}
	a.kwNames, a.kw = append(a.kwNames, "caller"), append(a.kw, &macro{n.caller, s})
	v, err := r.callValue(f, a)
	if err != nil {
		return atLine(err, n.line)
	}
	text, err := r.str(v)
	if err != nil {
		return atLine(err, n.line)
	}
	return r.write(out, text)
}

// call runs a macro: arguments by place, then by name, then defaults evaluated in the macro's own scope.
func (m *macro) call(r *run, a args) (Value, error) {
	if err := r.enter(); err != nil {
		return nil, err
	}
	defer r.leave()
	s := &scope{parent: m.scope}
	kwargs := NewDict()
	for i, name := range a.kwNames {
		_ = kwargs.Set(name, a.kw[i]) // a string can be a key
	}
	pop := func(name string) (Value, bool) {
		v, ok := kwargs.Get(name)
		if ok {
			kwargs = kwargs.Without(func(k, _ Value) bool { return k == name })
		}
		return v, ok
	}
	given := make([]bool, len(m.params))
	for i, name := range m.params {
		if i < len(a.pos) {
			s.set(name, a.pos[i])
			given[i] = true
		} else if v, ok := pop(name); ok {
			s.set(name, v)
			given[i] = true
		}
	}
	if m.useCaller {
		v, ok := pop("caller")
		if !ok {
			v = &Undefined{msg: "No caller defined"}
		}
		s.set("caller", v)
	}
	if m.useKwarg {
		s.set("kwargs", kwargs)
	} else if kwargs.Len() > 0 {
		return nil, typeError("macro %s takes no keyword argument %s", pyRepr(m.name), pyRepr(kwargs.keys[0].(string)))
	}
	extra := a.pos[min(len(m.params), len(a.pos)):]
	if m.useVarargs {
		s.set("varargs", &List{Items: extra, Tuple: true})
	} else if len(extra) > 0 {
		return nil, typeError("macro %s takes not more than %d argument(s)", pyRepr(m.name), len(m.params))
	}
	for i, name := range m.params {
		if given[i] {
			continue
		}
		var v Value = &Undefined{msg: "parameter " + pyRepr(name) + " was not provided"}
		if m.defaults[i] != nil {
			var err error
			if v, err = r.eval(m.defaults[i], s); err != nil {
				return nil, err
			}
		}
		s.set(name, v)
	}
	return r.capture(m.body, s)
}
