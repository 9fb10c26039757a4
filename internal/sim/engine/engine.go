// Package engine is the simulated inference engine: a pure state machine that decides which request makes which token at
// which instant. It owns no clock, no goroutine and no socket: a caller injects arrivals with their instants and asks for
// everything that happened up to an instant, so the same arrivals give the same schedule in virtual and in real time.
package engine

import (
	"fmt"
	"time"
)

// Request is what the engine must know of one thing to generate; instants are durations since the engine's origin.
type Request struct {
	// Prompt is the number of prompt tokens, at least 1.
	Prompt int
	// Output is the number of tokens the answer will have; 0 asks for the prefill alone (an embedding).
	Output int
	// Limit is the output limit the client asked for, which an admission rule may reserve for; 0 means Output.
	Limit int
	// Pages are chained hashes of the full KV pages of prompt and answer (see PageHashes); nil takes no part in prefix caching.
	Pages []uint64
}

// Seq is one request inside the engine, with the facts of its life. Its fields change only inside Engine methods.
type Seq struct {
	Request
	// ID numbers the requests of an engine from 0 in the order of Submit.
	ID int
	// Accepted is when the server had the request, Queued when the scheduler could first see it, Scheduled when it first
	// took part in a step (negative before that), Finished when its last step ended or it was aborted (negative before).
	Accepted, Queued, Scheduled, Finished time.Duration
	// FirstStep and LastStep are the indices of the steps it first and last took part in, -1 before that.
	FirstStep, LastStep int
	// Cached is the number of prompt tokens found in the prefix cache at first admission.
	Cached int
	// Preemptions counts how often its KV pages were taken away; everything computed is then computed again.
	Preemptions int
	// Produced is the number of answer tokens made so far.
	Produced int
	// PrefillSteps counts the steps that computed some of its prompt (again after a preemption).
	PrefillSteps int

	state    seqState
	computed int     // tokens whose KV is present
	pages    []int32 // KV pages held
	planned  int     // tokens to compute in the step under way
	admitted int     // order of admission, for first-come rules
	named    int     // leading pages whose content is known to the prefix cache
	hits     int     // cached pages when the queue was last ordered by prefix
	heapAt   time.Duration
	slot     int
}

type seqState uint8

const (
	pending seqState = iota // arrived, not yet visible to the scheduler
	waiting
	running
	finished
)

// Done reports whether the request has finished or was aborted.
func (s *Seq) Done() bool { return s.state == finished }

// total is the number of tokens that must have KV before the next token can be made.
func (s *Seq) total() int { return s.Prompt + s.Produced }

// Emission says that tokens of one request leave the engine together.
type Emission struct {
	Seq *Seq
	// At is the planned instant, host-side costs included.
	At time.Duration
	// First is the index of the first token within the answer, Tokens how many there are (0 for an embedding).
	First, Tokens int
	// Step is the index of the step that made them.
	Step int
	// Last marks the end of the answer.
	Last bool
	// Cached, Preemptions and Scheduled are the request's at that instant.
	Cached, Preemptions int
	Scheduled           time.Duration
}

// Step is one iteration of the engine, as the scheduler planned it.
type Step struct {
	Index int           `json:"index"`
	Start time.Duration `json:"start_ns"`
	End   time.Duration `json:"end_ns"`
	// Decodes is the number of requests that made a token from their own KV (B), Context the sum of their contexts (K).
	Decodes int `json:"decodes"`
	Context int `json:"context"`
	// Prefills is the number of requests that computed prompt tokens, PrefillTokens how many in all (P).
	Prefills      int `json:"prefills"`
	PrefillTokens int `json:"prefill_tokens"`
	// Produced is the number of answer tokens that left the step.
	Produced int `json:"produced"`
	// Running and Waiting are counted after scheduling, Preempted is how many lost their pages while scheduling.
	Running   int `json:"running"`
	Waiting   int `json:"waiting"`
	Preempted int `json:"preempted"`
	// PagesUsed is the number of KV pages held by running requests.
	PagesUsed int `json:"pages_used"`
}

// scheduler is the part of an engine that differs between independent requests and batched steps.
type scheduler interface {
	// arrive makes a request visible at now.
	arrive(s *Seq, now time.Duration)
	// next is the instant of the next thing the scheduler will do by itself.
	next() (time.Duration, bool)
	// advance does what is due at now, which is never before an instant it was given earlier.
	advance(now time.Duration)
	// abort forgets a request.
	abort(s *Seq)
}

// Engine is one simulated deployment. It is not safe for concurrent use.
type Engine struct {
	params  Params
	now     time.Duration
	sched   scheduler
	pending seqHeap
	nextID  int
	live    int

	detokFree time.Duration
	emit      func(Emission)
	steps     func(Step)
	stepIndex int
	kv        *pool
	counts    Counts
	decode    DecodeMoments
}

// Counts are totals since the start, and gauges of the present.
type Counts struct {
	Submitted            int           `json:"submitted"`
	Finished             int           `json:"finished"`
	Aborted              int           `json:"aborted"`
	PromptTokens         int           `json:"prompt_tokens"` // of requests taken up, once each
	CachedTokens         int           `json:"cached_tokens"`
	OutputTokens         int           `json:"output_tokens"`
	ComputedPromptTokens int           `json:"computed_prompt_tokens"` // again after a preemption
	Preemptions          int           `json:"preemptions"`
	Steps                int           `json:"steps"`
	PrefillBusy          time.Duration `json:"prefill_busy_ns"` // of steps with prompt tokens
	Running              int           `json:"running"`
	Waiting              int           `json:"waiting"`
	PagesUsed            int           `json:"pages_used"`
	PagesTotal           int           `json:"pages_total"`
	PageSize             int           `json:"page_size"`
	Drafts               int           `json:"drafts"` // verifications of speculative tokens
	DraftTokens          int           `json:"draft_tokens"`
	AcceptedTokens       int           `json:"accepted_tokens"`
}

// DecodeMoments are sums over the steps that only decoded: enough for a least-squares line of step time over batch.
type DecodeMoments struct {
	N, B, MicrosT, B2, BMicrosT, Generated float64
}

// New checks the parameters and returns an idle engine at instant 0.
func New(p Params) (*Engine, error) {
	p = p.withDefaults()
	if err := p.Validate(); err != nil {
		return nil, err
	}
	e := &Engine{params: p}
	e.kv = newPool(p.pages(), p.PrefixCache)
	switch p.Schedule {
	case Independent:
		e.sched = newIndependent(e)
	default:
		e.sched = newBatch(e)
	}
	return e, nil
}

// Params returns the parameters in force, defaults filled in.
func (e *Engine) Params() Params { return e.params }

// Now is the latest instant the engine was advanced to.
func (e *Engine) Now() time.Duration { return e.now }

// OnStep sets a function that is given every step when it ends; nil turns it off.
func (e *Engine) OnStep(f func(Step)) { e.steps = f }

// Submit hands a request over. accepted is when the server had it; now is when it reached the scheduler's door, which a real
// server stamps itself and a virtual one sets to accepted. The request is queued after the modelled host costs, not before now.
func (e *Engine) Submit(r Request, accepted, now time.Duration) (*Seq, error) {
	if r.Prompt < 1 || r.Output < 0 {
		return nil, fmt.Errorf("engine: a request needs at least 1 prompt token and no negative output, got %d and %d", r.Prompt, r.Output)
	}
	if need, room := r.Prompt+r.Output, e.params.roomPerRequest(); need > room {
		return nil, fmt.Errorf("engine: %d prompt and %d output tokens can never fit %d tokens of KV", r.Prompt, r.Output, room)
	}
	queued := max(accepted+e.params.Host.ingest(r.Prompt), now, e.now)
	if r.Limit < r.Output {
		r.Limit = r.Output
	}
	s := &Seq{Request: r, ID: e.nextID, Accepted: accepted, Queued: queued, Scheduled: -1, Finished: -1, FirstStep: -1, LastStep: -1, slot: -1, heapAt: queued}
	e.nextID++
	e.live++
	e.counts.Submitted++
	e.pending.push(s)
	return s, nil
}

// Abort forgets a request that the client gave up; a request that is done stays as it is.
func (e *Engine) Abort(s *Seq, now time.Duration) {
	if s.state == finished {
		return
	}
	if s.state == pending {
		e.pending.remove(s)
	} else {
		e.sched.abort(s)
	}
	e.counts.Aborted++
	e.retire(s, now)
}

func (e *Engine) retire(s *Seq, at time.Duration) {
	s.state = finished
	s.Finished = at
	e.live--
}

// Live is the number of requests submitted and neither finished nor aborted.
func (e *Engine) Live() int { return e.live }

// Next is the instant of the next thing that will happen without a further Submit; false when the engine is idle.
func (e *Engine) Next() (time.Duration, bool) {
	at, ok := e.sched.next()
	if len(e.pending) > 0 && (!ok || e.pending[0].Queued < at) {
		return e.pending[0].Queued, true
	}
	return at, ok
}

// Advance does everything that is due up to and including to, in order, and gives each emission to emit.
func (e *Engine) Advance(to time.Duration, emit func(Emission)) {
	e.emit = emit
	for {
		at, ok := e.Next()
		if !ok || at > to {
			break
		}
		e.now = max(e.now, at)
		for len(e.pending) > 0 && e.pending[0].Queued <= at {
			s := e.pending.pop()
			s.state = waiting
			e.sched.arrive(s, at)
		}
		e.sched.advance(at)
	}
	e.now = max(e.now, to)
	e.emit = nil
}

// release sends n new tokens of s out through the serial detokeniser.
func (e *Engine) release(s *Seq, n, step int, at time.Duration, last bool) {
	h := e.params.Host
	e.detokFree = max(e.detokFree, at) + h.perToken(n)
	em := Emission{Seq: s, At: e.detokFree + h.out(), First: s.Produced, Tokens: n, Step: step, Last: last, Cached: s.Cached, Preemptions: s.Preemptions, Scheduled: s.Scheduled}
	s.Produced += n
	e.counts.OutputTokens += n
	if last {
		e.counts.Finished++
		e.retire(s, at)
	}
	e.emit(em)
}

// Counts returns the totals and gauges at the present instant.
func (e *Engine) Counts() Counts {
	c := e.counts
	c.Steps = e.stepIndex
	c.PagesUsed, c.PagesTotal, c.PageSize = e.kv.used(), e.kv.size(), e.params.PageSize
	for _, s := range e.pending {
		if s.Queued <= e.now {
			c.Waiting++
		}
	}
	return c
}

// DecodeMoments returns the sums over decode-only steps.
func (e *Engine) DecodeMoments() DecodeMoments { return e.decode }

// FlushCache forgets every cached prefix that no running request holds, and returns how many pages that were.
func (e *Engine) FlushCache() int { return e.kv.flush() }
