package jinja

import (
	"math"
	"math/big"
	"strconv"
	"strings"
)

// isNumber tells whether Python's float() reads a text in lower case, from which underscores were taken.
func isNumber(s string) bool {
	if s != "" && (s[0] == '+' || s[0] == '-') {
		s = s[1:]
	}
	switch s {
	case "inf", "infinity", "nan":
		return true
	}
	whole := plainDigits(s)
	s = s[whole:]
	part := 0
	if strings.HasPrefix(s, ".") {
		part = plainDigits(s[1:])
		s = s[1+part:]
	}
	if whole+part == 0 {
		return false
	}
	if strings.HasPrefix(s, "e") {
		if s = s[1:]; s != "" && (s[0] == '+' || s[0] == '-') {
			s = s[1:]
		}
		n := plainDigits(s)
		return n > 0 && n == len(s)
	}
	return s == ""
}

func plainDigits(s string) int {
	n := 0
	for n < len(s) && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	return n
}

func parseFloat(s string) (float64, bool) {
	s = strings.ToLower(strings.TrimFunc(s, isSpace))
	if strings.Contains(s, "_") {
		for i := range len(s) {
			if s[i] == '_' && (i == 0 || i+1 == len(s) || plainDigits(s[i-1:i]) != 1 || plainDigits(s[i+1:i+2]) != 1) {
				return 0, false
			}
		}
		s = strings.ReplaceAll(s, "_", "")
	}
	if !isNumber(s) {
		return 0, false
	}
	if strings.HasSuffix(s, "nan") {
		return math.NaN(), true // which strconv reads without a sign only
	}
	f, _ := strconv.ParseFloat(s, 64) // out of range is inf, as in Python
	return f, true
}

func parseInt(s string, base int) (Value, bool) {
	s = strings.TrimFunc(s, isSpace)
	sign := ""
	if s != "" && (s[0] == '-' || s[0] == '+') {
		sign, s = s[:1], s[1:]
	}
	if prefix := map[int]string{2: "0b", 8: "0o", 16: "0x"}[base]; prefix != "" && strings.HasPrefix(strings.ToLower(s), prefix) {
		s = s[2:]
	}
	if s == "" || len(s) > maxDigits || strings.ContainsAny(s, "+-") || strings.HasPrefix(s, "_") || strings.HasSuffix(s, "_") || strings.Contains(s, "__") {
		return nil, false
	}
	b, ok := new(big.Int).SetString(sign+strings.ReplaceAll(s, "_", ""), base)
	if !ok {
		return nil, false
	}
	return normal(b), true
}

func filterInt(_ *run, v Value, a args) (Value, error) {
	p, err := a.take("int", 0, "default", "base")
	if err != nil {
		return nil, err
	}
	base, err := count("int", p[1], 10)
	if err != nil {
		return nil, err
	}
	switch v := v.(type) {
	case *Undefined:
		return nil, v.err()
	case string:
		if base < 2 || base > 36 {
			return or(p[0], int64(0)), nil
		}
		if i, ok := parseInt(v, int(base)); ok {
			return i, nil
		}
		if f, ok := parseFloat(v); ok {
			if i, err := truncate(f); err == nil {
				return i, nil
			}
		}
	case float64:
		i, err := truncate(v)
		if err != nil && math.IsInf(v, 0) {
			return nil, err
		}
		if err == nil {
			return i, nil
		}
	default:
		if i, ok := integer(v); ok {
			return normal(i), nil
		}
	}
	return or(p[0], int64(0)), nil
}

func filterFloat(_ *run, v Value, a args) (Value, error) {
	p, err := a.take("float", 0, "default")
	if err != nil {
		return nil, err
	}
	if u, ok := v.(*Undefined); ok {
		return nil, u.err()
	}
	if s, ok := v.(string); ok {
		if f, ok := parseFloat(s); ok {
			return f, nil
		}
	} else if f, ok := number(v); ok {
		return f, nil
	}
	return or(p[0], 0.0), nil
}

func filterAbs(_ *run, v Value, a args) (Value, error) {
	if _, err := a.take("abs", 0); err != nil {
		return nil, err
	}
	if f, ok := v.(float64); ok {
		return math.Abs(f), nil
	}
	i, ok := integer(v)
	if !ok {
		return nil, typeError("bad operand type for abs(): '%s'", typeName(v))
	}
	return normal(new(big.Int).Abs(i)), nil
}

func filterRound(_ *run, v Value, a args) (Value, error) {
	p, err := a.take("round", 0, "precision", "method")
	if err != nil {
		return nil, err
	}
	precision, err := count("round", p[0], 0)
	if err != nil {
		return nil, err
	}
	if u, ok := v.(*Undefined); ok {
		return nil, u.err()
	}
	f, ok := number(v)
	if !ok {
		return nil, typeError("type %s doesn't define __round__ method", typeName(v))
	}
	switch or(p[1], "common") {
	case "common":
		if i, ok := integer(v); ok && precision >= 0 {
			return normal(i), nil
		}
		if precision < 0 || precision > 300 || math.IsInf(f, 0) || f != f {
			scale := math.Pow(10, float64(-precision))
			f = math.RoundToEven(f/scale) * scale
			if _, ok := integer(v); ok {
				return truncate(f)
			}
			return f, nil
		}
		f, _ = strconv.ParseFloat(strconv.FormatFloat(f, 'f', int(precision), 64), 64) // digits it wrote itself
		return f, nil
	case "ceil":
		scale := math.Pow(10, float64(precision))
		return math.Ceil(f*scale) / scale, nil
	case "floor":
		scale := math.Pow(10, float64(precision))
		return math.Floor(f*scale) / scale, nil
	}
	return nil, fault("FilterArgumentError", "method must be common, ceil or floor")
}
