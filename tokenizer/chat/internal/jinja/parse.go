package jinja

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// parser builds the tree by the grammar of jinja2's parser.
type parser struct {
	toks   []token
	pos    int
	lib    *library
	depth  int
	macros []*macroNode    // those around the current place, to see which special names they use
	loops  int             // loops around the current place
	soft   bool            // directly inside an "if": an unknown name fails only when it is used
	absent error           // first unknown filter or test elsewhere
	blocks map[string]bool // names of blocks so far
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
	case tokString:
		const most = 200 // bytes
		if len(t.text) > most {
			return strings.ToValidUTF8(t.text[:most], "") + "…"
		}
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
