package jinja

import (
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// str is Python's str().
func (r *run) str(v Value) (string, error) {
	if s, ok := v.(string); ok {
		return s, nil
	}
	if _, ok := v.(*Undefined); ok {
		return "", nil
	}
	return r.repr(v)
}

// repr is Python's repr(), counted against the limits.
func (r *run) repr(v Value) (string, error) {
	var b strings.Builder
	err := r.writeRepr(&b, v)
	return b.String(), err
}

func (r *run) writeRepr(b *strings.Builder, v Value) error {
	before := b.Len()
	var err error
	switch v := v.(type) {
	case *List:
		err = r.writeSeq(b, v.Items, v.Tuple)
	case *Dict:
		err = r.writeDict(b, v)
	case *view:
		b.WriteString(v.name + "(")
		err = r.writeSeq(b, v.items, false)
		b.WriteString(")")
	case *namespace:
		b.WriteString("<Namespace ")
		err = r.writeDict(b, v.attrs)
		b.WriteString(">")
	default:
		b.WriteString(atomRepr(v))
	}
	if err != nil {
		return err
	}
	return r.alloc(b.Len() - before)
}

// atomRepr is the repr of a value without parts.
func atomRepr(v Value) string {
	switch v := v.(type) {
	case nil:
		return "None"
	case bool:
		if v {
			return "True"
		}
		return "False"
	case int64:
		return intText(v)
	case *big.Int:
		return v.String()
	case float64:
		return floatRepr(v)
	case string:
		return pyRepr(v)
	case *Undefined:
		return "Undefined"
	case *rangeVal:
		if v.step == 1 {
			return fmt.Sprintf("range(%d, %d)", v.start, v.start+v.n)
		}
		return fmt.Sprintf("range(%d, %d, %d)", v.start, v.start+v.n*v.step, v.step)
	case *macro:
		return "<Macro " + pyRepr(v.name) + ">"
	case *loopVar:
		return fmt.Sprintf("<LoopContext %d/%d>", v.pos+1, len(v.items))
	case *function:
		return "<function " + v.name + ">"
	}
	return "<" + typeName(v) + " object>"
}

func (r *run) writeSeq(b *strings.Builder, items []Value, tuple bool) error {
	if err := r.enter(); err != nil {
		return err
	}
	defer r.leave()
	opening, closing := "[", "]"
	if tuple {
		opening, closing = "(", ")"
		if len(items) == 1 {
			closing = ",)"
		}
	}
	b.WriteString(opening)
	for i, item := range items {
		if i > 0 {
			b.WriteString(", ")
		}
		if err := r.writeRepr(b, item); err != nil {
			return err
		}
	}
	b.WriteString(closing)
	return nil
}

func (r *run) writeDict(b *strings.Builder, d *Dict) error {
	if err := r.enter(); err != nil {
		return err
	}
	defer r.leave()
	b.WriteString("{")
	for i, k := range d.keys {
		if i > 0 {
			b.WriteString(", ")
		}
		if err := r.writeRepr(b, k); err != nil {
			return err
		}
		b.WriteString(": ")
		if err := r.writeRepr(b, d.values[i]); err != nil {
			return err
		}
	}
	b.WriteString("}")
	return nil
}

func intText(i int64) string { return strconv.FormatInt(i, 10) }

// floatRepr is Python's shortest round-trip form: an exponent below 1e-4 and from 1e16 on.
func floatRepr(f float64) string {
	switch {
	case math.IsInf(f, 1):
		return "inf"
	case math.IsInf(f, -1):
		return "-inf"
	case math.IsNaN(f):
		return "nan"
	}
	e := strconv.FormatFloat(f, 'e', -1, 64)
	exp, _ := strconv.Atoi(e[strings.IndexByte(e, 'e')+1:]) // FormatFloat always writes one
	if exp < -4 || exp >= 16 {
		return e
	}
	s := strconv.FormatFloat(f, 'f', -1, 64)
	if !strings.Contains(s, ".") {
		s += ".0"
	}
	return s
}

// pyRepr is the repr of a str: single quotes unless only double ones avoid an escape.
func pyRepr(s string) string {
	quote := byte('\'')
	if strings.Contains(s, "'") && !strings.Contains(s, `"`) {
		quote = '"'
	}
	var b strings.Builder
	b.WriteByte(quote)
	for _, c := range s {
		switch {
		case c == '\\' || c == rune(quote):
			b.WriteByte('\\')
			b.WriteRune(c)
		case c == '\n':
			b.WriteString(`\n`)
		case c == '\r':
			b.WriteString(`\r`)
		case c == '\t':
			b.WriteString(`\t`)
		case c < utf8.RuneSelf && c >= ' ' && c != 0x7f, c >= 0xa1 && unicode.IsPrint(c):
			b.WriteRune(c)
		case c < 0x100:
			fmt.Fprintf(&b, `\x%02x`, c)
		case c < 0x10000:
			fmt.Fprintf(&b, `\u%04x`, c)
		default:
			fmt.Fprintf(&b, `\U%08x`, c)
		}
	}
	b.WriteByte(quote)
	return b.String()
}

// isSpace is Python's str.isspace for one rune: Go's plus the four ASCII separators.
func isSpace(c rune) bool { return unicode.IsSpace(c) || c >= 0x1c && c <= 0x1f }

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
