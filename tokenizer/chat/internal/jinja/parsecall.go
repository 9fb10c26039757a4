package jinja

import (
	"slices"
	"strings"
)

// callArgs reads the arguments of a call, filter or test.
func (p *parser) callArgs() (argNodes, error) {
	var a argNodes
	line := p.peek().line
	bad := func() error { return p.failAt(line, "invalid syntax for function call expression") }
	if err := p.expectOp("("); err != nil {
		return a, err
	}
	for n := 0; !p.isOp(")"); n++ {
		if n > 0 {
			if err := p.expectOp(","); err != nil {
				return a, err
			}
			if p.isOp(")") {
				break
			}
		}
		var err error
		switch {
		case p.isOp("*"):
			if a.star != nil || a.starStar != nil {
				return a, bad()
			}
			p.pos++
			a.star, err = p.expression()
		case p.isOp("**"):
			if a.starStar != nil {
				return a, bad()
			}
			p.pos++
			a.starStar, err = p.expression()
		case p.peek().kind == tokName && p.look().kind == tokOp && p.look().text == "=":
			if a.starStar != nil {
				return a, bad()
			}
			a.kwNames = append(a.kwNames, p.next().text)
			p.pos++
			var e expr
			e, err = p.expression()
			a.kw = append(a.kw, e)
		default:
			if a.star != nil || a.starStar != nil || len(a.kw) > 0 {
				return a, bad()
			}
			var e expr
			e, err = p.expression()
			a.pos = append(a.pos, e)
		}
		if err != nil {
			return a, err
		}
	}
	return a, p.expectOp(")")
}

func (p *parser) call(e expr) (expr, error) {
	a, err := p.callArgs()
	return &callNode{e, a}, err
}

func (p *parser) dottedName() (string, error) {
	name, err := p.name()
	parts := []string{name}
	for err == nil && p.skipOp(".") {
		name, err = p.name()
		parts = append(parts, name)
	}
	return strings.Join(parts, "."), err
}

// filters reads one or more filters on e; e is nil where a block's text is filtered.
func (p *parser) filters(e expr) (expr, error) {
	for p.skipOp("|") {
		line := p.peek().line
		name, err := p.dottedName()
		if err != nil {
			return nil, err
		}
		f, ok := p.lib.filters[name]
		if !ok {
			err := p.unknown(line, "filter", name)
			f = func(*run, Value, args) (Value, error) { return nil, err }
		}
		n := &filterNode{arg: e, name: name, filter: f}
		if p.isOp("(") {
			if n.args, err = p.callArgs(); err != nil {
				return nil, err
			}
		}
		e = n
	}
	return e, nil
}

// unknown notes a name that is no filter or test as a fault of the template, unless the place is
// conditional, and gives the error of a rendering that comes there. Templates for several engines
// rely on that.
func (p *parser) unknown(line int, what, name string) error {
	var err error = &Error{Kind: "TemplateAssertionError", Msg: "No " + what + " named " + quoted(name) + ".", Line: line}
	if what == "filter" && slices.Contains([]string{"urlize", "wordwrap", "xmlattr", "filesizeformat"}, name) {
		err = atLine(unsupported("the filter "+name), line)
	}
	if !p.soft && p.absent == nil {
		p.absent = err
	}
	return &Error{Kind: "TemplateRuntimeError", Msg: "No " + what + " named " + quoted(name) + " found.", Line: line}
}

func (p *parser) test(e expr) (expr, error) {
	line := p.next().line
	negated := p.skipName("not")
	name, err := p.dottedName()
	if err != nil {
		return nil, err
	}
	t, ok := p.lib.tests[name]
	if !ok {
		err := p.unknown(line, "test", name)
		t = func(*run, Value, args) (Value, error) { return nil, err }
	}
	n := &testNode{arg: e, name: name, test: t}
	next := p.peek()
	switch {
	case p.isOp("("):
		n.args, err = p.callArgs()
	case next.kind == tokString, next.kind == tokNumber, p.isOp("["), p.isOp("{"),
		next.kind == tokName && next.text != "else" && next.text != "or" && next.text != "and":
		if next.kind == tokName && next.text == "is" {
			return nil, p.fail("You cannot chain multiple tests with is")
		}
		var a expr
		if a, err = p.primary(); err == nil {
			a, err = p.postfix(a)
		}
		n.args.pos = []expr{a}
	}
	if err != nil {
		return nil, err
	}
	if negated {
		return &notNode{n}, nil
	}
	return n, nil
}
