package jinja

import (
	"html"
	"math"
	"net/url"
	"strings"
	"unicode/utf8"
)

// textFilter makes a filter of a function on the value's str().
func textFilter(name string, f func(r *run, s string, p []Value) (Value, error), params ...string) filter {
	return func(r *run, v Value, a args) (Value, error) {
		p, err := a.take(name, 0, params...)
		if err != nil {
			return nil, err
		}
		s, err := r.str(v)
		if err != nil {
			return nil, err
		}
		if err := r.remake(s); err != nil {
			return nil, err
		}
		return f(r, s, p)
	}
}

func plain(f func(string) string) func(*run, string, []Value) (Value, error) {
	return func(_ *run, s string, _ []Value) (Value, error) { return f(s), nil }
}

// addTextFilters adds the filters that give a text or a number.
func addTextFilters(m map[string]filter) {
	for name, f := range map[string]func(string) string{
		"upper": upper, "lower": lower, "capitalize": capitalize, "title": titleFilter,
		"safe": func(s string) string { return s },
	} {
		m[name] = textFilter(name, plain(f))
	}
	for _, name := range []string{"e", "escape", "forceescape"} {
		m[name] = textFilter(name, escape)
	}
	m["striptags"] = textFilter("striptags", stripTags)
	m["string"] = func(r *run, v Value, _ args) (Value, error) { return r.str(v) }
	m["trim"] = textFilter("trim", func(r *run, s string, p []Value) (Value, error) {
		return strip(true, true)(r, s, args{pos: []Value{or(p[0], nil)}})
	}, "chars")
	m["replace"] = textFilter("replace", filterReplace, "old", "new", "count")
	indent := textFilter("indent", filterIndent, "width", "first", "blank")
	m["indent"] = func(r *run, v Value, a args) (Value, error) {
		if u, ok := v.(*Undefined); ok {
			return nil, u.err()
		}
		if _, ok := v.(string); !ok {
			return nil, typeError("unsupported operand type(s) for +=: '%s' and 'str'", typeName(v))
		}
		return indent(r, v, a)
	}
	m["truncate"] = filterTruncate
	m["center"] = textFilter("center", func(r *run, s string, p []Value) (Value, error) {
		return r.lib.strings["center"](r, s, args{pos: []Value{or(p[0], int64(80))}})
	}, "width")
	m["wordcount"] = textFilter("wordcount", func(_ *run, s string, _ []Value) (Value, error) {
		n, inWord := int64(0), false
		for _, c := range s {
			is := isWordRune(c)
			n += boolInt(is && !inWord)
			inWord = is
		}
		return n, nil
	})
	m["urlencode"] = urlencode
	m["pprint"], m["format"] = pprint, filterFormat
	m["tojson"] = tojson
	m["int"] = filterInt
	m["float"] = filterFloat
	m["abs"] = filterAbs
	m["round"] = filterRound
}

func pprint(r *run, v Value, _ args) (Value, error) {
	s, err := r.repr(v)
	if err == nil && (utf8.RuneCountInString(s) > 79 || strings.Contains(s, "{")) {
		return nil, unsupported("pprint of a mapping or of a value longer than a line")
	}
	return s, err
}

func filterFormat(r *run, v Value, a args) (Value, error) {
	s, err := r.str(v)
	if err != nil {
		return nil, err
	}
	if len(a.kw) == 0 {
		return r.percent(s, &List{Items: a.pos, Tuple: true})
	}
	if len(a.pos) > 0 {
		return nil, fault("FilterArgumentError", "can't handle positional and keyword arguments at the same time")
	}
	d, err := makeDict(r, args{kwNames: a.kwNames, kw: a.kw})
	if err != nil {
		return nil, err
	}
	return r.percent(s, d)
}

func escape(r *run, s string, _ []Value) (Value, error) {
	size := len(s)
	for _, sign := range []string{"&", "<", ">", "'", `"`} {
		size += 4 * strings.Count(s, sign)
	}
	if err := r.newText(size); err != nil {
		return nil, err
	}
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", "'", "&#39;", `"`, "&#34;").Replace(s), nil
}

func stripTags(r *run, s string, _ []Value) (Value, error) {
	for _, pair := range [][2]string{{"<!--", "-->"}, {"<", ">"}} {
		if err := r.remake(s); err != nil {
			return nil, err
		}
		var b strings.Builder
		for {
			i := strings.Index(s, pair[0])
			if i < 0 {
				break
			}
			j := strings.Index(s[i:], pair[1])
			if j < 0 {
				break
			}
			b.WriteString(s[:i])
			s = s[i+j+len(pair[1]):]
		}
		s = b.String() + s
	}
	if err := r.remake(s); err != nil {
		return nil, err
	}
	var b strings.Builder
	for word := range splitSpace(s, math.MaxInt64, false) {
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(word)
	}
	return html.UnescapeString(b.String()), nil
}

// titleFilter is jinja2's own title: words begin after blanks, dashes and opening brackets only.
func titleFilter(s string) string {
	var b strings.Builder
	start := true
	for _, c := range s {
		switch {
		case isSpace(c) || strings.ContainsRune("-({[<", c):
			b.WriteRune(c)
			start = true
			continue
		case start:
			b.WriteString(upper(string(c)))
		default:
			b.WriteString(lower(string(c)))
		}
		start = false
	}
	return b.String()
}

func filterReplace(r *run, s string, p []Value) (Value, error) {
	if p[0] == (missing{}) || p[1] == (missing{}) {
		return nil, typeError("replace() missing required argument")
	}
	before, err := r.str(p[0])
	if err != nil {
		return nil, err
	}
	after, err := r.str(p[1])
	if err != nil {
		return nil, err
	}
	n := int64(-1)
	if limit := or(p[2], nil); limit != nil {
		if n, err = count("replace", limit, -1); err != nil {
			return nil, err
		}
	}
	return r.replace(s, before, after, n)
}

func filterIndent(r *run, s string, p []Value) (Value, error) {
	pad, isText := or(p[0], int64(4)).(string)
	if !isText {
		n, err := count("indent", p[0], 4)
		if err != nil {
			return nil, err
		}
		n = max(n, 0)
		if err := r.newText(int(n)); err != nil {
			return nil, err
		}
		pad = strings.Repeat(" ", int(n))
	}
	blank := truth(or(p[2], false))
	var b strings.Builder
	put := func(parts ...string) error {
		for _, part := range parts {
			if err := r.write(&b, part); err != nil {
				return err
			}
		}
		return nil
	}
	if truth(or(p[1], false)) {
		if err := put(pad); err != nil {
			return nil, err
		}
	}
	first := true
	for line := range splitLines(s+"\n", false) {
		var err error
		switch {
		case first:
			err = put(line)
		case blank || line != "":
			err = put("\n", pad, line)
		default:
			err = put("\n")
		}
		if err != nil {
			return nil, err
		}
		first = false
	}
	return b.String(), nil
}

func filterTruncate(r *run, v Value, a args) (Value, error) {
	p, err := a.take("truncate", 0, "length", "killwords", "end", "leeway")
	if err != nil {
		return nil, err
	}
	limit, err := count("truncate", p[0], 255)
	if err != nil {
		return nil, err
	}
	end, err := text("truncate", or(p[2], "..."))
	if err != nil {
		return nil, err
	}
	leeway, err := count("truncate", p[3], 5)
	if err != nil {
		return nil, err
	}
	size, err := length(v)
	if err != nil || int64(size) <= limit+leeway {
		return v, err
	}
	s, ok := v.(string)
	if !ok {
		return nil, typeError("can only truncate text, not %s", typeName(v))
	}
	if err := r.alloc(5 * len(s)); err != nil {
		return nil, err
	}
	keep := limit - int64(utf8.RuneCountInString(end))
	if keep < 0 {
		return nil, fault("AssertionError", "expected length >= %d, got %d", utf8.RuneCountInString(end), limit)
	}
	out := cutRunes(s, int(keep))
	if !truth(or(p[1], false)) {
		if i := strings.LastIndexByte(out, ' '); i >= 0 {
			out = out[:i]
		}
	}
	return out + end, nil
}

func urlencode(r *run, v Value, _ args) (Value, error) {
	var pairs []Value
	var err error
	switch v := v.(type) {
	case *Dict:
		pairs, err = r.pairs(v)
	case *List:
		pairs = v.Items
	default:
		s, err := r.queryText(v)
		return strings.NewReplacer("+", "%20", "%2F", "/").Replace(s), err // as a part of a path
	}
	if err != nil {
		return nil, err
	}
	var b strings.Builder
	for i, item := range pairs {
		pair, err := r.iterate(item)
		if err != nil || len(pair) != 2 {
			return nil, fault("ValueError", "urlencode wants a text or pairs")
		}
		if i > 0 {
			if err := r.write(&b, "&"); err != nil {
				return nil, err
			}
		}
		for j, part := range pair {
			s, err := r.queryText(part)
			if err == nil && j == 1 {
				err = r.write(&b, "=")
			}
			if err == nil {
				err = r.write(&b, s)
			}
			if err != nil {
				return nil, err
			}
		}
	}
	return b.String(), nil
}

// queryText is a value's text with "+" for a blank and %XX for all but letters, digits and "_.-~".
func (r *run) queryText(v Value) (string, error) {
	s, err := r.str(v)
	if err == nil {
		err = r.work(4 * len(s))
	}
	if err == nil {
		err = r.newText(3 * len(s))
	}
	if err != nil {
		return "", err
	}
	return url.QueryEscape(s), nil
}
