package tokenizer

import (
	"unicode/utf8"

	"github.com/servemark/servemark/tokenizer/internal/unidata"
)

// charClass is a set of character kinds, as bits: what the patterns of the known families ask of a character.
type charClass uint16

const (
	clsUpper  charClass = 1 << iota // Lu, Lt
	clsLower                        // Ll
	clsLetter                       // Lm, Lo
	clsMark                         // M
	clsNumber                       // N
	clsSpace                        // \s
	clsBreak                        // \r and \n; always with clsSpace
	clsSign                         // P, S
	clsOther                        // none of these
	clsHan                          // \p{Han}, beside its kind
)

const (
	anyLetter = clsUpper | clsLower | clsLetter
	upperLike = clsUpper | clsLetter | clsMark
	lowerLike = clsLower | clsLetter | clsMark
)

// asciiClass and categoryClass are filled by constant expressions; they are never written.
var asciiClass = asciiClasses()

var categoryClass = [32]charClass{
	unidata.Lu: clsUpper, unidata.Lt: clsUpper, unidata.Ll: clsLower, unidata.Lm: clsLetter, unidata.Lo: clsLetter,
	unidata.Mn: clsMark, unidata.Mc: clsMark, unidata.Me: clsMark,
	unidata.Nd: clsNumber, unidata.Nl: clsNumber, unidata.No: clsNumber,
	unidata.Pc: clsSign, unidata.Pd: clsSign, unidata.Ps: clsSign, unidata.Pe: clsSign, unidata.Pi: clsSign, unidata.Pf: clsSign, unidata.Po: clsSign,
	unidata.Sm: clsSign, unidata.Sc: clsSign, unidata.Sk: clsSign, unidata.So: clsSign,
	unidata.Zs: clsOther, unidata.Zl: clsOther, unidata.Zp: clsOther, unidata.Cc: clsOther, unidata.Cf: clsOther, unidata.Co: clsOther, unidata.Cn: clsOther,
}

func asciiClasses() (t [utf8.RuneSelf]charClass) {
	for c := range t {
		t[c] = runeClass(rune(c))
	}
	return t
}

func runeClass(r rune) charClass {
	b := unidata.Regex(r)
	c := categoryClass[b&unidata.CategoryMask]
	if b&unidata.RegexSpace != 0 {
		c = clsSpace
	}
	if r == '\r' || r == '\n' {
		c |= clsBreak
	}
	if b&unidata.RegexHan != 0 {
		c |= clsHan
	}
	return c
}

// classAt returns the class of the character at i and its length.
func classAt(s string, i int) (charClass, int) {
	if c := s[i]; c < utf8.RuneSelf {
		return asciiClass[c], 1
	}
	r, size := utf8.DecodeRuneInString(s[i:])
	return runeClass(r), size
}

// run returns the end of the run of characters of class set that begins at i.
func run(s string, i int, set charClass) int {
	for i < len(s) {
		if c := s[i]; c < utf8.RuneSelf {
			if asciiClass[c]&set == 0 {
				return i
			}
			i++
			continue
		}
		c, size := classAt(s, i)
		if c&set == 0 {
			return i
		}
		i += size
	}
	return i
}

// runNot returns the end of the run of characters outside of class set.
func runNot(s string, i int, set charClass) int {
	for i < len(s) {
		c, size := classAt(s, i)
		if c&set != 0 {
			return i
		}
		i += size
	}
	return i
}

// upTo returns the end of at most n characters of class set.
func upTo(s string, i, n int, set charClass) int {
	for ; n > 0 && i < len(s); n-- {
		c, size := classAt(s, i)
		if c&set == 0 {
			return i
		}
		i += size
	}
	return i
}

// spaceEnd matches \s+(?!\S)|\s+ at a white space: the run, less its last character where text follows and more than
// one is there.
func spaceEnd(s string, pos int) int {
	end := run(s, pos, clsSpace)
	if end == len(s) {
		return end
	}
	_, size := utf8.DecodeLastRuneInString(s[pos:end])
	if end-size > pos {
		return end - size
	}
	return end
}

// breaksEnd matches \s*[\r\n]+ at a white space: up to the last line break of the run; 0 if it has none.
func breaksEnd(s string, pos int) int {
	end := run(s, pos, clsSpace)
	for i := end - 1; i >= pos; i-- {
		if s[i] == '\n' || s[i] == '\r' {
			return i + 1
		}
	}
	return 0
}

// contraction matches 's 't 're 've 'm 'll 'd at pos and returns its end, or 0. With fold it ignores case, under which
// the long s is an s.
func contraction(s string, pos int, fold bool) int {
	if pos+1 >= len(s) || s[pos] != '\'' {
		return 0
	}
	a := s[pos+1]
	if fold {
		if a == 0xC5 && pos+2 < len(s) && s[pos+2] == 0xBF {
			return pos + 3
		}
		a |= 0x20
		if a < 'a' || a > 'z' {
			return 0
		}
	}
	switch a {
	case 's', 't', 'm', 'd':
		return pos + 2
	}
	if pos+2 >= len(s) {
		return 0
	}
	b := s[pos+2]
	if fold {
		b |= 0x20
	}
	if a == 'r' && b == 'e' || a == 'v' && b == 'e' || a == 'l' && b == 'l' {
		return pos + 3
	}
	return 0
}

// gpt2Scan is 's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
type gpt2Scan struct{}

func (gpt2Scan) next(s string, pos int) int {
	if end := contraction(s, pos, false); end != 0 {
		return end
	}
	i := pos
	c, size := classAt(s, i)
	if s[i] == ' ' && i+1 < len(s) {
		if after, n := classAt(s, i+1); after&clsSpace == 0 {
			i++
			c, size = after, n
		}
	}
	switch {
	case c&anyLetter != 0:
		return letters(s, i+size, anyLetter)
	case c&clsNumber != 0:
		return run(s, i+size, clsNumber)
	case c&clsSpace == 0:
		return runNot(s, i+size, clsSpace|anyLetter|clsNumber)
	}
	return spaceEnd(s, pos)
}

// wordScan is the shape that cl100k began and most families share:
//
//	(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?LETTERS+|\p{N}{1,DIGITS}| ?SIGNS+TAIL*|\s*[\r\n]+|\s+(?!\S)|\s+
type wordScan struct {
	letters charClass // LETTERS: \p{L}, or with \p{M}
	digits  int       // DIGITS
	slash   bool      // TAIL is [\r\n/], else [\r\n]
}

func (w wordScan) next(s string, pos int) int {
	if s[pos] == '\'' {
		if end := contraction(s, pos, true); end != 0 {
			return end
		}
	}
	c, size := classAt(s, pos)
	if c&w.letters != 0 {
		return letters(s, pos+size, w.letters)
	}
	if c&(clsBreak|anyLetter|clsNumber) == 0 {
		if end := letters(s, pos+size, w.letters); end > pos+size {
			return end
		}
	}
	return tailWord(s, pos, c, size, w.digits, w.letters, w.slash)
}

// tailWord matches the alternatives after the letters.
func tailWord(s string, pos int, c charClass, size, digits int, letters charClass, slash bool) int {
	if c&clsNumber != 0 {
		return upTo(s, pos+size, digits-1, clsNumber)
	}
	const stop = clsSpace | anyLetter | clsNumber
	none := stop | letters&clsMark
	i := pos
	if s[i] == ' ' && i+1 < len(s) {
		if after, n := classAt(s, i+1); after&none == 0 {
			i++
			c, size = after, n
		}
	}
	if c&none == 0 {
		i = runNot(s, i+size, none)
		for i < len(s) && (s[i] == '\r' || s[i] == '\n' || slash && s[i] == '/') {
			i++
		}
		return i
	}
	if end := breaksEnd(s, pos); end != 0 {
		return end
	}
	return spaceEnd(s, pos)
}
