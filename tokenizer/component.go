package tokenizer

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/servemark/servemark/tokenizer/internal/unidata"
)

// component is one normalizer, pre-tokenizer, post-processor or decoder of a tokenizer.json: its type and the
// settings of all types together.
type component struct {
	role string
	Type string `json:"type"`

	Normalizers   []json.RawMessage `json:"normalizers"`
	Pretokenizers []json.RawMessage `json:"pretokenizers"`
	Processors    []json.RawMessage `json:"processors"`
	Decoders      []json.RawMessage `json:"decoders"`

	Pattern  *patternSpec    `json:"pattern"`
	Content  *string         `json:"content"`
	Behavior string          `json:"behavior"`
	Invert   bool            `json:"invert"`
	Start    int             `json:"start"`
	Stop     int             `json:"stop"`
	Raw      json.RawMessage `json:"-"`

	AddPrefixSpace *bool   `json:"add_prefix_space"`
	UseRegex       *bool   `json:"use_regex"`
	Individual     bool    `json:"individual_digits"`
	Replacement    string  `json:"replacement"`
	PrependScheme  *string `json:"prepend_scheme"`
	Split          *bool   `json:"split"`
	Delimiter      string  `json:"delimiter"`
	Length         *int    `json:"length"`

	StripLeft     *bool   `json:"strip_left"`
	StripRight    *bool   `json:"strip_right"`
	Prepend       string  `json:"prepend"`
	Charsmap      string  `json:"precompiled_charsmap"`
	CleanText     *bool   `json:"clean_text"`
	ChineseChars  *bool   `json:"handle_chinese_chars"`
	StripAccents  *bool   `json:"strip_accents"`
	Lowercase     *bool   `json:"lowercase"`
	Prefix        *string `json:"prefix"`
	Suffix        *string `json:"suffix"`
	Cleanup       *bool   `json:"cleanup"`
	PadToken      *string `json:"pad_token"`
	WordDelimiter *string `json:"word_delimiter_token"`

	Single  []templatePiece         `json:"single"`
	Special map[string]specialToken `json:"special_tokens"`
	Sep     *namedID                `json:"sep"`
	Cls     *namedID                `json:"cls"`
}

// patternSpec is {"String": …} or {"Regex": …}.
type patternSpec struct {
	String string  `json:"String"`
	Regex  *string `json:"Regex"`
}

// readComponent reads one component; nil for null or nothing.
func readComponent(raw json.RawMessage, role string) (*component, error) {
	if len(raw) == 0 || string(raw) == "null" {
		return nil, nil
	}
	c := &component{role: role, Raw: raw}
	if err := json.Unmarshal(raw, c); err != nil {
		return nil, fmt.Errorf("%s: %w", role, err)
	}
	return c, nil
}

func (c *component) unknown() error {
	return fmt.Errorf("%s type %q is not known to this version; its ids cannot be computed", c.role, c.Type)
}

func (c *component) missing(what string) error {
	return fmt.Errorf("%s %s lacks %s", c.role, c.Type, what)
}

// matcher is the pattern of a component.
func (c *component) matcher() (matcher, error) {
	if c.Pattern == nil {
		return nil, c.missing("pattern")
	}
	if c.Pattern.Regex == nil {
		return literalMatcher(c.Pattern.String), nil
	}
	if m, ok := simplePattern(*c.Pattern.Regex); ok {
		return m, nil
	}
	if scan := knownPattern(*c.Pattern.Regex); scan != nil {
		return scanMatcher{scan}, nil
	}
	m, err := newRegexMatcher(*c.Pattern.Regex)
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", c.role, c.Type, err)
	}
	return m, nil
}

// matcher finds the places that a pattern matches, from left to right.
type matcher interface {
	matches(s string, each func(from, to int)) error
}

// literalMatcher finds a plain string. The empty one matches between all characters, as in the reference library.
type literalMatcher string

func (l literalMatcher) matches(s string, each func(from, to int)) error {
	if l == "" {
		for i := range s {
			each(i, i)
		}
		if s != "" {
			each(len(s), len(s))
		}
		return nil
	}
	for pos := 0; ; {
		i := strings.Index(s[pos:], string(l))
		if i < 0 {
			return nil
		}
		each(pos+i, pos+i+len(l))
		pos += i + len(l)
	}
}

// runMatcher finds runs of at least least characters of a class.
type runMatcher struct {
	is    func(rune) bool
	least int
}

func (m runMatcher) matches(s string, each func(from, to int)) error {
	from, n := 0, 0
	for i, r := range s {
		if m.is(r) {
			if n == 0 {
				from = i
			}
			n++
			continue
		}
		if n >= m.least {
			each(from, i)
		}
		n = 0
	}
	if n >= m.least {
		each(from, len(s))
	}
	return nil
}

// simplePattern knows the few patterns of normalizers that need no regular expression engine.
func simplePattern(regex string) (matcher, bool) {
	space := func(r rune) bool { return r == ' ' }
	switch regex {
	case " {2,}":
		return runMatcher{space, 2}, true
	case " +":
		return runMatcher{space, 1}, true
	case `\s+`:
		return runMatcher{isRegexSpace, 1}, true
	}
	return nil, false
}

func isRegexSpace(r rune) bool { return unidata.Regex(r)&unidata.RegexSpace != 0 }

// scanMatcher is the matcher of a pattern with a scanner that covers every text.
type scanMatcher struct{ scanner }

func (m scanMatcher) matches(s string, each func(from, to int)) error {
	for pos := 0; pos < len(s); {
		end := m.next(s, pos)
		each(pos, end)
		pos = end
	}
	return nil
}
