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

// specSize reads the digits of a width or precision.
func (r *run) specSize(s string) (n int, rest string, err error) {
	for s != "" && s[0] >= '0' && s[0] <= '9' {
		if n = 10*n + int(s[0]-'0'); n > maxSize {
			return 0, s, r.tooLong()
		}
		s = s[1:]
	}
	return n, s, nil
}

func (r *run) tooLong() error {
	return r.exceed("the template makes too much text: a width or precision of more than %d", maxSize)
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
	if err := r.padding(n, fill, s); err != nil {
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
	if err := r.newText(max(sp.precision, 0)); err != nil {
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
		var err error
		if body, err = r.digitsOf(new(big.Int).Abs(i), base); err != nil {
			return "", err
		}
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
		if err := r.padding(n, fill, sign+prefix+body); err != nil {
			return "", err
		}
		return sign + prefix + strings.Repeat(fill, n) + body, nil
	}
	return r.padText(sp, sign+prefix+body)
}

func (r *run) digitsOf(i *big.Int, base int) (string, error) {
	if base == 10 {
		return r.bigText(i)
	}
	return i.Text(base), r.alloc(i.BitLen())
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
