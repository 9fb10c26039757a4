package jinja

import (
	"errors"
	"fmt"
	"slices"
)

// parser builds the tree by the grammar of jinja2's parser.
type parser struct {
	toks   []token
	pos    int
	lib    *library
	depth  int
	macros []*macroNode // those around the current place, to see which special names they use
	loops  int          // loops around the current place
	soft   bool         // directly inside an "if": an unknown name fails only when it is used
	absent error        // first unknown filter or test elsewhere
	blocks []string     // names of blocks so far
}

func (p *parser) peek() token { return p.toks[p.pos] }

func (p *parser) look() token {
	if p.pos+1 < len(p.toks) {
		return p.toks[p.pos+1]
	}
	return p.toks[p.pos]
}

func (p *parser) next() token {
	t := p.toks[p.pos]
	if t.kind != tokEOF {
		p.pos++
	}
	return t
}

func (p *parser) fail(format string, args ...any) error {
	return p.failAt(p.peek().line, format, args...)
}

func (p *parser) failAt(line int, format string, args ...any) error {
	e := fault("TemplateSyntaxError", format, args...)
	e.Line = line
	return e
}

// describe names a token as jinja2's messages do.
func describe(t token) string {
	switch t.kind {
	case tokData:
		return "template data / text"
	case tokVarBegin:
		return "begin of print statement"
	case tokVarEnd:
		return "end of print statement"
	case tokBlockBegin:
		return "begin of statement block"
	case tokBlockEnd:
		return "end of statement block"
	case tokEOF:
		return "end of template"
	}
	return t.text
}

func (p *parser) isOp(op string) bool { t := p.peek(); return t.kind == tokOp && t.text == op }

func (p *parser) isName(name string) bool { t := p.peek(); return t.kind == tokName && t.text == name }

func (p *parser) skipOp(op string) bool {
	if p.isOp(op) {
		p.pos++
		return true
	}
	return false
}

func (p *parser) skipName(name string) bool {
	if p.isName(name) {
		p.pos++
		return true
	}
	return false
}

func (p *parser) expected(what string) error {
	if t := p.peek(); t.kind == tokEOF {
		return p.fail("unexpected end of template, expected '%s'.", what)
	}
	return p.fail("expected token '%s', got '%s'", what, describe(p.peek()))
}

func (p *parser) expectOp(op string) error {
	if !p.skipOp(op) {
		return p.expected(op)
	}
	return nil
}

func (p *parser) expectName(name string) error {
	if !p.skipName(name) {
		return p.expected(name)
	}
	return nil
}

func (p *parser) expectKind(kind tokenKind) error {
	if p.peek().kind != kind {
		return p.expected(describe(token{kind: kind}))
	}
	p.pos++
	return nil
}

func (p *parser) name() (string, error) {
	t := p.peek()
	if t.kind != tokName {
		return "", p.expected("name")
	}
	p.pos++
	return t.text, nil
}

// nest counts one level of nesting in the source; the returned function ends it.
func (p *parser) nest() (func(), error) {
	if p.depth++; p.depth > maxNesting*2 {
		return nil, p.fail("more than %d nested parts", maxNesting*2)
	}
	return func() { p.depth-- }, nil
}

func (p *parser) template() ([]stmt, error) {
	body, err := p.statements()
	if err != nil {
		return nil, err
	}
	if p.peek().kind != tokEOF {
		return nil, p.fail("unexpected '%s'", describe(p.peek()))
	}
	return body, p.absent
}

// statements reads data, outputs and statements up to one of the end tags, whose opening is read and
// whose name is the next token, or to the end of the template.
func (p *parser) statements(ends ...string) ([]stmt, error) {
	done, err := p.nest()
	if err != nil {
		return nil, err
	}
	defer done()
	var body []stmt
	for {
		t := p.next()
		switch t.kind {
		case tokEOF:
			if len(ends) > 0 {
				return nil, p.fail("Unexpected end of template. Jinja was looking for the following tags: %s.", orList(ends))
			}
			return body, nil
		case tokData:
			body = append(body, &dataNode{t.text})
		case tokVarBegin:
			e, err := p.tuple(true, false)
			if err != nil {
				return nil, err
			}
			if err := p.expectKind(tokVarEnd); err != nil {
				return nil, err
			}
			body = append(body, &outputNode{e, t.line})
		case tokBlockBegin:
			if t := p.peek(); t.kind == tokName && slices.Contains(ends, t.text) {
				return body, nil
			}
			s, err := p.statement(ends)
			if err != nil {
				return nil, err
			}
			if s != nil {
				body = append(body, s)
			}
			if err := p.expectKind(tokBlockEnd); err != nil {
				return nil, err
			}
		default:
			return nil, p.failAt(t.line, "unexpected '%s'", describe(t))
		}
	}
}

func orList(names []string) string {
	s := ""
	for i, n := range names {
		if i > 0 {
			s += " or "
		}
		s += "'" + n + "'"
	}
	return s
}

// body reads the end of the opening tag and the statements up to an end tag, whose name is consumed.
func (p *parser) body(ends ...string) ([]stmt, string, error) {
	soft := p.soft
	p.soft = slices.Contains(ends, "endif")
	defer func() { p.soft = soft }()
	p.skipOp(":") // allowed for Python's sake
	if err := p.expectKind(tokBlockEnd); err != nil {
		return nil, "", err
	}
	b, err := p.statements(ends...)
	if err != nil {
		return nil, "", err
	}
	return b, p.next().text, nil
}

func (p *parser) statement(ends []string) (stmt, error) {
	t := p.peek()
	if t.kind != tokName {
		return nil, p.fail("tag name expected")
	}
	p.pos++
	switch t.text {
	case "for":
		return p.forStmt(t.line)
	case "if":
		return p.ifStmt()
	case "set":
		return p.setStmt(t.line)
	case "macro":
		return p.macroStmt()
	case "call":
		return p.callStmt(t.line)
	case "filter":
		return p.filterStmt(t.line)
	case "with":
		return p.withStmt()
	case "block":
		return p.blockStmt()
	case "print":
		return p.printStmt(t.line)
	case "generation": // marks the assistant's text for training; its text is its body
		b, _, err := p.body("endgeneration")
		return &scopeNode{body: b}, err
	case "autoescape":
		return p.autoescapeStmt(t.line)
	case "break", "continue":
		if p.loops == 0 {
			return nil, p.failAt(t.line, "'%s' outside loop", t.text)
		}
		return &jumpNode{t.text == "break"}, nil
	case "include", "import", "from", "extends":
		return p.loaderStmt(t.line)
	}
	if len(ends) > 0 {
		return nil, p.failAt(t.line, "Encountered unknown tag '%s'. Jinja was looking for the following tags: %s.", t.text, orList(ends))
	}
	return nil, p.failAt(t.line, "Encountered unknown tag '%s'.", t.text)
}

// target reads what a loop or an assignment stores into.
func (p *parser) target(namespaces bool) (target, error) {
	t, err := p.targetTuple(namespaces)
	if err != nil {
		return target{}, err
	}
	return t, nil
}

func (p *parser) targetTuple(namespaces bool) (target, error) {
	done, err := p.nest()
	if err != nil {
		return target{}, err
	}
	defer done()
	var parts []target
	tuple := false
	for {
		if len(parts) > 0 && (p.isName("in") || p.isOp("=") || p.isOp(")") || p.peek().kind == tokBlockEnd) {
			break
		}
		t, err := p.targetPart(namespaces)
		if err != nil {
			return target{}, err
		}
		parts = append(parts, t)
		if !p.skipOp(",") {
			break
		}
		tuple = true
	}
	if !tuple {
		return parts[0], nil
	}
	return target{parts: parts}, nil
}

func (p *parser) targetPart(namespaces bool) (target, error) {
	if p.skipOp("(") {
		t, err := p.targetTuple(namespaces)
		if err != nil {
			return target{}, err
		}
		return t, p.expectOp(")")
	}
	name, err := p.name()
	if err != nil {
		return target{}, err
	}
	switch name {
	case "true", "false", "none", "True", "False", "None":
		return target{}, p.fail("can't assign to 'const'")
	}
	if namespaces && p.skipOp(".") {
		attr, err := p.name()
		return target{name: name, attr: attr}, err
	}
	return target{name: name}, nil
}

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
	if slices.Contains(p.blocks, name) {
		return nil, p.fail("block %s defined twice", pyRepr(name))
	}
	p.blocks = append(p.blocks, name)
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

// atLine gives an error that has no line yet the line of the statement it came from.
func atLine(err error, line int) error {
	var e *Error
	if errors.As(err, &e) && e.Line == 0 {
		e.Line = line
	}
	return err
}

func unsupported(what string) error {
	return fault("NotImplementedError", "%s", fmt.Sprintf("%s exists in Jinja but not in this engine", what))
}
