package engine

import "time"

// independent gives every request its own timeline: the first token TTFT after acceptance (after admission, had it to wait
// for a place), token k another k·ITL later. Nothing is shared, so requests never slow each other down.
type independent struct {
	e       *Engine
	waiting []*Seq
	due     seqHeap // running, by the instant of the next token
}

func newIndependent(e *Engine) *independent { return &independent{e: e} }

func (x *independent) arrive(s *Seq, now time.Duration) {
	x.waiting = append(x.waiting, s)
	x.admit(now)
}

func (x *independent) admit(now time.Duration) {
	p := x.e.params
	for len(x.waiting) > 0 && (p.MaxSeqs == 0 || len(x.due) < p.MaxSeqs) {
		s := x.waiting[0]
		x.waiting = x.waiting[1:]
		s.state = running
		s.Scheduled = now
		from := s.Accepted
		if now > s.Queued {
			from = now
		}
		s.heapAt = from + p.TTFT
		x.e.counts.PromptTokens += s.Prompt
		x.e.counts.ComputedPromptTokens += s.Prompt
		x.due.push(s)
	}
	x.gauges()
}

func (x *independent) gauges() {
	x.e.counts.Running, x.e.counts.Waiting = len(x.due), len(x.waiting)
}

func (x *independent) next() (time.Duration, bool) {
	if len(x.due) == 0 {
		return 0, false
	}
	return x.due[0].heapAt, true
}

func (x *independent) advance(now time.Duration) {
	for len(x.due) > 0 && x.due[0].heapAt <= now {
		s := x.due.pop()
		at := s.heapAt
		step := x.e.stepIndex
		x.e.stepIndex++
		if s.FirstStep < 0 {
			s.FirstStep = step
			s.PrefillSteps = 1
		}
		s.LastStep = step
		n := min(1, s.Output)
		last := s.Produced+n >= s.Output
		x.e.release(s, n, step, at, last)
		x.report(s, step, at, n)
		if !last {
			s.heapAt = at + x.e.params.ITL
			x.due.push(s)
			continue
		}
		x.admit(now)
	}
	x.gauges()
}

func (x *independent) report(s *Seq, index int, at time.Duration, n int) {
	if x.e.steps == nil {
		return
	}
	st := Step{Index: index, Start: at - x.e.params.ITL, End: at, Produced: n, Running: len(x.due), Waiting: len(x.waiting)}
	if s.Produced <= 1 {
		st.Start, st.Prefills, st.PrefillTokens = at-x.e.params.TTFT, 1, s.Prompt
	} else {
		st.Decodes, st.Context = 1, s.Prompt+s.Produced-1
	}
	x.e.steps(st)
}

func (x *independent) abort(s *Seq) {
	if s.state == running {
		x.due.remove(s)
		x.admit(x.e.now)
		return
	}
	x.waiting = without(x.waiting, s)
	x.gauges()
}

func without(list []*Seq, s *Seq) []*Seq {
	for i, o := range list {
		if o == s {
			return append(list[:i:i], list[i+1:]...)
		}
	}
	return list
}
