package unidata

import (
	"slices"
	"unicode/utf8"
)

// Form is a normal form.
type Form uint8

// The four normal forms.
const (
	NFC Form = iota
	NFD
	NFKC
	NFKD
)

// A bit per form says that a character may be changed by it, alone or together with its neighbours.
const (
	normNFD  = 1
	normNFKD = 2
	normNFC  = 4
	normNFKC = 8
)

func (f Form) bit() byte {
	switch f {
	case NFD:
		return normNFD
	case NFKD:
		return normNFKD
	case NFC:
		return normNFC
	default:
		return normNFKC
	}
}

// Normal reports whether s is certainly in the form already. False means that it has to be computed.
func (f Form) Normal(s string) bool {
	i := 0
	for i < len(s) && s[i] < utf8.RuneSelf {
		i++
	}
	if i == len(s) {
		return true
	}
	bit := f.bit()
	decomposing := f == NFD || f == NFKD
	for _, r := range s[i:] {
		if r < utf8.RuneSelf {
			continue
		}
		if lookup(normIndex, normBlocks, r)&bit != 0 || decomposing && class(r) != 0 {
			return false
		}
	}
	return true
}

// Append appends s in the normal form to dst.
func (f Form) Append(dst []byte, s string) []byte {
	if f.Normal(s) {
		return append(dst, s...)
	}
	n := normalizer{form: f, out: dst}
	for _, r := range s {
		n.add(r)
	}
	n.flush()
	return n.out
}

// class is the place of r's combining class among all classes; 0 is the class 0.
func class(r rune) uint8 {
	if r < 0x300 {
		return 0
	}
	return lookup(cccIndex, cccBlocks, r)
}

// normalizer collects one starter with its marks, decomposed, then orders, composes and writes them.
type normalizer struct {
	form    Form
	out     []byte
	pending []classed
	sorted  int // pending[:sorted] is in order
}

type classed struct {
	r rune
	c uint8
}

const (
	hangulS, hangulL, hangulV, hangulT = 0xAC00, 0x1100, 0x1161, 0x11A7
	hangulLs, hangulVs, hangulTs       = 19, 21, 28
)

// add takes the next character of the text.
func (n *normalizer) add(r rune) {
	if s := r - hangulS; s >= 0 && s < hangulLs*hangulVs*hangulTs {
		n.push(hangulL+s/(hangulVs*hangulTs), 0)
		n.push(hangulV+s/hangulTs%hangulVs, 0)
		if t := s % hangulTs; t != 0 {
			n.push(hangulT+t, 0)
		}
		return
	}
	if r >= 0xA0 {
		if n.form == NFKC || n.form == NFKD {
			if d, ok := find(nfkdCount, nfkdKeys, nfkdEnds, nfkdTexts, r); ok {
				n.pushAll(d)
				return
			}
		}
		if d, ok := find(nfdCount, nfdKeys, nfdEnds, nfdTexts, r); ok {
			n.pushAll(d)
			return
		}
	}
	n.push(r, class(r))
}

func (n *normalizer) pushAll(d string) {
	for _, r := range d {
		n.push(r, class(r))
	}
}

// push adds a decomposed character.
func (n *normalizer) push(r rune, c uint8) {
	if c == 0 {
		if n.joins(r) {
			n.sort()
			n.sorted++
		} else {
			n.flush()
			n.sorted = 1
		}
	}
	n.pending = append(n.pending, classed{r, c})
}

// joins reports whether the starter r may combine with what is pending.
func (n *normalizer) joins(r rune) bool {
	if n.form == NFD || n.form == NFKD || len(n.pending) == 0 {
		return false
	}
	return lookup(normIndex, normBlocks, r)&normNFC != 0
}

// sort puts the marks since the last starter in canonical order.
func (n *normalizer) sort() {
	slices.SortStableFunc(n.pending[n.sorted:], func(a, b classed) int { return int(a.c) - int(b.c) })
	n.sorted = len(n.pending)
}

// flush composes if the form asks for it, and writes what is pending.
func (n *normalizer) flush() {
	n.sort()
	if n.form == NFC || n.form == NFKC {
		n.compose()
	}
	for _, p := range n.pending {
		n.out = utf8.AppendRune(n.out, p.r)
	}
	n.pending, n.sorted = n.pending[:0], 0
}

// compose joins each character with the last starter before it unless a character between them blocks it.
func (n *normalizer) compose() {
	const none = -1
	starter, last, w := none, none, 0 // last: class of the character before, none right behind the starter
	for _, p := range n.pending {
		free := last == none || last < int(p.c)
		if starter != none && free {
			if r, ok := composed(n.pending[starter].r, p.r); ok {
				n.pending[starter].r = r
				continue
			}
		}
		if p.c == 0 {
			starter, last = w, none
		} else if starter != none {
			last = int(p.c)
		}
		n.pending[w] = p
		w++
	}
	n.pending = n.pending[:w]
}

// composed returns the one character that a and b make.
func composed(a, b rune) (rune, bool) {
	if l, v := a-hangulL, b-hangulV; l >= 0 && l < hangulLs && v >= 0 && v < hangulVs {
		return hangulS + (l*hangulVs+v)*hangulTs, true
	}
	if s, t := a-hangulS, b-hangulT; s >= 0 && s < hangulLs*hangulVs*hangulTs && s%hangulTs == 0 && t > 0 && t < hangulTs {
		return a + t, true
	}
	key := uint64(a)<<24 | uint64(b)
	lo, hi := 0, composeCount
	for lo < hi {
		m := (lo + hi) / 2
		at := composePairs + 9*m
		switch k := uint64(three(at))<<24 | uint64(three(at+3)); {
		case k < key:
			lo = m + 1
		case k > key:
			hi = m
		default:
			return three(at + 6), true
		}
	}
	return 0, false
}

func three(at int) rune {
	return rune(tables[at])<<16 | rune(tables[at+1])<<8 | rune(tables[at+2])
}
