package engine

import (
	"encoding/binary"
	"hash/maphash"
)

// pool is the paged KV memory: pages that requests hold, and free pages in least-recently-used order, some of which still
// carry a known prefix and can be taken up again.
type pool struct {
	prefix bool
	pages  []page
	free   int // free pages, cached ones included
	head   int32
	tail   int32
	known  map[uint64]int32 // chained hash → page that holds it
}

type page struct {
	refs       int32
	prev, next int32 // neighbours in the free list, noPage at its ends
	hash       uint64
	hashed     bool
}

const noPage int32 = -1

func newPool(n int, prefix bool) *pool {
	p := &pool{prefix: prefix, pages: make([]page, n), head: noPage, tail: noPage}
	if prefix {
		p.known = make(map[uint64]int32)
	}
	for i := range p.pages {
		p.append(int32(i))
	}
	return p
}

func (p *pool) size() int { return len(p.pages) }
func (p *pool) used() int { return len(p.pages) - p.free }

func (p *pool) append(i int32) {
	g := &p.pages[i]
	g.prev, g.next = p.tail, noPage
	if p.tail == noPage {
		p.head = i
	} else {
		p.pages[p.tail].next = i
	}
	p.tail = i
	p.free++
}

func (p *pool) unlink(i int32) {
	g := &p.pages[i]
	if g.prev == noPage {
		p.head = g.next
	} else {
		p.pages[g.prev].next = g.next
	}
	if g.next == noPage {
		p.tail = g.prev
	} else {
		p.pages[g.next].prev = g.prev
	}
	p.free--
}

// take allocates the page that was free longest; the caller has checked that one is free.
func (p *pool) take() int32 {
	i := p.head
	p.unlink(i)
	g := &p.pages[i]
	if g.hashed {
		delete(p.known, g.hash)
		g.hashed = false
	}
	g.refs = 1
	return i
}

// match returns how many of the leading hashes are present, and how many of those pages are free at the moment.
func (p *pool) match(hashes []uint64) (n, freeOnes int) {
	if !p.prefix {
		return 0, 0
	}
	for _, h := range hashes {
		i, ok := p.known[h]
		if !ok {
			break
		}
		n++
		if p.pages[i].refs == 0 {
			freeOnes++
		}
	}
	return n, freeOnes
}

// share takes a reference on the page of a hash that match has found.
func (p *pool) share(h uint64) int32 {
	i := p.known[h]
	g := &p.pages[i]
	if g.refs == 0 {
		p.unlink(i)
	}
	g.refs++
	return i
}

// name records that a held page now has all the tokens that hash stands for.
func (p *pool) name(i int32, h uint64) {
	if !p.prefix {
		return
	}
	g := &p.pages[i]
	if g.hashed {
		return
	}
	if _, taken := p.known[h]; taken {
		return
	}
	g.hash, g.hashed = h, true
	p.known[h] = i
}

// release gives pages back, the last first, so that the end of a prefix is evicted before its beginning.
func (p *pool) release(list []int32) {
	for k := len(list) - 1; k >= 0; k-- {
		g := &p.pages[list[k]]
		if g.refs--; g.refs == 0 {
			p.append(list[k])
		}
	}
}

// flush forgets the prefixes of free pages and returns how many there were.
func (p *pool) flush() int {
	n := 0
	for h, i := range p.known {
		if p.pages[i].refs == 0 {
			p.pages[i].hashed = false
			delete(p.known, h)
			n++
		}
	}
	return n
}

var pageSeed = maphash.MakeSeed()

// PageHashes returns the chained hashes of the full pages of ids: two sequences share hash i exactly when they agree on
// the first (i+1)·pageSize tokens and on the adapter that computes their KV ("" is the base model). Hashes hold for this process only.
func PageHashes(adapter string, ids []int, pageSize int) []uint64 {
	out := make([]uint64, 0, len(ids)/pageSize)
	var h maphash.Hash
	h.SetSeed(pageSeed)
	var prev uint64
	if adapter != "" {
		prev = maphash.String(pageSeed, adapter)
	}
	buf := make([]byte, 0, 8*(pageSize+1))
	for ; len(ids) >= pageSize; ids = ids[pageSize:] {
		buf = binary.LittleEndian.AppendUint64(buf[:0], prev)
		for _, id := range ids[:pageSize] {
			buf = binary.LittleEndian.AppendUint64(buf, uint64(id))
		}
		h.Reset()
		_, _ = h.Write(buf)
		prev = h.Sum64()
		out = append(out, prev)
	}
	return out
}
