package engine

import "slices"

// Constants of SGLang's scheduler: the initial and the least share of remaining output that is reserved, the decode steps
// over which the share decays, the output limit it reserves at most, and the queue length above which prefixes are not compared.
const (
	ratioInit   = 0.7
	ratioMin    = 0.14 // of the initial share
	ratioSteps  = 600
	reserveMost = 4096
	lpmMost     = 128
	retractLook = 20 // decode steps looked ahead after a retraction
)

func initialRatio(p Params) float64 { return min(ratioInit*p.Conservativeness, 1) }

// planSGLang fills a step the way SGLang does: a batch of prompts when any is admissible (with the running decodes only when
// mixed chunks are on), else one token for every running request. When the decodes find no pages, requests with the shortest
// answers are retracted.
func (b *batch) planSGLang() {
	if b.planPrompts() {
		if b.e.params.MixedChunk {
			b.planDecodes()
		}
		return
	}
	b.planDecodes()
	if b.lost == 0 {
		start := initialRatio(b.e.params)
		b.ratio = max(b.ratio-start*(1-ratioMin)/ratioSteps, start*ratioMin)
	}
}

// remaining is the output that may still come, as far as the scheduler reserves for it.
func (s *Seq) remaining() int { return min(s.Limit-s.Produced, reserveMost) }

// planPrompts plans a batch of prompt tokens and reports whether there is one.
func (b *batch) planPrompts() bool {
	p := &b.e.params
	rest := p.TokenBudget
	reserved := 0.0
	for _, s := range b.running {
		if s.decodes() {
			reserved += float64(s.remaining()) * b.ratio
			continue
		}
		n := min(s.total()-s.computed, rest) // the prompt that did not fit the last batch
		reserved += float64(s.total() - s.computed - n + s.remaining())
		if n > 0 && b.grow(s, s.computed+n) {
			s.planned = n
			rest -= n
		}
	}
	planned := rest < p.TokenBudget
	if p.LongestPrefix && len(b.waiting) <= lpmMost {
		b.sortByPrefix()
	}
	taken := 0
	for _, s := range b.waiting {
		if rest <= 0 || len(b.running) >= p.MaxSeqs {
			break
		}
		hit, freeOnes := b.hits(s)
		extend := s.total() - hit*p.PageSize
		room := float64((b.e.kv.free-freeOnes)*p.PageSize) - reserved
		alone := len(b.running) == 0
		if float64(extend+s.remaining()) >= room && !alone {
			break
		}
		n := min(extend, rest)
		b.admit(s, hit)
		if !b.grow(s, s.computed+n) {
			b.unadmit(s)
			break
		}
		s.planned = n
		rest -= n
		reserved += float64(extend - n + s.remaining())
		taken++
		planned = true
	}
	b.waiting = b.waiting[taken:]
	return planned
}

// unadmit undoes the admission of the latest request.
func (b *batch) unadmit(s *Seq) {
	b.running = b.running[:len(b.running)-1]
	b.e.kv.release(s.pages)
	if s.Scheduled < 0 && s.Preemptions == 0 {
		b.e.counts.PromptTokens -= s.Prompt
		b.e.counts.CachedTokens -= s.Cached
		s.Cached = 0
	}
	s.pages, s.computed, s.named, s.state = s.pages[:0], 0, 0, waiting
}

func (b *batch) sortByPrefix() {
	for _, s := range b.waiting {
		s.hits, _ = b.hits(s)
	}
	slices.SortStableFunc(b.waiting, func(x, y *Seq) int { return y.hits - x.hits })
}

// planDecodes plans a token for every request that decodes, retracting some while pages are short.
func (b *batch) planDecodes() {
	for b.pagesShort() {
		b.retract()
	}
	for _, s := range b.running {
		if s.decodes() && b.grow(s, s.computed+b.decodeTokens()) {
			s.planned = b.decodeTokens()
		}
	}
}

func (b *batch) pagesShort() bool {
	size, need, decodes := b.e.params.PageSize, 0, 0
	for _, s := range b.running {
		if s.decodes() {
			decodes++
			need += max((min(s.computed+b.decodeTokens(), s.Prompt+s.Output)+size-1)/size-len(s.pages), 0)
		}
	}
	return need > b.e.kv.free && len(b.running) > 1
}

// retract takes the pages of the request with the shortest answer, the longest prompt among equals, and reserves more from now on.
func (b *batch) retract() {
	worst := -1
	for i, s := range b.running {
		if s.planned > 0 {
			continue
		}
		if worst < 0 || s.Produced < b.running[worst].Produced || s.Produced == b.running[worst].Produced && s.Prompt > b.running[worst].Prompt {
			worst = i
		}
	}
	b.preempt(worst)
	made, limit := 0, 1
	for _, s := range b.running {
		made += s.Produced + retractLook
		limit += s.Limit
	}
	b.ratio = min(float64(made)/float64(limit), 1)
}
