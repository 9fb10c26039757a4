package jinja

import (
	"strings"
	"unicode/utf8"
)

// padding counts a text that is about to be made of s and n fillers.
func (r *run) padding(n int, fill, s string) error {
	size := times(n, len(fill))
	if size > r.longest {
		return r.newText(size)
	}
	return r.newText(size + len(s))
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
		if err := r.padding(int(n), fill, s); err != nil {
			return nil, err
		}
		left, right := sides(int(n), int(width))
		return strings.Repeat(fill, left) + s + strings.Repeat(fill, right), nil
	}
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
	if err := r.padding(int(n), "0", s); err != nil {
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
	tabs := times(strings.Count(s, "\t"), int(size))
	if err := r.padding(tabs, " ", s); err != nil {
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
