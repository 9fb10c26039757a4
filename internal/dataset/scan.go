package dataset

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/servemark/servemark/internal/bench"
)

// The scanner below finds where JSON values begin and end without decoding them, so that a file of hundreds of megabytes
// can be indexed in one pass and only the rows in use are decoded. It looks at strings and brackets; whether a value is
// valid in itself is checked where it is decoded.

// skipSpace gives the index of the first byte at or after i that is not JSON white space.
func skipSpace(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\n' || b[i] == '\r' || b[i] == '\t') {
		i++
	}
	return i
}

// valueEnd gives the index after the value that begins at b[i], or -1 where b ends before the value is known to.
func valueEnd(b []byte, i int) int {
	if i >= len(b) {
		return -1
	}
	switch b[i] {
	case '"':
		return stringEnd(b, i)
	case '{', '[':
		return containerEnd(b, i)
	}
	for ; i < len(b); i++ {
		switch b[i] {
		case ',', ']', '}', ':', ' ', '\n', '\r', '\t':
			return i
		}
	}
	return -1
}

func stringEnd(b []byte, i int) int {
	for i++; ; i++ {
		k := bytes.IndexByte(b[i:], '"')
		if k < 0 {
			return -1
		}
		i += k
		escapes := 0
		for b[i-1-escapes] == '\\' {
			escapes++
		}
		if escapes%2 == 0 {
			return i + 1
		}
	}
}

func containerEnd(b []byte, i int) int {
	depth := 0
	for i < len(b) {
		switch b[i] {
		case '"':
			if i = stringEnd(b, i); i < 0 {
				return -1
			}
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1
			}
		}
		i++
	}
	return -1
}

// eachMember calls f with every key and value of the object b, in order; it reports whether b is an object to its end.
func eachMember(b []byte, f func(key string, value []byte)) bool {
	return eachPart(b, '{', '}', func(i int) int {
		keyEnd := valueEnd(b, i)
		if keyEnd < 0 || b[i] != '"' {
			return -1
		}
		var key string
		if json.Unmarshal(b[i:keyEnd], &key) != nil {
			return -1
		}
		colon := skipSpace(b, keyEnd)
		if colon >= len(b) || b[colon] != ':' {
			return -1
		}
		from := skipSpace(b, colon+1)
		end := valueEnd(b, from)
		if end > from {
			f(key, b[from:end])
			return end
		}
		return -1
	})
}

// eachElement calls f with every element of the array b, in order; it reports whether b is an array to its end.
func eachElement(b []byte, f func(value []byte)) bool {
	return eachPart(b, '[', ']', func(i int) int {
		end := valueEnd(b, i)
		if end > i {
			f(b[i:end])
			return end
		}
		return -1
	})
}

// eachPart walks what lies between two brackets; part takes the index of one part and gives the one after it, or -1.
func eachPart(b []byte, open, shut byte, part func(i int) int) bool {
	i := skipSpace(b, 0)
	if i >= len(b) || b[i] != open {
		return false
	}
	for i = skipSpace(b, i+1); i < len(b) && b[i] != shut; {
		if i = part(i); i < 0 {
			return false
		}
		i = skipSpace(b, i)
		if i < len(b) && b[i] == ',' {
			i = skipSpace(b, i+1)
			continue
		}
		break
	}
	return i < len(b) && b[i] == shut && skipSpace(b, i+1) == len(b)
}

// arrayReader finds the elements of one big JSON array while it is read, holding one element at a time.
type arrayReader struct {
	r io.Reader
	// buf is what has been read and not been passed on; it begins at offset base of the input.
	buf  []byte
	base int64
	eof  bool
	size int // bytes to read at a time
}

// errNotArray says that the input does not begin as an array does.
var errNotArray = errors.New("it does not begin with [")

// each calls f with every element and its offset. The bytes are good until f returns.
func (a *arrayReader) each(f func(at int64, element []byte) error) error {
	c, err := a.peek()
	if err != nil {
		return err
	}
	if c != '[' {
		return errNotArray
	}
	a.drop(1)
	if c, err = a.peek(); err != nil {
		return err
	}
	for n := 0; c != ']'; n++ {
		element, err := a.value()
		if err != nil {
			return fmt.Errorf("after %s: %w", bench.Number(n, "row"), err)
		}
		if err := f(a.base, element); err != nil {
			return err
		}
		a.drop(len(element))
		if c, err = a.next(); err != nil {
			return fmt.Errorf("after %s: %w", bench.Number(n+1, "row"), err)
		}
	}
	a.drop(1)
	if c, err = a.peek(); err != io.ErrUnexpectedEOF {
		if err != nil {
			return err
		}
		return fmt.Errorf("%q follows the array's end", c)
	}
	return nil
}

// peek skips white space and gives the byte after it; io.ErrUnexpectedEOF where there is none.
func (a *arrayReader) peek() (byte, error) {
	for {
		a.drop(skipSpace(a.buf, 0))
		if len(a.buf) > 0 {
			return a.buf[0], nil
		}
		if a.eof {
			return 0, io.ErrUnexpectedEOF
		}
		if err := a.more(); err != nil {
			return 0, err
		}
	}
}

// next passes over the comma after an element and gives the byte that follows; or the bracket that ends the array.
func (a *arrayReader) next() (byte, error) {
	c, err := a.peek()
	if err != nil || c == ']' {
		return c, err
	}
	if c != ',' {
		return 0, fmt.Errorf("%q stands where a comma is due", c)
	}
	a.drop(1)
	if c, err = a.peek(); err == nil && c == ']' {
		return 0, errors.New("']' stands where a value is due")
	}
	return c, err
}

// value gives the value that the buffer begins with.
func (a *arrayReader) value() ([]byte, error) {
	for {
		switch end := valueEnd(a.buf, 0); {
		case end > 0:
			return a.buf[:end], nil
		case end == 0:
			return nil, fmt.Errorf("%q stands where a value is due", a.buf[0])
		}
		if a.eof {
			return nil, io.ErrUnexpectedEOF
		}
		if err := a.more(); err != nil {
			return nil, err
		}
	}
}

func (a *arrayReader) drop(n int) {
	a.buf = a.buf[n:]
	a.base += int64(n)
}

// more reads on: as much as is held, so that a value of any length is scanned a bounded number of times.
func (a *arrayReader) more() error {
	if a.size == 0 {
		a.size = 1 << 20
	}
	grown := make([]byte, len(a.buf), len(a.buf)+max(a.size, len(a.buf)))
	copy(grown, a.buf)
	n, err := a.r.Read(grown[len(grown):cap(grown)])
	a.buf = grown[:len(grown)+n]
	if err == io.EOF {
		a.eof, err = true, nil
	}
	return err
}
