package tokenizer

import "hash/maphash"

const (
	inlineIDs    = 3
	inlineKey    = 15
	cacheStart   = 1 << 10
	cacheMost    = 1 << 16 // entries of one table: 2 MiB
	cacheArena   = 1 << 18 // ids and long keys kept beside the tables
	cacheLongest = 1 << 10 // words above this many bytes are not kept
)

// wordCache remembers the ids of words. It belongs to one encoder, so it needs no lock; when it is full it starts
// anew, which bounds its memory to a few MiB. Words up to 15 bytes are their own key, packed into two integers.
type wordCache struct {
	slots []cacheSlot
	n     int
	ids   []uint32
	long  map[uint64]longWord
	text  []byte
	seed  maphash.Seed
}

// cacheSlot fills half a cache line. n is the number of ids + 1, 0 for an empty slot; above inlineIDs ids[0] says
// where in wordCache.ids they are.
type cacheSlot struct {
	lo, hi uint64
	ids    [inlineIDs]uint32
	n      uint32
}

type longWord struct {
	key, keyLen, ids, n uint32
}

func newWordCache() *wordCache {
	return &wordCache{slots: make([]cacheSlot, cacheStart), long: map[uint64]longWord{}, seed: maphash.MakeSeed()}
}

// pack puts a word of at most 15 bytes and its length into two integers. word must be a part of text that begins at
// from, so that whole 8-byte reads are possible where the text goes on.
func pack(text string, from, to int) (lo, hi uint64) {
	n := to - from
	if from+16 <= len(text) {
		t := text[from : from+16]
		lo = load8(t)
		hi = load8(t[8:])
		if n < 8 {
			lo &= 1<<(8*n) - 1
			hi = 0
		} else {
			hi &= 1<<(8*(n-8)) - 1
		}
	} else {
		for i := n - 1; i >= 8; i-- {
			hi = hi<<8 | uint64(text[from+i])
		}
		for i := min(n, 8) - 1; i >= 0; i-- {
			lo = lo<<8 | uint64(text[from+i])
		}
	}
	return lo, hi | uint64(n)<<56
}

func load8(s string) uint64 {
	_ = s[7]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}

func packHash(lo, hi uint64) uint64 {
	h := (lo ^ hi*0x9E3779B97F4A7C15) * 0xD6E8FEB86659FD93
	h ^= h >> 32
	return h * 0xD6E8FEB86659FD93 >> 20
}

// slot returns the slot of a packed word: its own, or the empty one where it belongs.
func (c *wordCache) slot(lo, hi uint64) *cacheSlot {
	mask := uint64(len(c.slots) - 1)
	for p := packHash(lo, hi) & mask; ; p = (p + 1) & mask {
		s := &c.slots[p]
		if s.n == 0 || s.lo == lo && s.hi == hi {
			return s
		}
	}
}

// appendSlot appends the ids of a filled slot.
func (c *wordCache) appendSlot(dst []uint32, s *cacheSlot) []uint32 {
	switch s.n {
	case 1:
		return dst
	case 2:
		return append(dst, s.ids[0])
	case 3:
		return append(dst, s.ids[0], s.ids[1])
	case 4:
		return append(dst, s.ids[0], s.ids[1], s.ids[2])
	}
	return append(dst, c.ids[s.ids[0]:s.ids[0]+s.n-1]...)
}

// putShort stores the ids of a packed word.
func (c *wordCache) putShort(lo, hi uint64, ids []uint32) {
	if c.n*4 >= len(c.slots)*3 || len(c.ids)+len(ids) > cacheArena {
		c.grow()
	}
	s := c.slot(lo, hi)
	s.lo, s.hi, s.n = lo, hi, uint32(len(ids)+1)
	if len(ids) <= inlineIDs {
		copy(s.ids[:], ids)
	} else {
		s.ids[0] = uint32(len(c.ids))
		c.ids = append(c.ids, ids...)
	}
	c.n++
}

// grow doubles the table, or empties the whole cache when it is as large as it may be.
func (c *wordCache) grow() {
	if len(c.slots) >= cacheMost || len(c.ids) > cacheArena/2 {
		clear(c.slots)
		clear(c.long)
		c.n, c.ids, c.text = 0, c.ids[:0], c.text[:0]
		return
	}
	old := c.slots
	c.slots = make([]cacheSlot, 2*len(old))
	for i := range old {
		if old[i].n != 0 {
			*c.slot(old[i].lo, old[i].hi) = old[i]
		}
	}
}

// findLong returns the ids of a word above 15 bytes.
func (c *wordCache) findLong(word string) ([]uint32, bool) {
	e, ok := c.long[maphash.String(c.seed, word)]
	if !ok || string(c.text[e.key:e.key+e.keyLen]) != word {
		return nil, false
	}
	return c.ids[e.ids : e.ids+e.n], true
}

// putLong stores the ids of a word above 15 bytes.
func (c *wordCache) putLong(word string, ids []uint32) {
	if len(word) > cacheLongest {
		return
	}
	if len(c.ids)+len(ids) > cacheArena || len(c.text)+len(word) > cacheArena {
		clear(c.slots)
		clear(c.long)
		c.n, c.ids, c.text = 0, c.ids[:0], c.text[:0]
	}
	c.long[maphash.String(c.seed, word)] = longWord{uint32(len(c.text)), uint32(len(word)), uint32(len(c.ids)), uint32(len(ids))}
	c.text = append(c.text, word...)
	c.ids = append(c.ids, ids...)
}
