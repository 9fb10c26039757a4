package jinja

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// percent is Python's text % value.
func (r *run) percent(s string, v Value) (Value, error) {
	if err := r.work(len(s)); err != nil {
		return nil, err
	}
	rest := []Value{v}
	if l, ok := v.(*List); ok && l.Tuple {
		rest = l.Items
	}
	dict, isDict := v.(*Dict)
	subscriptable := isDict // then Python does not mind what is left over
	switch v := v.(type) {
	case *List:
		subscriptable = !v.Tuple
	case *Undefined, *rangeVal:
		subscriptable = true
	}
	var b strings.Builder
	named := false
	next := func() (Value, error) {
		if len(rest) == 0 {
			return nil, typeError("not enough arguments for format string")
		}
		v := rest[0]
		rest = rest[1:]
		return v, nil
	}
	for s != "" {
		i := strings.IndexByte(s, '%')
		if i < 0 {
			b.WriteString(s)
			break
		}
		b.WriteString(s[:i])
		s = s[i+1:]
		var value Value
		if strings.HasPrefix(s, "(") && isDict {
			var err error
			if value, s, err = percentKey(s, dict); err != nil {
				return nil, err
			}
			named = true
		}
		sp, tail, err := percentSpec(s, next)
		if err != nil {
			return nil, err
		}
		s = tail
		if sp.verb == '%' {
			b.WriteByte('%')
			continue
		}
		if !named {
			if value, err = next(); err != nil {
				return nil, err
			}
		}
		text, err := r.percentValue(sp, value)
		if err != nil {
			return nil, err
		}
		b.WriteString(text)
	}
	if len(rest) > 0 && !named && !subscriptable {
		return nil, typeError("not all arguments converted during string formatting")
	}
	return b.String(), r.alloc(b.Len())
}

// percentKey reads the (name) of a field and gives its value and the rest of the format.
func percentKey(s string, d *Dict) (v Value, rest string, err error) {
	end := strings.IndexByte(s, ')')
	if end < 0 {
		return nil, "", fault("ValueError", "incomplete format key")
	}
	v, ok := d.Get(s[1:end])
	if !ok {
		return nil, "", fault("KeyError", "%s", pyRepr(s[1:end]))
	}
	return v, s[end+1:], nil
}

func percentSpec(s string, next func() (Value, error)) (sp spec, rest string, err error) {
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
	size := func() (int, error) {
		if strings.HasPrefix(s, "*") {
			s = s[1:]
			v, err := next()
			if err != nil {
				return 0, err
			}
			n, err := count("%", v, 0)
			return int(max(-1<<30, min(n, 1<<30))), err
		}
		n := digits(s, 10)
		v, _ := strconv.Atoi("0" + strings.ReplaceAll(s[:min(n, 9)], "_", ""))
		s = s[n:]
		return v, nil
	}
	if sp.width, err = size(); err != nil {
		return sp, s, err
	}
	if sp.width < 0 {
		sp.width, sp.align = -sp.width, '<'
	}
	if strings.HasPrefix(s, ".") {
		s = s[1:]
		if sp.precision, err = size(); err != nil {
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
