package load

import (
	"math/rand/v2"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
	"time"

	"github.com/servemark/servemark/internal/bench"
)

// self watches the client while it works.
type self struct {
	engine *Engine
	quit   chan struct{}
	done   sync.WaitGroup
	began  time.Time
	before usage
	mem    runtime.MemStats
	// backlog of sampled connections.
	samples, waiting, most int64
}

// usage is what the process has used so far.
type usage struct {
	cpu, wait time.Duration
	peakRSS   int64
}

// Sampling of connections for unread bytes.
const (
	backlogInterval = 10 * time.Millisecond
	backlogSockets  = 16
)

// newSelf takes stock; watch is called when the run's clock starts, end when the run is over.
func newSelf(e *Engine) *self {
	s := &self{engine: e, quit: make(chan struct{}), before: used()}
	runtime.ReadMemStats(&s.mem)
	return s
}

// watch begins to look at the clocks and the connections.
func (s *self) watch() {
	e := s.engine
	s.began = time.Now()
	if e.wall != nil {
		stepped, stop := clockSteps()
		s.done.Go(func() {
			defer stop()
			e.wall.watch(s.quit, stepped)
		})
		s.done.Go(s.sampleBacklog)
	}
	s.done.Go(s.fitHeap)
}

// heapInterval is how often the garbage collector's setting is fitted to the heap.
const heapInterval = 100 * time.Millisecond

// fitHeap keeps the heap small while it may be (see gcPercent).
func (s *self) fitHeap() {
	tick := time.NewTicker(heapInterval)
	defer tick.Stop()
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	set := mostPercent
	for {
		select {
		case <-s.quit:
			return
		case <-tick.C:
		}
		if metrics.Read(live); live[0].Value.Kind() != metrics.KindUint64 {
			return
		}
		if p := gcPercent(live[0].Value.Uint64()); p != set {
			set = p
			debug.SetGCPercent(p)
		}
	}
}

// sampleBacklog looks at a few connections at a time.
func (s *self) sampleBacklog() {
	tick := time.NewTicker(backlogInterval)
	defer tick.Stop()
	for {
		select {
		case <-s.quit:
			return
		case <-tick.C:
		}
		for _, c := range s.engine.dialer.some(backlogSockets) {
			if n, ok := c.kernel.unread(); ok {
				s.samples++
				s.most = max(s.most, int64(n))
				if n > 0 {
					s.waiting++
				}
			}
		}
	}
}

// some returns up to n connections that have kernel stamps and a reply under way.
func (d *dialer) some(n int) []*stampConn {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.open) == 0 {
		return nil
	}
	out := make([]*stampConn, 0, n)
	skip := rand.IntN(max(1, len(d.open)-n)) // a map's order is random only in where it begins
	for c := range d.open {
		if skip--; skip >= 0 {
			continue
		}
		if c.kernel != nil && c.readSince.Load() {
			out = append(out, c)
		}
		if len(out) == n {
			break
		}
	}
	return out
}

// end stops watching and returns what was seen.
func (s *self) end() bench.Health {
	close(s.quit)
	s.done.Wait()
	e, now := s.engine, used()
	var mem runtime.MemStats
	runtime.ReadMemStats(&mem)
	h := bench.Health{
		Engine:      "net/http",
		KernelReads: e.tally.kernel.Load(), UserReads: e.tally.user.Load(),
		Unstamped: e.tally.unstamped.Load(), Implausible: e.tally.implausible.Load(),
		BacklogSamples: s.samples, BacklogWaiting: s.waiting, BacklogMax: s.most,
		Wall: time.Since(s.began), CPU: now.cpu - s.before.cpu, CPUWait: now.wait - s.before.wait, Cores: runtime.GOMAXPROCS(0),
		GCCycles: int(mem.NumGC - s.mem.NumGC), GCPause: time.Duration(mem.PauseTotalNs - s.mem.PauseTotalNs),
		Mallocs: int64(mem.Mallocs - s.mem.Mallocs), PeakRSS: now.peakRSS,
	}
	if e.o.Load.HTTP2 {
		h.Engine = "net/http, HTTP/2"
	}
	if e.wall != nil {
		e.wall.check()
		h.ClockSteps, h.ClockError = e.wall.told()
	}
	return h
}
