package tokenizer

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/servemark/servemark/tokenizer/internal/unidata"
)

// runeSet is a set of characters as sorted ranges that neither overlap nor touch. Surrogates are in no set.
type runeSet []runeRange

type runeRange struct{ lo, hi rune }

var allRunes = runeSet{{0, 0xD7FF}, {0xE000, utf8.MaxRune}}

// setWhere collects the characters for which is holds. Nothing is assigned from U+34000 to U+DFFFF, so one stands for
// all of them there.
func setWhere(is func(rune) bool) runeSet {
	const from, to = 0x34000, 0xDFFFF
	var s runeSet
	add := func(lo, hi rune) {
		if n := len(s); n > 0 && s[n-1].hi == lo-1 {
			s[n-1].hi = hi
		} else {
			s = append(s, runeRange{lo, hi})
		}
	}
	for _, all := range allRunes {
		for r := all.lo; r <= all.hi; r++ {
			switch hit := is(r); {
			case r == from:
				if hit {
					add(from, to)
				}
				r = to
			case hit:
				add(r, r)
			}
		}
	}
	return s
}

// clean sorts and joins ranges in any order.
func (s runeSet) clean() runeSet {
	slices.SortFunc(s, func(a, b runeRange) int { return int(a.lo - b.lo) })
	var out runeSet
	for _, r := range s {
		if n := len(out); n > 0 && r.lo <= out[n-1].hi+1 {
			out[n-1].hi = max(out[n-1].hi, r.hi)
		} else {
			out = append(out, r)
		}
	}
	return out
}

func (s runeSet) negate() runeSet {
	var out runeSet
	next := rune(0)
	for _, r := range s {
		if r.lo > next {
			out = append(out, runeRange{next, r.lo - 1})
		}
		next = r.hi + 1
	}
	if next <= utf8.MaxRune {
		out = append(out, runeRange{next, utf8.MaxRune})
	}
	return out.intersect(allRunes)
}

func (s runeSet) intersect(t runeSet) runeSet {
	var out runeSet
	for i, j := 0, 0; i < len(s) && j < len(t); {
		lo, hi := max(s[i].lo, t[j].lo), min(s[i].hi, t[j].hi)
		if lo <= hi {
			out = append(out, runeRange{lo, hi})
		}
		if s[i].hi < t[j].hi {
			i++
		} else {
			j++
		}
	}
	return out
}

// class writes the set as a bracket expression of single characters and ranges only.
func (s runeSet) class() string {
	if len(s) == 0 {
		return `(?!)`
	}
	var b strings.Builder
	b.WriteByte('[')
	for _, r := range s {
		writeClassRune(&b, r.lo)
		if r.hi > r.lo {
			b.WriteByte('-')
			writeClassRune(&b, r.hi)
		}
	}
	b.WriteByte(']')
	return b.String()
}

func writeClassRune(b *strings.Builder, r rune) {
	switch {
	case r < 0x80:
		fmt.Fprintf(b, `\x%02x`, r)
	default:
		b.WriteRune(r)
	}
}

// propertySet is the set of \p{name}.
func propertySet(name string) (runeSet, error) {
	key := strings.Map(func(r rune) rune {
		if r == ' ' || r == '_' || r == '-' {
			return -1
		}
		return r
	}, name)
	category := func(r rune) string {
		c := int(unidata.Regex(r)&unidata.CategoryMask) * 2
		return unidata.CategoryNames[c : c+2]
	}
	if n, ok := longCategories[strings.ToLower(key)]; ok {
		key = n
	}
	for i := 0; i < len(unidata.CategoryNames); i += 2 {
		two := unidata.CategoryNames[i : i+2]
		if key == two {
			return setWhere(func(r rune) bool { return category(r) == two }), nil
		}
		if key == two[:1] {
			return setWhere(func(r rune) bool { return category(r)[:1] == key }), nil
		}
	}
	if n, ok := unidata.ScriptNumber(key); ok {
		return setWhere(func(r rune) bool { return unidata.Script(r) == n }), nil
	}
	switch k := strings.ToLower(key); k {
	case "any":
		return allRunes, nil
	case "punct":
		return propertySet("P")
	default:
		if set, err := posixSet(k); err == nil {
			return set, nil
		}
	}
	return nil, fmt.Errorf("the property \\p{%s} is not known to this version", name)
}

// longCategories are the long names of categories that patterns use.
var longCategories = map[string]string{
	"letter": "L", "uppercaseletter": "Lu", "lowercaseletter": "Ll", "titlecaseletter": "Lt", "modifierletter": "Lm", "otherletter": "Lo",
	"mark": "M", "nonspacingmark": "Mn", "spacingmark": "Mc", "enclosingmark": "Me",
	"number": "N", "decimalnumber": "Nd", "letternumber": "Nl", "othernumber": "No",
	"punctuation": "P", "symbol": "S", "separator": "Z", "spaceseparator": "Zs", "other": "C", "control": "Cc",
}

// posixSet is a named class, as \p{name} means it.
func posixSet(name string) (runeSet, error) {
	named := map[string]unidata.Named{"alpha": unidata.Alpha, "upper": unidata.Upper, "lower": unidata.Lower, "graph": unidata.Graph}
	if n, ok := named[name]; ok {
		return setWhere(func(r rune) bool { return unidata.NamedClasses(r)&n != 0 }), nil
	}
	join := func(names ...string) (runeSet, error) {
		var all runeSet
		for _, n := range names {
			s, err := propertySet(n)
			if err != nil {
				return nil, err
			}
			all = append(all, s...)
		}
		return all.clean(), nil
	}
	switch name {
	case "word":
		return setWhere(func(r rune) bool { return unidata.Regex(r)&unidata.RegexWord != 0 }), nil
	case "space":
		return setWhere(func(r rune) bool { return unidata.Regex(r)&unidata.RegexSpace != 0 }), nil
	case "digit":
		return join("Nd")
	case "cntrl":
		return join("Cc")
	case "punct": // in brackets only; \p{Punct} is P
		return join("P", "S")
	case "alnum":
		return join("alpha", "Nd")
	case "print":
		return join("graph", "Zs")
	case "blank":
		s, err := join("Zs")
		return append(s, runeRange{'\t', '\t'}).clean(), err
	case "xdigit":
		return runeSet{{'0', '9'}, {'A', 'F'}, {'a', 'f'}}, nil
	case "ascii":
		return runeSet{{0, 0x7f}}, nil
	}
	return nil, fmt.Errorf("the class [:%s:] is not known to this version", name)
}

// inBrackets corrects a set that stands in a bracket expression: there the engine looks up characters below U+0100 in
// another table, which does not count ¹ ² ³ ¼ ½ ¾ as word characters.
func inBrackets(name string, s runeSet) runeSet {
	if name != "word" {
		return s
	}
	return s.intersect(runeSet{{0xB2, 0xB3}, {0xB9, 0xB9}, {0xBC, 0xBE}}.negate())
}
