package tokenizer

import (
	"fmt"
	"unicode/utf8"
)

// wordLevel has one token per word.
type wordLevel struct {
	voc      *vocab
	unkToken string
	unk      uint32
}

func newWordLevel(d *modelData) (model, error) {
	m := &wordLevel{voc: d.vocab, unkToken: or(d.spec.UnkToken, "<unk>"), unk: noID}
	if id, ok := d.vocab.idOf(m.unkToken); ok {
		m.unk = id
	}
	return m, nil
}

func (m *wordLevel) vocabulary() *vocab { return m.voc }

func (m *wordLevel) hash(w hashWriter) { fmt.Fprintf(w, "wordlevel %q\n", m.unkToken) }

func (m *wordLevel) appendWord(_ *scratch, dst []uint32, word string) ([]uint32, error) {
	if id, ok := m.voc.idOf(word); ok {
		return append(dst, id), nil
	}
	if m.unk == noID {
		return dst, fmt.Errorf("%q is not in the vocabulary, and neither is the unknown token %q", clip(word), m.unkToken)
	}
	return append(dst, m.unk), nil
}

// wordPiece spells a word with the longest token that fits, then the longest that fits the rest, and so on.
type wordPiece struct {
	voc      *vocab
	unkToken string
	unk      uint32
	prefix   string // of tokens inside a word
	maxChars int
	longest  int // bytes of the longest token
}

func newWordPiece(d *modelData) (model, error) {
	m := &wordPiece{voc: d.vocab, unkToken: or(d.spec.UnkToken, "[UNK]"), unk: noID, prefix: or(d.spec.Prefix, "##"), maxChars: 100}
	if d.spec.MaxChars != nil {
		m.maxChars = *d.spec.MaxChars
	}
	if id, ok := d.vocab.idOf(m.unkToken); ok {
		m.unk = id
	}
	for _, e := range d.vocab.entries {
		m.longest = max(m.longest, int(e.size))
	}
	return m, nil
}

func (m *wordPiece) vocabulary() *vocab { return m.voc }

func (m *wordPiece) hash(w hashWriter) {
	fmt.Fprintf(w, "wordpiece %q %q %d\n", m.unkToken, m.prefix, m.maxChars)
}

func (m *wordPiece) appendWord(s *scratch, dst []uint32, word string) ([]uint32, error) {
	n := len(dst)
	if utf8.RuneCountInString(word) > m.maxChars {
		return m.unknown(dst, word)
	}
	for start := 0; start < len(word); {
		s.spell = s.spell[:0]
		if start > 0 {
			s.spell = append(s.spell, m.prefix...)
		}
		lead := len(s.spell)
		end := min(len(word), start+max(0, m.longest-lead))
		for end > start && end < len(word) && !utf8.RuneStart(word[end]) {
			end--
		}
		s.spell = append(s.spell, word[start:end]...)
		for ; end > start; end-- {
			if end < len(word) && !utf8.RuneStart(word[end]) {
				continue
			}
			if id, ok := m.voc.id(s.spell[:lead+end-start]); ok {
				dst = append(dst, id)
				break
			}
		}
		if end == start {
			return m.unknown(dst[:n], word)
		}
		start = end
	}
	return dst, nil
}

func (m *wordPiece) unknown(dst []uint32, word string) ([]uint32, error) {
	if m.unk == noID {
		return dst, fmt.Errorf("%q cannot be spelled, and the unknown token %q is not in the vocabulary", clip(word), m.unkToken)
	}
	return append(dst, m.unk), nil
}
