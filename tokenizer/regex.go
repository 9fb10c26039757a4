package tokenizer

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/dlclark/regexp2/v2"
)

// regexMatcher runs a pattern that has no scanner of its own: written for Oniguruma, translated for regexp2 with every
// class spelled out, so that both mean the same characters. It is slow and the reference for the scanners.
type regexMatcher struct{ re *regexp2.Regexp }

// maxMatchTime bounds one search: a pattern is data from strangers.
const maxMatchTime = 20 * time.Second

// maxPattern bounds the bytes of a pattern, whose compiled form is a hundred times as large. The longest known has 3,000.
const maxPattern = 1 << 16

func newRegexMatcher(pattern string) (matcher, error) {
	if len(pattern) > maxPattern {
		return nil, fmt.Errorf("pattern %q has %d bytes; more than %d are not supported", clip(pattern), len(pattern), maxPattern)
	}
	t := &translator{in: pattern}
	out, err := t.all()
	if err != nil {
		return nil, fmt.Errorf("pattern %q: %w", clip(pattern), err)
	}
	re, err := regexp2.Compile(out, regexp2.OptionMaxCachedRuneBufferLength(0))
	if err != nil {
		return nil, fmt.Errorf("pattern %q cannot be read: %w", clip(pattern), err)
	}
	re.MatchTimeout = maxMatchTime
	return regexMatcher{re}, nil
}

func (m regexMatcher) matches(s string, each func(from, to int)) error {
	if s == "" {
		return nil
	}
	runes := []rune(s)
	pos, at := 0, 0 // runes and bytes up to which the text is done
	seek := func(to int) int {
		for pos < to {
			at += utf8.RuneLen(runes[pos])
			pos++
		}
		return at
	}
	last := -1
	for start := 0; start <= len(runes); {
		m, err := m.re.FindRunesMatchStartingAt(runes, start)
		if err != nil {
			return fmt.Errorf("a pattern takes more than %v for one match in this text (%s)", maxMatchTime, clip(err.Error()))
		}
		if m == nil {
			return nil
		}
		from, to := m.RuneIndex, m.RuneIndex+m.RuneLength
		if from == to && to == last { // no empty match right behind a match
			start++
			continue
		}
		start, last = to, to
		a := seek(from)
		each(a, seek(to))
	}
	return nil
}

// translator rewrites an Oniguruma pattern.
type translator struct {
	in    string
	pos   int
	depth int // of brackets
	out   strings.Builder
}

func (t *translator) refuse(what string) error {
	return fmt.Errorf("%s is not supported", what)
}

func (t *translator) all() (string, error) {
	for t.pos < len(t.in) {
		if err := t.one(); err != nil {
			return "", err
		}
	}
	return t.out.String(), nil
}

// one translates the construct at pos.
func (t *translator) one() error {
	c := t.in[t.pos]
	switch c {
	case '[':
		set, err := t.class()
		if err != nil {
			return err
		}
		t.out.WriteString(set.class())
		return nil
	case '\\':
		return t.escape()
	case '(':
		return t.group()
	case '{':
		return t.interval()
	case '.':
		t.out.WriteString(`[^\n]`)
	case '^':
		t.out.WriteString(`(?m:^)`)
	case '$':
		t.out.WriteString(`(?m:$)`)
	case '|', ')', '*', '+', '?':
		t.out.WriteByte(c)
	case '#', ' ':
		t.out.WriteString(`\x` + strconv.FormatInt(int64(c), 16))
	default:
		r, size := utf8.DecodeRuneInString(t.in[t.pos:])
		t.out.WriteRune(r)
		t.pos += size
		return nil
	}
	t.pos++
	return nil
}

// group copies the opening of a group that means the same in both engines.
func (t *translator) group() error {
	rest := t.in[t.pos:]
	if !strings.HasPrefix(rest, "(?") {
		if strings.HasPrefix(rest, "(*") {
			return t.refuse("a callout (*…)")
		}
		t.out.WriteString("(?:") // captures are not used
		t.pos++
		return nil
	}
	for _, open := range []string{"(?:", "(?=", "(?!", "(?<=", "(?<!", "(?>", "(?i:", "(?-i:"} {
		if strings.HasPrefix(rest, open) {
			t.out.WriteString(open)
			t.pos += len(open)
			return nil
		}
	}
	if strings.HasPrefix(rest, "(?i)") {
		t.out.WriteString("(?i)")
		t.pos += len("(?i)")
		return nil
	}
	if end := strings.IndexByte(rest, '>'); strings.HasPrefix(rest, "(?<") && end > 0 {
		t.out.WriteString("(?:")
		t.pos += end + 1
		return nil
	}
	return t.refuse("the group " + clip(rest))
}

// interval copies {n}, {n,}, {,m}, {n,m} and the ? behind them; any other brace stands for itself.
func (t *translator) interval() error {
	end := strings.IndexByte(t.in[t.pos:], '}')
	body := ""
	if end > 0 {
		body = t.in[t.pos+1 : t.pos+end]
	}
	lo, hi, comma := strings.Cut(body, ",")
	if body == "" || body == "," || strings.Trim(lo+hi, "0123456789") != "" {
		t.out.WriteString(`\{`)
		t.pos++
		return nil
	}
	after := t.in[t.pos+end+1:]
	if strings.HasPrefix(after, "+") || !comma && strings.HasPrefix(after, "?") {
		return t.refuse("a quantifier behind {" + body + "}")
	}
	if lo == "" {
		lo = "0"
	}
	t.out.WriteString("{" + lo)
	if comma {
		t.out.WriteString("," + hi)
	}
	t.out.WriteByte('}')
	t.pos += end + 1
	return nil
}

// escape translates what begins with a backslash outside of a class.
func (t *translator) escape() error {
	if t.pos+1 >= len(t.in) {
		return fmt.Errorf("it ends in a backslash")
	}
	switch c := t.in[t.pos+1]; c {
	case 'A', 'z', 'Z':
		t.out.WriteString(t.in[t.pos : t.pos+2])
		t.pos += 2
		return nil
	case 'b', 'B':
		word, err := posixSet("word")
		if err != nil {
			return err
		}
		w := word.class()
		if c == 'b' {
			t.out.WriteString("(?:(?<=" + w + ")(?!" + w + ")|(?<!" + w + ")(?=" + w + "))")
		} else {
			t.out.WriteString("(?:(?<=" + w + ")(?=" + w + ")|(?<!" + w + ")(?!" + w + "))")
		}
		t.pos += 2
		return nil
	}
	set, single, err := t.escaped()
	if err != nil {
		return err
	}
	if single {
		t.out.WriteString(regexp2.Escape(string(set[0].lo)))
	} else {
		t.out.WriteString(set.class())
	}
	return nil
}

// escaped reads an escape that stands for a set or, if single, for one character.
func (t *translator) escaped() (set runeSet, single bool, err error) {
	c := t.in[t.pos+1]
	switch c {
	case 'p', 'P':
		set, err := t.property()
		return set, false, err
	case 's', 'S', 'w', 'W', 'd', 'D', 'h', 'H':
		name := map[byte]string{'s': "space", 'w': "word", 'd': "digit", 'h': "xdigit"}[c|0x20]
		if set, err = posixSet(name); err != nil {
			return nil, false, err
		}
		if t.depth > 0 {
			set = inBrackets(name, set)
		}
		if c < 'a' {
			set = set.negate()
		}
		t.pos += 2
		return set, false, err
	}
	one := func(r rune, n int) (runeSet, bool, error) {
		t.pos += n
		return runeSet{{r, r}}, true, nil
	}
	if i := strings.IndexByte("ntrfvae", c); i >= 0 {
		return one(rune("\n\t\r\f\v\a\x1b"[i]), 2)
	}
	switch {
	case c == 'x' || c == 'u':
		return t.code(c)
	case c >= utf8.RuneSelf:
		r, size := utf8.DecodeRuneInString(t.in[t.pos+1:])
		return one(r, 1+size)
	case c == '0':
		return one(0, 2)
	case '1' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z':
		return nil, false, t.refuse(`\` + string(c))
	}
	return one(rune(c), 2)
}

// code reads \xHH, \x{H…} and \uHHHH.
func (t *translator) code(c byte) (runeSet, bool, error) {
	rest := t.in[t.pos+2:]
	digits, n := "", 0
	switch {
	case c == 'x' && strings.HasPrefix(rest, "{"):
		end := strings.IndexByte(rest, '}')
		if end < 0 {
			return nil, false, fmt.Errorf("an open \\x{")
		}
		digits, n = rest[1:end], end+1
	case c == 'x':
		for n < 2 && n < len(rest) && strings.IndexByte("0123456789abcdefABCDEF", rest[n]) >= 0 {
			n++
		}
		digits = rest[:n]
	case len(rest) >= 4:
		digits, n = rest[:4], 4
	}
	v, err := strconv.ParseUint(digits, 16, 32)
	if err != nil || !utf8.ValidRune(rune(v)) || c == 'x' && n == 2 && v > 0x7f && rest[0] != '{' {
		return nil, false, t.refuse(`\` + string(c) + digits)
	}
	t.pos += 2 + n
	return runeSet{{rune(v), rune(v)}}, true, nil
}

// property reads \p{…}, \P{…} and \p{^…}.
func (t *translator) property() (runeSet, error) {
	not := t.in[t.pos+1] == 'P'
	rest := t.in[t.pos+2:]
	end := strings.IndexByte(rest, '}')
	if !strings.HasPrefix(rest, "{") || end < 0 {
		return nil, t.refuse(`\p without braces`)
	}
	name := rest[1:end]
	if strings.HasPrefix(name, "^") {
		name, not = name[1:], !not
	}
	set, err := propertySet(name)
	if err == nil && not {
		set = set.negate()
	}
	t.pos += 2 + end + 1
	return set, err
}
