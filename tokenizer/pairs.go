package tokenizer

import "fmt"

const (
	pairIDBits   = 21
	pairRankBits = 64 - 2*pairIDBits
	noRank       = 1<<pairRankBits - 1
	filterBits   = 2
)

// pairTable finds the rank of a merge by its two ids: open addressing over packed 8-byte slots, so that a probe
// touches one cache line. A slot holds left id, right id and rank.
// Most pairs asked for are no merge, which filter tells: four bits for each slot, small enough to stay in the
// processor's cache.
type pairTable struct {
	slots  []uint64
	filter []uint64
	shift  uint
	n      int
}

func newPairTable(n int) (pairTable, error) {
	if n >= noRank {
		return pairTable{}, fmt.Errorf("the model has %d merges; more than %d are not supported", n, noRank-1)
	}
	bits := uint(4)
	for 3<<bits < 4*n {
		bits++
	}
	t := pairTable{slots: make([]uint64, 1<<bits), filter: make([]uint64, 1<<(bits+filterBits-6)), shift: 64 - bits}
	for i := range t.slots {
		t.slots[i] = ^uint64(0)
	}
	return t, nil
}

func pairKey(a, b uint32) uint64 { return uint64(a)<<pairIDBits | uint64(b) }

// home returns the home slot of a key and its bit in the filter.
func (t *pairTable) home(key uint64) (slot, bit uint64) {
	h := key * 0x9E3779B97F4A7C15
	return h >> t.shift, h >> (t.shift - filterBits)
}

// set stores the rank of (a, b); a later rank takes the place of an earlier one.
func (t *pairTable) set(a, b, rank uint32) {
	key := pairKey(a, b)
	mask := uint64(len(t.slots) - 1)
	p, bit := t.home(key)
	t.filter[bit>>6] |= 1 << (bit & 63)
	for ; ; p = (p + 1) & mask {
		s := t.slots[p]
		if s == ^uint64(0) {
			t.n++
		} else if s>>pairRankBits != key {
			continue
		}
		t.slots[p] = key<<pairRankBits | uint64(rank)
		return
	}
}

// rank returns the rank of (a, b), or noRank.
func (t *pairTable) rank(a, b uint32) uint32 {
	key := pairKey(a, b)
	p, bit := t.home(key)
	if t.filter[bit>>6]>>(bit&63)&1 == 0 {
		return noRank
	}
	mask := uint64(len(t.slots) - 1)
	for ; ; p = (p + 1) & mask {
		s := t.slots[p&mask]
		if s>>pairRankBits == key {
			if s == ^uint64(0) {
				return noRank
			}
			return uint32(s & noRank)
		}
		if s == ^uint64(0) {
			return noRank
		}
	}
}

// each calls f for every pair, in table order.
func (t *pairTable) each(f func(a, b, rank uint32)) {
	for _, s := range t.slots {
		if s == ^uint64(0) {
			continue
		}
		key := s >> pairRankBits
		f(uint32(key>>pairIDBits), uint32(key&maxTokenID), uint32(s&noRank))
	}
}
