package tokenizer

import "fmt"

const (
	pairIDBits   = 21
	pairRankBits = 64 - 2*pairIDBits
	noRank       = 1<<pairRankBits - 1
)

// pairTable finds the rank of a merge by its two ids: open addressing over packed 8-byte slots, so that a probe
// touches one cache line. A slot holds left id, right id and rank.
type pairTable struct {
	slots []uint64
	shift uint
	n     int
}

func newPairTable(n int) (pairTable, error) {
	if n >= noRank {
		return pairTable{}, fmt.Errorf("the model has %d merges; more than %d are not supported", n, noRank-1)
	}
	bits := uint(4)
	for 1<<bits < 2*n {
		bits++
	}
	t := pairTable{slots: make([]uint64, 1<<bits), shift: 64 - bits}
	for i := range t.slots {
		t.slots[i] = ^uint64(0)
	}
	return t, nil
}

func pairKey(a, b uint32) uint64 { return uint64(a)<<pairIDBits | uint64(b) }

func (t *pairTable) home(key uint64) uint64 { return (key * 0x9E3779B97F4A7C15) >> t.shift }

// set stores the rank of (a, b); a later rank takes the place of an earlier one.
func (t *pairTable) set(a, b, rank uint32) {
	key := pairKey(a, b)
	mask := uint64(len(t.slots) - 1)
	for p := t.home(key); ; p = (p + 1) & mask {
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
	mask := uint64(len(t.slots) - 1)
	for p := t.home(key); ; p = (p + 1) & mask {
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
