package load

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
	"sync"
	"time"

	"github.com/servemark/servemark/internal/bench"
)

// Run sends every request of the plan at its time and calls emit with each Record as it is finished, one call at a time,
// in the order of finishing. When ctx ends nothing more is sent, and what is in flight is emitted as cancelled; that is no
// error. It returns an error when a request cannot be encoded (before anything is sent) or when emit returns one (which
// ends the run in the same way).
func (e *Engine) Run(ctx context.Context, plan *bench.Plan, emit func(bench.Record) error) error {
	talk, err := e.turnsOf(plan)
	if err != nil {
		return err
	}
	messages := make([]bench.Message, len(plan.Requests))
	for i := range plan.Requests {
		m, err := e.o.Protocol.Encode(&plan.Requests[i])
		if err != nil {
			return fmt.Errorf("request %d: %w", i, err)
		}
		messages[i] = m
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()

	e.writeBuffer = writeBufferFor(messages)
	e.reset(newClock())
	defer e.closeIdle()
	e.stamping.await(stampingWait)
	e.dialAhead(ctx, e.startingConnections(plan, talk.begin()))
	tidy() // what planning left behind is collected now, not under load
	defer debug.SetGCPercent(debug.SetGCPercent(mostPercent))
	if e.o.Begin != nil {
		e.o.Begin()
	}
	self := newSelf(e)
	e.clock.restart() // making connections is not part of the schedule
	e.tally.clear()
	if e.wall != nil {
		e.wall.restart()
	}
	self.watch()

	finished := make(chan bench.Record, len(plan.Requests)) // room for all: a sender never waits
	var recorder sync.WaitGroup
	var failed error
	recorder.Go(func() {
		for rec := range finished {
			if failed == nil {
				if failed = emit(rec); failed != nil {
					cancel()
				}
			}
		}
	})
	talk.finished = finished
	e.dispatch(ctx, plan, messages, talk)
	e.health = self.end()
	close(finished)
	recorder.Wait()
	e.closeIdle()
	time.Sleep(closing)
	tidy() // connections and buffers, before figures are computed in their place
	return failed
}

// A run's heap grows by heapRoom between collections, or by half where it is large: a reply under way allocates next to nothing,
// so that collections are rare either way; a small heap is not collected all the time, and a thousand replies fit into less memory.
const (
	heapRoom     = 12 << 20
	leastPercent = 50
	mostPercent  = 300
)

// gcPercent is the garbage collector's setting for a heap of which live bytes are in use.
func gcPercent(live uint64) int {
	return int(min(max(100*heapRoom/max(live, 1), leastPercent), mostPercent))
}

// closing is how long connections that are closed are given to end their goroutines.
const closing = 2 * time.Millisecond

// worthTidying is the heap from which a collection is worth its milliseconds before the first request.
const worthTidying = 16 << 20

// tidy gives memory that is no longer used back to the system, where there is much.
func tidy() {
	var m runtime.MemStats
	if runtime.ReadMemStats(&m); m.HeapAlloc >= worthTidying {
		debug.FreeOSMemory()
	}
}

// stampingWait is how long a run waits for the kernel to begin stamping; it takes a few milliseconds.
const stampingWait = 50 * time.Millisecond

// Limits of a connection's write buffer: one that holds a whole request sends it with one call.
const leastWriteBuffer, mostWriteBuffer, headAllowance = 1 << 10, 32 << 10, 768

// writeBufferFor returns a size that holds the largest message with its head, within limits.
func writeBufferFor(messages []bench.Message) int {
	most := 0
	for i := range messages {
		most = max(most, len(messages[i].Body))
	}
	return min(max(most+headAllowance, leastWriteBuffer), mostWriteBuffer)
}

// startingConnections is how many of the n requests that follow no other can be in flight at the very start.
func (e *Engine) startingConnections(plan *bench.Plan, n int) int {
	if c := plan.Spec.Load.Concurrency; c > 0 {
		n = min(n, c)
	}
	if plan.Spec.Load.Scheduled() {
		n = min(n, 1+int(plan.Spec.Load.Rate*maxReadyAge.Seconds()/2))
	}
	return n
}

// dialAhead makes n connections, to the targets in turn.
func (e *Engine) dialAhead(ctx context.Context, n int) {
	if e.o.Load.HTTP2 {
		n = min(n, len(e.targets)) // one carries all requests
	}
	for i := range e.targets {
		e.dialer.ahead(ctx, e.targets[i].url, e.o.Proxy, (n+len(e.targets)-1-i)/len(e.targets))
	}
}

// dispatch walks the plan and returns when every started request has its Record in finished.
func (e *Engine) dispatch(ctx context.Context, plan *bench.Plan, messages []bench.Message, talk *turns) {
	var slots chan struct{}
	if c := plan.Spec.Load.Concurrency; c > 0 {
		slots = make(chan struct{}, c)
	}
	end := talk.end
	var inFlight sync.WaitGroup
	defer func() { inFlight.Wait(); talk.draining.Wait() }()
	for i := range plan.Requests {
		if plan.Requests[i].After != nil {
			continue // its conversation comes to it
		}
		due := plan.Requests[i].Due
		if due.Known() {
			if end.Known() && due > end || !e.clock.pause(due, ctx.Done(), e.fine) {
				return
			}
		}
		if slots != nil {
			select {
			case slots <- struct{}{}:
			case <-ctx.Done():
				return
			}
		}
		if ctx.Err() != nil || end.Known() && e.clock.Now() >= end {
			return
		}
		rec := bench.NewRecord(plan.Requests[i].ID)
		rec.Admitted, rec.Due = e.clock.Now(), due
		if !due.Known() {
			rec.Due = rec.Admitted
		}
		inFlight.Go(func() {
			free := sync.OnceFunc(func() {
				if slots != nil {
					<-slots
				}
			})
			defer free()
			talk.perform(ctx, i, messages[i], &rec, free)
			talk.finished <- rec
			talk.follow(ctx, i, rec)
		})
	}
}

// perform exchanges one request and keeps the live figures; release is called as soon as its reply is over.
func (e *Engine) perform(ctx context.Context, m bench.Message, rec *bench.Record, release func()) {
	e.o.Live.InFlight.Add(1)
	done := sync.OnceFunc(func() { e.o.Live.InFlight.Add(-1); release() })
	e.exchange(ctx, m, rec, done)
	done()
	e.o.Live.Done.Add(1)
	if rec.Failure != nil {
		e.o.Live.Failed.Add(1)
	}
}
