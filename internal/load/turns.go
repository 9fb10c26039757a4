package load

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/servemark/servemark/internal/bench"
)

// turns is what a run knows of conversations: who follows whom, and when nothing more may begin.
type turns struct {
	engine *Engine
	plan   *bench.Plan
	// next is the request that follows each one's answer, or -1.
	next     []int
	end      bench.Instant
	finished chan<- bench.Record
	// draining are the exchanges whose answer is over and whose connection is not free yet.
	draining sync.WaitGroup
	// fine holds a place for each turn that may sleep in the kernel, where a sleep costs a thread.
	fine chan struct{}
}

// fineTurns is how many turns sleep in the kernel at once; further ones have the runtime's timers, which are as good while
// so much else is going on.
const fineTurns = 64

// turnsOf checks the plan's law of turns.
func (e *Engine) turnsOf(plan *bench.Plan) (*turns, error) {
	next, err := plan.Turns()
	if err != nil {
		return nil, err
	}
	t := &turns{engine: e, plan: plan, next: next, end: bench.Never, fine: make(chan struct{}, fineTurns)}
	if d := plan.Spec.Load.Duration; d > 0 {
		t.end = bench.At(d)
	}
	e.places = t.places()
	return t, nil
}

// places number the conversations, a lone request being one, and give each request its conversation's number.
func (t *turns) places() []int {
	out := make([]int, len(t.next))
	n := 0
	for i := range out {
		if after := t.plan.Requests[i].After; after != nil {
			out[i] = out[after.Request]
			continue
		}
		out[i] = n
		n++
	}
	return out
}

// begin counts the requests that follow no other.
func (t *turns) begin() int {
	n := 0
	for i := range t.plan.Requests {
		if t.plan.Requests[i].After == nil {
			n++
		}
	}
	return n
}

// perform exchanges request i. A conversation has one slot from its first turn to its last, as in sglang.bench_serving, so
// free is called by whoever ends it; what the server sends after an answer's end is drained beside the next turn.
func (t *turns) perform(ctx context.Context, i int, m bench.Message, rec *bench.Record, free func()) {
	if t.next[i] < 0 && t.plan.Requests[i].After == nil {
		t.engine.perform(ctx, m, rec, free)
		return
	}
	over := make(chan struct{})
	t.draining.Go(func() { t.engine.perform(ctx, m, rec, func() { close(over) }) })
	<-over
}

// follow goes on with the conversation that request i began, turn by turn: each is due its gap after the end of the answer
// before it. It returns when the last turn is over, one has failed, or nothing more may begin.
func (t *turns) follow(ctx context.Context, i int, rec bench.Record) {
	if t.next[i] < 0 {
		return
	}
	var said bench.Conversation
	if _, err := said.Ask(&t.plan.Requests[i]); err != nil {
		rec.Fail(bench.FailClient, err.Error()) // not reached: encoding it would have failed
	}
	for i = t.next[i]; i >= 0; i = t.next[i] {
		if !rec.OK() {
			if ctx.Err() == nil {
				t.cancel(i)
			}
			return
		}
		due := rec.Done.Add(t.plan.Requests[i].After.Gap)
		if t.end.Known() && due > t.end || !t.pause(ctx, due) || ctx.Err() != nil {
			return
		}
		rec = t.ask(ctx, i, due, &said, &rec)
		t.finished <- rec
	}
}

// answer is what goes back as the model's words: not its thinking, which templates leave out of what was said before, unless
// the original is followed to the letter.
func (t *turns) answer(rec *bench.Record) string {
	if t.plan.Spec.Strict {
		return rec.Text
	}
	return rec.Text[min(rec.Thinking, len(rec.Text)):]
}

// ask asks request i as the next turn of what was said, to which before is the answer.
func (t *turns) ask(ctx context.Context, i int, due bench.Instant, said *bench.Conversation, before *bench.Record) bench.Record {
	e := t.engine
	rec := bench.NewRecord(t.plan.Requests[i].ID)
	rec.Due, rec.Admitted = due, e.clock.Now()
	m, err := t.encode(i, said, before)
	if err != nil {
		rec.Done = e.clock.Now()
		rec.Fail(bench.FailClient, err.Error())
	} else {
		t.perform(ctx, i, m, &rec, nil)
	}
	return rec
}

func (t *turns) encode(i int, said *bench.Conversation, before *bench.Record) (bench.Message, error) {
	if before.Text == "" && slices.ContainsFunc(before.Chunks, func(c bench.Chunk) bool { return c.Channel == bench.ChannelContent }) {
		return bench.Message{}, fmt.Errorf("request %d follows an answer whose text was not kept", i)
	}
	said.Answer(t.answer(before))
	r, err := said.Ask(&t.plan.Requests[i])
	if err != nil {
		return bench.Message{}, fmt.Errorf("request %d: %w", i, err)
	}
	return t.engine.o.Protocol.Encode(&r)
}

// cancel books the turns from request i on, which will not be asked.
func (t *turns) cancel(i int) {
	for ; i >= 0; i = t.next[i] {
		rec := bench.NewRecord(t.plan.Requests[i].ID)
		rec.Cancelled = true
		t.engine.o.Live.Done.Add(1)
		t.finished <- rec
	}
}

// pause waits for a due time and reports whether it was reached.
func (t *turns) pause(ctx context.Context, due bench.Instant) bool {
	if due <= t.engine.clock.Now() {
		return true
	}
	fine := t.engine.fine
	if fine != nil {
		kernel := fine
		fine = func(d time.Duration) {
			select {
			case t.fine <- struct{}{}:
				kernel(d)
				<-t.fine
			default:
				time.Sleep(d)
			}
		}
	}
	return t.engine.clock.pause(due, ctx.Done(), fine)
}
