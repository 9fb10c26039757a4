package jinja

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// strMethods are the methods of Python's str that chat templates can use.
func strMethods() map[string]strMethod {
	m := map[string]strMethod{
		"split":        func(r *run, s string, a args) (Value, error) { return split(r, s, a, false) },
		"rsplit":       func(r *run, s string, a args) (Value, error) { return split(r, s, a, true) },
		"strip":        strip(true, true),
		"lstrip":       strip(true, false),
		"rstrip":       strip(false, true),
		"startswith":   affix("startswith", strings.HasPrefix),
		"endswith":     affix("endswith", strings.HasSuffix),
		"find":         finder("find", strings.Index, false),
		"index":        finder("index", strings.Index, true),
		"rfind":        finder("rfind", strings.LastIndex, false),
		"rindex":       finder("rindex", strings.LastIndex, true),
		"partition":    partition(strings.Index, false),
		"rpartition":   partition(strings.LastIndex, true),
		"ljust":        pad("ljust", func(n, _ int) (int, int) { return 0, n }),
		"rjust":        pad("rjust", func(n, _ int) (int, int) { return n, 0 }),
		"center":       pad("center", func(n, width int) (int, int) { l := n/2 + n&width&1; return l, n - l }),
		"removeprefix": cutAffix("removeprefix", strings.TrimPrefix),
		"removesuffix": cutAffix("removesuffix", strings.TrimSuffix),
		"replace":      strReplace,
		"join":         strJoin,
		"count":        strCount,
		"splitlines":   strSplitLines,
		"zfill":        zfill,
		"expandtabs":   expandTabs,
		"format":       strFormat,
	}
	for name, f := range map[string]func(string) string{
		"upper": upper, "lower": lower, "casefold": func(s string) string { return lower(strings.ReplaceAll(s, "ß", "ss")) },
		"capitalize": capitalize, "title": titleCase, "swapcase": swapCase,
	} {
		m[name] = func(r *run, s string, a args) (Value, error) {
			if _, err := a.take(name, 0); err != nil {
				return nil, err
			}
			return f(s), r.alloc(len(s))
		}
	}
	for name, f := range map[string]func(string) bool{
		"isdigit": all(isDigit), "isdecimal": all(unicode.IsDigit), "isnumeric": all(unicode.IsNumber),
		"isalpha": all(unicode.IsLetter), "isspace": all(isSpace),
		"isalnum":      all(func(c rune) bool { return unicode.IsLetter(c) || unicode.IsNumber(c) }),
		"isupper":      func(s string) bool { return hasCase(s, unicode.IsUpper) },
		"islower":      func(s string) bool { return hasCase(s, unicode.IsLower) },
		"istitle":      func(s string) bool { return hasCase(s, func(rune) bool { return true }) && titleCase(s) == s },
		"isascii":      isASCII,
		"isidentifier": func(s string) bool { return all(isWordRune)(s) && !unicode.IsDigit(rune(s[0])) },
		"isprintable":  func(s string) bool { return s == "" || all(unicode.IsPrint)(s) },
	} {
		m[name] = func(_ *run, s string, a args) (Value, error) {
			if _, err := a.take(name, 0); err != nil {
				return nil, err
			}
			return f(s), nil
		}
	}
	return m
}

func isWordRune(c rune) bool { return c == '_' || unicode.IsLetter(c) || unicode.IsNumber(c) }

// isDigit is a decimal digit or one like ², as str.isdigit has it.
func isDigit(c rune) bool {
	return unicode.IsDigit(c) || strings.ContainsRune("²³¹⁰⁴⁵⁶⁷⁸⁹₀₁₂₃₄₅₆₇₈₉", c) || c >= '①' && c <= '⑨'
}

func all(is func(rune) bool) func(string) bool {
	return func(s string) bool {
		return s != "" && strings.IndexFunc(s, func(c rune) bool { return !is(c) }) < 0
	}
}

// text gives an argument that must be a str.
func text(fn string, v Value) (string, error) {
	switch v := v.(type) {
	case string:
		return v, nil
	case *Undefined:
		return "", typeError("%s() argument must be str, not Undefined", fn)
	}
	return "", typeError("%s() argument must be str, not %s", fn, typeName(v))
}

// count gives an integer argument, a default where it was not given.
func count(fn string, v Value, dflt int64) (int64, error) {
	if v == (missing{}) {
		return dflt, nil
	}
	if u, ok := v.(*Undefined); ok {
		return 0, u.err()
	}
	n, ok := small(v)
	if !ok {
		return 0, typeError("%s(): '%s' object cannot be interpreted as an integer", fn, typeName(v))
	}
	return n, nil
}

// texts makes a list of strings and counts it.
func (r *run) texts(parts []string) (Value, error) {
	items := make([]Value, len(parts))
	size := 0
	for i, p := range parts {
		items[i] = p
		size += 16
	}
	return &List{Items: items}, r.alloc(size)
}

func split(r *run, s string, a args, fromEnd bool) (Value, error) {
	p, err := a.take("split", 0, "sep", "maxsplit")
	if err != nil {
		return nil, err
	}
	limit, err := count("split", p[1], -1)
	if err != nil {
		return nil, err
	}
	if or(p[0], nil) == nil {
		return r.texts(splitSpace(s, limit, fromEnd))
	}
	sep, err := text("split", p[0])
	if err != nil {
		return nil, err
	}
	if sep == "" {
		return nil, fault("ValueError", "empty separator")
	}
	if limit < 0 || limit > int64(len(s)) {
		limit = int64(len(s))
	}
	if !fromEnd {
		return r.texts(strings.SplitN(s, sep, int(limit)+1))
	}
	parts := strings.Split(s, sep)
	if head := len(parts) - int(limit); head > 1 {
		parts = append([]string{strings.Join(parts[:head], sep)}, parts[head:]...)
	}
	return r.texts(parts)
}

// splitSpace splits at runs of whitespace; what is left after limit splits keeps all whitespace but
// that next to the last split.
func splitSpace(s string, limit int64, fromEnd bool) []string {
	if limit < 0 {
		return strings.FieldsFunc(s, isSpace)
	}
	trim, find := strings.TrimLeftFunc, strings.IndexFunc
	if fromEnd {
		trim, find = strings.TrimRightFunc, strings.LastIndexFunc
	}
	var parts []string
	for {
		if s = trim(s, isSpace); s == "" {
			break
		}
		i := find(s, isSpace)
		if i < 0 || int64(len(parts)) == limit {
			parts = append(parts, s)
			break
		}
		if fromEnd {
			_, n := utf8.DecodeRuneInString(s[i:])
			parts = append(parts, s[i+n:])
			s = s[:i]
		} else {
			parts = append(parts, s[:i])
			s = s[i:]
		}
	}
	if fromEnd {
		slices.Reverse(parts)
	}
	return parts
}

func strip(left, right bool) strMethod {
	return func(_ *run, s string, a args) (Value, error) {
		p, err := a.take("strip", 0, "chars")
		if err != nil {
			return nil, err
		}
		in := isSpace
		if chars := or(p[0], nil); chars != nil {
			set, err := text("strip", chars)
			if err != nil {
				return nil, err
			}
			in = func(c rune) bool { return strings.ContainsRune(set, c) }
		}
		if left {
			s = strings.TrimLeftFunc(s, in)
		}
		if right {
			s = strings.TrimRightFunc(s, in)
		}
		return s, nil
	}
}

// window cuts a text to the optional start and end arguments that find, count and startswith take, and
// tells how many runes were cut in front; ok is false where the window lies outside.
func window(fn, s string, start, end Value) (w string, front int, ok bool, err error) {
	start, end = or(start, nil), or(end, nil)
	if start == nil && end == nil {
		return s, 0, true, nil
	}
	runes := []rune(s)
	from, to, _, err := sliceBounds([3]Value{start, end, nil}, len(runes))
	if err != nil {
		return "", 0, false, err
	}
	if n, isInt := small(start); isInt && n > int64(len(runes)) || from > to {
		return "", 0, false, nil
	}
	return string(runes[from:to]), from, true, nil
}

func affix(name string, has func(s, part string) bool) strMethod {
	return func(_ *run, s string, a args) (Value, error) {
		p, err := a.take(name, 1, "prefix", "start", "end")
		if err != nil {
			return nil, err
		}
		w, _, ok, err := window(name, s, p[1], p[2])
		if err != nil {
			return nil, err
		}
		parts := []Value{p[0]}
		if l, isList := p[0].(*List); isList && l.Tuple {
			parts = l.Items
		}
		for _, part := range parts {
			t, isText := part.(string)
			if !isText {
				return nil, typeError("%s first arg must be str or a tuple of str, not %s", name, typeName(part))
			}
			if ok && has(w, t) {
				return true, nil
			}
		}
		return false, nil
	}
}

func finder(name string, find func(s, part string) int, must bool) strMethod {
	return func(_ *run, s string, a args) (Value, error) {
		p, err := a.take(name, 1, "sub", "start", "end")
		if err != nil {
			return nil, err
		}
		part, err := text(name, p[0])
		if err != nil {
			return nil, err
		}
		w, front, ok, err := window(name, s, p[1], p[2])
		if err != nil {
			return nil, err
		}
		i := -1
		if ok {
			i = find(w, part)
		}
		if i < 0 {
			if must {
				return nil, fault("ValueError", "substring not found")
			}
			return int64(-1), nil
		}
		return int64(front + utf8.RuneCountInString(w[:i])), nil
	}
}

func partition(find func(s, part string) int, fromEnd bool) strMethod {
	return func(r *run, s string, a args) (Value, error) {
		p, err := a.take("partition", 1, "sep")
		if err != nil {
			return nil, err
		}
		sep, err := text("partition", p[0])
		if err != nil {
			return nil, err
		}
		if sep == "" {
			return nil, fault("ValueError", "empty separator")
		}
		items := []Value{s, "", ""}
		if i := find(s, sep); i >= 0 {
			items = []Value{s[:i], sep, s[i+len(sep):]}
		} else if fromEnd {
			items = []Value{"", "", s}
		}
		return r.newList(items, true)
	}
}

func pad(name string, sides func(n, width int) (left, right int)) strMethod {
	return func(r *run, s string, a args) (Value, error) {
		p, err := a.take(name, 1, "width", "fillchar")
		if err != nil {
			return nil, err
		}
		width, err := count(name, p[0], 0)
		if err != nil {
			return nil, err
		}
		fill, err := text(name, or(p[1], " "))
		if err != nil {
			return nil, err
		}
		if utf8.RuneCountInString(fill) != 1 {
			return nil, typeError("The fill character must be exactly one character long")
		}
		n := width - int64(utf8.RuneCountInString(s))
		if n <= 0 {
			return s, nil
		}
		if err := r.alloc(int(min(n, 1<<40)) * len(fill)); err != nil {
			return nil, err
		}
		left, right := sides(int(n), int(width))
		return strings.Repeat(fill, left) + s + strings.Repeat(fill, right), nil
	}
}

func cutAffix(name string, cut func(s, part string) string) strMethod {
	return func(_ *run, s string, a args) (Value, error) {
		p, err := a.take(name, 1, "part")
		if err != nil {
			return nil, err
		}
		part, err := text(name, p[0])
		return cut(s, part), err
	}
}

func strReplace(r *run, s string, a args) (Value, error) {
	p, err := a.take("replace", 2, "old", "new", "count")
	if err != nil {
		return nil, err
	}
	before, err := text("replace", p[0])
	if err != nil {
		return nil, err
	}
	after, err := text("replace", p[1])
	if err != nil {
		return nil, err
	}
	n, err := count("replace", p[2], -1)
	if err != nil {
		return nil, err
	}
	return r.replace(s, before, after, n)
}

// replace counts its result before it is made.
func (r *run) replace(s, before, after string, n int64) (Value, error) {
	hits := strings.Count(s, before)
	if n >= 0 && n < int64(hits) {
		hits = int(n)
	}
	if err := r.alloc(len(s) + hits*max(len(after)-len(before), 0)); err != nil {
		return nil, err
	}
	return strings.Replace(s, before, after, hits), nil
}

func strJoin(r *run, s string, a args) (Value, error) {
	p, err := a.take("join", 1, "iterable")
	if err != nil {
		return nil, err
	}
	items, err := r.iterate(p[0])
	if err != nil {
		return nil, typeError("can only join an iterable")
	}
	parts := make([]string, len(items))
	for i, item := range items {
		t, ok := item.(string)
		if !ok {
			return nil, typeError("sequence item %d: expected str instance, %s found", i, typeName(item))
		}
		parts[i] = t
	}
	return r.joinTexts(parts, s)
}

// joinTexts counts its result before it is made.
func (r *run) joinTexts(parts []string, sep string) (Value, error) {
	size := len(sep) * len(parts)
	for _, p := range parts {
		size += len(p)
	}
	if err := r.alloc(size); err != nil {
		return nil, err
	}
	return strings.Join(parts, sep), nil
}

func strCount(_ *run, s string, a args) (Value, error) {
	p, err := a.take("count", 1, "sub", "start", "end")
	if err != nil {
		return nil, err
	}
	part, err := text("count", p[0])
	if err != nil {
		return nil, err
	}
	w, _, ok, err := window("count", s, p[1], p[2])
	if !ok || err != nil {
		return int64(0), err
	}
	return int64(strings.Count(w, part)), nil
}

func strSplitLines(r *run, s string, a args) (Value, error) {
	p, err := a.take("splitlines", 0, "keepends")
	if err != nil {
		return nil, err
	}
	return r.texts(splitLines(s, truth(or(p[0], false))))
}

// splitLines cuts at what Python takes for a line's end.
func splitLines(s string, keep bool) []string {
	var lines []string
	for s != "" {
		i := strings.IndexAny(s, "\n\r\v\f\x1c\x1d\x1e\u0085\u2028\u2029")
		if i < 0 {
			return append(lines, s)
		}
		_, n := utf8.DecodeRuneInString(s[i:])
		if strings.HasPrefix(s[i:], "\r\n") {
			n = 2
		}
		if keep {
			lines = append(lines, s[:i+n])
		} else {
			lines = append(lines, s[:i])
		}
		s = s[i+n:]
	}
	return lines
}

func zfill(r *run, s string, a args) (Value, error) {
	p, err := a.take("zfill", 1, "width")
	if err != nil {
		return nil, err
	}
	width, err := count("zfill", p[0], 0)
	if err != nil {
		return nil, err
	}
	n := width - int64(utf8.RuneCountInString(s))
	if n <= 0 {
		return s, nil
	}
	if err := r.alloc(int(min(n, 1<<40))); err != nil {
		return nil, err
	}
	sign := ""
	if s != "" && (s[0] == '-' || s[0] == '+') {
		sign, s = s[:1], s[1:]
	}
	return sign + strings.Repeat("0", int(n)) + s, nil
}

func expandTabs(r *run, s string, a args) (Value, error) {
	p, err := a.take("expandtabs", 0, "tabsize")
	if err != nil {
		return nil, err
	}
	size, err := count("expandtabs", p[0], 8)
	if err != nil {
		return nil, err
	}
	if err := r.alloc(len(s) + strings.Count(s, "\t")*int(max(0, min(size, 1<<32)))); err != nil {
		return nil, err
	}
	var b strings.Builder
	column := int64(0)
	for _, c := range s {
		switch {
		case c == '\t' && size > 0:
			n := size - column%size
			b.WriteString(strings.Repeat(" ", int(n)))
			column += n
		case c == '\t':
		default:
			b.WriteRune(c)
			if column++; c == '\n' || c == '\r' {
				column = 0
			}
		}
	}
	return b.String(), nil
}
