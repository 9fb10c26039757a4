package unidata

import "unicode/utf8"

// Grapheme break classes, in the order of the packed table.
const (
	gbAny = iota
	gbCR
	gbLF
	gbControl
	gbExtend
	gbZWJ
	gbRegional
	gbPrepend
	gbSpacing
	gbL
	gbV
	gbT
	gbLV
	gbLVT
	gbPictographic
	gbConsonant

	gbMask     = 0x0f
	inCBExtend = 0x10
	inCBLinker = 0x20
)

// NextGrapheme returns the end of the extended grapheme cluster that begins at pos: Unicode 17, UAX 29 rules GB3 to
// GB999.
func NextGrapheme(s string, pos int) int {
	if pos >= len(s) {
		return len(s)
	}
	if s[pos] < utf8.RuneSelf && s[pos] != '\r' && (pos+1 == len(s) || s[pos+1] < utf8.RuneSelf) {
		return pos + 1
	}
	r, size := utf8.DecodeRuneInString(s[pos:])
	st := graphemeState{}
	st.enter(lookup(graphemeIndex, graphemeBlocks, r))
	for i := pos + size; i < len(s); i += size {
		r, size = utf8.DecodeRuneInString(s[i:])
		b := lookup(graphemeIndex, graphemeBlocks, r)
		if st.breaksBefore(b) {
			return i
		}
		st.enter(b)
	}
	return len(s)
}

// graphemeState is what the rules ask of the characters before.
type graphemeState struct {
	last      byte
	regionals int  // regional indicators right before
	picture   bool // a pictograph and then only Extend are right before, or those and a joiner
	conjunct  int  // 0 no, 1 a consonant with extenders, 2 with a linker among them
}

func (st *graphemeState) enter(b byte) {
	c := b & gbMask
	if c == gbRegional {
		st.regionals++
	} else {
		st.regionals = 0
	}
	switch {
	case c == gbPictographic:
		st.picture = true
	case c != gbExtend && c != gbZWJ || st.last == gbZWJ:
		st.picture = false
	}
	switch {
	case c == gbConsonant:
		st.conjunct = 1
	case b&inCBLinker != 0 && st.conjunct > 0:
		st.conjunct = 2
	case b&inCBExtend == 0 && b&inCBLinker == 0:
		st.conjunct = 0
	}
	st.last = c
}

func (st *graphemeState) breaksBefore(b byte) bool {
	last, c := st.last, b&gbMask
	switch {
	case last == gbCR:
		return c != gbLF // GB3
	case last == gbControl, last == gbLF, c == gbControl, c == gbCR, c == gbLF:
		return true // GB4, GB5
	case last == gbL && (c == gbL || c == gbV || c == gbLV || c == gbLVT),
		(last == gbLV || last == gbV) && (c == gbV || c == gbT),
		(last == gbLVT || last == gbT) && c == gbT:
		return false // GB6, GB7, GB8
	case c == gbExtend, c == gbZWJ, c == gbSpacing, last == gbPrepend:
		return false // GB9, GB9a, GB9b
	case c == gbConsonant && st.conjunct == 2:
		return false // GB9c
	case last == gbZWJ && c == gbPictographic && st.picture:
		return false // GB11
	case last == gbRegional && c == gbRegional:
		return st.regionals%2 == 0 // GB12, GB13
	}
	return true
}
