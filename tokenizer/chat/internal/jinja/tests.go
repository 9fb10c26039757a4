package jinja

import (
	"math/big"
	"strings"
	"unicode"
)

// tests are jinja2's tests by name, their signs among them.
func tests() map[string]test {
	t := map[string]test{}
	is := func(name string, f func(v Value) bool) {
		t[name] = func(_ *run, v Value, a args) (Value, error) {
			if _, err := a.take(name, 0); err != nil {
				return nil, err
			}
			return f(v), nil
		}
	}
	is("defined", func(v Value) bool { _, ok := v.(*Undefined); return !ok })
	is("undefined", func(v Value) bool { _, ok := v.(*Undefined); return ok })
	is("none", func(v Value) bool { return v == nil })
	is("boolean", func(v Value) bool { _, ok := v.(bool); return ok })
	is("true", func(v Value) bool { return v == true })
	is("false", func(v Value) bool { return v == false })
	is("integer", func(v Value) bool { _, isBool := v.(bool); _, ok := integer(v); return ok && !isBool })
	is("float", func(v Value) bool { _, ok := v.(float64); return ok })
	is("number", func(v Value) bool { _, ok := number(v); return ok })
	is("string", func(v Value) bool { _, ok := v.(string); return ok })
	is("mapping", func(v Value) bool { _, ok := v.(*Dict); return ok })
	is("iterable", isIterable)
	is("escaped", func(Value) bool { return false })
	is("sequence", func(v Value) bool {
		switch v.(type) {
		case string, *List, *Dict, *rangeVal, *Undefined:
			return true
		}
		return false
	})
	is("callable", func(v Value) bool {
		switch v.(type) {
		case *function, *macro, *loopVar, *joiner, *Undefined:
			return true
		}
		return false
	})
	addArgumentTests(t)
	return t
}

// addArgumentTests adds the tests that compute something or take an argument.
func addArgumentTests(t map[string]test) {
	t["lower"] = caseTest(unicode.IsLower)
	t["upper"] = caseTest(unicode.IsUpper)
	t["odd"] = remainder("odd", func(v Value, _ []Value) (Value, Value) { return int64(2), int64(1) })
	t["even"] = remainder("even", func(v Value, _ []Value) (Value, Value) { return int64(2), int64(0) })
	t["divisibleby"] = remainder("divisibleby", func(_ Value, p []Value) (Value, Value) { return p[0], int64(0) }, "num")
	t["sameas"] = func(_ *run, v Value, a args) (Value, error) {
		p, err := a.take("sameas", 1, "other")
		if err != nil {
			return nil, err
		}
		if x, ok := v.(*big.Int); ok {
			y, ok := p[0].(*big.Int)
			return ok && x.Cmp(y) == 0, nil
		}
		return v == p[0], nil
	}
	t["filter"] = func(r *run, v Value, _ args) (Value, error) {
		name, _ := v.(string)
		_, err := r.hashKey(v)
		return err == nil && r.lib.filters[name] != nil, err
	}
	t["test"] = func(r *run, v Value, _ args) (Value, error) {
		name, _ := v.(string)
		_, err := r.hashKey(v)
		return err == nil && r.lib.tests[name] != nil, err
	}
	for names, op := range map[string]string{
		"eq equalto ==": "==", "ne !=": "!=", "lt lessthan <": "<", "le <=": "<=", "gt greaterthan >": ">", "ge >=": ">=", "in": "in",
	} {
		for name := range strings.FieldsSeq(names) {
			t[name] = func(r *run, v Value, a args) (Value, error) {
				p, err := a.take(name, 1, "other")
				if err != nil {
					return nil, err
				}
				return r.compare(op, v, p[0])
			}
		}
	}
}

// caseTest is str.islower or str.isupper: at least one cased letter, and none of the other case.
func caseTest(want func(rune) bool) test {
	return func(r *run, v Value, _ args) (Value, error) {
		s, err := r.str(v)
		return err == nil && hasCase(s, want), err
	}
}

func hasCase(s string, want func(rune) bool) bool {
	found := false
	for _, c := range s {
		if unicode.IsUpper(c) || unicode.IsLower(c) || unicode.IsTitle(c) {
			if !want(c) {
				return false
			}
			found = true
		}
	}
	return found
}

// remainder tests v % divisor == rest.
func remainder(name string, of func(v Value, p []Value) (divisor, rest Value), params ...string) test {
	return func(r *run, v Value, a args) (Value, error) {
		p, err := a.take(name, len(params), params...)
		if err != nil {
			return nil, err
		}
		divisor, rest := of(v, p)
		m, err := r.binary("%", v, divisor)
		if err != nil {
			return nil, err
		}
		return r.equal(m, rest)
	}
}
