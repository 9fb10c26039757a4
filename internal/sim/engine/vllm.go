package engine

// planVLLM fills a step the way vLLM does: one token for every running decode, then chunks of running prompts, then waiting
// requests in order of arrival, until the token budget, the number of running requests or the KV pool is used up. When a
// running request finds no page, the latest admitted one loses its pages; nobody is admitted in such a step, nor before the
// pages of the whole prompt are free.
func (b *batch) planVLLM() {
	budget := b.e.params.TokenBudget
	for _, decodes := range []bool{true, false} {
		for i := 0; i < len(b.running); i++ {
			s := b.running[i]
			if s.planned > 0 || s.decodes() != decodes {
				continue
			}
			need := s.total() - s.computed
			if decodes {
				need = b.decodeTokens()
			}
			need = min(need, budget)
			if need <= 0 {
				break
			}
			if !b.makeRoom(s, need, &budget) {
				break // s itself was the last to go
			}
			s.planned = need
			budget -= need
		}
	}
	if b.lost > 0 {
		return
	}
	b.admitWaiting(budget)
}

// makeRoom gives s pages for need more tokens, at the cost of the latest admitted requests; false when that was s.
func (b *batch) makeRoom(s *Seq, need int, budget *int) bool {
	for !b.grow(s, s.computed+need) {
		last := len(b.running) - 1
		victim := b.running[last]
		*budget += victim.planned
		b.preempt(last)
		if victim == s {
			return false
		}
	}
	return true
}

func (b *batch) admitWaiting(budget int) {
	p, taken := &b.e.params, 0
	for _, s := range b.waiting {
		if len(b.running) >= p.MaxSeqs || budget <= 0 {
			break
		}
		hit, freeOnes := b.hits(s)
		need := min(s.total()-hit*p.PageSize, budget)
		if whole := (s.total()+p.PageSize-1)/p.PageSize - hit; b.e.kv.free-freeOnes < whole {
			break // the first chunk might fit, but the request would be preempted before its end
		}
		b.admit(s, hit)
		b.grow(s, s.computed+need)
		s.planned = need
		budget -= need
		taken++
	}
	b.waiting = b.waiting[taken:]
}
