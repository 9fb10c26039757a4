package endpoint

// scan walks one JSON text from left to right without allocating. It is strict: whatever encoding/json would refuse, it
// refuses, and it also gives up (ok becomes false) on legal rarities such as escaped keys and deep nesting. A caller
// that finds ok false at the end must read the text in another way.
type scan struct {
	b     []byte
	i     int
	depth int
	ok    bool
}

// maxScanDepth is the nesting beyond which scan gives up.
const maxScanDepth = 64

func newScan(b []byte) scan { return scan{b: b, ok: true} }

// fail gives up; every later step is then a no-op that ends loops.
func (s *scan) fail() { s.ok, s.i = false, len(s.b) }

// peek skips white space and returns the next byte, or 0 at the end.
func (s *scan) peek() byte {
	for s.i < len(s.b) {
		c := s.b[s.i]
		if c != ' ' && c != '\t' && c != '\n' && c != '\r' {
			return c
		}
		s.i++
	}
	return 0
}

// take consumes c if it is the next byte that is not white space.
func (s *scan) take(c byte) bool {
	if s.peek() != c {
		return false
	}
	s.i++
	return true
}

// open enters an object or array; it reports false, having consumed nothing, where another kind of value stands.
func (s *scan) open(c byte) bool {
	if !s.take(c) {
		return false
	}
	s.depth++
	if s.depth > maxScanDepth {
		s.fail()
		return false
	}
	return true
}

// key steps to the next member of the object entered last and returns its key; the value comes next. After the last
// member it leaves the object and reports false. first must be true for the first call only.
func (s *scan) key(first *bool) ([]byte, bool) {
	if s.take('}') {
		s.depth--
		return nil, false
	}
	if !*first && !s.take(',') {
		s.fail()
		return nil, false
	}
	*first = false
	if s.peek() != '"' {
		s.fail()
		return nil, false
	}
	k, plain := s.str()
	if !plain || !s.take(':') {
		s.fail()
	}
	return k, s.ok
}

// item steps to the next element of the array entered last; after the last one it leaves the array and reports false.
func (s *scan) item(first *bool) bool {
	if s.take(']') {
		s.depth--
		return false
	}
	if !*first && !s.take(',') {
		s.fail()
		return false
	}
	*first = false
	return s.ok
}

// str consumes a string and returns what stands between its quotes; plain is true where that needs no decoding.
func (s *scan) str() (raw []byte, plain bool) {
	if s.peek() != '"' {
		s.fail()
		return nil, false
	}
	start, plain := s.i+1, true
	for i := start; i < len(s.b); i++ {
		switch class[s.b[i]] {
		case plainByte:
		case quoteByte:
			s.i = i + 1
			return s.b[start:i], plain
		case highByte:
			plain = false
		case escapeByte:
			plain = false
			n := escapeLen(s.b[i:])
			if n == 0 {
				s.fail()
				return nil, false
			}
			i += n - 1
		default:
			s.fail()
			return nil, false
		}
	}
	s.fail()
	return nil, false
}

// Classes of bytes inside a string.
const (
	badByte = iota // control characters, illegal
	plainByte
	quoteByte
	escapeByte
	highByte // part of a multi-byte character, perhaps an invalid one
)

var class = func() (t [256]uint8) {
	for i := 0x20; i < 256; i++ {
		t[i] = plainByte
		if i >= 0x80 {
			t[i] = highByte
		}
	}
	t['"'], t['\\'] = quoteByte, escapeByte
	return t
}()

// escapeLen returns the length of the escape at the start of b (2, or 6 for \uXXXX), or 0 if it is illegal or cut.
func escapeLen(b []byte) int {
	if len(b) < 2 {
		return 0
	}
	switch b[1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2
	case 'u':
		if len(b) < 6 {
			return 0
		}
		for _, c := range b[2:6] {
			if _, ok := hexDigit(c); !ok {
				return 0
			}
		}
		return 6
	}
	return 0
}

// hexDigit returns the value of a hexadecimal digit.
func hexDigit(c byte) (v rune, ok bool) {
	switch {
	case '0' <= c && c <= '9':
		return rune(c - '0'), true
	case 'a' <= c && c <= 'f':
		return rune(c-'a') + 10, true
	case 'A' <= c && c <= 'F':
		return rune(c-'A') + 10, true
	}
	return 0, false
}

// skip consumes one value of any kind, checking all of it.
func (s *scan) skip() {
	switch c := s.peek(); c {
	case '{':
		s.open('{')
		for first := true; s.ok; {
			if _, more := s.key(&first); !more {
				return
			}
			s.skip()
		}
	case '[':
		s.open('[')
		for first := true; s.ok && s.item(&first); {
			s.skip()
		}
	case '"':
		s.str()
	case 't':
		s.literal("true")
	case 'f':
		s.literal("false")
	case 'n':
		s.literal("null")
	default:
		s.number()
	}
}

// null consumes a null if one stands next.
func (s *scan) null() bool {
	if s.peek() != 'n' {
		return false
	}
	s.literal("null")
	return s.ok
}

func (s *scan) literal(word string) {
	if len(s.b)-s.i < len(word) || string(s.b[s.i:s.i+len(word)]) != word {
		s.fail()
		return
	}
	s.i += len(word)
}

// number consumes a number by JSON's grammar.
func (s *scan) number() {
	start := s.i
	if s.i < len(s.b) && s.b[s.i] == '-' {
		s.i++
	}
	switch {
	case s.i < len(s.b) && s.b[s.i] == '0':
		s.i++
	case s.digits() == 0:
		s.fail()
		return
	}
	if s.i < len(s.b) && s.b[s.i] == '.' {
		s.i++
		if s.digits() == 0 {
			s.fail()
			return
		}
	}
	if s.i < len(s.b) && (s.b[s.i] == 'e' || s.b[s.i] == 'E') {
		s.i++
		if s.i < len(s.b) && (s.b[s.i] == '+' || s.b[s.i] == '-') {
			s.i++
		}
		if s.digits() == 0 {
			s.fail()
			return
		}
	}
	if s.i == start {
		s.fail()
	}
}

func (s *scan) digits() (n int) {
	for s.i < len(s.b) && '0' <= s.b[s.i] && s.b[s.i] <= '9' {
		s.i++
		n++
	}
	return n
}

// whole consumes an integer of at most nine digits that is not negative; anything else makes it give up.
func (s *scan) whole() int {
	s.peek()
	n, start := 0, s.i
	for s.i < len(s.b) && '0' <= s.b[s.i] && s.b[s.i] <= '9' {
		n = n*10 + int(s.b[s.i]-'0')
		if s.i++; s.i-start > 9 {
			s.fail()
			return 0
		}
	}
	if s.i == start || s.i-start > 1 && s.b[start] == '0' {
		s.fail()
		return 0
	}
	if s.i < len(s.b) && (s.b[s.i] == '.' || s.b[s.i] == 'e' || s.b[s.i] == 'E') {
		s.fail()
	}
	return n
}

// end reports whether all of the text was consumed without giving up.
func (s *scan) end() bool { return s.peek() == 0 && s.ok && s.i == len(s.b) }
