package jinja

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/big"
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
	if len(s) > maxDigits {
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
		dict.Set(k.(string), v) // the decoder gives keys as strings
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
		if err := r.newText(int(n)); err != nil {
			return nil, err
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
	switch v := v.(type) {
	case nil:
		return d.put("null")
	case bool:
		return d.put(strconv.FormatBool(v))
	case string:
		return d.text(v)
	case int64:
		return d.put(intText(v))
	case *big.Int:
		s, err := d.r.bigText(v)
		if err != nil {
			return err
		}
		return d.put(s)
	case float64:
		return d.put(jsonFloat(v))
	case *List:
		return d.list(v, newline)
	case *Dict:
		return d.dict(v, newline)
	}
	return typeError("Object of type %s is not JSON serializable", typeName(v))
}

func (d *dumper) put(s string) error { return d.r.write(&d.b, s) }

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
	if d.pretty {
		if err := d.r.newText(len(newline) + len(d.indent)); err != nil {
			return "", err
		}
		newline += d.indent
	}
	return newline, d.put(s)
}

// between writes what stands in front of item i.
func (d *dumper) between(i int, newline string) error {
	if i > 0 {
		if err := d.put(d.item); err != nil {
			return err
		}
	}
	if d.pretty {
		return d.put(newline)
	}
	return nil
}

func (d *dumper) close(s string, items int, newline string) error {
	d.r.leave()
	if d.pretty && items > 0 {
		if err := d.put(newline); err != nil {
			return err
		}
	}
	return d.put(s)
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
	return d.close("]", len(l.Items), newline)
}

func (d *dumper) dict(v *Dict, newline string) error {
	inner, err := d.open("{", newline)
	if err != nil {
		return err
	}
	var order []int // nil: as it is
	if d.sorted {
		if order, err = d.r.sorted(v.keys, false); err != nil {
			return err
		}
	}
	for n := range v.keys {
		i := n
		if order != nil {
			i = order[n]
		}
		if err := d.between(n, inner); err != nil {
			return err
		}
		if err := d.key(v.keys[i]); err != nil {
			return err
		}
		if err := d.put(d.pair); err != nil {
			return err
		}
		if err := d.value(v.values[i], inner); err != nil {
			return err
		}
	}
	return d.close("}", v.Len(), newline)
}

func (d *dumper) key(k Value) error {
	switch k := k.(type) {
	case string:
		return d.text(k)
	case nil, bool, int64, *big.Int, float64:
		return d.r.wrapped(&d.b, `"`, `"`, func() error { return d.value(k, "") })
	}
	return typeError("keys must be str, int, float, bool or None, not %s", typeName(k))
}

// text writes a string; what needs no escape goes in one piece.
func (d *dumper) text(s string) error {
	if err := d.r.work(len(s)); err != nil {
		return err
	}
	if err := d.put(`"`); err != nil {
		return err
	}
	from := 0
	for i, c := range s {
		if c >= ' ' && c != '"' && c != '\\' && (!d.ascii || c <= '~') {
			continue
		}
		if err := d.put(s[from:i]); err != nil {
			return err
		}
		_, n := utf8.DecodeRuneInString(s[i:])
		from = i + n
		if err := d.put(escapeJSON(c)); err != nil {
			return err
		}
	}
	if err := d.put(s[from:]); err != nil {
		return err
	}
	return d.put(`"`)
}

func escapeJSON(c rune) string {
	if j := strings.IndexRune("\"\\\n\r\t\b\f", c); j >= 0 {
		return [...]string{`\"`, `\\`, `\n`, `\r`, `\t`, `\b`, `\f`}[j]
	}
	var b strings.Builder
	if c >= 0x10000 {
		hi, lo := utf16.EncodeRune(c)
		writeHex(&b, `\u`, 4, hi)
		c = lo
	}
	writeHex(&b, `\u`, 4, c)
	return b.String()
}
