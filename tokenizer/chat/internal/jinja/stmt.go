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
		return r.setAttr(ns, t.attr, v)
	default:
		s.set(t.name, v)
	}
	return nil
}

// setAttr sets an attribute of a namespace.
func (r *run) setAttr(ns *namespace, name string, v Value) error {
	if strings.HasPrefix(name, "_") {
		return fault("SecurityError", "Chat templates cannot store underscore-prefixed attributes on a namespace, but got %s. Please rename the attribute.", quoted(name))
	}
	return r.put(ns.attrs, name, v)
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
