package jinja

import (
	"math"
	"math/big"
	"strings"
	"unicode/utf8"
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
		return bigOp(op, i, j)
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
		if err := r.alloc(len(x) + len(y)); err != nil {
			return nil, true, err
		}
		return x + y, true, nil
	case *List:
		y, ok := b.(*List)
		if !ok || x.Tuple != y.Tuple {
			return nil, true, typeError(`can only concatenate %s (not "%s") to %s`, typeName(a), typeName(b), typeName(a))
		}
		if err := r.alloc(16 * (len(x.Items) + len(y.Items))); err != nil {
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
	size := 0
	switch x := a.(type) {
	case string:
		size = len(x)
	case *List:
		size = 16 * len(x.Items)
	default:
		return nil, false, nil
	}
	big, ok := integer(b)
	if !ok {
		return nil, true, typeError("can't multiply sequence by non-int of type '%s'", typeName(b))
	}
	n := 0
	if big.Sign() > 0 {
		if n = math.MaxInt32; big.IsInt64() && big.Int64() < math.MaxInt32 {
			n = int(big.Int64())
		}
	}
	if size == 0 {
		n = 0
	}
	if err := r.alloc(size * n); err != nil {
		return nil, true, err
	}
	if s, ok := a.(string); ok {
		return strings.Repeat(s, n), true, nil
	}
	list := a.(*List)
	items := make([]Value, 0, n*len(list.Items))
	for range n {
		items = append(items, list.Items...)
	}
	return &List{Items: items, Tuple: list.Tuple}, true, nil
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

func bigOp(op string, x, y *big.Int) (Value, error) {
	z := new(big.Int)
	switch op {
	case "+":
		z.Add(x, y)
	case "-":
		z.Sub(x, y)
	case "*":
		z.Mul(x, y)
	case "**":
		return bigPower(x, y)
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
		return nil, fault("LimitError", "an integer of more than %d bits", maxBits)
	}
	return normal(z), nil
}

func zeroDivision(op, what string) error {
	if op == "/" {
		return fault("ZeroDivisionError", "division by zero")
	}
	return fault("ZeroDivisionError", "%sdivision or modulo by zero", what)
}

func bigPower(x, y *big.Int) (Value, error) {
	if y.Sign() < 0 {
		f, _ := number(normal(x))
		g, _ := number(normal(y))
		return floatOp("**", f, g)
	}
	if x.BitLen() > 1 && (!y.IsInt64() || y.Int64() > maxBits/int64(x.BitLen())) {
		return nil, fault("LimitError", "an integer of more than %d bits", maxBits)
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

// compare is a comparison operator, "in" and "notin" among them.
func (r *run) compare(op string, a, b Value) (bool, error) {
	switch op {
	case "==", "!=":
		eq, err := r.equal(a, b)
		return eq == (op == "=="), err
	case "in", "notin":
		in, err := r.contains(b, a)
		return in == (op == "in"), err
	}
	c, err := r.order(op, a, b)
	if err != nil {
		return false, err
	}
	switch op {
	case "<":
		return c == less, nil
	case "<=":
		return c == less || c == same, nil
	case ">":
		return c == greater, nil
	}
	return c == greater || c == same, nil
}

// equal is Python's ==.
func (r *run) equal(a, b Value) (bool, error) {
	if err := r.enter(); err != nil {
		return false, err
	}
	defer r.leave()
	switch x := a.(type) {
	case string:
		y, ok := b.(string)
		if ok && len(x) == len(y) {
			return x == y, r.step(len(x) >> 8)
		}
		return false, nil
	case nil:
		return b == nil, nil
	case *Undefined:
		_, ok := b.(*Undefined)
		return ok, nil
	case *List:
		y, ok := b.(*List)
		if !ok || x.Tuple != y.Tuple || len(x.Items) != len(y.Items) {
			return false, nil
		}
		for i := range x.Items {
			if eq, err := r.equal(x.Items[i], y.Items[i]); !eq || err != nil {
				return false, err
			}
		}
		return true, r.step(len(x.Items))
	case *Dict:
		y, ok := b.(*Dict)
		if !ok || x.Len() != y.Len() {
			return false, nil
		}
		for i, k := range x.keys {
			v, ok := y.Get(k)
			if !ok {
				return false, nil
			}
			if eq, err := r.equal(x.values[i], v); !eq || err != nil {
				return false, err
			}
		}
		return true, r.step(x.Len())
	case *rangeVal:
		y, ok := b.(*rangeVal)
		return ok && *x == *y, nil
	}
	if i, ok := integer(a); ok {
		if j, ok := integer(b); ok {
			return i.Cmp(j) == 0, nil
		}
	}
	if f, ok := number(a); ok {
		g, ok := number(b)
		return ok && f == g, nil
	}
	return a == b, nil
}

type ordering int

const (
	less ordering = iota
	same
	greater
	unordered // nan
)

// order compares two values of one kind; other pairs are a TypeError that names the operator.
func (r *run) order(op string, a, b Value) (ordering, error) {
	if err := r.enter(); err != nil {
		return same, err
	}
	defer r.leave()
	for _, v := range []Value{a, b} {
		if u, ok := v.(*Undefined); ok {
			return same, u.err()
		}
	}
	switch x := a.(type) {
	case string:
		if y, ok := b.(string); ok {
			return ordering(strings.Compare(x, y) + 1), r.step(min(len(x), len(y)) >> 8)
		}
	case *List:
		if y, ok := b.(*List); ok && x.Tuple == y.Tuple {
			return r.orderItems(op, x.Items, y.Items)
		}
	}
	if i, ok := integer(a); ok {
		if j, ok := integer(b); ok {
			return ordering(i.Cmp(j) + 1), nil
		}
	}
	f, okF := number(a)
	g, okG := number(b)
	if okF && okG {
		switch {
		case f < g:
			return less, nil
		case f > g:
			return greater, nil
		case f == g:
			return same, nil
		}
		return unordered, nil
	}
	return same, typeError("'%s' not supported between instances of '%s' and '%s'", op, typeName(a), typeName(b))
}

func (r *run) orderItems(op string, x, y []Value) (ordering, error) {
	for i := range min(len(x), len(y)) {
		eq, err := r.equal(x[i], y[i])
		if err != nil {
			return same, err
		}
		if !eq {
			return r.order(op, x[i], y[i])
		}
	}
	switch {
	case len(x) < len(y):
		return less, nil
	case len(x) > len(y):
		return greater, nil
	}
	return same, r.step(len(x))
}

// contains is Python's "item in v".
func (r *run) contains(v, item Value) (bool, error) {
	switch v := v.(type) {
	case string:
		s, ok := item.(string)
		if !ok {
			return false, typeError("'in <string>' requires string as left operand, not %s", typeName(item))
		}
		return strings.Contains(v, s), r.work(len(v))
	case *Dict:
		if _, err := hashKey(item); err != nil {
			return false, err
		}
		_, ok := v.Get(item)
		return ok, nil
	case *namespace, *macro, *function:
		return false, typeError("argument of type '%s' is not iterable", typeName(v))
	}
	if !isIterable(v) {
		return false, typeError("argument of type '%s' is not iterable", typeName(v))
	}
	items, err := r.iterate(v)
	if err != nil {
		return false, err
	}
	for _, x := range items {
		if eq, err := r.equal(x, item); eq || err != nil {
			return eq, err
		}
	}
	return false, nil
}

// item is v[key]: an element, else for a string key an attribute, else undefined.
func (r *run) item(v, key Value) (Value, error) {
	i, isInt := small(key)
	switch v := v.(type) {
	case *Undefined:
		return nil, v.err()
	case *Dict:
		if x, ok := v.Get(key); ok {
			return x, nil
		}
	case *List:
		if x, ok := at(v.Items, i); ok && isInt {
			return x, nil
		}
	case *rangeVal:
		if i < 0 {
			i += v.n
		}
		if isInt && i >= 0 && i < v.n {
			return v.start + i*v.step, nil
		}
	case string:
		if isInt {
			if c, ok := runeAt(v, i); ok {
				return c, r.work(len(v))
			}
		}
	}
	if name, ok := key.(string); ok {
		x, found, err := r.member(v, name)
		if found || err != nil {
			return x, err
		}
	}
	return &Undefined{msg: noElement(v, key)}, nil
}

func at(items []Value, i int64) (Value, bool) {
	if i < 0 {
		i += int64(len(items))
	}
	if i < 0 || i >= int64(len(items)) {
		return nil, false
	}
	return items[i], true
}

// runeAt gives the one-rune text at a place that counts from the end if negative.
func runeAt(s string, i int64) (string, bool) {
	if i < 0 {
		i += int64(utf8.RuneCountInString(s))
	}
	if i < 0 || i >= int64(len(s)) {
		return "", false
	}
	for at := range s {
		if i == 0 {
			_, n := utf8.DecodeRuneInString(s[at:])
			return s[at : at+n], true
		}
		i--
	}
	return "", false
}

// noElement is the message of an undefined member.
func noElement(v, key Value) string {
	owner := typeName(v) + " object"
	if v == nil {
		owner = "None"
	}
	if name, ok := key.(string); ok {
		return pyRepr(owner) + " has no attribute " + pyRepr(name)
	}
	return owner + " has no element " + atomRepr(key)
}

// attr is v.name: an attribute of the Python type first, then the element of that name.
func (r *run) attr(v Value, name string) (Value, error) {
	if u, ok := v.(*Undefined); ok {
		return nil, u.err()
	}
	x, found, err := r.member(v, name)
	if found || err != nil {
		return x, err
	}
	if d, ok := v.(*Dict); ok {
		if x, ok := d.Get(name); ok {
			return x, nil
		}
	}
	return &Undefined{msg: noElement(v, name)}, nil
}

// slice is v[a:b:c].
func (r *run) slice(v Value, n *sliceNode, s *scope) (Value, error) {
	var bounds [3]Value
	for i, e := range n.bounds {
		if e == nil {
			continue
		}
		var err error
		if bounds[i], err = r.eval(e, s); err != nil {
			return nil, err
		}
	}
	var size int
	var runes []rune
	switch v := v.(type) {
	case *Undefined:
		return nil, v.err()
	case string:
		if err := r.work(len(v)); err != nil {
			return nil, err
		}
		if bounds[2] == nil && isASCII(v) {
			size = len(v)
			break
		}
		if err := r.alloc(4 * len(v)); err != nil {
			return nil, err
		}
		runes = []rune(v)
		size = len(runes)
	case *List:
		size = len(v.Items)
	case *rangeVal:
		items, err := r.iterate(v)
		if err != nil {
			return nil, err
		}
		return r.slice(&List{Items: items}, n, s)
	case *Dict:
		return nil, typeError("unhashable type: 'slice'")
	default:
		return nil, typeError("'%s' object is not subscriptable", typeName(v))
	}
	start, stop, step, err := sliceBounds(bounds, size)
	if err != nil {
		return nil, err
	}
	return r.cut(v, runes, start, stop, step)
}

// sliceBounds resolves the bounds as Python's slice.indices does.
func sliceBounds(bounds [3]Value, size int) (start, stop, step int, err error) {
	num := func(v Value, dflt, lowest, highest int) int {
		if v == nil {
			return dflt
		}
		b, ok := integer(v)
		if !ok {
			err = typeError("slice indices must be integers or None or have an __index__ method")
			return dflt
		}
		i := lowest
		switch {
		case b.IsInt64():
			n := b.Int64()
			if n < 0 {
				n += int64(size)
			}
			i = int(max(int64(lowest), min(int64(highest), n)))
		case b.Sign() > 0:
			i = highest
		}
		return i
	}
	step = 1
	if bounds[2] != nil {
		b, ok := integer(bounds[2])
		if !ok || b.Sign() == 0 {
			return 0, 0, 0, fault("ValueError", "slice step cannot be zero")
		}
		if step = b.Sign() * (size + 1); b.IsInt64() && b.Int64() > -int64(size) && b.Int64() < int64(size) {
			step = int(b.Int64())
		}
	}
	if step > 0 {
		return num(bounds[0], 0, 0, size), num(bounds[1], size, 0, size), step, err
	}
	return num(bounds[0], size-1, -1, size-1), num(bounds[1], -1, -1, size-1), step, err
}

func (r *run) cut(v Value, runes []rune, start, stop, step int) (Value, error) {
	if s, ok := v.(string); ok && runes == nil {
		if start >= stop {
			return "", nil
		}
		return s[start:stop], nil
	}
	var b strings.Builder
	var items []Value
	for i := start; step > 0 && i < stop || step < 0 && i > stop; i += step {
		if list, ok := v.(*List); ok {
			items = append(items, list.Items[i])
		} else {
			b.WriteRune(runes[i])
		}
	}
	if list, ok := v.(*List); ok {
		return r.newList(items, list.Tuple)
	}
	return b.String(), r.alloc(b.Len())
}
