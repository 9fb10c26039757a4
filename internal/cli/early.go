package cli

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/servemark/servemark/internal/bench"
	"github.com/servemark/servemark/internal/stats"
)

// glance is how often a trial is asked whether it is hopeless.
const glance = 200 * time.Millisecond

// early ends the load of a trial that is hopeless. It stands between load engine and protocol, where it sees which requests have their
// first token. The nil one lets every run go to its end.
type early struct {
	bench.Protocol
	outlook  *stats.Outlook
	answered []atomic.Bool // by request id
	anchor   atomic.Pointer[anchor]
}

// anchor ties the run's clock to the wall's: at that time the run's clock read no less.
type anchor struct {
	at   time.Time
	read bench.Instant
}

// now is what the run's clock reads at least; false before the first request.
func (e *early) now() (bench.Instant, bool) {
	a := e.anchor.Load()
	if a == nil {
		return bench.Never, false
	}
	return a.read.Add(time.Since(a.at)), true
}

// Decoder notes when the first request begins, and which ones have been answered.
func (e *early) Decoder(rec *bench.Record) bench.Decoder {
	if e.anchor.Load() == nil {
		e.anchor.CompareAndSwap(nil, &anchor{time.Now(), rec.Admitted})
	}
	return &noting{Decoder: e.Protocol.Decoder(rec), rec: rec, answered: &e.answered[rec.ID]}
}

// noting is a decoder that notes the first token.
type noting struct {
	bench.Decoder
	rec      *bench.Record
	answered *atomic.Bool
	told     bool
}

func (n *noting) Feed(p []byte, at bench.Instant) bool {
	terminal := n.Decoder.Feed(p, at)
	if !n.told && len(n.rec.Chunks) > 0 {
		n.told = true
		n.answered.Store(true)
	}
	return terminal
}

// follow returns a context for the load of a plan that ends when the load is hopeless. done ends the watch.
func (e *early) follow(ctx context.Context, plan *bench.Plan) (load context.Context, done func()) {
	if e == nil {
		return ctx, func() {}
	}
	e.outlook.Begin(plan)
	e.answered = make([]atomic.Bool, len(plan.Requests))
	load, stop := context.WithCancel(ctx)
	over := make(chan struct{})
	var watch sync.WaitGroup
	watch.Go(func() {
		tick := time.NewTicker(glance)
		defer tick.Stop()
		for {
			select {
			case <-over:
				return
			case <-tick.C:
			}
			if now, ok := e.now(); ok && e.outlook.Hopeless(now, func(id int) bool { return e.answered[id].Load() }) {
				stop()
				return
			}
		}
	})
	return load, func() { close(over); watch.Wait(); stop() }
}

// add takes a finished request.
func (e *early) add(r bench.Record) {
	if e != nil {
		e.outlook.Add(r)
	}
}

// cause says why the load of these records was ended early, "" where it was not.
func (e *early) cause(records []bench.Record) string {
	if e == nil {
		return ""
	}
	return endedEarly(e.outlook, records)
}

// endedEarly says why a trial was ended early, "" where it was not.
func endedEarly(o *stats.Outlook, records []bench.Record) string {
	if end := o.Cut(records); end != nil {
		return "ended early by servemark slo: " + end.Reason
	}
	return ""
}
