package jinja

import (
	"strings"
	"unicode/utf8"
)

// percenter fills the fields of one text % value.
type percenter struct {
	r     *run
	dict  *Dict // where (name) looks, nil where the value is no dict
	rest  []Value
	named bool // a field had a (name)
}

// percent is Python's text % value.
func (r *run) percent(s string, v Value) (Value, error) {
	if err := r.work(len(s)); err != nil {
		return nil, err
	}
	p := &percenter{r: r, rest: []Value{v}}
	spare := false // whether Python minds values that are left over
	switch v := v.(type) {
	case *List:
		if v.Tuple {
			p.rest, spare = v.Items, true
		}
	case *Dict:
		p.dict = v
	case *Undefined, *rangeVal:
	default:
		spare = true
	}
	var b strings.Builder
	for s != "" {
		i := strings.IndexByte(s, '%')
		if i < 0 {
			i = len(s)
		}
		if err := r.write(&b, s[:i]); err != nil {
			return nil, err
		}
		if s = s[i:]; s == "" {
			break
		}
		text, tail, err := p.field(s[1:])
		if err != nil {
			return nil, err
		}
		if err := r.write(&b, text); err != nil {
			return nil, err
		}
		s = tail
	}
	if len(p.rest) > 0 && !p.named && spare {
		return nil, typeError("not all arguments converted during string formatting")
	}
	return b.String(), nil
}

func (p *percenter) next() (Value, error) {
	if len(p.rest) == 0 {
		return nil, typeError("not enough arguments for format string")
	}
	v := p.rest[0]
	p.rest = p.rest[1:]
	return v, nil
}

// field fills the field that s begins with, its sign left out, and gives what follows it.
func (p *percenter) field(s string) (text, rest string, err error) {
	var value Value
	if strings.HasPrefix(s, "(") && p.dict != nil {
		if value, s, err = p.key(s); err != nil {
			return "", "", err
		}
		p.named = true
	}
	sp, rest, err := p.spec(s)
	if err != nil || sp.verb == '%' {
		return "%", rest, err
	}
	if !p.named {
		if value, err = p.next(); err != nil {
			return "", "", err
		}
	}
	text, err = p.r.percentValue(sp, value)
	return text, rest, err
}

// key reads the (name) of a field and gives its value and the rest of the format.
func (p *percenter) key(s string) (v Value, rest string, err error) {
	end := strings.IndexByte(s, ')')
	if end < 0 {
		return nil, "", fault("ValueError", "incomplete format key")
	}
	v, ok, err := p.r.find(p.dict, s[1:end])
	if !ok && err == nil {
		err = fault("KeyError", "%s", quoted(s[1:end]))
	}
	return v, s[end+1:], err
}

// spec reads flags, width, precision and verb.
func (p *percenter) spec(s string) (sp spec, rest string, err error) {
	sp, s = percentFlags(s)
	if sp.width, s, err = p.size(s); err != nil {
		return sp, s, err
	}
	if sp.width < 0 {
		sp.width, sp.align = -sp.width, '<'
	}
	if strings.HasPrefix(s, ".") {
		if sp.precision, s, err = p.size(s[1:]); err != nil {
			return sp, s, err
		}
	}
	s = strings.TrimLeft(s, "hlL")
	if s == "" {
		return sp, s, fault("ValueError", "incomplete format")
	}
	sp.verb = s[0]
	if strings.IndexByte("%diuoxXeEfFgGcrsa", sp.verb) < 0 {
		c, _ := utf8.DecodeRuneInString(s)
		return sp, s, fault("ValueError", "unsupported format character '%c' (0x%x)", c, c)
	}
	return sp, s[1:], nil
}

func percentFlags(s string) (sp spec, rest string) {
	sp = spec{precision: -1, align: '>'}
	zero := false
	for s != "" && strings.IndexByte("-+ #0", s[0]) >= 0 {
		switch s[0] {
		case '-':
			sp.align = '<'
		case '+':
			sp.sign = '+'
		case ' ':
			if sp.sign == 0 {
				sp.sign = ' '
			}
		case '#':
			sp.alt = true
		case '0':
			zero = true
		}
		s = s[1:]
	}
	if zero && sp.align != '<' {
		sp.fill, sp.align = "0", '='
	}
	return sp, s
}

// size reads a width or precision: digits, or a star for the next value.
func (p *percenter) size(s string) (n int, rest string, err error) {
	if !strings.HasPrefix(s, "*") {
		return p.r.specSize(s)
	}
	v, err := p.next()
	if err != nil {
		return 0, s, err
	}
	if u, ok := v.(*Undefined); ok {
		return 0, s, u.err()
	}
	if _, ok := integer(v); !ok {
		return 0, s, typeError("* wants int")
	}
	i, ok := small(v)
	if !ok || i > maxSize || i < -maxSize {
		return 0, s, p.r.tooLong()
	}
	return int(i), s[1:], nil
}

func (r *run) percentValue(sp spec, v Value) (string, error) {
	if u, ok := v.(*Undefined); ok && sp.verb != 's' && sp.verb != 'r' && sp.verb != 'a' {
		return "", u.err()
	}
	switch sp.verb {
	case 's', 'r', 'a':
		text, err := r.str(v)
		if sp.verb != 's' {
			text, err = r.repr(v)
		}
		if err != nil {
			return "", err
		}
		if sp.align == '=' {
			sp.fill, sp.align = "", '>'
		}
		return r.padText(sp, cutRunes(text, sp.precision))
	case 'c':
		if s, ok := v.(string); ok && utf8.RuneCountInString(s) == 1 {
			return r.padText(sp, s)
		}
		n, ok := small(v)
		if !ok || n < 0 || n > utf8.MaxRune {
			return "", typeError("%%c requires int or char")
		}
		return r.padText(sp, string(rune(n)))
	case 'd', 'i', 'u':
		if f, ok := v.(float64); ok {
			i, err := truncate(f)
			if err != nil {
				return "", err
			}
			v = i
		}
		if _, ok := integer(v); !ok {
			return "", typeError("%%%c format: a real number is required, not %s", sp.verb, typeName(v))
		}
		sp.verb = 'd'
	case 'o', 'x', 'X':
		if _, ok := integer(v); !ok {
			return "", typeError("%%%c format: an integer is required, not %s", sp.verb, typeName(v))
		}
	default:
		if _, ok := number(v); !ok {
			return "", typeError("must be real number, not %s", typeName(v))
		}
	}
	return r.formatNumber(sp, v)
}
