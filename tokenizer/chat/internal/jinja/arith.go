package jinja

import (
	"math"
	"math/big"
	"slices"
	"strings"
)

// normal gives an integer its one form: int64 where it fits.
func normal(b *big.Int) Value {
	if b.IsInt64() {
		return b.Int64()
	}
	return b
}

// integer gives an int or bool as a big.Int.
func integer(v Value) (*big.Int, bool) {
	switch v := v.(type) {
	case bool:
		return big.NewInt(boolInt(v)), true
	case int64:
		return big.NewInt(v), true
	case *big.Int:
		return v, true
	}
	return nil, false
}

// small gives an int or bool as an int64; ok is false for anything else, too large ones among them.
func small(v Value) (i int64, ok bool) {
	switch v := v.(type) {
	case bool:
		return boolInt(v), true
	case int64:
		return v, true
	}
	return 0, false
}

// number gives an int, bool or float as a float64.
func number(v Value) (float64, bool) {
	switch v := v.(type) {
	case float64:
		return v, true
	case bool:
		return float64(boolInt(v)), true
	case int64:
		return float64(v), true
	case *big.Int:
		f, _ := new(big.Float).SetInt(v).Float64()
		return f, true
	}
	return 0, false
}

func (r *run) negate(v Value, negative bool) (Value, error) {
	switch v := v.(type) {
	case *Undefined:
		return nil, v.err()
	case float64:
		if negative {
			return -v, nil
		}
		return v, nil
	}
	i, ok := integer(v)
	switch {
	case !ok && negative:
		return nil, typeError("bad operand type for unary -: '%s'", typeName(v))
	case !ok:
		return nil, typeError("bad operand type for unary +: '%s'", typeName(v))
	case negative:
		return normal(new(big.Int).Neg(i)), nil
	}
	return normal(i), nil
}

// binary is an arithmetic operator of Python.
func (r *run) binary(op string, a, b Value) (Value, error) {
	if s, ok := a.(string); ok && op == "%" {
		return r.percent(s, b)
	}
	for _, v := range []Value{a, b} {
		if u, ok := v.(*Undefined); ok {
			return nil, u.err()
		}
	}
	if op == "+" {
		if v, done, err := r.join(a, b); done {
			return v, err
		}
	}
	if op == "*" {
		if v, done, err := r.repeat(a, b); done {
			return v, err
		}
	}
	x, okX := small(a)
	y, okY := small(b)
	if okX && okY {
		if v, ok := smallOp(op, x, y); ok {
			return v, nil
		}
	}
	i, okI := integer(a)
	j, okJ := integer(b)
	if okI && okJ {
		return r.bigOp(op, i, j)
	}
	f, okF := number(a)
	g, okG := number(b)
	if okF && okG {
		return floatOp(op, f, g)
	}
	if op == "**" {
		op = "** or pow()"
	}
	return nil, typeError("unsupported operand type(s) for %s: '%s' and '%s'", op, typeName(a), typeName(b))
}

// join adds texts and lists.
func (r *run) join(a, b Value) (v Value, done bool, err error) {
	switch x := a.(type) {
	case string:
		y, ok := b.(string)
		if !ok {
			return nil, true, typeError(`can only concatenate str (not "%s") to str`, typeName(b))
		}
		if err := r.newText(len(x) + len(y)); err != nil {
			return nil, true, err
		}
		return x + y, true, nil
	case *List:
		y, ok := b.(*List)
		if !ok || x.Tuple != y.Tuple {
			return nil, true, typeError(`can only concatenate %s (not "%s") to %s`, typeName(a), typeName(b), typeName(a))
		}
		if err := r.alloc(listBytes + slotBytes*(len(x.Items)+len(y.Items))); err != nil {
			return nil, true, err
		}
		items := append(append(make([]Value, 0, len(x.Items)+len(y.Items)), x.Items...), y.Items...)
		return &List{Items: items, Tuple: x.Tuple}, true, nil
	}
	return nil, false, nil
}

// repeat multiplies a text or list by an integer.
func (r *run) repeat(a, b Value) (v Value, done bool, err error) {
	if _, ok := integer(a); ok {
		a, b = b, a
	}
	size, count := 0, r.newText
	switch x := a.(type) {
	case string:
		size = len(x)
	case *List:
		size, count = slotBytes*len(x.Items), r.alloc
	default:
		return nil, false, nil
	}
	i, ok := integer(b)
	if !ok {
		return nil, true, typeError("can't multiply sequence by non-int of type '%s'", typeName(b))
	}
	n := 0
	if i.Sign() > 0 && size > 0 {
		if n = math.MaxInt; i.IsInt64() {
			n = int(i.Int64())
		}
	}
	if err := count(times(size, n)); err != nil {
		return nil, true, err
	}
	if s, ok := a.(string); ok {
		return strings.Repeat(s, n), true, nil
	}
	list := a.(*List)
	return &List{Items: slices.Repeat(list.Items, n), Tuple: list.Tuple}, true, nil
}

// smallOp computes what cannot overflow; the rest is left to bigOp.
func smallOp(op string, x, y int64) (Value, bool) {
	const safe = 1 << 31
	if x <= -safe || x >= safe || y <= -safe || y >= safe {
		return nil, false
	}
	switch op {
	case "+":
		return x + y, true
	case "-":
		return x - y, true
	case "*":
		return x * y, true
	}
	if y == 0 {
		return nil, false
	}
	switch op {
	case "/":
		return float64(x) / float64(y), true
	case "//", "%":
		q, m := x/y, x%y
		if m != 0 && (m < 0) != (y < 0) {
			q, m = q-1, m+y
		}
		if op == "%" {
			return m, true
		}
		return q, true
	}
	return nil, false
}

// bigOp computes with integers of any size up to maxBits. What it takes grows with the product of their words.
func (r *run) bigOp(op string, x, y *big.Int) (Value, error) {
	if err := r.alloc(max(x.BitLen(), y.BitLen()) >> 2); err != nil {
		return nil, err
	}
	if err := r.step((x.BitLen()>>6 + 1) * (y.BitLen()>>6 + 1) >> 6); err != nil {
		return nil, err
	}
	z := new(big.Int)
	switch op {
	case "+":
		z.Add(x, y)
	case "-":
		z.Sub(x, y)
	case "*":
		z.Mul(x, y)
	case "**":
		return r.bigPower(x, y)
	default:
		if y.Sign() == 0 {
			return nil, zeroDivision(op, "integer ")
		}
		if op == "/" {
			f, _ := new(big.Rat).SetFrac(x, y).Float64()
			if math.IsInf(f, 0) {
				return nil, fault("OverflowError", "integer division result too large for a float")
			}
			return f, nil
		}
		m := new(big.Int)
		z.QuoRem(x, y, m)
		if m.Sign() != 0 && m.Sign() != y.Sign() {
			z.Sub(z, big.NewInt(1))
			m.Add(m, y)
		}
		if op == "%" {
			z = m
		}
	}
	if z.BitLen() > maxBits {
		return nil, r.tooWide()
	}
	return normal(z), nil
}

func zeroDivision(op, what string) error {
	if op == "/" {
		return fault("ZeroDivisionError", "division by zero")
	}
	return fault("ZeroDivisionError", "%sdivision or modulo by zero", what)
}

func (r *run) tooWide() error { return r.exceed("an integer of more than %d bits", maxBits) }

func (r *run) bigPower(x, y *big.Int) (Value, error) {
	if y.Sign() < 0 {
		f, _ := number(normal(x))
		g, _ := number(normal(y))
		return floatOp("**", f, g)
	}
	if x.BitLen() > 1 && (!y.IsInt64() || y.Int64() > maxBits/int64(x.BitLen())) {
		return nil, r.tooWide()
	}
	if x.BitLen() > 1 {
		words := x.BitLen()*int(y.Int64())>>6 + 1
		if err := r.alloc(8 * words); err != nil {
			return nil, err
		}
		if err := r.step(words * words >> 6); err != nil {
			return nil, err
		}
	}
	if x.BitLen() <= 1 { // 0, 1 and -1: the parity of y decides
		y = new(big.Int).SetUint64(uint64(y.Bit(0)) + 2*uint64(min(y.Sign(), 1)))
	}
	return normal(new(big.Int).Exp(x, y, nil)), nil
}

func floatOp(op string, x, y float64) (Value, error) {
	switch op {
	case "+":
		return x + y, nil
	case "-":
		return x - y, nil
	case "*":
		return x * y, nil
	case "**":
		if x == 0 && y < 0 {
			return nil, fault("ZeroDivisionError", "0.0 cannot be raised to a negative power")
		}
		if x < 0 && y != math.Trunc(y) {
			return nil, unsupported("a complex number")
		}
		f := math.Pow(x, y)
		if math.IsInf(f, 0) && !math.IsInf(x, 0) && !math.IsInf(y, 0) {
			return nil, fault("OverflowError", "(34, 'Numerical result out of range')")
		}
		return f, nil
	}
	if y == 0 {
		return nil, zeroDivision(op, "float ")
	}
	if op == "/" {
		return x / y, nil
	}
	m := math.Mod(x, y)
	if m != 0 && (m < 0) != (y < 0) {
		m += y
	}
	if op == "%" {
		return m, nil
	}
	return math.Floor((x-m)/y + 0.5), nil
}
