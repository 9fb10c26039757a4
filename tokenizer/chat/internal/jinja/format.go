package jinja

import (
	"math/big"
	"strconv"
	"strings"
	"unicode/utf8"
)

// spec is how one value is to be formatted, by % or by str.format.
type spec struct {
	fill      string // one rune; "" is a blank
	align     byte   // '<', '>', '^', '=' or 0
	sign      byte   // '+', ' ' or 0
	alt       bool   // "#"
	width     int
	comma     byte // ',' or '_' between thousands, or 0
	precision int  // -1 where not given
	verb      byte // 0 where not given
}

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
			end := strings.IndexByte(s, ')')
			if end < 0 {
				return nil, fault("ValueError", "incomplete format key")
			}
			var ok bool
			if value, ok = dict.Get(s[1:end]); !ok {
				return nil, fault("KeyError", "%s", pyRepr(s[1:end]))
			}
			s = s[end+1:]
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

// truncate is int() of a float.
func truncate(f float64) (Value, error) {
	if f != f {
		return nil, fault("ValueError", "cannot convert float NaN to integer")
	}
	b, _ := new(big.Float).SetFloat64(f).Int(nil)
	if b == nil {
		return nil, fault("OverflowError", "cannot convert float infinity to integer")
	}
	return normal(b), nil
}

func cutRunes(s string, n int) string {
	if n < 0 {
		return s
	}
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}

// padText fills a text to its width.
func (r *run) padText(sp spec, s string) (string, error) {
	n := sp.width - utf8.RuneCountInString(s)
	if n <= 0 {
		return s, nil
	}
	fill := sp.fill
	if fill == "" {
		fill = " "
	}
	if err := r.alloc(n * len(fill)); err != nil {
		return "", err
	}
	left := 0
	switch sp.align {
	case '>':
		left = n
	case '^':
		left = n / 2
	}
	return strings.Repeat(fill, left) + s + strings.Repeat(fill, n-left), nil
}

// formatNumber writes sign, prefix, zeros and digits.
func (r *run) formatNumber(sp spec, v Value) (string, error) {
	if sp.precision > 1<<20 {
		return "", fault("LimitError", "a precision of %d", sp.precision)
	}
	if err := r.alloc(max(sp.precision, 0)); err != nil {
		return "", err
	}
	prefix, body := "", ""
	negative := false
	if i, ok := integer(v); ok && strings.IndexByte("dbBoxXn", sp.verb) >= 0 {
		base := map[byte]int{'b': 2, 'o': 8, 'x': 16, 'X': 16}[sp.verb]
		if base == 0 {
			base = 10
		}
		negative = i.Sign() < 0
		body = new(big.Int).Abs(i).Text(base)
		if sp.alt && base != 10 {
			prefix = "0" + string(sp.verb)
		}
		if n := sp.precision - len(body); n > 0 {
			body = strings.Repeat("0", n) + body
		}
	} else {
		f, _ := number(v)
		negative = f < 0 || f == 0 && 1/f < 0
		body = formatFloat(sp, max(f, -f))
	}
	if sp.verb == 'X' {
		body = strings.ToUpper(body)
	}
	if sp.comma != 0 {
		body = groupThousands(body, sp.comma)
	}
	sign := ""
	switch {
	case negative:
		sign = "-"
	case sp.sign != 0:
		sign = string(sp.sign)
	}
	if n := sp.width - len(sign+prefix+body); n > 0 && sp.align == '=' {
		fill := sp.fill
		if fill == "" {
			fill = " "
		}
		if err := r.alloc(n * len(fill)); err != nil {
			return "", err
		}
		return sign + prefix + strings.Repeat(fill, n) + body, nil
	}
	return r.padText(sp, sign+prefix+body)
}

func formatFloat(sp spec, f float64) string {
	precision := sp.precision
	if precision < 0 {
		precision = 6
	}
	var s string
	switch sp.verb {
	case 0:
		s = floatRepr(f)
	case 'f', 'F', 'e', 'E':
		s = strconv.FormatFloat(f, sp.verb|0x20, precision, 64)
	case '%':
		s = strconv.FormatFloat(f*100, 'f', precision, 64) + "%"
	default: // g, G
		s = generalFloat(f, max(precision, 1), sp.alt)
	}
	s = map[string]string{"+Inf": "inf", "NaN": "nan"}[s] + strings.NewReplacer("+Inf", "", "NaN", "").Replace(s)
	if sp.verb == 'E' || sp.verb == 'G' || sp.verb == 'F' {
		s = strings.ToUpper(s)
	}
	return s
}

// generalFloat is C's %g: an exponent below -4 or from the precision on, no trailing zeros.
func generalFloat(f float64, precision int, keepZeros bool) string {
	e := strconv.FormatFloat(f, 'e', precision-1, 64)
	i := strings.IndexByte(e, 'e')
	if i < 0 {
		return e
	}
	exp, _ := strconv.Atoi(e[i+1:]) // FormatFloat writes digits
	trim := func(s string) string {
		if keepZeros || !strings.Contains(s, ".") {
			return s
		}
		return strings.TrimRight(strings.TrimRight(s, "0"), ".")
	}
	if exp < -4 || exp >= precision {
		return trim(e[:i]) + e[i:]
	}
	return trim(strconv.FormatFloat(f, 'f', precision-1-exp, 64))
}

func groupThousands(s string, sep byte) string {
	end := len(s)
	if i := strings.IndexAny(s, ".e%"); i >= 0 {
		end = i
	}
	var b strings.Builder
	for i := range end {
		if i > 0 && (end-i)%3 == 0 {
			b.WriteByte(sep)
		}
		b.WriteByte(s[i])
	}
	return b.String() + s[end:]
}

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
			b.WriteString(s)
			break
		}
		b.WriteString(s[:i])
		c := s[i]
		s = s[i+1:]
		if s != "" && s[0] == c {
			b.WriteByte(c)
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
		b.WriteString(text)
		s = s[end+1:]
	}
	return b.String(), f.r.alloc(b.Len())
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
		found := false
		for i, kw := range f.a.kwNames {
			if kw == first {
				v, found = f.a.kw[i], true
			}
		}
		if !found {
			return nil, fault("KeyError", "%s", pyRepr(first))
		}
	}
	for rest != "" {
		if rest[0] == '.' {
			end := strings.IndexAny(rest[1:], ".[") + 1
			if end == 0 {
				end = len(rest)
			}
			if v, err = f.r.attr(v, rest[1:end]); err != nil {
				return nil, err
			}
			rest = rest[end:]
			continue
		}
		end := strings.IndexByte(rest, ']')
		if end < 0 {
			return nil, fault("ValueError", "Missing ']' in format string")
		}
		var key Value = rest[1:end]
		if i, err := strconv.ParseInt(rest[1:end], 10, 64); err == nil {
			key = i
		}
		if v, err = f.r.item(v, key); err != nil {
			return nil, err
		}
		rest = rest[end+1:]
	}
	return v, nil
}

// formatValue is format(v, spec).
func (r *run) formatValue(v Value, s string) (string, error) {
	sp, err := parseSpec(s)
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
func parseSpec(s string) (spec, error) {
	sp := spec{precision: -1}
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
	num := func() int {
		n := digits(s, 10)
		v, _ := strconv.Atoi("0" + strings.ReplaceAll(s[:min(n, 9)], "_", ""))
		s = s[n:]
		return v
	}
	sp.width = num()
	if s != "" && (s[0] == ',' || s[0] == '_') {
		sp.comma, s = s[0], s[1:]
	}
	if strings.HasPrefix(s, ".") {
		s = s[1:]
		sp.precision = num()
	}
	if len(s) == 1 {
		sp.verb = s[0]
	} else if s != "" {
		return sp, fault("ValueError", "Invalid format specifier '%s'", whole)
	}
	return sp, nil
}
