package jinja

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// strFormat is str.format.
func strFormat(r *run, s string, a args) (Value, error) {
	f := &formatter{r: r, a: a}
	out, err := f.format(s, 2)
	return out, err
}

// formatter fills the fields of one format text.
type formatter struct {
	r    *run
	a    args
	auto int  // next field without a number
	kind byte // 'a' once a field had no number, 'm' once one had
}

func (f *formatter) format(s string, nesting int) (string, error) {
	var b strings.Builder
	for s != "" {
		i := strings.IndexAny(s, "{}")
		if i < 0 {
			i = len(s)
		}
		if err := f.r.write(&b, s[:i]); err != nil {
			return "", err
		}
		if s = s[i:]; s == "" {
			break
		}
		c := s[0]
		s = s[1:]
		if s != "" && s[0] == c {
			if err := f.r.write(&b, s[:1]); err != nil {
				return "", err
			}
			s = s[1:]
			continue
		}
		if c == '}' {
			return "", fault("ValueError", "Single '}' encountered in format string")
		}
		end := matching(s)
		if end < 0 {
			return "", fault("ValueError", "expected '}' before end of string")
		}
		text, err := f.field(s[:end], nesting)
		if err != nil {
			return "", err
		}
		if err := f.r.write(&b, text); err != nil {
			return "", err
		}
		s = s[end+1:]
	}
	return b.String(), nil
}

// matching finds the brace that closes a field, over nested ones.
func matching(s string) int {
	depth := 0
	for i := range len(s) {
		switch s[i] {
		case '{':
			depth++
		case '}':
			if depth--; depth < 0 {
				return i
			}
		}
	}
	return -1
}

func (f *formatter) field(s string, nesting int) (string, error) {
	if nesting == 0 {
		return "", fault("ValueError", "Max string recursion exceeded")
	}
	head, sp, _ := strings.Cut(s, ":")
	name, conversion, converted := strings.Cut(head, "!")
	v, err := f.lookup(name)
	if err != nil {
		return "", err
	}
	if converted {
		switch conversion {
		case "s":
			v, err = f.r.str(v)
		case "r", "a":
			v, err = f.r.repr(v)
		default:
			return "", fault("ValueError", "Unknown conversion specifier %s", conversion)
		}
		if err != nil {
			return "", err
		}
	}
	if sp, err = f.format(sp, nesting-1); err != nil {
		return "", err
	}
	return f.r.formatValue(v, sp)
}

// lookup finds the value of a field name: a number or keyword, then .attributes and [elements].
func (f *formatter) lookup(name string) (Value, error) {
	end := strings.IndexAny(name, ".[")
	if end < 0 {
		end = len(name)
	}
	first, rest := name[:end], name[end:]
	var v Value
	n, err := strconv.Atoi(first)
	if first == "" || err == nil {
		kind := byte('m')
		if first == "" {
			kind = 'a'
		}
		if f.kind != 0 && f.kind != kind {
			return nil, fault("ValueError", "cannot switch between manual field specification and automatic field numbering")
		}
		f.kind = kind
	}
	switch {
	case first == "":
		n = f.auto
		f.auto++
		fallthrough
	case err == nil:
		if n < 0 || n >= len(f.a.pos) {
			return nil, fault("IndexError", "Replacement index %d out of range for positional args tuple", n)
		}
		v = f.a.pos[n]
	default:
		if err := f.r.step(1 + len(f.a.kwNames)>>4); err != nil {
			return nil, err
		}
		found := false
		for i, kw := range f.a.kwNames {
			if kw == first {
				v, found = f.a.kw[i], true
			}
		}
		if !found {
			return nil, fault("KeyError", "%s", quoted(first))
		}
	}
	return f.r.follow(v, rest)
}

// follow goes from a value along .attributes and [elements].
func (r *run) follow(v Value, rest string) (Value, error) {
	var err error
	for rest != "" {
		if rest[0] == '.' {
			end := strings.IndexAny(rest[1:], ".[") + 1
			if end == 0 {
				end = len(rest)
			}
			if err = r.match(end); err == nil {
				v, err = r.attr(v, rest[1:end])
			}
			if err != nil {
				return nil, err
			}
			rest = rest[end:]
			continue
		}
		end := strings.IndexByte(rest, ']')
		if end < 0 {
			return nil, fault("ValueError", "Missing ']' in format string")
		}
		if err := r.step(1); err != nil {
			return nil, err
		}
		var key Value = rest[1:end]
		if i, err := strconv.ParseInt(rest[1:end], 10, 64); err == nil {
			key = i
		}
		if v, err = r.item(v, key); err != nil {
			return nil, err
		}
		rest = rest[end+1:]
	}
	return v, nil
}

// formatValue is format(v, spec).
func (r *run) formatValue(v Value, s string) (string, error) {
	sp, err := r.parseSpec(s)
	if err != nil {
		return "", err
	}
	_, isFloat := v.(float64)
	_, isInt := integer(v)
	_, isBool := v.(bool)
	switch {
	case isInt && !(isBool && s == "") && sp.verb != 's' && (sp.verb == 0 || strings.IndexByte("bcdoxXn", sp.verb) >= 0):
		if sp.verb == 'c' {
			return r.percentValue(sp, v)
		}
		if sp.verb == 0 {
			sp.verb = 'd'
		}
		if sp.precision >= 0 {
			return "", fault("ValueError", "Precision not allowed in integer format specifier")
		}
	case (isInt || isFloat) && sp.verb != 0 && strings.IndexByte("eEfFgGn%", sp.verb) >= 0:
	case isFloat && sp.verb == 0:
		if sp.precision >= 0 {
			sp.verb = 'g'
		}
	default:
		if s != "" && typeName(v) != "str" {
			return "", typeError("unsupported format string passed to %s.__format__", typeName(v))
		}
		if sp.verb != 0 && sp.verb != 's' {
			return "", fault("ValueError", "Unknown format code '%c' for object of type '%s'", sp.verb, typeName(v))
		}
		if sp.sign != 0 {
			return "", fault("ValueError", "Sign not allowed in string format specifier")
		}
		if sp.comma != 0 {
			return "", fault("ValueError", "Cannot specify '%c' with 's'.", sp.comma)
		}
		text, err := r.str(v)
		if err != nil {
			return "", err
		}
		return r.padText(sp, cutRunes(text, sp.precision))
	}
	if sp.align == 0 {
		sp.align = '>'
	}
	return r.formatNumber(sp, v)
}

// parseSpec reads [[fill]align][sign][#][0][width][,][.precision][type].
func (r *run) parseSpec(s string) (sp spec, err error) {
	sp = spec{precision: -1}
	whole := s
	isAlign := func(i int) bool { return i < len(s) && strings.IndexByte("<>^=", s[i]) >= 0 }
	if _, n := utf8.DecodeRuneInString(s); n > 0 && isAlign(n) {
		sp.fill, sp.align, s = s[:n], s[n], s[n+1:]
	} else if isAlign(0) {
		sp.align, s = s[0], s[1:]
	}
	if s != "" && strings.IndexByte("+- ", s[0]) >= 0 {
		if s[0] != '-' {
			sp.sign = s[0]
		}
		s = s[1:]
	}
	if strings.HasPrefix(s, "#") {
		sp.alt, s = true, s[1:]
	}
	if strings.HasPrefix(s, "0") {
		if s = s[1:]; sp.align == 0 {
			sp.fill, sp.align = "0", '='
		}
	}
	if sp.width, s, err = r.specSize(s); err != nil {
		return sp, err
	}
	if s != "" && (s[0] == ',' || s[0] == '_') {
		sp.comma, s = s[0], s[1:]
	}
	if strings.HasPrefix(s, ".") {
		if sp.precision, s, err = r.specSize(s[1:]); err != nil {
			return sp, err
		}
	}
	if len(s) == 1 {
		sp.verb = s[0]
	} else if s != "" {
		return sp, fault("ValueError", "Invalid format specifier %s", quoted(whole))
	}
	return sp, nil
}
