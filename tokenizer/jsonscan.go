package tokenizer

import (
	"bytes"
	"fmt"
	"unicode/utf16"
	"unicode/utf8"
)

// jsonScan reads a JSON text value by value without building a tree: a tokenizer file is one small description and
// two very long lists, and the lists are stored while they are read.
type jsonScan struct {
	data  []byte
	pos   int
	buf   []byte // holds the last string that had escapes
	plain bool   // the last string had none and lies in data
}

const maxJSONDepth = 64

func (s *jsonScan) fail(format string, args ...any) error {
	return fmt.Errorf("byte %d: %s", s.pos, fmt.Sprintf(format, args...))
}

func (s *jsonScan) space() {
	for s.pos < len(s.data) {
		switch s.data[s.pos] {
		case ' ', '\t', '\n', '\r':
			s.pos++
		default:
			return
		}
	}
}

// peek returns the next byte that is not white space, 0 at the end.
func (s *jsonScan) peek() byte {
	s.space()
	if s.pos < len(s.data) {
		return s.data[s.pos]
	}
	return 0
}

func (s *jsonScan) expect(c byte) error {
	if got := s.peek(); got != c {
		if got == 0 && s.pos >= len(s.data) {
			return s.fail("the JSON ends early, %q expected", c)
		}
		return s.fail("%q expected, found %q", c, got)
	}
	s.pos++
	return nil
}

// more reads the separator before the next element of a list or object that ends in end. first is true for the first.
func (s *jsonScan) more(end byte, first bool) (bool, error) {
	c := s.peek()
	if c == end {
		s.pos++
		return false, nil
	}
	if first {
		return true, nil
	}
	if err := s.expect(','); err != nil {
		return false, err
	}
	return true, nil
}

// str reads a string. The bytes are valid until the next call of str.
func (s *jsonScan) str() ([]byte, error) {
	if err := s.expect('"'); err != nil {
		return nil, err
	}
	start := s.pos
	for i, c := range s.data[start:] {
		if c > '\\' || c != '"' && c != '\\' && c >= 0x20 {
			continue
		}
		s.pos = start + i
		switch c {
		case '"':
			s.pos++
			s.plain = true
			return s.data[start : start+i], nil
		case '\\':
			s.plain = false
			return s.strEscaped(start, start+i)
		}
		return nil, s.fail("control character in a string")
	}
	s.pos = len(s.data)
	return nil, s.fail("the JSON ends inside a string")
}

func (s *jsonScan) strEscaped(start, i int) ([]byte, error) {
	b := append(s.buf[:0], s.data[start:i]...)
	for i < len(s.data) {
		c := s.data[i]
		switch {
		case c == '"':
			s.pos, s.buf = i+1, b
			return b, nil
		case c < 0x20:
			s.pos = i
			return nil, s.fail("control character in a string")
		case c != '\\':
			b = append(b, c)
			i++
		default:
			var err error
			if b, i, err = s.escape(b, i); err != nil {
				return nil, err
			}
		}
	}
	s.pos = len(s.data)
	return nil, s.fail("the JSON ends inside a string")
}

// escape appends what the escape at i stands for and returns the place after it.
func (s *jsonScan) escape(b []byte, i int) ([]byte, int, error) {
	s.pos = i
	if i+1 >= len(s.data) {
		return nil, i, s.fail("the JSON ends inside a string")
	}
	const from, to = `"\/bfnrt`, "\"\\/\b\f\n\r\t"
	if k := bytes.IndexByte([]byte(from), s.data[i+1]); k >= 0 {
		return append(b, to[k]), i + 2, nil
	}
	r, ok := s.hex4(i)
	if !ok {
		return nil, i, s.fail("bad escape in a string")
	}
	i += 6
	if utf16.IsSurrogate(r) {
		low, ok := s.hex4(i)
		r = utf16.DecodeRune(r, low)
		if !ok || r == utf8.RuneError {
			return nil, i, s.fail("half of a surrogate pair in a string")
		}
		i += 6
	}
	return utf8.AppendRune(b, r), i, nil
}

// hex4 reads \uXXXX at i.
func (s *jsonScan) hex4(i int) (rune, bool) {
	if i+6 > len(s.data) || s.data[i] != '\\' || s.data[i+1] != 'u' {
		return 0, false
	}
	var r rune
	for _, c := range s.data[i+2 : i+6] {
		switch {
		case '0' <= c && c <= '9':
			r = r<<4 | rune(c-'0')
		case 'a' <= c && c <= 'f':
			r = r<<4 | rune(c-'a'+10)
		case 'A' <= c && c <= 'F':
			r = r<<4 | rune(c-'A'+10)
		default:
			return 0, false
		}
	}
	return r, true
}

// uint reads a non-negative whole number.
func (s *jsonScan) uint() (uint64, error) {
	s.space()
	start := s.pos
	var n uint64
	for s.pos < len(s.data) && '0' <= s.data[s.pos] && s.data[s.pos] <= '9' {
		if n > 1<<59 {
			return 0, s.fail("number too large")
		}
		n = n*10 + uint64(s.data[s.pos]-'0')
		s.pos++
	}
	if s.pos == start || s.pos < len(s.data) && bytes.IndexByte([]byte(".eE"), s.data[s.pos]) >= 0 {
		return 0, s.fail("a whole number expected")
	}
	return n, nil
}

// number reads the text of any number.
func (s *jsonScan) number() ([]byte, error) {
	s.space()
	start := s.pos
	for s.pos < len(s.data) {
		c := s.data[s.pos]
		if c != '-' && c != '+' && c != '.' && c|0x20 != 'e' && (c < '0' || c > '9') {
			break
		}
		s.pos++
	}
	if s.pos == start {
		return nil, s.fail("a number expected")
	}
	return s.data[start:s.pos], nil
}

// raw skips a value and returns its text.
func (s *jsonScan) raw() ([]byte, error) {
	s.space()
	start := s.pos
	if err := s.skip(0); err != nil {
		return nil, err
	}
	return s.data[start:s.pos], nil
}

func (s *jsonScan) skip(depth int) error {
	if depth > maxJSONDepth {
		return s.fail("nested more than %d deep", maxJSONDepth)
	}
	switch c := s.peek(); c {
	case '"':
		_, err := s.str()
		return err
	case '[', '{':
		s.pos++
		end := c + 2
		for first := true; ; first = false {
			ok, err := s.more(end, first)
			if err != nil || !ok {
				return err
			}
			if c == '{' {
				if _, err := s.str(); err != nil {
					return err
				}
				if err := s.expect(':'); err != nil {
					return err
				}
			}
			if err := s.skip(depth + 1); err != nil {
				return err
			}
		}
	case 't', 'f', 'n':
		for _, w := range []string{"true", "false", "null"} {
			if bytes.HasPrefix(s.data[s.pos:], []byte(w)) {
				s.pos += len(w)
				return nil
			}
		}
		return s.fail("unknown word")
	default:
		_, err := s.number()
		return err
	}
}

// object calls f for each key of an object; f must read the value.
func (s *jsonScan) object(f func(key string) error) error {
	if err := s.expect('{'); err != nil {
		return err
	}
	for first := true; ; first = false {
		ok, err := s.more('}', first)
		if err != nil || !ok {
			return err
		}
		key, err := s.str()
		if err != nil {
			return err
		}
		name := string(key)
		if err := s.expect(':'); err != nil {
			return err
		}
		if err := f(name); err != nil {
			return err
		}
	}
}
