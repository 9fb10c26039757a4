package engine

import "time"

// slot is one of llama.cpp's places: it remembers the pages of its last request, which the next one may continue.
type slot struct {
	seq   *Seq
	last  []uint64
	freed time.Duration
}

// planSlots fills a step the way llama.cpp does: every place holds one request with a context of its own; one token for each
// that decodes, then prompt tokens place by place until the batch is full. Nothing is shared, so nothing is preempted.
func (b *batch) planSlots() {
	b.seat()
	budget := b.e.params.TokenBudget
	for _, decodes := range []bool{true, false} {
		for i := range b.slots {
			s := b.slots[i].seq
			if s == nil || s.planned > 0 || s.decodes() != decodes {
				continue
			}
			need := s.total() - s.computed
			if decodes {
				need = b.decodeTokens()
			}
			if need = min(need, budget); need <= 0 || !b.grow(s, s.computed+need) {
				continue
			}
			s.planned = need
			budget -= need
		}
	}
}

// seat gives waiting requests free places: the one whose last request shares the longest prefix, else the one free longest.
func (b *batch) seat() {
	for len(b.waiting) > 0 {
		s := b.waiting[0]
		best, bestHit := -1, -1
		for i := range b.slots {
			if b.slots[i].seq != nil {
				continue
			}
			hit := b.shared(s, b.slots[i].last)
			if hit > bestHit || hit == bestHit && b.slots[i].freed < b.slots[best].freed {
				best, bestHit = i, hit
			}
		}
		if best < 0 {
			return
		}
		b.waiting = b.waiting[1:]
		s.slot = best
		b.slots[best].seq = s
		b.grow(s, bestHit*b.e.params.PageSize)
		b.enter(s, bestHit)
	}
}

func (b *batch) shared(s *Seq, last []uint64) int {
	if !b.e.params.PrefixCache {
		return 0
	}
	n, most := 0, min(len(last), len(s.Pages), (s.total()-1)/b.e.params.PageSize)
	for n < most && last[n] == s.Pages[n] {
		n++
	}
	return n
}

// vacate frees the place of s and remembers what its KV holds.
func (b *batch) vacate(s *Seq) {
	full := min(s.computed/b.e.params.PageSize, len(s.Pages))
	b.slots[s.slot] = slot{last: s.Pages[:full], freed: b.e.now}
	s.slot = -1
}
