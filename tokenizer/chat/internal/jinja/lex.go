package jinja

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

type tokenKind int

const (
	tokData tokenKind = iota
	tokVarBegin
	tokVarEnd
	tokBlockBegin
	tokBlockEnd
	tokName
	tokString
	tokNumber
	tokOp
	tokEOF
)

// token is one piece of a template. text is the data, name, unescaped string or operator.
type token struct {
	kind tokenKind
	text string
	num  Value
	line int
}

// lexer cuts a template by the rules of jinja2's lexer with trim_blocks and lstrip_blocks on:
// a block or comment alone on its line takes the blanks before it and the newline after it along.
type lexer struct {
	src       string
	pos       int
	line      int
	lineStart bool // the last tag ended with a newline
	toks      []token
	brackets  []byte
}

func lex(source string) ([]token, error) {
	source = strings.ReplaceAll(source, "\r\n", "\n")
	source = strings.ReplaceAll(source, "\r", "\n")
	source = strings.TrimSuffix(source, "\n")
	l := &lexer{src: source, line: 1, lineStart: true}
	for l.pos < len(l.src) {
		if err := l.root(); err != nil {
			return nil, err
		}
		if len(l.toks) > maxTokens {
			return nil, l.fail("more than %d names and signs", maxTokens)
		}
	}
	l.emit(token{kind: tokEOF})
	return l.toks, nil
}

func (l *lexer) emit(t token) {
	t.line = l.line
	l.toks = append(l.toks, t)
}

func (l *lexer) fail(format string, args ...any) error {
	e := fault("TemplateSyntaxError", format, args...)
	e.Line = l.line
	return e
}

// advance moves over n bytes and counts their lines.
func (l *lexer) advance(n int) {
	l.line += strings.Count(l.src[l.pos:l.pos+n], "\n")
	l.pos += n
	l.lineStart = n > 0 && l.src[l.pos-1] == '\n'
}

// nextTag finds the next opening of a tag at or after pos, -1 if there is none.
func (l *lexer) nextTag() int {
	for i := l.pos; i+1 < len(l.src); i++ {
		j := strings.IndexByte(l.src[i:], '{')
		if j < 0 || i+j+1 >= len(l.src) {
			return -1
		}
		if i += j; strings.IndexByte("{%#", l.src[i+1]) >= 0 {
			return i
		}
	}
	return -1
}

// root reads data up to the next tag, and the tag.
func (l *lexer) root() error {
	start := l.nextTag()
	if start < 0 {
		l.emit(token{kind: tokData, text: l.src[l.pos:]})
		l.advance(len(l.src) - l.pos)
		return nil
	}
	text := l.src[l.pos:start]
	kind := l.src[start+1]
	head := 2
	sign := byte(0)
	if start+2 < len(l.src) && (l.src[start+2] == '-' || l.src[start+2] == '+') {
		sign = l.src[start+2]
		head = 3
	}
	kept := l.before(text, sign, kind == '{')
	if kept != "" {
		l.emit(token{kind: tokData, text: kept})
	}
	l.advance(len(text) + head)
	switch kind {
	case '#':
		return l.comment()
	case '{':
		l.emit(token{kind: tokVarBegin})
		return l.tag(true)
	}
	if n := l.rawHead(); n > 0 {
		l.advance(n)
		return l.raw()
	}
	l.emit(token{kind: tokBlockBegin})
	return l.tag(false)
}

// before applies a tag's whitespace sign, or lstrip_blocks, to the data in front of it.
func (l *lexer) before(text string, sign byte, variable bool) string {
	if sign == '-' {
		return strings.TrimRightFunc(text, isSpace)
	}
	if sign == '+' || variable {
		return text
	}
	lineAt := strings.LastIndexByte(text, '\n') + 1
	if lineAt == 0 && !l.lineStart {
		return text
	}
	if rest := text[lineAt:]; rest != "" && strings.TrimLeftFunc(rest, isSpace) == "" {
		return text[:lineAt]
	}
	return text
}

// tagEnd tells how many bytes a tag's end at s takes with the whitespace it eats: "-" eats all of
// it, nothing eats one newline where trim is set, "+" eats none. It is 0 if s does not begin with the end.
func tagEnd(s, end string, trim bool) int {
	switch {
	case strings.HasPrefix(s, "-"+end):
		rest := s[1+len(end):]
		return len(s) - len(strings.TrimLeftFunc(rest, isSpace))
	case trim && strings.HasPrefix(s, "+"+end):
		return 1 + len(end)
	case strings.HasPrefix(s, end+"\n") && trim:
		return len(end) + 1
	case strings.HasPrefix(s, end):
		return len(end)
	}
	return 0
}

func (l *lexer) comment() error {
	i := strings.Index(l.src[l.pos:], "#}")
	if i < 0 {
		return l.fail("Missing end of comment tag")
	}
	if i > 0 && strings.IndexByte("-+", l.src[l.pos+i-1]) >= 0 {
		i--
	}
	l.advance(i + tagEnd(l.src[l.pos+i:], "#}", true))
	return nil
}

// rawHead tells how many bytes the rest of a {% raw %} tag takes, 0 if it is another tag.
func (l *lexer) rawHead() int {
	s := l.src[l.pos:]
	rest := strings.TrimLeftFunc(s, isSpace)
	rest, ok := strings.CutPrefix(rest, "raw")
	if !ok {
		return 0
	}
	rest = strings.TrimLeftFunc(rest, isSpace)
	n := tagEnd(rest, "%}", false)
	if n == 0 {
		return 0
	}
	return len(s) - len(rest) + n
}

func (l *lexer) raw() error {
	for i := l.pos; i < len(l.src); i++ {
		j := strings.Index(l.src[i:], "{%")
		if j < 0 {
			break
		}
		i += j
		after := l.src[i+2:]
		sign := byte(0)
		if after != "" && (after[0] == '-' || after[0] == '+') {
			sign = after[0]
			after = after[1:]
		}
		rest, ok := strings.CutPrefix(strings.TrimLeftFunc(after, isSpace), "endraw")
		if !ok {
			continue
		}
		rest = strings.TrimLeftFunc(rest, isSpace)
		n := tagEnd(rest, "%}", true)
		if n == 0 {
			continue
		}
		if text := l.before(l.src[l.pos:i], sign, false); text != "" {
			l.emit(token{kind: tokData, text: text})
		}
		l.advance(len(l.src) - len(rest) + n - l.pos)
		return nil
	}
	return l.fail("Missing end of raw directive")
}

// tag reads the tokens of a {{ }} or {% %} tag to its end.
func (l *lexer) tag(variable bool) error {
	l.brackets = l.brackets[:0]
	end, kind := "%}", tokBlockEnd
	if variable {
		end, kind = "}}", tokVarEnd
	}
	for l.pos < len(l.src) {
		s := l.src[l.pos:]
		if len(l.brackets) == 0 {
			if n := tagEnd(s, end, !variable); n > 0 {
				l.emit(token{kind: kind})
				l.advance(n)
				return nil
			}
		}
		if c, n := utf8.DecodeRuneInString(s); isSpace(c) {
			l.advance(n)
			continue
		}
		n, err := l.item(s)
		if err != nil {
			return err
		}
		if len(l.toks) > maxTokens {
			return l.fail("more than %d names and signs", maxTokens)
		}
		l.advance(n)
	}
	return nil // the parser tells what is missing
}

// item reads one name, number, string or operator and tells its length.
func (l *lexer) item(s string) (int, error) {
	c, _ := utf8.DecodeRuneInString(s)
	switch {
	case c >= '0' && c <= '9':
		return l.number(s)
	case c == '_' || unicode.IsLetter(c):
		n := strings.IndexFunc(s, func(c rune) bool {
			return c != '_' && !unicode.IsLetter(c) && !unicode.IsDigit(c) && !unicode.Is(unicode.M, c)
		})
		if n < 0 {
			n = len(s)
		}
		if n > maxName {
			return 0, l.fail("a name of %d bytes, more than %d", n, maxName)
		}
		l.emit(token{kind: tokName, text: s[:n]})
		return n, nil
	case c == '\'' || c == '"':
		return l.str(s)
	}
	return l.operator(s)
}

func (l *lexer) operator(s string) (int, error) {
	n := 1
	for _, op := range []string{"//", "**", "==", "!=", ">=", "<="} {
		if strings.HasPrefix(s, op) {
			n = 2
		}
	}
	op := s[:n]
	if n == 1 && !strings.Contains("+-/*%~[](){}><=.:|,;", op) {
		c, _ := utf8.DecodeRuneInString(s)
		return 0, l.fail("unexpected char %s at %d", pyRepr(string(c)), l.pos)
	}
	switch op {
	case "(", "[", "{":
		l.brackets = append(l.brackets, map[string]byte{"(": ')', "[": ']', "{": '}'}[op])
		if len(l.brackets) > maxNesting {
			return 0, l.fail("more than %d nested brackets", maxNesting)
		}
	case ")", "]", "}":
		if len(l.brackets) == 0 {
			return 0, l.fail("unexpected '%s'", op)
		}
		want := l.brackets[len(l.brackets)-1]
		l.brackets = l.brackets[:len(l.brackets)-1]
		if want != op[0] {
			return 0, l.fail("unexpected '%s', expected '%c'", op, want)
		}
	}
	l.emit(token{kind: tokOp, text: op})
	return n, nil
}
