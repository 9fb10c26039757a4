package tokenizer

// wholeWords finds the tokens that are a whole word of at most 15 bytes by their raw bytes, for byte-level models
// that ask the vocabulary before they merge. Most words asked for are no token, which the tags tell: they are small
// enough to stay in the processor's cache.
type wholeWords struct {
	tags  []uint8      // open addressing: 8 bits of the hash, 0 where the slot is empty
	at    []uint32     // of a slot: the place in words and ids
	words []packedWord // in the vocabulary's order, so that filling them walks memory once
	ids   []uint32
}

type packedWord struct{ lo, hi uint64 }

func newWholeWords(v *vocab) *wholeWords {
	n := 0
	for _, e := range v.entries {
		if e.size <= 2*inlineKey {
			n++
		}
	}
	size := 16
	for size*7 < n*8 {
		size *= 2
	}
	w := &wholeWords{tags: make([]uint8, size), at: make([]uint32, size), words: make([]packedWord, 0, n), ids: make([]uint32, 0, n)}
	var buf [2 * inlineKey]byte
	for i, e := range v.entries {
		if e.size > 2*inlineKey {
			continue
		}
		if raw, ok := appendRawBytes(buf[:0], v.entryText(i)); ok && len(raw) <= inlineKey {
			lo, hi := pack(stringOf(buf[:]), 0, len(raw))
			slot, tag, _ := w.find(lo, hi)
			w.tags[slot], w.at[slot] = tag, uint32(len(w.words))
			w.words, w.ids = append(w.words, packedWord{lo, hi}), append(w.ids, e.id)
		}
	}
	return w
}

// id returns the id of a packed word.
func (w *wholeWords) id(lo, hi uint64) (uint32, bool) {
	slot, _, ok := w.find(lo, hi)
	if !ok {
		return 0, false
	}
	return w.ids[w.at[slot]], true
}

// find returns the slot and the tag of a packed word and whether it is there.
func (w *wholeWords) find(lo, hi uint64) (slot uint64, tag uint8, ok bool) {
	h := packHash(lo, hi)
	tag = uint8(h>>36) | 1
	mask := uint64(len(w.tags) - 1)
	for slot = h & mask; ; slot = (slot + 1) & mask {
		switch w.tags[slot] {
		case 0:
			return slot, tag, false
		case tag:
			if w.words[w.at[slot]] == (packedWord{lo, hi}) {
				return slot, tag, true
			}
		}
	}
}
