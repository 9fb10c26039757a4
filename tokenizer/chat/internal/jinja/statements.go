package jinja

func (p *parser) forStmt(line int) (stmt, error) {
	n := &forNode{line: line}
	var err error
	if n.target, err = p.target(false); err != nil {
		return nil, err
	}
	if err = p.expectName("in"); err != nil {
		return nil, err
	}
	if n.iter, err = p.tuple(false, false); err != nil {
		return nil, err
	}
	if p.skipName("if") {
		if n.test, err = p.expression(); err != nil {
			return nil, err
		}
	}
	n.recursive = p.skipName("recursive")
	p.loops++
	body, end, err := p.body("endfor", "else")
	p.loops--
	if err != nil {
		return nil, err
	}
	n.body = body
	if end == "else" {
		n.orElse, _, err = p.body("endfor")
	}
	return n, err
}

func (p *parser) ifStmt() (stmt, error) {
	n := &ifNode{}
	soft := p.soft
	p.soft = true
	defer func() { p.soft = soft }()
	for {
		test, err := p.tuple(false, false)
		if err != nil {
			return nil, err
		}
		body, end, err := p.body("elif", "else", "endif")
		if err != nil {
			return nil, err
		}
		n.tests, n.bodies = append(n.tests, test), append(n.bodies, body)
		switch end {
		case "else":
			n.orElse, _, err = p.body("endif")
			return n, err
		case "endif":
			return n, nil
		}
	}
}

func (p *parser) setStmt(line int) (stmt, error) {
	t, err := p.target(true)
	if err != nil {
		return nil, err
	}
	if p.skipOp("=") {
		v, err := p.tuple(true, false)
		return &setNode{t, v, line}, err
	}
	var filter expr
	if p.isOp("|") {
		if filter, err = p.filters(nil); err != nil {
			return nil, err
		}
	}
	body, _, err := p.body("endset")
	return &setBlockNode{target: t, filter: filter, body: body, line: line}, err
}

// withLoops parses something whose break and continue cannot leave it.
func (p *parser) withoutLoops(f func() error) error {
	loops := p.loops
	p.loops = 0
	defer func() { p.loops = loops }()
	return f()
}

func (p *parser) macroStmt() (stmt, error) {
	name, err := p.name()
	if err != nil {
		return nil, err
	}
	m := &macroNode{name: name}
	if err := p.signature(m); err != nil {
		return nil, err
	}
	return m, p.macroBody(m, "endmacro")
}

func (p *parser) macroBody(m *macroNode, end string) error {
	p.macros = append(p.macros, m)
	defer func() { p.macros = p.macros[:len(p.macros)-1] }()
	return p.withoutLoops(func() (err error) {
		m.body, _, err = p.body(end)
		return err
	})
}

func (p *parser) signature(m *macroNode) error {
	if err := p.expectOp("("); err != nil {
		return err
	}
	for !p.isOp(")") {
		if len(m.params) > 0 {
			if err := p.expectOp(","); err != nil {
				return err
			}
		}
		name, err := p.name()
		if err != nil {
			return err
		}
		var dflt expr
		if p.skipOp("=") {
			if dflt, err = p.expression(); err != nil {
				return err
			}
		} else if len(m.defaults) > 0 && m.defaults[len(m.defaults)-1] != nil {
			return p.fail("non-default argument follows default argument")
		}
		m.params, m.defaults = append(m.params, name), append(m.defaults, dflt)
	}
	return p.expectOp(")")
}

func (p *parser) callStmt(line int) (stmt, error) {
	m := &macroNode{name: "caller"}
	if p.isOp("(") {
		if err := p.signature(m); err != nil {
			return nil, err
		}
	}
	e, err := p.expression()
	if err != nil {
		return nil, err
	}
	call, ok := e.(*callNode)
	if !ok {
		return nil, p.failAt(line, "expected call")
	}
	return &callBlockNode{call: call, caller: m, line: line}, p.macroBody(m, "endcall")
}

func (p *parser) filterStmt(line int) (stmt, error) {
	p.pos-- // filters expects to stand before the sign or name of the first filter
	p.toks[p.pos] = token{kind: tokOp, text: "|", line: line}
	f, err := p.filters(nil)
	if err != nil {
		return nil, err
	}
	b, _, err := p.body("endfilter")
	return &filterBlockNode{filter: f, body: b, line: line}, err
}

func (p *parser) withStmt() (stmt, error) {
	n := &scopeNode{}
	for p.peek().kind != tokBlockEnd {
		if len(n.targets) > 0 {
			if err := p.expectOp(","); err != nil {
				return nil, err
			}
		}
		t, err := p.targetPart(false)
		if err != nil {
			return nil, err
		}
		if err := p.expectOp("="); err != nil {
			return nil, err
		}
		v, err := p.expression()
		if err != nil {
			return nil, err
		}
		n.targets, n.values = append(n.targets, t), append(n.values, v)
	}
	var err error
	n.body, _, err = p.body("endwith")
	return n, err
}

func (p *parser) blockStmt() (stmt, error) {
	name, err := p.name()
	if err != nil {
		return nil, err
	}
	if p.blocks[name] {
		return nil, p.fail("block %s defined twice", pyRepr(name))
	}
	p.blocks[name] = true
	p.skipName("scoped")
	p.skipName("required")
	n := &scopeNode{}
	err = p.withoutLoops(func() (err error) {
		n.body, _, err = p.body("endblock")
		return err
	})
	p.skipName(name)
	return n, err
}

func (p *parser) printStmt(line int) (stmt, error) {
	n := &scopeNode{flat: true}
	for p.peek().kind != tokBlockEnd {
		if len(n.body) > 0 {
			if err := p.expectOp(","); err != nil {
				return nil, err
			}
		}
		e, err := p.expression()
		if err != nil {
			return nil, err
		}
		n.body = append(n.body, &outputNode{e, line})
	}
	return n, nil
}

func (p *parser) autoescapeStmt(line int) (stmt, error) {
	e, err := p.expression()
	if err != nil {
		return nil, err
	}
	if c, ok := e.(*constNode); !ok || truth(c.v) {
		return nil, p.failAt(line, "autoescape is not supported: prompts are not HTML")
	}
	b, _, err := p.body("endautoescape")
	return &scopeNode{body: b}, err
}

// loaderStmt reads any statement that wants another template: there is none to be had.
func (p *parser) loaderStmt(line int) (stmt, error) {
	for p.peek().kind != tokBlockEnd {
		if p.peek().kind == tokEOF {
			return nil, p.expected("end of statement block")
		}
		p.pos++
	}
	return &failNode{typeError("no loader for this environment specified"), line}, nil
}
