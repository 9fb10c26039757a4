package tokenizer

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"
	"unicode/utf8"
)

const noID = ^uint32(0)

// directChars is the number of code points, from 0, whose ids a BPE model finds in a table.
const directChars = 0x3000

// merges are the merges of a BPE model by rank.
type merges struct {
	pairs  pairTable
	result []uint32
}

// bpe is a BPE model. It works on characters, or on bytes where the spelling is byte-level and complete.
type bpe struct {
	merges
	voc            *vocab
	prefix, suffix string
	unkToken       string
	unk            uint32 // noID if there is none
	fuseUnk        bool
	ignoreMerges   bool
	fallback       *[256]uint32 // ids of <0x00> …; nil without byte_fallback
	chars          []uint32     // id of each character below directChars
	bytes          *byteBPE     // nil if some byte would be unknown
}

// byteBPE is what merging raw bytes needs.
type byteBPE struct {
	ids   [256]uint32
	pairs []uint32    // rank of the pair of bytes a<<8 | b
	whole *wholeWords // nil unless the model ignores merges for whole words
	holes bool        // some byte has no token, and vanishes
}

func newBPE(d *modelData) (*bpe, error) {
	if !d.hasMrg {
		return nil, fmt.Errorf("the BPE model has no merges")
	}
	if d.spec.Dropout != nil && *d.spec.Dropout != 0 {
		return nil, fmt.Errorf("the BPE model has dropout %v: its ids are drawn by chance; set it to null", *d.spec.Dropout)
	}
	m := &bpe{
		voc: d.vocab, prefix: d.spec.prefix(), suffix: orEmpty(d.spec.Suffix),
		fuseUnk: d.spec.FuseUnk, ignoreMerges: d.spec.IgnoreMerges, unk: noID,
	}
	if d.spec.UnkToken != nil {
		m.unkToken = *d.spec.UnkToken
		id, ok := d.vocab.idOf(m.unkToken)
		if !ok {
			return nil, fmt.Errorf("the unknown token %q is not in the vocabulary", m.unkToken)
		}
		m.unk = id
	}
	if err := m.setMerges(d.merges...); err != nil {
		return nil, err
	}
	m.setChars()
	if d.spec.ByteFallback {
		m.fallback = fallbackIDs(d.vocab)
	}
	m.bytes = m.newByteBPE()
	return m, nil
}

// setMerges sets the merges, given in parts that lie one after the other.
func (m *bpe) setMerges(parts ...[]merge) error {
	n := 0
	for _, list := range parts {
		n += len(list)
	}
	var err error
	if m.pairs, err = newPairTable(n); err != nil {
		return err
	}
	m.result = make([]uint32, 0, n)
	for _, list := range parts {
		for _, e := range list {
			m.pairs.set(e.left(), e.right(), uint32(len(m.result)))
			m.result = append(m.result, e.result())
		}
	}
	return nil
}

func (m *bpe) setChars() {
	m.chars = make([]uint32, directChars)
	for i := range m.chars {
		m.chars[i] = noID
	}
	for i, e := range m.voc.entries {
		if e.size > 3 {
			continue
		}
		if r, size := utf8.DecodeRune(m.voc.entryText(i)); size == int(e.size) && r < directChars && (r != utf8.RuneError || size > 1) {
			m.chars[r] = e.id
		}
	}
}

// fallbackIDs finds the byte tokens of a vocabulary; those it lacks are noID.
func fallbackIDs(v *vocab) *[256]uint32 {
	var ids [256]uint32
	for b := range ids {
		ids[b] = noID
		if id, ok := v.idOf(fmt.Sprintf("<0x%02X>", b)); ok {
			ids[b] = id
		}
	}
	return &ids
}

func (m *bpe) newByteBPE() *byteBPE {
	if m.prefix != "" || m.suffix != "" {
		return nil
	}
	b := &byteBPE{pairs: make([]uint32, 1<<16)}
	for i := range b.ids {
		b.ids[i] = m.chars[byteChar(byte(i))]
		b.holes = b.holes || b.ids[i] == noID
	}
	if b.holes && (m.unk != noID || m.fallback != nil) {
		return nil
	}
	for i := range b.pairs {
		b.pairs[i] = noRank
		if x, y := b.ids[i>>8], b.ids[i&0xff]; x != noID && y != noID {
			b.pairs[i] = m.pairs.rank(x, y)
		}
	}
	if m.ignoreMerges {
		b.whole = newWholeWords(m.voc)
	}
	return b
}

func (m *bpe) vocabulary() *vocab { return m.voc }

func (m *bpe) hash(w hashWriter) {
	fmt.Fprintf(w, "bpe %q %q %q %v %v %v\n", m.prefix, m.suffix, m.unkToken, m.fuseUnk, m.ignoreMerges, m.fallback != nil)
	var list []splitMerge
	m.pairs.each(func(a, b, rank uint32) { list = append(list, splitMerge{a, b, rank}) })
	slices.SortFunc(list, func(x, y splitMerge) int {
		return cmp.Or(cmp.Compare(x.rank, y.rank), cmp.Compare(x.left, y.left), cmp.Compare(x.right, y.right))
	})
	var buf [16]byte
	for _, x := range list {
		binary.LittleEndian.PutUint32(buf[:], x.left)
		binary.LittleEndian.PutUint32(buf[4:], x.right)
		binary.LittleEndian.PutUint32(buf[8:], x.rank)
		binary.LittleEndian.PutUint32(buf[12:], m.result[x.rank])
		w.Write(buf[:])
	}
}

// appendShort appends the ids of a word of at most 15 bytes, which lo and hi hold packed, for a byte-level model.
func (m *bpe) appendShort(s *scratch, dst []uint32, word string, lo, hi uint64) []uint32 {
	if m.bytes.whole != nil {
		if id, ok := m.bytes.whole.id(lo, hi); ok {
			return append(dst, id)
		}
	}
	return m.appendMerged(s, dst, word)
}

// appendLong appends the ids of a longer word.
func (m *bpe) appendLong(s *scratch, dst []uint32, word string) []uint32 {
	if m.ignoreMerges {
		s.spell = appendByteChars(s.spell[:0], word)
		if id, ok := m.voc.id(s.spell); ok {
			return append(dst, id)
		}
	}
	return m.appendMerged(s, dst, word)
}

// appendMerged merges a word from its bytes.
func (m *bpe) appendMerged(s *scratch, dst []uint32, word string) []uint32 {
	b := m.bytes
	if b.holes {
		return m.appendHoled(s, dst, word)
	}
	if len(word) == 1 {
		return append(dst, b.ids[word[0]])
	}
	n := len(word)
	s.ids, s.ranks = resize(s.ids, n), resize(s.ranks, n)
	ids, ranks := s.ids, s.ranks[:n-1]
	for i := range n - 1 {
		ids[i] = b.ids[word[i]]
		ranks[i] = b.pairs[int(word[i])<<8|int(word[i+1])]
	}
	ids[n-1] = b.ids[word[n-1]]
	return append(dst, m.merge(s, ids, ranks)...)
}

// appendHoled is appendMerged where a byte of the word may have no token.
func (m *bpe) appendHoled(s *scratch, dst []uint32, word string) []uint32 {
	ids := s.ids[:0]
	for i := range len(word) {
		if id := m.bytes.ids[word[i]]; id != noID {
			ids = append(ids, id)
		}
	}
	s.ids = ids
	return append(dst, m.mergeIDs(s, ids)...)
}

// mergeIDs merges symbols whose ranks are not known yet.
func (m *bpe) mergeIDs(s *scratch, ids []uint32) []uint32 {
	if len(ids) < 2 {
		return ids
	}
	s.ranks = resize(s.ranks, len(ids))
	ranks := s.ranks[:len(ids)-1]
	for i := range ranks {
		ranks[i] = m.pairs.rank(ids[i], ids[i+1])
	}
	return m.merge(s, ids, ranks)
}

// appendWord appends the ids of a word in the vocabulary's spelling.
func (m *bpe) appendWord(s *scratch, dst []uint32, word string) ([]uint32, error) {
	if m.ignoreMerges {
		if id, ok := m.voc.idOf(word); ok {
			return append(dst, id), nil
		}
	}
	return append(dst, m.mergeIDs(s, m.symbols(s, word))...), nil
}

// symbols spells a word in single characters. A character without a token becomes its byte tokens, else the unknown
// token, else nothing. The unknown token is held back so that a run can be fused; byte tokens overtake it, as they do
// in the reference library.
func (m *bpe) symbols(s *scratch, word string) []uint32 {
	ids := s.ids[:0]
	unknown := false
	for i := 0; i < len(word); {
		r, size := utf8.DecodeRuneInString(word[i:])
		id := m.symbol(s, word, i, size, r)
		end := i + size
		switch {
		case id != noID:
			if unknown {
				ids, unknown = append(ids, m.unk), false
			}
			ids = append(ids, id)
		case m.fallback != nil && m.spelled(s, word, i, end):
			for _, b := range s.spell {
				ids = append(ids, m.fallback[b])
			}
		case m.unk != noID:
			if unknown && !m.fuseUnk {
				ids = append(ids, m.unk)
			}
			unknown = true
		}
		i = end
	}
	if unknown {
		ids = append(ids, m.unk)
	}
	s.ids = ids
	return ids
}

// symbol returns the id of the character at i with the affixes of its place in the word.
func (m *bpe) symbol(s *scratch, word string, i, size int, r rune) uint32 {
	first, last := i == 0, i+size == len(word)
	if (first || m.prefix == "") && (!last || m.suffix == "") {
		if r < directChars {
			return m.chars[r]
		}
		if id, ok := m.voc.idOf(word[i : i+size]); ok {
			return id
		}
		return noID
	}
	m.affixed(s, word, i, i+size)
	if id, ok := m.voc.id(s.spell); ok {
		return id
	}
	return noID
}

func (m *bpe) affixed(s *scratch, word string, from, to int) {
	s.spell = s.spell[:0]
	if from > 0 {
		s.spell = append(s.spell, m.prefix...)
	}
	s.spell = append(s.spell, word[from:to]...)
	if to == len(word) {
		s.spell = append(s.spell, m.suffix...)
	}
}

// spelled puts the character with its affixes into s.spell and reports whether each byte has a token.
func (m *bpe) spelled(s *scratch, word string, from, to int) bool {
	m.affixed(s, word, from, to)
	for _, b := range s.spell {
		if m.fallback[b] == noID {
			return false
		}
	}
	return true
}
