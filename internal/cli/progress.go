package cli

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"

	"github.com/servemark/servemark/internal/bench"
	"github.com/servemark/servemark/internal/load"
)

// Rhythm of progress: a bar is redrawn a few times a second, plain lines come seldom, so that drawing takes no time from
// the load.
const (
	redraw    = 250 * time.Millisecond
	plainLine = 10 * time.Second
)

// progress shows how a run goes on.
type progress struct {
	live  *load.Live
	total int
	limit time.Duration // of the run; 0 where the number of requests ends it
	start time.Time

	mu     sync.Mutex
	firsts []time.Duration // TTFT of the replies so far
	last   struct {
		at     time.Time
		chunks int64
		rate   float64
	}
}

func newProgress(live *load.Live, total int, limit time.Duration) *progress {
	p := &progress{live: live, total: total, limit: limit, start: time.Now()}
	p.last.at = p.start
	return p
}

// add takes a finished request.
func (p *progress) add(r *bench.Record) {
	if d, ok := bench.Elapsed(r.Sent, r.FirstChunk()); ok && r.OK() && r.Streamed {
		p.mu.Lock()
		p.firsts = append(p.firsts, d)
		p.mu.Unlock()
	}
}

// show draws until done is closed, then returns: a bar on a terminal, plain lines elsewhere.
func (p *progress) show(c *console, done <-chan struct{}) {
	if c.terminal {
		p.bar(c, done)
		return
	}
	tick := time.NewTicker(plainLine)
	defer tick.Stop()
	for {
		select {
		case <-done:
			return
		case <-tick.C:
			c.warn("%s", p.line())
		}
	}
}

// bar draws a bar with the counts, and under it the speeds, so that both fit a terminal of 80 columns.
func (p *progress) bar(c *console, done <-chan struct{}) {
	bars := mpb.New(mpb.WithOutput(c.err), mpb.WithRefreshRate(redraw), mpb.WithWidth(20))
	bar := bars.New(int64(p.total), mpb.BarStyle().Rbound("]"), mpb.BarRemoveOnComplete(),
		mpb.AppendDecorators(decor.Any(func(decor.Statistics) string { return " " + strings.Join(p.counts(time.Now()), "  ") })))
	speeds := bars.New(0, mpb.NopStyle(), mpb.BarRemoveOnComplete(),
		mpb.PrependDecorators(decor.Any(func(decor.Statistics) string { return strings.Join(p.speeds(time.Now()), "  ") })))
	tick := time.NewTicker(redraw)
	defer tick.Stop()
	for {
		select {
		case <-done:
			bar.Abort(true)
			speeds.Abort(true)
			bars.Wait()
			return
		case <-tick.C:
			bar.SetCurrent(min(p.live.Done.Load(), int64(p.total)-1))
		}
	}
}

// line says where the run is, in one line.
func (p *progress) line() string {
	now := time.Now()
	return strings.Join(append(p.counts(now), p.speeds(now)...), "  ")
}

func (p *progress) counts(now time.Time) []string {
	sent := fmt.Sprintf("sent %d/%d", p.live.Sent.Load(), p.total)
	if p.limit > 0 {
		sent = fmt.Sprintf("sent %d", p.live.Sent.Load())
	}
	return []string{fmt.Sprintf("%.0fs", now.Sub(p.start).Seconds()), sent, fmt.Sprintf("done %d", p.live.Done.Load()),
		fmt.Sprintf("failed %d", p.live.Failed.Load()), fmt.Sprintf("in flight %d", p.live.InFlight.Load())}
}

func (p *progress) speeds(now time.Time) []string {
	parts := []string{fmt.Sprintf("%.0f tok/s", p.rate(now))}
	p.mu.Lock()
	firsts := slices.Clone(p.firsts)
	p.mu.Unlock()
	if n := len(firsts); n > 0 {
		slices.Sort(firsts)
		parts = append(parts, fmt.Sprintf("TTFT p50 %s p99 %s", short(firsts[n/2]), short(firsts[min(n-1, n*99/100)])))
	}
	if left := p.left(now, p.live.Done.Load()); left > 0 {
		parts = append(parts, fmt.Sprintf("%s left", left.Round(time.Second)))
	}
	return parts
}

// rate is token events per second since the last second or so.
func (p *progress) rate(now time.Time) float64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	if d := now.Sub(p.last.at); d >= time.Second {
		chunks := p.live.Chunks.Load()
		p.last.rate = float64(chunks-p.last.chunks) / d.Seconds()
		p.last.at, p.last.chunks = now, chunks
	}
	return p.last.rate
}

// left estimates the time to the end; 0 is "no idea yet".
func (p *progress) left(now time.Time, done int64) time.Duration {
	spent := now.Sub(p.start)
	if p.limit > 0 {
		return p.limit - spent
	}
	if done == 0 {
		return 0
	}
	return time.Duration(float64(spent) / float64(done) * float64(int64(p.total)-done))
}

// short writes a latency with three digits or so.
func short(d time.Duration) string {
	switch {
	case d >= 10*time.Second:
		return fmt.Sprintf("%.1f s", d.Seconds())
	case d >= time.Second:
		return fmt.Sprintf("%.2f s", d.Seconds())
	}
	return fmt.Sprintf("%.1f ms", float64(d)/1e6)
}
