package jinja

import (
	"fmt"
	"strings"
	"time"
)

// globals are the functions that every template can call: jinja2's, and those that transformers adds.
// lipsum, which makes random text, is known by name but cannot be called.
func globals() map[string]Value {
	g := map[string]Value{}
	add := func(name string, call func(r *run, a args) (Value, error)) { g[name] = &function{name, call} }
	add("range", makeRange)
	add("dict", func(r *run, a args) (Value, error) { return makeDict(r, a) })
	add("namespace", makeNamespace)
	add("cycler", func(_ *run, a args) (Value, error) {
		if len(a.pos) == 0 {
			return nil, fault("RuntimeError", "at least one item has to be provided")
		}
		return &cycler{items: a.pos}, nil
	})
	add("joiner", func(r *run, a args) (Value, error) {
		p, err := a.take("joiner", 0, "sep")
		if err != nil {
			return nil, err
		}
		sep, err := r.str(or(p[0], ", "))
		return &joiner{sep: sep}, err
	})
	add("lipsum", func(*run, args) (Value, error) { return nil, unsupported("lipsum") })
	add("raise_exception", func(r *run, a args) (Value, error) {
		p, err := a.take("raise_exception", 1, "message")
		if err != nil {
			return nil, err
		}
		msg, err := r.str(p[0])
		if err != nil {
			return nil, err
		}
		return nil, &Error{Kind: "TemplateError", Msg: msg}
	})
	add("strftime_now", func(r *run, a args) (Value, error) {
		p, err := a.take("strftime_now", 1, "format")
		if err != nil {
			return nil, err
		}
		format, ok := p[0].(string)
		if !ok {
			return nil, typeError("strftime() argument 1 must be str, not %s", typeName(p[0]))
		}
		s := strftime(r.now, format)
		return s, r.alloc(len(s))
	})
	return g
}

func makeRange(_ *run, a args) (Value, error) {
	if len(a.kw) > 0 || len(a.pos) < 1 || len(a.pos) > 3 {
		return nil, typeError("range expected 1 to 3 arguments, got %d", len(a.pos))
	}
	var n [3]int64
	for i, v := range a.pos {
		if u, ok := v.(*Undefined); ok {
			return nil, u.err()
		}
		x, ok := small(v)
		if !ok || x > 1<<40 || x < -1<<40 {
			if _, isInt := integer(v); isInt {
				return nil, fault("OverflowError", "Range too big. The sandbox blocks ranges larger than MAX_RANGE (%d).", maxRange)
			}
			return nil, typeError("'%s' object cannot be interpreted as an integer", typeName(v))
		}
		n[i] = x
	}
	start, stop, step := n[0], n[1], int64(1)
	switch len(a.pos) {
	case 1:
		start, stop = 0, n[0]
	case 3:
		step = n[2]
	}
	if step == 0 {
		return nil, fault("ValueError", "range() arg 3 must not be zero")
	}
	count := int64(0)
	if step > 0 && stop > start {
		count = (stop - start + step - 1) / step
	} else if step < 0 && stop < start {
		count = (start - stop - step - 1) / -step
	}
	if count > maxRange {
		return nil, fault("OverflowError", "Range too big. The sandbox blocks ranges larger than MAX_RANGE (%d).", maxRange)
	}
	return &rangeVal{start, step, count}, nil
}

func makeDict(r *run, a args) (*Dict, error) {
	d := NewDict()
	if len(a.pos) > 1 {
		return nil, typeError("dict expected at most 1 argument, got %d", len(a.pos))
	}
	if len(a.pos) == 1 {
		switch v := a.pos[0].(type) {
		case *Dict:
			d = v.Without(func(Value, Value) bool { return false })
		default:
			if err := r.addPairs(d, v); err != nil {
				return nil, err
			}
		}
	}
	for i, name := range a.kwNames {
		_ = d.Set(name, a.kw[i]) // a string can be a key
	}
	return d, r.alloc(64 * d.Len())
}

func (r *run) addPairs(d *Dict, v Value) error {
	items, err := r.iterate(v)
	if err != nil {
		return err
	}
	for i, item := range items {
		pair, err := r.iterate(item)
		if err != nil {
			return err
		}
		if len(pair) != 2 {
			return fault("ValueError", "dictionary update sequence element #%d has length %d; 2 is required", i, len(pair))
		}
		if err := d.Set(pair[0], pair[1]); err != nil {
			return err
		}
	}
	return nil
}

func makeNamespace(r *run, a args) (Value, error) {
	d, err := makeDict(r, a)
	if err != nil {
		return nil, err
	}
	ns := &namespace{NewDict()}
	for i, k := range d.keys {
		name, ok := k.(string)
		if !ok {
			continue // cannot be reached by any name
		}
		if err := ns.set(name, d.values[i]); err != nil {
			return nil, err
		}
	}
	return ns, nil
}

// strftime formats a time as C's strftime does in the C locale, with the "-" flag of glibc, which
// leaves leading zeros and blanks away. An unknown directive stays as it stands.
func strftime(t time.Time, format string) string {
	var b strings.Builder
	for i := 0; i < len(format); i++ {
		if format[i] != '%' || i+1 == len(format) {
			b.WriteByte(format[i])
			continue
		}
		i++
		flag := byte(0)
		if (format[i] == '-' || format[i] == '_' || format[i] == '0') && i+1 < len(format) {
			flag = format[i]
			i++
		}
		s, ok := directive(t, format[i])
		switch {
		case !ok:
			s = "%" + strings.Trim(string(flag), "\x00") + string(format[i])
		case flag == '-':
			if trimmed := strings.TrimLeft(s, "0 "); trimmed != "" {
				s = trimmed
			} else {
				s = "0"
			}
		}
		b.WriteString(s)
	}
	return b.String()
}

func directive(t time.Time, c byte) (string, bool) {
	num := func(format string, n int) (string, bool) { return fmt.Sprintf(format, n), true }
	layout := func(l string) (string, bool) { return t.Format(l), true }
	hour12 := (t.Hour()+11)%12 + 1
	year, week := t.ISOWeek()
	switch c {
	case 'a', 'A':
		return layout(map[byte]string{'a': "Mon", 'A': "Monday"}[c])
	case 'b', 'h':
		return layout("Jan")
	case 'B':
		return layout("January")
	case 'c':
		return layout("Mon Jan _2 15:04:05 2006")
	case 'C':
		return num("%02d", t.Year()/100)
	case 'd':
		return num("%02d", t.Day())
	case 'D', 'x':
		return layout("01/02/06")
	case 'e':
		return num("%2d", t.Day())
	case 'f':
		return num("%06d", t.Nanosecond()/1000)
	case 'F':
		return layout("2006-01-02")
	case 'G':
		return num("%d", year)
	case 'H':
		return num("%02d", t.Hour())
	case 'I':
		return num("%02d", hour12)
	case 'j':
		return num("%03d", t.YearDay())
	case 'k':
		return num("%2d", t.Hour())
	case 'l':
		return num("%2d", hour12)
	case 'm':
		return num("%02d", int(t.Month()))
	case 'M':
		return num("%02d", t.Minute())
	case 'n':
		return "\n", true
	case 'p':
		return layout("PM")
	case 'P':
		return layout("pm")
	case 'r':
		return layout("03:04:05 PM")
	case 'R':
		return layout("15:04")
	case 's':
		return fmt.Sprint(t.Unix()), true
	case 'S':
		return num("%02d", t.Second())
	case 't':
		return "\t", true
	case 'T', 'X':
		return layout("15:04:05")
	case 'u':
		return num("%d", (int(t.Weekday())+6)%7+1)
	case 'U':
		return num("%02d", (t.YearDay()+6-int(t.Weekday()))/7)
	case 'V':
		return num("%02d", week)
	case 'w':
		return num("%d", int(t.Weekday()))
	case 'W':
		return num("%02d", (t.YearDay()+6-(int(t.Weekday())+6)%7)/7)
	case 'y':
		return num("%02d", t.Year()%100)
	case 'Y':
		return num("%d", t.Year())
	case 'z', 'Z': // Python's datetime.now() has no zone
		return "", true
	case '%':
		return "%", true
	}
	return "", false
}
