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

// repr is Python's repr().
func (r *run) repr(v Value) (string, error) {
	var b strings.Builder
	err := r.writeRepr(&b, v)
	return b.String(), err
}

func (r *run) writeRepr(b *strings.Builder, v Value) error {
	switch v := v.(type) {
	case *List:
		return r.writeSeq(b, v.Items, v.Tuple)
	case *Dict:
		return r.writeDict(b, v)
	case *view:
		return r.wrapped(b, v.name+"(", ")", func() error { return r.writeSeq(b, v.items, false) })
	case *namespace:
		return r.writeNamespace(b, v)
	case string:
		if err := r.work(len(v)); err != nil {
			return err
		}
		return r.write(b, pyRepr(v))
	case *big.Int:
		s, err := r.bigText(v)
		if err != nil {
			return err
		}
		return r.write(b, s)
	}
	return r.write(b, atomRepr(v))
}

// bigText writes an integer in decimal, where Python does.
func (r *run) bigText(v *big.Int) (string, error) {
	if err := r.work(v.BitLen()); err != nil {
		return "", err
	}
	const bitsPerDigit = 3.3219280948873626
	s := ""
	if float64(v.BitLen()) < (maxDigits+1)*bitsPerDigit {
		s = v.String()
	}
	if s == "" || len(strings.TrimPrefix(s, "-")) > maxDigits {
		return "", fault("ValueError", "Exceeds the limit (%d digits) for integer string conversion; use sys.set_int_max_str_digits() to increase the limit", maxDigits)
	}
	return s, nil
}

// wrapped writes something between two texts.
func (r *run) wrapped(b *strings.Builder, before, after string, inside func() error) error {
	if err := r.write(b, before); err != nil {
		return err
	}
	if err := inside(); err != nil {
		return err
	}
	return r.write(b, after)
}

// writeNamespace shows a namespace inside itself as Python shows its dict there.
func (r *run) writeNamespace(b *strings.Builder, ns *namespace) error {
	return r.wrapped(b, "<Namespace ", ">", func() error {
		if ns.shown {
			return r.write(b, "{...}")
		}
		ns.shown = true
		defer func() { ns.shown = false }()
		return r.writeDict(b, ns.attrs)
	})
}

// atomRepr is the repr of a value without parts, other than a text or a big integer.
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
	case float64:
		return floatRepr(v)
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
	return r.wrapped(b, opening, closing, func() error {
		for i, item := range items {
			if i > 0 {
				if err := r.write(b, ", "); err != nil {
					return err
				}
			}
			if err := r.writeRepr(b, item); err != nil {
				return err
			}
		}
		return nil
	})
}

func (r *run) writeDict(b *strings.Builder, d *Dict) error {
	if err := r.enter(); err != nil {
		return err
	}
	defer r.leave()
	return r.wrapped(b, "{", "}", func() error {
		for i, k := range d.keys {
			if i > 0 {
				if err := r.write(b, ", "); err != nil {
					return err
				}
			}
			if err := r.writeRepr(b, k); err != nil {
				return err
			}
			if err := r.write(b, ": "); err != nil {
				return err
			}
			if err := r.writeRepr(b, d.values[i]); err != nil {
				return err
			}
		}
		return nil
	})
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
			writeHex(&b, `\x`, 2, c)
		case c < 0x10000:
			writeHex(&b, `\u`, 4, c)
		default:
			writeHex(&b, `\U`, 8, c)
		}
	}
	b.WriteByte(quote)
	return b.String()
}

// writeHex writes a rune as so many hexadecimal digits.
func writeHex(b *strings.Builder, prefix string, digits int, c rune) {
	b.WriteString(prefix)
	for shift := 4 * (digits - 1); shift >= 0; shift -= 4 {
		b.WriteByte("0123456789abcdef"[c>>shift&15])
	}
}

// quoted is the repr of a text for a message, which shows no more than its beginning.
func quoted(s string) string {
	const most = 200
	if len(s) <= most {
		return pyRepr(s)
	}
	return pyRepr(strings.ToValidUTF8(s[:most], "")) + "…"
}

// shown is the repr of a value for a message.
func shown(v Value) string {
	switch v := v.(type) {
	case string:
		return quoted(v)
	case *big.Int:
		if v.BitLen() > 256 {
			return "an integer of " + strconv.Itoa(v.BitLen()) + " bits"
		}
		return v.String()
	}
	return atomRepr(v)
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
