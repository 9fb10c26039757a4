package tokenizer

import (
	"bytes"
	"fmt"
	"hash/maphash"
)

// maxTokenID bounds the ids a model may use. It is what a packed merge pair can hold and 8 times the largest known
// vocabulary; it also keeps a hostile file from asking for a huge table.
const maxTokenID = 1<<pairIDBits - 1

// vocab maps the texts of a model's tokens to ids and back. It is filled once by add and build, then only read.
type vocab struct {
	text    []byte       // all token texts, one after the other
	entries []vocabEntry // one per distinct text, in file order
	byID    []uint32     // id -> index into entries + 1; 0 is a hole
	slots   []uint64     // open addressing: upper half hash tag, lower half index into entries + 1
	list    bool         // read from a list: of equal texts each keeps its id, and the last is found by text
	doubles int          // entries whose text came again later; only in a list
	seed    maphash.Seed
}

type vocabEntry struct {
	off, size, id uint32
}

func newVocab(capacity int) *vocab {
	return &vocab{
		entries: make([]vocabEntry, 0, capacity),
		text:    make([]byte, 0, capacity*8),
		seed:    maphash.MakeSeed(),
	}
}

// add appends a token. Texts are checked for doubles by build.
func (v *vocab) add(text []byte, id uint64) error {
	if id > maxTokenID {
		return fmt.Errorf("token %q has id %d; ids above %d are not supported", clip(text), id, maxTokenID)
	}
	if len(v.text)+len(text) > 1<<31 {
		return fmt.Errorf("the vocabulary holds more than 2 GiB of text; the file is damaged")
	}
	v.entries = append(v.entries, vocabEntry{uint32(len(v.text)), uint32(len(text)), uint32(id)})
	v.text = append(v.text, text...)
	return nil
}

// build makes the two indexes. Of two equal texts the later one holds, as in a JSON object read into a map.
func (v *vocab) build() {
	maxID := -1
	for _, e := range v.entries {
		maxID = max(maxID, int(e.id))
	}
	v.byID = make([]uint32, maxID+1)
	size := 16
	for size < len(v.entries)*2 {
		size *= 2
	}
	v.slots = make([]uint64, size)
	v.doubles = 0
	for i := range v.entries {
		if v.insert(i) {
			v.doubles++
		}
	}
	if v.doubles > 0 && !v.list {
		v.dropDoubles()
		return
	}
	for i, e := range v.entries {
		v.byID[e.id] = uint32(i + 1)
	}
}

// insert puts entry i into the hash index and reports whether it took the place of an equal text.
func (v *vocab) insert(i int) bool {
	t := v.entryText(i)
	h := maphash.Bytes(v.seed, t)
	mask := uint64(len(v.slots) - 1)
	for p := h & mask; ; p = (p + 1) & mask {
		s := v.slots[p]
		if s == 0 {
			v.slots[p] = h&^0xffffffff | uint64(i+1)
			return false
		}
		if s>>32 == h>>32 && bytes.Equal(v.entryText(int(uint32(s))-1), t) {
			v.slots[p] = s&^0xffffffff | uint64(i+1)
			return true
		}
	}
}

// dropDoubles removes the entries whose text came again later and rebuilds the indexes.
func (v *vocab) dropDoubles() {
	kept := v.entries[:0:0]
	for i, e := range v.entries {
		if j, ok := v.find(v.entryText(i)); ok && j == i {
			kept = append(kept, e)
		}
	}
	v.entries = kept
	v.build()
}

func (v *vocab) entryText(i int) []byte {
	e := v.entries[i]
	return v.text[e.off : e.off+e.size]
}

// find returns the index into entries of a text.
func (v *vocab) find(t []byte) (int, bool) {
	if len(v.slots) == 0 {
		return 0, false
	}
	h := maphash.Bytes(v.seed, t)
	mask := uint64(len(v.slots) - 1)
	for p := h & mask; ; p = (p + 1) & mask {
		s := v.slots[p]
		if s == 0 {
			return 0, false
		}
		if s>>32 == h>>32 {
			if i := int(uint32(s)) - 1; bytes.Equal(v.entryText(i), t) {
				return i, true
			}
		}
	}
}

// id returns the id of a text.
func (v *vocab) id(t []byte) (uint32, bool) {
	i, ok := v.find(t)
	if !ok {
		return 0, false
	}
	return v.entries[i].id, true
}

// idOf is id for a string.
func (v *vocab) idOf(t string) (uint32, bool) { return v.id(bytesOf(t)) }

// token returns the text of an id; the bytes must not be changed.
func (v *vocab) token(id uint32) ([]byte, bool) {
	if int(id) >= len(v.byID) || v.byID[id] == 0 {
		return nil, false
	}
	return v.entryText(int(v.byID[id] - 1)), true
}

// size is the number of distinct texts.
func (v *vocab) size() int { return len(v.entries) - v.doubles }

// clip shortens a text for an error message.
func clip[T ~string | ~[]byte](t T) string {
	const most = 60
	if len(t) <= most {
		return string(t)
	}
	return string(t[:most]) + "…"
}
