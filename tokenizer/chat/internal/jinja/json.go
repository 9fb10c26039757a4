package jinja

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// maxJSONDepth bounds the nesting of decoded JSON.
const maxJSONDepth = 1000

// DecodeJSON reads one JSON value as Python's json does: key order kept, integers of any size, the last of
// equal keys in the place of the first.
func DecodeJSON(data []byte) (Value, error) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	v, err := decodeValue(d, 0)
	if err != nil {
		return nil, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("more than one JSON value")
	}
	return v, nil
}

func decodeValue(d *json.Decoder, depth int) (Value, error) {
	t, err := d.Token()
	if err != nil {
		if errors.Is(err, io.EOF) {
			return nil, io.ErrUnexpectedEOF
		}
		return nil, err
	}
	switch t := t.(type) {
	case json.Number:
		return decodeNumber(t.String())
	case json.Delim:
		if depth >= maxJSONDepth {
			return nil, fmt.Errorf("JSON nested deeper than %d", maxJSONDepth)
		}
		if t == '[' {
			return decodeList(d, depth)
		}
		return decodeDict(d, depth)
	case bool, string, nil:
		return t, nil
	}
	return nil, fmt.Errorf("unexpected JSON %v", t)
}

func decodeNumber(s string) (Value, error) {
	if strings.ContainsAny(s, ".eE") {
		f, err := strconv.ParseFloat(s, 64)
		if err != nil && !errors.Is(err, strconv.ErrRange) { // out of range is inf, as in Python
			return nil, err
		}
		return f, nil
	}
	if len(s) > 4300 { // Python's own limit of digits
		return nil, fmt.Errorf("an integer of %d digits", len(s))
	}
	b, ok := new(big.Int).SetString(s, 10)
	if !ok {
		return nil, fmt.Errorf("%q is no integer", s)
	}
	return normal(b), nil
}

func decodeList(d *json.Decoder, depth int) (Value, error) {
	list := NewList()
	for d.More() {
		v, err := decodeValue(d, depth+1)
		if err != nil {
			return nil, err
		}
		list.Items = append(list.Items, v)
	}
	_, err := d.Token()
	return list, err
}

func decodeDict(d *json.Decoder, depth int) (Value, error) {
	dict := NewDict()
	for d.More() {
		k, err := d.Token()
		if err != nil {
			return nil, err
		}
		v, err := decodeValue(d, depth+1)
		if err != nil {
			return nil, err
		}
		if err := dict.Set(k.(string), v); err != nil { // the decoder gives keys as strings
			return nil, err
		}
	}
	_, err := d.Token()
	return dict, err
}

// dumper writes JSON as Python's json.dumps.
type dumper struct {
	r          *run
	b          strings.Builder
	ascii      bool
	sorted     bool
	indent     string
	pretty     bool
	item, pair string // separators
}

// tojson is the filter as transformers defines it.
func tojson(r *run, v Value, a args) (Value, error) {
	p, err := a.take("tojson", 0, "ensure_ascii", "indent", "separators", "sort_keys")
	if err != nil {
		return nil, err
	}
	d := &dumper{r: r, ascii: truth(or(p[0], false)), sorted: truth(or(p[3], false)), item: ", ", pair: ": "}
	switch indent := or(p[1], nil).(type) {
	case nil:
	case string:
		d.pretty, d.indent = true, indent
	default:
		n, ok := small(indent)
		if !ok {
			return nil, typeError("can't multiply sequence by non-int of type '%s'", typeName(indent))
		}
		n = max(n, 0)
		if n > maxRange {
			return nil, fault("LimitError", "an indent of %d", n)
		}
		d.pretty, d.indent = true, strings.Repeat(" ", int(n))
	}
	if d.pretty {
		d.item = ","
	}
	if sep := or(p[2], nil); sep != nil {
		parts, err := r.iterate(sep)
		if err != nil {
			return nil, err
		}
		var ok [2]bool
		if len(parts) == 2 {
			d.item, ok[0] = parts[0].(string)
			d.pair, ok[1] = parts[1].(string)
		}
		if !ok[0] || !ok[1] {
			return nil, fault("ValueError", "separators must be two strings")
		}
	}
	err = d.value(v, "\n")
	return d.b.String(), err
}

func (d *dumper) value(v Value, newline string) error {
	before := d.b.Len()
	switch v := v.(type) {
	case nil:
		d.b.WriteString("null")
	case bool:
		d.b.WriteString(strconv.FormatBool(v))
	case string:
		d.text(v)
	case int64, *big.Int:
		d.b.WriteString(atomRepr(v))
	case float64:
		d.b.WriteString(jsonFloat(v))
	case *List:
		return d.list(v, newline)
	case *Dict:
		return d.dict(v, newline)
	default:
		return typeError("Object of type %s is not JSON serializable", typeName(v))
	}
	return d.r.alloc(d.b.Len() - before)
}

func jsonFloat(f float64) string {
	switch {
	case math.IsInf(f, 1):
		return "Infinity"
	case math.IsInf(f, -1):
		return "-Infinity"
	case math.IsNaN(f):
		return "NaN"
	}
	return floatRepr(f)
}

// open starts a list or dict and gives the newline of its items.
func (d *dumper) open(s, newline string) (string, error) {
	if err := d.r.enter(); err != nil {
		return "", err
	}
	d.b.WriteString(s)
	return newline + d.indent, nil
}

// between writes what stands in front of item i.
func (d *dumper) between(i int, newline string) error {
	if i > 0 {
		d.b.WriteString(d.item)
	}
	if d.pretty {
		d.b.WriteString(newline)
		return d.r.alloc(len(newline))
	}
	return d.r.alloc(len(d.item))
}

func (d *dumper) close(s string, items int, newline string) {
	d.r.leave()
	if d.pretty && items > 0 {
		d.b.WriteString(newline)
	}
	d.b.WriteString(s)
}

func (d *dumper) list(l *List, newline string) error {
	inner, err := d.open("[", newline)
	if err != nil {
		return err
	}
	for i, item := range l.Items {
		if err := d.between(i, inner); err != nil {
			return err
		}
		if err := d.value(item, inner); err != nil {
			return err
		}
	}
	d.close("]", len(l.Items), newline)
	return nil
}

func (d *dumper) dict(v *Dict, newline string) error {
	inner, err := d.open("{", newline)
	if err != nil {
		return err
	}
	order := make([]int, v.Len())
	for i := range order {
		order[i] = i
	}
	if d.sorted {
		var fail error
		slices.SortStableFunc(order, func(i, j int) int {
			c, err := d.r.order("<", v.keys[i], v.keys[j])
			if err != nil && fail == nil {
				fail = err
			}
			return int(c) - int(same)
		})
		if fail != nil {
			return fail
		}
	}
	for n, i := range order {
		if err := d.between(n, inner); err != nil {
			return err
		}
		switch k := v.keys[i].(type) {
		case string:
			d.text(k)
		case nil, bool, int64, *big.Int, float64:
			d.b.WriteByte('"')
			if err := d.value(k, ""); err != nil {
				return err
			}
			d.b.WriteByte('"')
		default:
			return typeError("keys must be str, int, float, bool or None, not %s", typeName(k))
		}
		d.b.WriteString(d.pair)
		if err := d.value(v.values[i], inner); err != nil {
			return err
		}
	}
	d.close("}", v.Len(), newline)
	return nil
}

// text writes a string; what needs no escape goes in one piece.
func (d *dumper) text(s string) {
	d.b.WriteByte('"')
	from := 0
	for i, c := range s {
		if c >= ' ' && c != '"' && c != '\\' && (!d.ascii || c <= '~') {
			continue
		}
		d.b.WriteString(s[from:i])
		_, n := utf8.DecodeRuneInString(s[i:])
		from = i + n
		switch j := strings.IndexRune("\"\\\n\r\t\b\f", c); {
		case j >= 0:
			d.b.WriteByte('\\')
			d.b.WriteByte(`"\nrtbf`[j])
		case c >= 0x10000:
			hi, lo := utf16.EncodeRune(c)
			fmt.Fprintf(&d.b, `\u%04x\u%04x`, hi, lo)
		default:
			fmt.Fprintf(&d.b, `\u%04x`, c)
		}
	}
	d.b.WriteString(s[from:])
	d.b.WriteByte('"')
}
