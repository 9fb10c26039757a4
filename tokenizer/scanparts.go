package tokenizer

import (
	"unicode/utf8"

	"github.com/servemark/servemark/tokenizer/internal/unidata"
)

// knownPattern returns the scanner of a pattern that covers every text, nil for an unknown one.
func knownPattern(regex string) scanner {
	switch regex {
	case patternGPT2, `'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+`:
		return gpt2Scan{}
	case patternCL100K: // Llama 3, GLM-4 too
		return wordScan{anyLetter, 3, false}
	case patternQwen2: // Qwen2, Qwen3
		return wordScan{anyLetter, 1, false}
	case patternQwen35:
		return wordScan{anyLetter | clsMark, 1, false}
	case patternO200K:
		return casedScan{contractions: true, digits: 3, slash: true}
	case patternTekken:
		return casedScan{digits: 1, slash: true}
	case patternKimi:
		return casedScan{contractions: true, digits: 3, han: true}
	}
	return nil
}

// knownPart returns the scanner of a pattern whose matches and the parts between them are both words; nil for an
// unknown one.
func knownPart(regex string) scanner {
	switch regex {
	case `\p{N}{1,3}`:
		return numberCut(3)
	case `\p{N}`:
		return numberCut(1)
	case patternKana:
		return kanaCut{}
	case patternDeepseek:
		return deepseekScan{}
	}
	return nil
}

// The two patterns of DeepSeek-V3 beside \p{N}{1,3}; their line ends and ranges stand in them as characters.
const (
	patternKana     = "[一-龥\u3040-ゟ゠-ヿ]+"
	patternDeepseek = "[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+|[^\r\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+| ?[\\p{P}\\p{S}]+[\r\n]*|\\s*[\r\n]+|\\s+(?!\\S)|\\s+"
)

// numberCut takes at most so many numbers at a time, and what lies between.
type numberCut int

func (n numberCut) next(s string, pos int) int {
	c, size := classAt(s, pos)
	if c&clsNumber != 0 {
		return upTo(s, pos+size, int(n)-1, clsNumber)
	}
	return runNot(s, pos+size, clsNumber)
}

// kanaCut takes runs of the common Han characters and of kana, and what lies between.
type kanaCut struct{}

func (kanaCut) next(s string, pos int) int {
	in := func(i int) (bool, int) {
		if s[i] < utf8.RuneSelf {
			return false, 1
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		return 0x4E00 <= r && r <= 0x9FA5 || 0x3040 <= r && r <= 0x30FF, size
	}
	is, size := in(pos)
	for i := pos + size; i < len(s); i += size {
		var now bool
		if now, size = in(i); now != is {
			return i
		}
	}
	return len(s)
}

// deepseekScan is DeepSeek-V3's pattern for what is neither a number nor Han or kana. It does not cover every text:
// what it does not match stays one word up to the next match.
type deepseekScan struct{}

func (d deepseekScan) next(s string, pos int) int {
	for i := pos; i < len(s); {
		if end := d.match(s, i); end != 0 {
			if i > pos {
				return i
			}
			return end
		}
		_, size := utf8.DecodeRuneInString(s[i:])
		i += size
	}
	return len(s)
}

// match returns the end of the match at pos, or 0.
func (deepseekScan) match(s string, pos int) int {
	c, size := classAt(s, pos)
	if s[pos] < utf8.RuneSelf && c&clsSign != 0 {
		if end := letterRun(s, pos+1); end > pos+1 {
			return end
		}
	}
	const word = anyLetter | clsMark
	if c&word != 0 {
		return letters(s, pos+size, word)
	}
	if c&(clsBreak|clsSign) == 0 {
		if end := letters(s, pos+size, word); end > pos+size {
			return end
		}
	}
	i := pos
	if s[pos] == ' ' && pos+1 < len(s) {
		i++
	}
	if end := run(s, i, clsSign); end > i {
		for end < len(s) && (s[end] == '\r' || s[end] == '\n') {
			end++
		}
		return end
	}
	if c&clsSpace == 0 {
		return 0
	}
	if end := breaksEnd(s, pos); end != 0 {
		return end
	}
	return spaceEnd(s, pos)
}

// digitCut is the Digits pre-tokenizer: single digits or runs of them, and what lies between.
type digitCut struct{ individual bool }

func (d digitCut) next(s string, pos int) int {
	numeric := func(i int) (bool, int) {
		if c := s[i]; c < utf8.RuneSelf {
			return '0' <= c && c <= '9', 1
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		return unidata.Of(r)&unidata.Numeric != 0, size
	}
	is, size := numeric(pos)
	i := pos + size
	if is && d.individual {
		return i
	}
	for i < len(s) {
		n, size := numeric(i)
		if n != is {
			return i
		}
		i += size
	}
	return i
}

func (d digitCut) split(dst []piece, p piece) ([]piece, error) {
	for pos := 0; pos < len(p.s); {
		end := d.next(p.s, pos)
		dst = append(dst, p.part(pos, end))
		pos = end
	}
	return dst, nil
}
