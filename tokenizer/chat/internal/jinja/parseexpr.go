package jinja

import (
	"slices"
	"strings"
)

func (p *parser) expression() (expr, error) {
	done, err := p.nest()
	if err != nil {
		return nil, err
	}
	defer done()
	absent, soft := p.absent, p.soft
	defer func() { p.soft = soft }()
	e, err := p.or()
	if err != nil {
		return nil, err
	}
	for p.skipName("if") {
		p.absent, p.soft = absent, true // what was read so far turns out to be conditional
		test, err := p.or()
		if err != nil {
			return nil, err
		}
		n := &condNode{test: test, then: e, line: p.peek().line}
		if p.skipName("else") {
			if n.orElse, err = p.expression(); err != nil {
				return nil, err
			}
		}
		e = n
	}
	return e, nil
}

func (p *parser) or() (expr, error) {
	left, err := p.and()
	for err == nil && p.skipName("or") {
		var right expr
		right, err = p.and()
		left = &logicNode{left, right, true}
	}
	return left, err
}

func (p *parser) and() (expr, error) {
	left, err := p.not()
	for err == nil && p.skipName("and") {
		var right expr
		right, err = p.not()
		left = &logicNode{left, right, false}
	}
	return left, err
}

func (p *parser) not() (expr, error) {
	if !p.skipName("not") {
		return p.compare()
	}
	done, err := p.nest()
	if err != nil {
		return nil, err
	}
	defer done()
	e, err := p.not()
	return &notNode{e}, err
}

func (p *parser) compare() (expr, error) {
	first, err := p.sum()
	if err != nil {
		return nil, err
	}
	n := &compareNode{first: first}
	for {
		t := p.peek()
		op := ""
		switch {
		case t.kind == tokOp && slices.Contains([]string{"==", "!=", "<", "<=", ">", ">="}, t.text):
			op = t.text
			p.pos++
		case p.skipName("in"):
			op = "in"
		case p.isName("not") && p.look().kind == tokName && p.look().text == "in":
			op = "notin"
			p.pos += 2
		}
		if op == "" {
			break
		}
		e, err := p.sum()
		if err != nil {
			return nil, err
		}
		n.ops, n.rest = append(n.ops, op), append(n.rest, e)
	}
	if len(n.ops) == 0 {
		return first, nil
	}
	return n, nil
}

// leftAssoc reads operands joined by operators of one level.
func (p *parser) leftAssoc(operand func() (expr, error), ops ...string) (expr, error) {
	left, err := operand()
	for err == nil {
		t := p.peek()
		if t.kind != tokOp || !slices.Contains(ops, t.text) {
			break
		}
		p.pos++
		var right expr
		right, err = operand()
		left = &binaryNode{t.text, left, right}
	}
	return left, err
}

func (p *parser) sum() (expr, error) { return p.leftAssoc(p.concat, "+", "-") }

func (p *parser) concat() (expr, error) {
	first, err := p.product()
	if err != nil || !p.isOp("~") {
		return first, err
	}
	n := &concatNode{parts: []expr{first}}
	for p.skipOp("~") {
		e, err := p.product()
		if err != nil {
			return nil, err
		}
		n.parts = append(n.parts, e)
	}
	return n, nil
}

func (p *parser) product() (expr, error) { return p.leftAssoc(p.power, "*", "/", "//", "%") }

func (p *parser) power() (expr, error) {
	return p.leftAssoc(func() (expr, error) { return p.unary(true) }, "**")
}

func (p *parser) unary(withFilter bool) (expr, error) {
	done, err := p.nest()
	if err != nil {
		return nil, err
	}
	defer done()
	var e expr
	switch {
	case p.skipOp("-"):
		e, err = p.unary(false)
		e = &negNode{e, true}
	case p.skipOp("+"):
		e, err = p.unary(false)
		e = &negNode{e, false}
	default:
		e, err = p.primary()
	}
	if err == nil {
		e, err = p.postfix(e)
	}
	if err == nil && withFilter {
		e, err = p.filterExpr(e)
	}
	return e, err
}

func (p *parser) primary() (expr, error) {
	t := p.peek()
	switch t.kind {
	case tokName:
		p.pos++
		return p.nameOrConst(t.text), nil
	case tokString:
		var b strings.Builder
		for p.peek().kind == tokString {
			b.WriteString(p.next().text)
		}
		return &constNode{b.String()}, nil
	case tokNumber:
		p.pos++
		return &constNode{t.num}, nil
	case tokOp:
		switch t.text {
		case "(":
			p.pos++
			e, err := p.tuple(true, true)
			if err != nil {
				return nil, err
			}
			return e, p.expectOp(")")
		case "[":
			return p.list()
		case "{":
			return p.dict()
		}
	}
	if t.kind == tokEOF {
		return nil, p.fail("unexpected end of template")
	}
	return nil, p.fail("unexpected '%s'", describe(t))
}

func (p *parser) nameOrConst(name string) expr {
	switch name {
	case "true", "True":
		return &constNode{true}
	case "false", "False":
		return &constNode{false}
	case "none", "None":
		return &constNode{nil}
	case "caller", "varargs", "kwargs":
		for _, m := range p.macros {
			m.uses(name)
		}
	}
	return &nameNode{name}
}

// tuple reads one expression, or several with commas as a tuple. Parentheses around allow none.
func (p *parser) tuple(withCond, parens bool) (expr, error) {
	part := p.expression
	if !withCond {
		part = p.or
	}
	var items []expr
	isTuple := false
	for !p.tupleEnd() {
		e, err := part()
		if err != nil {
			return nil, err
		}
		items = append(items, e)
		if !p.skipOp(",") {
			break
		}
		isTuple = true
	}
	switch {
	case isTuple, parens && len(items) == 0:
		return &listNode{items, true}, nil
	case len(items) == 0:
		return nil, p.fail("Expected an expression, got '%s'", describe(p.peek()))
	}
	return items[0], nil
}

func (p *parser) tupleEnd() bool {
	k := p.peek().kind
	return k == tokVarEnd || k == tokBlockEnd || p.isOp(")") || p.isName("recursive") && p.look().kind == tokBlockEnd
}

func (p *parser) list() (expr, error) {
	p.pos++
	n := &listNode{}
	for !p.isOp("]") {
		if len(n.items) > 0 {
			if err := p.expectOp(","); err != nil {
				return nil, err
			}
			if p.isOp("]") {
				break
			}
		}
		e, err := p.expression()
		if err != nil {
			return nil, err
		}
		n.items = append(n.items, e)
	}
	return n, p.expectOp("]")
}

func (p *parser) dict() (expr, error) {
	p.pos++
	n := &dictNode{}
	for !p.isOp("}") {
		if len(n.keys) > 0 {
			if err := p.expectOp(","); err != nil {
				return nil, err
			}
			if p.isOp("}") {
				break
			}
		}
		k, err := p.expression()
		if err != nil {
			return nil, err
		}
		if err := p.expectOp(":"); err != nil {
			return nil, err
		}
		v, err := p.expression()
		if err != nil {
			return nil, err
		}
		n.keys, n.values = append(n.keys, k), append(n.values, v)
	}
	return n, p.expectOp("}")
}

func (p *parser) postfix(e expr) (expr, error) {
	var err error
	for err == nil {
		switch {
		case p.isOp("."), p.isOp("["):
			e, err = p.subscript(e)
		case p.isOp("("):
			e, err = p.call(e)
		default:
			return e, nil
		}
	}
	return nil, err
}

func (p *parser) filterExpr(e expr) (expr, error) {
	var err error
	for err == nil {
		switch {
		case p.isOp("|"):
			e, err = p.filters(e)
		case p.isName("is"):
			e, err = p.test(e)
		case p.isOp("("):
			e, err = p.call(e)
		default:
			return e, nil
		}
	}
	return nil, err
}

func (p *parser) subscript(e expr) (expr, error) {
	if p.next().text == "." {
		switch t := p.next(); t.kind {
		case tokName:
			return &attrNode{e, t.text}, nil
		case tokNumber:
			if _, ok := t.num.(int64); ok {
				return &itemNode{e, &constNode{t.num}}, nil
			}
		}
		return nil, p.fail("expected name or number")
	}
	var parts []expr
	for !p.isOp("]") {
		if len(parts) > 0 {
			if err := p.expectOp(","); err != nil {
				return nil, err
			}
		}
		part, err := p.subscriptPart()
		if err != nil {
			return nil, err
		}
		parts = append(parts, part)
	}
	if err := p.expectOp("]"); err != nil {
		return nil, err
	}
	if len(parts) == 1 {
		return &itemNode{e, parts[0]}, nil
	}
	return &itemNode{e, &listNode{parts, true}}, nil
}

func (p *parser) subscriptPart() (expr, error) {
	n := &sliceNode{}
	for i := range n.bounds {
		if !p.isOp(":") && !p.isOp("]") && !p.isOp(",") {
			e, err := p.expression()
			if err != nil {
				return nil, err
			}
			if i == 0 && !p.isOp(":") {
				return e, nil
			}
			n.bounds[i] = e
		}
		if i == 2 || !p.skipOp(":") {
			break
		}
	}
	return n, nil
}
