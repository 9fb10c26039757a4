// Package virtual runs a plan against the simulated engine without sockets and without wall time: the same arrivals meet the
// same scheduler as on the real clock, and Records come out. It serves tests of experiments and statistics, and planning.
package virtual

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/servemark/servemark/internal/bench"
	"github.com/servemark/servemark/internal/sim/engine"
)

// Options describe the simulated deployment a Runner stands for.
type Options struct {
	// Engine is the engine model; see engine.Params.
	Engine engine.Params
	// OneWay is the network's delay from client to server and back again, each way.
	OneWay time.Duration
	// ContextLen refuses longer requests, as a server would; 0 leaves only the engine's own room.
	ContextLen int
	// PromptIDs returns the token ids of a prompt, for the prefix cache; nil knows only those of prompts given as ids.
	PromptIDs func(*bench.Prompt) []int
	// Answer returns the words and the token ids, n of them, with which a request is answered whose prompt has these ids. With it and
	// PromptIDs a later turn is counted as the whole conversation it repeats; else a turn adds its own tokens to the answers', which
	// then occur nowhere else.
	Answer func(q *bench.Request, prompt []int, n int) (words string, ids []int)
}

// Runner is a load engine and a server in one, in virtual time.
type Runner struct {
	o        Options
	pageSize int // tokens of a KV page, the engine's default filled in
}

// New checks the options.
func New(o Options) (*Runner, error) {
	if o.OneWay < 0 || o.ContextLen < 0 {
		return nil, fmt.Errorf("virtual: one-way delay %v and context length %d must not be negative", o.OneWay, o.ContextLen)
	}
	eng, err := engine.New(o.Engine)
	if err != nil {
		return nil, fmt.Errorf("virtual: %w", err)
	}
	return &Runner{o: o, pageSize: eng.Params().PageSize}, nil
}

// flight is one request between admission and its Record.
type flight struct {
	rec      bench.Record
	seq      *engine.Seq
	deadline bench.Instant // of the whole request, or Never
	idleAt   bench.Instant // when silence becomes a failure, or Never
}

// run is the state of one Run.
type run struct {
	r       *Runner
	o       Options
	plan    *bench.Plan
	eng     *engine.Engine
	emit    func(bench.Record) error
	now     bench.Instant
	first   int       // the request to admit next that follows no other
	flights []*flight // by the engine's id; nil when over
	live    int       // conversations and lone requests that hold a place
	next    []int     // the request that follows each one's answer, or -1
	talks   map[int]*talk
	turns   turnHeap
	due     []engine.Emission // in order of At, from head on
	head    int
	failed  error
	soonest bench.Instant // no deadline passes before it
}

// Run does what the load engine's Run does, except for the waiting: it admits every request of the plan at its time, within
// its concurrency and duration, and emits one Record each in the order of finishing. The clock starts at 0. When ctx ends,
// what is in flight is emitted as cancelled; that is no error.
func (r *Runner) Run(ctx context.Context, plan *bench.Plan, emit func(bench.Record) error) error {
	eng, err := engine.New(r.o.Engine)
	if err != nil {
		return err
	}
	next, err := plan.Turns()
	if err != nil {
		return err
	}
	for i := range plan.Requests {
		if _, _, err := r.count(&plan.Requests[i]); err != nil {
			return fmt.Errorf("request %d: %w", i, err)
		}
	}
	x := &run{r: r, o: r.o, plan: plan, eng: eng, emit: emit, flights: make([]*flight, 0, len(plan.Requests)), soonest: bench.Never, next: next, talks: map[int]*talk{}}
	for x.failed == nil && ctx.Err() == nil {
		if err := x.follow(); err != nil {
			return err
		}
		if err := x.admit(); err != nil {
			return err
		}
		at, ok := x.nextEvent()
		if !ok {
			return x.failed
		}
		x.advance(at)
	}
	x.cancel()
	return x.failed
}

// count is how many prompt tokens a request has by itself, and their ids where those are known.
func (r *Runner) count(q *bench.Request) (n int, ids []int, err error) {
	n, known := q.TemplatedTokens.Get()
	if !known {
		n, known = q.InputTokens.Get()
	}
	ids = make([]int, len(q.Prompt.IDs))
	for i, id := range q.Prompt.IDs {
		ids[i] = int(id)
	}
	if len(ids) == 0 && r.o.PromptIDs != nil {
		ids = r.o.PromptIDs(&q.Prompt)
	}
	if !known {
		n = len(ids)
	}
	if n < 1 {
		return 0, nil, errUncounted
	}
	return n, ids, nil
}

// ask is what the engine is asked for a request that belongs to no conversation.
func (r *Runner) ask(q *bench.Request) (engine.Request, error) {
	n, ids, err := r.count(q)
	if err != nil {
		return engine.Request{}, err
	}
	req := engine.Request{Prompt: n, Output: max(q.OutputTokens, 0)}
	if r.o.Engine.PrefixCache && len(ids) == n {
		if r.o.Answer != nil {
			_, answer, err := r.answer(q, ids, req.Output)
			if err != nil {
				return req, err
			}
			ids = slices.Concat(ids, answer)
		}
		req.Pages = r.pages(q.Adapter, ids)
	}
	return req, nil
}

func (r *Runner) pages(adapter string, ids []int) []uint64 {
	return engine.PageHashes(adapter, ids, r.pageSize)
}

// admit starts every request that follows no other, is due now and has a place.
func (x *run) admit() error {
	load := x.plan.Spec.Load
	for ; x.first < len(x.plan.Requests); x.first++ {
		q := &x.plan.Requests[x.first]
		if q.After != nil {
			continue // its conversation comes to it
		}
		if x.ended(q.Due) {
			x.first = len(x.plan.Requests)
			return nil
		}
		if q.Due.Known() && q.Due > x.now || load.Concurrency > 0 && x.live >= load.Concurrency {
			return nil
		}
		x.live++
		if err := x.start(x.first, q.Due); err != nil {
			return err
		}
		if x.failed != nil {
			return x.failed
		}
	}
	return nil
}

// ended reports whether the run's duration forbids to admit anything more.
func (x *run) ended(due bench.Instant) bool {
	d := x.plan.Spec.Load.Duration
	return d > 0 && (x.now >= bench.At(d) || due.Known() && due > bench.At(d))
}

// start asks request i, which holds a place already; the error is one of the plan.
func (x *run) start(i int, due bench.Instant) error {
	q := &x.plan.Requests[i]
	req, err := x.request(i, q)
	if err != nil {
		return fmt.Errorf("request %d: %w", q.ID, err)
	}
	rec := bench.NewRecord(q.ID)
	rec.Admitted, rec.Due = x.now, due
	if !due.Known() {
		rec.Due = x.now
	}
	rec.Sent, rec.Written, rec.Connection.Reused = x.now, x.now, true
	rec.Header = x.now.Add(2 * x.o.OneWay)
	arrives := x.reach(x.now)
	var seq *engine.Seq
	refusal := x.tooLong(req)
	if refusal == nil {
		seq, refusal = x.eng.Submit(req, arrives, arrives)
	}
	if refusal != nil {
		rec.Status, rec.Done = 400, rec.Header
		rec.Fail(bench.FailStatus, refusal.Error())
		x.over(rec)
		return nil
	}
	rec.Status, rec.Streamed = 200, x.plan.Spec.Target.Stream && req.Output > 0
	f := &flight{rec: rec, seq: seq, deadline: bench.Never, idleAt: bench.Never}
	load := x.plan.Spec.Load
	if load.RequestTimeout > 0 {
		f.deadline = x.now.Add(load.RequestTimeout)
	}
	f.touch(load.IdleTimeout, rec.Header)
	if f.rec.Streamed {
		f.rec.Chunks = make([]bench.Chunk, 0, req.Output)
	}
	x.flights = append(x.flights, f)
	x.sooner(f)
	return nil
}

// request is what the engine is asked for request i, as the turn of a conversation where it is one.
func (x *run) request(i int, q *bench.Request) (engine.Request, error) {
	t := x.talks[i]
	switch {
	case t == nil && x.next[i] < 0:
		return x.r.ask(q)
	case t == nil:
		t = &talk{number: i}
		x.talks[i] = t
	}
	return x.r.next(t, q)
}

// reach is when something sent at an instant arrives at the server, on the engine's clock; both clocks start together.
func (x *run) reach(at bench.Instant) time.Duration { return time.Duration(at) + x.o.OneWay }

func (x *run) tooLong(req engine.Request) error {
	if n := x.o.ContextLen; n > 0 && req.Prompt+req.Output > n {
		return fmt.Errorf("maximum context length is %d tokens, the request has %d and asks for %d", n, req.Prompt, req.Output)
	}
	return nil
}

// touch restarts the clock of silence.
func (f *flight) touch(idle time.Duration, at bench.Instant) {
	if idle > 0 {
		f.idleAt = at.Add(idle)
	}
}

func (x *run) sooner(f *flight) {
	for _, at := range []bench.Instant{f.deadline, f.idleAt} {
		if at.Known() && (!x.soonest.Known() || at < x.soonest) {
			x.soonest = at
		}
	}
}

// nextEvent is the next instant at which something happens.
func (x *run) nextEvent() (bench.Instant, bool) {
	at := bench.Never
	take := func(t bench.Instant) {
		if t.Known() && (!at.Known() || t < at) {
			at = t
		}
	}
	if t, ok := x.eng.Next(); ok {
		take(bench.At(t))
	}
	if x.head < len(x.due) {
		take(bench.At(x.due[x.head].At + x.o.OneWay))
	}
	take(x.soonest)
	if len(x.turns) > 0 {
		take(x.turns[0].due)
	}
	if load := x.plan.Spec.Load; x.first < len(x.plan.Requests) && (load.Concurrency == 0 || x.live < load.Concurrency) {
		take(max(x.plan.Requests[x.first].Due, x.now))
	}
	return at, at.Known()
}

// advance moves to an instant: the engine works, tokens arrive, deadlines pass.
func (x *run) advance(at bench.Instant) {
	x.now = max(x.now, at)
	x.eng.Advance(time.Duration(x.now), func(em engine.Emission) { x.due = append(x.due, em) })
	for x.head < len(x.due) && bench.At(x.due[x.head].At+x.o.OneWay) <= x.now && x.failed == nil {
		x.receive(&x.due[x.head])
		x.head++
	}
	if x.head == len(x.due) {
		x.due, x.head = x.due[:0], 0
	}
	if x.soonest.Known() && x.soonest <= x.now {
		x.expire()
	}
}

// receive books tokens that arrived at the client.
func (x *run) receive(em *engine.Emission) {
	f := x.flights[em.Seq.ID]
	if f == nil {
		return // timed out meanwhile
	}
	at := bench.At(em.At + x.o.OneWay)
	if f.rec.Streamed {
		f.rec.Chunks = append(f.rec.Chunks, bench.Chunk{At: at, Tokens: uint16(em.Tokens), Channel: bench.ChannelContent})
	}
	f.touch(x.plan.Spec.Load.IdleTimeout, at)
	if !em.Last {
		return
	}
	f.rec.Done = at
	f.rec.Finish = "length"
	f.rec.ChunkTokens = bench.ChunkTokensUsage
	f.rec.Usage = bench.Usage{Prompt: bench.Counted(em.Seq.Prompt), Completion: bench.Counted(em.Seq.Output)}
	if x.o.Engine.PrefixCache {
		f.rec.Usage.Cached = bench.Counted(em.Cached)
	}
	x.finish(f)
}

func (x *run) finish(f *flight) {
	x.flights[f.seq.ID] = nil
	x.over(f.rec)
}

// expire fails every request whose deadline has passed, and finds the next deadline.
func (x *run) expire() {
	x.soonest = bench.Never
	for _, f := range x.flights {
		if f == nil {
			continue
		}
		late := f.deadline.Known() && f.deadline <= x.now || f.idleAt.Known() && f.idleAt <= x.now
		if !late {
			x.sooner(f)
			continue
		}
		x.eng.Abort(f.seq, time.Duration(x.now))
		f.rec.Done = x.now
		f.rec.Fail(bench.FailTimeout, "the simulated reply took longer than the request's deadline")
		x.finish(f)
		if x.failed != nil {
			return
		}
	}
}

// cancel emits what is in flight, in order of admission, as cancelled.
func (x *run) cancel() {
	for _, f := range x.flights {
		if f == nil {
			continue
		}
		f.rec.Done, f.rec.Cancelled = x.now, true
		if x.failed == nil {
			x.failed = x.emit(f.rec)
		}
	}
}
