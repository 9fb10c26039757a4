package jinja

import (
	"strings"
	"unicode"
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
			if err := r.remake(s); err != nil {
				return nil, err
			}
			return f(s), nil
		}
	}
	addStrTests(m)
	return m
}

// addStrTests adds the methods that tell something about a text.
func addStrTests(m map[string]strMethod) {
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

func strJoin(r *run, s string, a args) (Value, error) {
	p, err := a.take("join", 1, "iterable")
	if err != nil {
		return nil, err
	}
	items, err := r.iterate(p[0])
	if err != nil {
		return nil, typeError("can only join an iterable")
	}
	if err := r.alloc(slotBytes * len(items)); err != nil {
		return nil, err
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
	size := times(len(sep), len(parts)-1)
	for _, p := range parts {
		if size > r.longest {
			break
		}
		size += len(p)
	}
	if err := r.newText(size); err != nil {
		return nil, err
	}
	return strings.Join(parts, sep), nil
}
