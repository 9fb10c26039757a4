package tokenizer

import "unicode/utf8"

// safeSplit knows pairs of neighbouring characters that no token holds. No merge can reach across such a pair, so a
// text may be cut there and the parts merged and cached by themselves, with the same ids as the whole. It is what
// makes models without a pre-tokenizer fast: most of their texts can be cut before each space.
type safeSplit struct {
	inside []uint64 // bit set over hashed pairs; a false hit only means a longer part
	near   [safeNear * safeNear]bool
}

const (
	safeBits = 20
	safeNear = utf8.RuneSelf + 1 // ASCII and the mark for a space have a table of their own
	spaceRun = '▁'
)

// nearRune is the place of r in the small table, or -1.
func nearRune(r rune) int {
	if r < utf8.RuneSelf {
		return int(r)
	}
	if r == spaceRun {
		return utf8.RuneSelf
	}
	return -1
}

// newSafeSplit returns nil where cutting could change ids: with affixes, which depend on the place in the word, with
// whole-word tokens that merges do not make, and where characters can be unknown, because those may vanish and so
// bring others together.
func newSafeSplit(m *bpe) *safeSplit {
	if m.prefix != "" || m.suffix != "" || m.ignoreMerges || m.fallback == nil {
		return nil
	}
	for _, id := range m.fallback {
		if id == noID {
			return nil
		}
	}
	if m.mergesBytes() {
		return nil
	}
	s := &safeSplit{inside: make([]uint64, 1<<safeBits/64)}
	for _, id := range m.result {
		t, _ := m.voc.token(id)
		s.addToken(t)
	}
	return s
}

// mergesBytes reports whether a merge takes a byte token or the unknown token, whose texts are not what they stand for.
func (m *bpe) mergesBytes() bool {
	odd := map[uint32]bool{}
	if m.unk != noID {
		odd[m.unk] = true
	}
	if m.fallback != nil {
		for _, id := range m.fallback {
			odd[id] = true
		}
	}
	found := false
	if len(odd) > 0 {
		m.pairs.each(func(a, b, _ uint32) { found = found || odd[a] || odd[b] })
	}
	return found
}

func (s *safeSplit) addToken(t []byte) {
	last := rune(-1)
	for i := 0; i < len(t); {
		r, size := rune(t[i]), 1
		if r >= utf8.RuneSelf {
			r, size = utf8.DecodeRune(t[i:])
		}
		if last >= 0 {
			s.join(last, r)
		}
		last = r
		i += size
	}
}

func (s *safeSplit) join(a, b rune) {
	if x, y := nearRune(a), nearRune(b); x >= 0 && y >= 0 {
		s.near[x*safeNear+y] = true
		return
	}
	h := pairBit(a, b)
	s.inside[h/64] |= 1 << (h % 64)
}

func pairBit(a, b rune) uint64 {
	return (uint64(a)<<21 | uint64(b)) * 0x9E3779B97F4A7C15 >> (64 - safeBits)
}

// next returns the end of the part that begins at pos.
func (s *safeSplit) next(t string, pos int) int {
	last, near := rune(-1), -1
	for i := pos; i < len(t); {
		r, size := rune(t[i]), 1
		if r >= utf8.RuneSelf {
			r, size = utf8.DecodeRuneInString(t[i:])
		}
		now := nearRune(r)
		if last >= 0 {
			if near >= 0 && now >= 0 {
				if !s.near[near*safeNear+now] {
					return i
				}
			} else if h := pairBit(last, r); s.inside[h/64]&(1<<(h%64)) == 0 {
				return i
			}
		}
		last, near = r, now
		i += size
	}
	return len(t)
}
