package sim

import (
	"runtime"
	"sync"
	"time"

	"github.com/servemark/servemark/internal/sim/engine"
	"github.com/servemark/servemark/internal/sim/lateness"
)

// driver runs the engine on the real clock. Arrivals are stamped under its lock, so an arrival stamped before a step's
// boundary is always there when the boundary is worked off: replayed with the same stamps, the schedule is the same.
type driver struct {
	start time.Time
	kick  chan struct{}

	mu      sync.Mutex
	eng     *engine.Engine
	box     map[int]*answer
	due     []engine.Emission // in order of At, from dueHead on
	dueHead int
	looping bool
	late    lateness.Log
	loops   sync.WaitGroup

	onSubmit func(*answer) // told of every arrival, in order; for tests
}

func newDriver(eng *engine.Engine) *driver {
	return &driver{start: time.Now(), kick: make(chan struct{}, 1), eng: eng, box: map[int]*answer{}}
}

// now is the monotonic time since the server was made.
func (d *driver) now() time.Duration { return time.Since(d.start) }

// submit hands the answers of one HTTP request to the engine, all with the same stamps.
func (d *driver) submit(list []*answer, accepted time.Duration) error {
	requests := make([]engine.Request, len(list)) // hashing a long prompt must not hold up the steps
	for i, a := range list {
		requests[i] = a.request()
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	now := d.now()
	for i, a := range list {
		seq, err := d.eng.Submit(requests[i], accepted, now)
		if err != nil {
			return err
		}
		a.seq = seq
		a.submitted = now
		d.box[seq.ID] = a
		if d.onSubmit != nil {
			d.onSubmit(a)
		}
	}
	if !d.looping {
		d.looping = true
		d.loops.Go(d.loop)
	}
	d.poke()
	return nil
}

// abandon takes an answer whose client went away out of the engine.
func (d *driver) abandon(a *answer) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if a.seq == nil {
		return
	}
	d.eng.Abort(a.seq, d.now())
	delete(d.box, a.seq.ID)
	d.poke()
}

func (d *driver) poke() {
	select {
	case d.kick <- struct{}{}:
	default:
	}
}

// loop works the engine off until nothing is left to do.
func (d *driver) loop() {
	for {
		d.mu.Lock()
		now := d.now()
		d.eng.Advance(now, func(em engine.Emission) { d.due = append(d.due, em) })
		d.deliver(now)
		next, ok := d.eng.Next()
		if d.dueHead < len(d.due) && (!ok || d.due[d.dueHead].At < next) {
			next, ok = d.due[d.dueHead].At, true
		}
		if !ok {
			d.looping = false
			d.mu.Unlock()
			return
		}
		d.mu.Unlock()
		runtime.Gosched() // let the writers that were just woken run on this thread, before it sleeps
		d.sleepUntil(next)
	}
}

// deliver hands every emission whose instant has come to the goroutine that writes it.
func (d *driver) deliver(now time.Duration) {
	for d.dueHead < len(d.due) && d.due[d.dueHead].At <= now {
		em := d.due[d.dueHead]
		d.due[d.dueHead] = engine.Emission{}
		d.dueHead++
		d.late.Add(now - em.At)
		if a := d.box[em.Seq.ID]; a != nil {
			a.reply.post(release{answer: a, Emission: em})
			if em.Last {
				delete(d.box, em.Seq.ID)
			}
		}
	}
	if d.dueHead == len(d.due) {
		d.due, d.dueHead = d.due[:0], 0
	}
}

const (
	coarse = 2 * time.Millisecond   // nearer than this the runtime's timers are too rough
	slice  = 250 * time.Microsecond // longest sleep that cannot be interrupted
	spin   = 60 * time.Microsecond  // rest that is not worth a sleep
)

// sleepUntil returns at the instant, or early when something was submitted meanwhile.
func (d *driver) sleepUntil(at time.Duration) {
	for {
		rest := at - d.now()
		switch {
		case rest <= 0:
			return
		case rest > coarse:
			t := time.NewTimer(rest - coarse + coarse/4)
			select {
			case <-d.kick:
				t.Stop()
				return
			case <-t.C:
			}
		default:
			select {
			case <-d.kick:
				return
			default:
			}
			if rest > spin {
				preciseSleep(min(rest-spin, slice))
			}
		}
	}
}

// wait returns when the loop has ended, after the last request.
func (d *driver) wait() { d.loops.Wait() }

// counts is the engine's account at the present instant.
func (d *driver) counts() engine.Counts {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.eng.Counts()
}

// flush drops the prefix cache unless requests are live, and returns how many are.
func (d *driver) flush() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	if live := d.eng.Live(); live > 0 {
		return live
	}
	d.eng.FlushCache()
	return 0
}

// note runs f while the engine stands still.
func (d *driver) note(f func(*engine.Engine)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	f(d.eng)
}
