package jinja

import (
	"iter"
	"math"
	"slices"
	"strings"
	"unicode/utf8"
)

// texts makes a list of the parts of a text, counting each before it is there.
func (r *run) texts(parts iter.Seq[string]) (*List, error) {
	list := &List{}
	for p := range parts {
		if err := r.alloc(textBytes); err != nil {
			return nil, err
		}
		list.Items = append(list.Items, p)
	}
	return list, nil
}

// split is str.split and str.rsplit; the latter finds the parts from the end.
func split(r *run, s string, a args, fromEnd bool) (Value, error) {
	p, err := a.take("split", 0, "sep", "maxsplit")
	if err != nil {
		return nil, err
	}
	limit, err := count("split", p[1], -1)
	if err != nil {
		return nil, err
	}
	if limit < 0 {
		limit = math.MaxInt64
	}
	parts := splitSpace(s, limit, fromEnd)
	if or(p[0], nil) != nil {
		sep, err := text("split", p[0])
		if err != nil {
			return nil, err
		}
		if sep == "" {
			return nil, fault("ValueError", "empty separator")
		}
		parts = splitAt(s, sep, limit, fromEnd)
	}
	list, err := r.texts(parts)
	if err == nil && fromEnd {
		slices.Reverse(list.Items)
	}
	return list, err
}

// splitAt gives what stands between separators, from the end if so asked.
func splitAt(s, sep string, limit int64, fromEnd bool) iter.Seq[string] {
	return func(yield func(string) bool) {
		find := strings.Index
		if fromEnd {
			find = strings.LastIndex
		}
		for ; limit > 0; limit-- {
			i := find(s, sep)
			if i < 0 {
				break
			}
			part, rest := s[:i], s[i+len(sep):]
			if fromEnd {
				part, rest = rest, part
			}
			if !yield(part) {
				return
			}
			s = rest
		}
		yield(s)
	}
}

// splitSpace splits at runs of whitespace, from the end if so asked; what is left after limit splits
// keeps all whitespace but that next to the last split.
func splitSpace(s string, limit int64, fromEnd bool) iter.Seq[string] {
	trim, find := strings.TrimLeftFunc, strings.IndexFunc
	if fromEnd {
		trim, find = strings.TrimRightFunc, strings.LastIndexFunc
	}
	return func(yield func(string) bool) {
		for n := int64(0); ; n++ {
			if s = trim(s, isSpace); s == "" {
				return
			}
			i := find(s, isSpace)
			part := s
			switch {
			case i < 0 || n == limit:
				s = ""
			case fromEnd:
				_, size := utf8.DecodeRuneInString(s[i:])
				part, s = s[i+size:], s[:i]
			default:
				part, s = s[:i], s[i:]
			}
			if !yield(part) {
				return
			}
		}
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

func strSplitLines(r *run, s string, a args) (Value, error) {
	p, err := a.take("splitlines", 0, "keepends")
	if err != nil {
		return nil, err
	}
	return r.texts(splitLines(s, truth(or(p[0], false))))
}

// splitLines cuts at what Python takes for a line's end.
func splitLines(s string, keep bool) iter.Seq[string] {
	return func(yield func(string) bool) {
		for s != "" {
			i := strings.IndexFunc(s, isLineEnd)
			if i < 0 {
				yield(s)
				return
			}
			_, n := utf8.DecodeRuneInString(s[i:])
			if strings.HasPrefix(s[i:], "\r\n") {
				n = 2
			}
			line := s[:i]
			if keep {
				line = s[:i+n]
			}
			if !yield(line) {
				return
			}
			s = s[i+n:]
		}
	}
}

func isLineEnd(c rune) bool {
	return c >= '\n' && c <= '\r' || c >= 0x1c && c <= 0x1e || c == 0x85 || c == 0x2028 || c == 0x2029
}
