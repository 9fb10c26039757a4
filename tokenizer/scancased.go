package tokenizer

import "unicode/utf8"

// casedScan is the shape of o200k and tekken, which cuts where lower case turns to upper:
//
//	[^\r\n\p{L}\p{N}]?UPPER*LOWER+CONTRACTION?|[^\r\n\p{L}\p{N}]?UPPER+LOWER*CONTRACTION?|\p{N}{1,DIGITS}| ?[^\s\p{L}\p{N}]+[\r\n/]*|…
type casedScan struct {
	contractions bool
	digits       int
	slash        bool // signs may end in slashes
	han          bool // Han runs are words of their own, and no part of others
}

func (w casedScan) next(s string, pos int) int {
	if end := plainCased(s, pos); end != 0 {
		return end
	}
	c, size := classAt(s, pos)
	if w.han && c&clsHan != 0 {
		return run(s, pos+size, clsHan)
	}
	if c&clsNumber != 0 || pos+1 < len(s) && s[pos] < utf8.RuneSelf && c&anyLetter == 0 && isASCIIOther(s[pos+1]) {
		return tailWord(s, pos, c, size, w.digits, 0, w.slash)
	}
	if c&(clsBreak|anyLetter|clsNumber) == 0 {
		if end := w.cased(s, pos+size); end != 0 {
			return w.contracted(s, end)
		}
		if c&clsMark != 0 {
			if end := w.cased(s, pos); end != 0 {
				return w.contracted(s, end)
			}
		}
		if end := w.upper(s, pos+size); end != 0 {
			return w.contracted(s, end)
		}
		if c&clsMark != 0 {
			return w.contracted(s, w.upper(s, pos))
		}
	} else if c&anyLetter != 0 {
		end := w.cased(s, pos)
		if end == 0 {
			end = w.upper(s, pos)
		}
		return w.contracted(s, end)
	}
	return tailWord(s, pos, c, size, w.digits, 0, w.slash)
}

// runOf is run, without Han characters if those stand apart.
func (w casedScan) runOf(s string, i int, set charClass) int {
	if !w.han {
		return run(s, i, set)
	}
	for i < len(s) {
		c, size := classAt(s, i)
		if c&set == 0 || c&clsHan != 0 {
			return i
		}
		i += size
	}
	return i
}

// cased matches UPPER*LOWER+ at i and returns its end, or 0. If no lower-case letter follows the run of upper-case
// ones, it gives back characters up to the last one that is in both sets.
func (w casedScan) cased(s string, i int) int {
	end := w.runOf(s, i, upperLike)
	if after := w.runOf(s, end, lowerLike); after > end {
		return after
	}
	for j := end; j > i; {
		r, size := utf8.DecodeLastRuneInString(s[i:j])
		if runeClass(r)&lowerLike != 0 {
			return j
		}
		j -= size
	}
	return 0
}

// upper matches UPPER+LOWER* where cased failed, so that LOWER* is empty.
func (w casedScan) upper(s string, i int) int {
	if end := w.runOf(s, i, upperLike); end > i {
		return end
	}
	return 0
}

func (w casedScan) contracted(s string, end int) int {
	if w.contractions {
		if e := contraction(s, end, true); e != 0 {
			return e
		}
	}
	return end
}

// plainCased matches the commonest words, an ASCII sign or space if any, A … Z if any, a … z, where what follows is
// ASCII and no contraction; 0 for all others.
func plainCased(s string, pos int) int {
	i := pos
	if c := s[i]; c >= utf8.RuneSelf || asciiClass[c]&(clsBreak|clsNumber) != 0 {
		return 0
	} else if asciiClass[c]&anyLetter == 0 {
		i++
	}
	for i < len(s) && 'A' <= s[i] && s[i] <= 'Z' {
		i++
	}
	end := lowerRun(s, i)
	if end == i || end < len(s) && (s[end] >= utf8.RuneSelf || s[end] == '\'') {
		return 0
	}
	return end
}
