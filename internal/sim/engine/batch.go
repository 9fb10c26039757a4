package engine

import (
	"math"
	"math/rand/v2"
	"time"
)

// batch runs requests together, one step at a time. What a step holds is decided by its flavour.
type batch struct {
	e       *Engine
	plan    func(*batch)
	busy    bool
	current Step
	waiting []*Seq // in the order they will be looked at
	running []*Seq // in the order of admission
	noise   *rand.Rand
	draws   *rand.Rand
	ratio   float64 // SGLang's reserved share of remaining output
	slots   []slot  // llama.cpp's places
	lost    int     // preemptions while planning the step under way
	order   int
}

func newBatch(e *Engine) *batch {
	b := &batch{e: e, noise: rand.New(rand.NewPCG(e.params.Seed, 1)), draws: rand.New(rand.NewPCG(e.params.Seed, 2))}
	switch e.params.Schedule {
	case SGLang:
		b.plan, b.ratio = (*batch).planSGLang, initialRatio(e.params)
	case Slots:
		b.plan, b.slots = (*batch).planSlots, make([]slot, e.params.MaxSeqs)
	default:
		b.plan = (*batch).planVLLM
	}
	return b
}

func (b *batch) arrive(s *Seq, _ time.Duration) {
	b.waiting = append(b.waiting, s)
	b.gauges()
}

func (b *batch) next() (time.Duration, bool) { return b.current.End, b.busy }

func (b *batch) advance(now time.Duration) {
	if b.busy && b.current.End <= now {
		b.complete()
	}
	if !b.busy {
		b.begin(now)
	}
	b.gauges()
}

func (b *batch) gauges() {
	b.e.counts.Running, b.e.counts.Waiting = len(b.running), len(b.waiting)
}

// begin plans the next step at now and starts it, unless there is nothing to do.
func (b *batch) begin(now time.Duration) {
	if len(b.waiting) == 0 && len(b.running) == 0 {
		return
	}
	b.lost = 0
	b.plan(b)
	st, dur := b.measure()
	if st.Decodes+st.Prefills == 0 {
		return
	}
	st.Index, st.Start, st.End = b.e.stepIndex, now, now+dur
	st.Running, st.Waiting, st.Preempted, st.PagesUsed = len(b.running), len(b.waiting), b.lost, b.e.kv.used()
	b.e.stepIndex++
	for _, s := range b.running {
		if s.planned > 0 {
			s.touch(st.Index, now)
		}
	}
	b.current, b.busy = st, true
}

func (s *Seq) touch(step int, now time.Duration) {
	if s.Scheduled < 0 {
		s.Scheduled, s.FirstStep = now, step
	}
	s.LastStep = step
}

// decodes reports whether the next token of s needs nothing but its last token computed.
func (s *Seq) decodes() bool { return s.Produced > 0 && s.total()-s.computed == 1 }

// measure sums up what is planned and gives the duration of the step (see StepModel).
func (b *batch) measure() (Step, time.Duration) {
	var st Step
	var area float64
	for _, s := range b.running {
		if s.planned == 0 {
			continue
		}
		if s.decodes() {
			st.Decodes++
			st.Context += s.total()
			continue
		}
		x := float64(s.planned)
		area += float64(s.computed)*x + x*x/2
		st.Prefills++
		st.PrefillTokens += s.planned
	}
	return st, b.e.params.stepTime(st.Decodes, st.Context, st.PrefillTokens, area, b.noise)
}

// StepTime is the duration of a step without noise: decodes requests with a summed context, prefill tokens of a given area.
func (p Params) StepTime(decodes, context, prefill int, area float64) time.Duration {
	p.Step.Noise = 0
	return p.stepTime(decodes, context, prefill, area, nil)
}

func (p Params) stepTime(decodes, context, prefill int, area float64, noise *rand.Rand) time.Duration {
	m := p.Step
	v := float64(decodes * (1 + p.SpecDepth))
	mem := m.PerSeq*float64(decodes) + m.PerContext*float64(context)
	if m.Experts > 0 {
		untouched := math.Pow(1-float64(m.ActiveExperts)/float64(m.NumExperts), v+float64(prefill))
		mem += m.Experts * (1 - untouched)
	}
	cmp := m.PerToken*(float64(prefill)+v) + m.PerArea*area
	t := m.Base + max(mem, cmp) + m.Overlap*min(mem, cmp)
	if decodes > 0 {
		t += m.Draft * float64(p.SpecDepth)
	}
	if m.Noise > 0 {
		t *= math.Exp(m.Noise*noise.NormFloat64() - m.Noise*m.Noise/2)
	}
	return max(ms(t), 1)
}

// complete ends the step under way: KV is there, tokens leave, finished requests give their pages back.
func (b *batch) complete() {
	st, e := &b.current, b.e
	b.busy = false
	decodeOnly := st.Prefills == 0
	kept := b.running[:0]
	for _, s := range b.running {
		if s.planned > 0 {
			st.Produced += b.settle(s)
		}
		if s.state == finished {
			b.leave(s)
			continue
		}
		kept = append(kept, s)
	}
	clear(b.running[len(kept):])
	b.running = kept
	dur := st.End - st.Start
	if decodeOnly {
		e.decode.add(float64(st.Decodes), float64(dur)/1e3, float64(st.Produced))
	} else {
		e.counts.PrefillBusy += dur
	}
	if e.steps != nil {
		e.steps(*st)
	}
}

func (d *DecodeMoments) add(batch, micros, generated float64) {
	d.N++
	d.B += batch
	d.MicrosT += micros
	d.B2 += batch * batch
	d.BMicrosT += batch * micros
	d.Generated += generated
}

// settle books what the step computed for one request and returns how many tokens left it.
func (b *batch) settle(s *Seq) int {
	e := b.e
	n := 0
	if s.decodes() {
		n = b.accepted(s)
		s.computed += n
	} else {
		s.computed += s.planned
		s.PrefillSteps++
		e.counts.ComputedPromptTokens += s.planned
		if s.computed == s.total() {
			n = 1
		}
	}
	done := s.computed >= s.total()
	s.planned = 0
	for k := s.named; k < len(s.Pages) && (k+1)*e.params.PageSize <= s.computed && k < len(s.pages); k++ {
		e.kv.name(s.pages[k], s.Pages[k])
		s.named = k + 1
	}
	if s.Output == 0 {
		if done {
			e.release(s, 0, b.current.Index, b.current.End, true)
		}
		return 0
	}
	if n > 0 {
		e.release(s, n, b.current.Index, b.current.End, s.Produced+n >= s.Output)
	}
	return n
}

// accepted draws how many tokens a decode makes: one, and as many drafts as hold in a row.
func (b *batch) accepted(s *Seq) int {
	p := &b.e.params
	if p.SpecDepth == 0 {
		return 1
	}
	n := 1
	for n <= p.SpecDepth && b.draws.Float64() < p.SpecAccept {
		n++
	}
	b.e.counts.Drafts++
	b.e.counts.DraftTokens += p.SpecDepth
	b.e.counts.AcceptedTokens += n - 1
	return min(n, s.planned, s.Output-s.Produced)
}

// grow makes sure that s holds pages for its first n tokens; it fails without effect when too few are free.
func (b *batch) grow(s *Seq, n int) bool {
	size := b.e.params.PageSize
	need := (min(n, s.Prompt+s.Output)+size-1)/size - len(s.pages)
	if need <= 0 {
		return true
	}
	if b.e.kv.free < need {
		return false
	}
	for range need {
		s.pages = append(s.pages, b.e.kv.take())
	}
	return true
}

// decodeTokens is how many tokens a decode has verified.
func (b *batch) decodeTokens() int { return 1 + b.e.params.SpecDepth }

// hits looks up the cached prefix of s: whole pages, never its last token. It returns their number and how many are free now.
func (b *batch) hits(s *Seq) (n, freeOnes int) {
	most := (s.total() - 1) / b.e.params.PageSize
	return b.e.kv.match(s.Pages[:min(most, len(s.Pages))])
}

// admit moves s to the running requests with its first hit pages shared.
func (b *batch) admit(s *Seq, hit int) {
	e := b.e
	for _, h := range s.Pages[:hit] {
		s.pages = append(s.pages, e.kv.share(h))
	}
	b.enter(s, hit)
}

func (b *batch) enter(s *Seq, hit int) {
	e := b.e
	s.computed, s.named, s.state = hit*e.params.PageSize, hit, running
	if s.Scheduled < 0 && s.Preemptions == 0 {
		s.Cached = s.computed
		e.counts.PromptTokens += s.Prompt
		e.counts.CachedTokens += s.computed
	}
	b.order++
	s.admitted = b.order
	b.running = append(b.running, s)
}

// preempt takes the pages of the running request at i and puts it at the head of the queue, to be computed again.
func (b *batch) preempt(i int) {
	s := b.running[i]
	b.running = append(b.running[:i], b.running[i+1:]...)
	b.e.kv.release(s.pages)
	s.pages, s.computed, s.named, s.planned, s.state = s.pages[:0], 0, 0, 0, waiting
	s.Preemptions++
	b.lost++
	b.e.counts.Preemptions++
	b.waiting = append([]*Seq{s}, b.waiting...)
}

// leave gives back what a request held.
func (b *batch) leave(s *Seq) {
	if s.slot >= 0 {
		b.vacate(s)
	}
	b.e.kv.release(s.pages)
	s.pages, s.planned = nil, 0
}

func (b *batch) abort(s *Seq) {
	if s.state == running {
		b.running = without(b.running, s)
		b.leave(s)
	} else {
		b.waiting = without(b.waiting, s)
	}
	b.gauges()
}
