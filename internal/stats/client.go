package stats

import (
	"fmt"
	"time"

	"github.com/servemark/servemark/internal/bench"
)

// Limits of the rules that judge this client as a reader.
const (
	// An event is read late above the larger of lateRead and lateReadShare of its reply's mean time between events, and promptly
	// below the larger of promptRead and promptReadShare of it.
	lateRead, lateReadShare     = 500 * time.Microsecond, 0.25
	promptRead, promptReadShare = 100 * time.Microsecond, 0.05
	// An event that was not alone in its read counts as read late too where, just then, this client read others later than
	// stallShare of its reply's mean time between reads: a stall that merges two events can leave the second one a short lag.
	stallShare = 0.75
	// What is read promptly is a witness of what the server writes together where it is at least this share of what is read late: an
	// overloaded client finds events at any age, so that a fifteenth of them looks prompt.
	witnessShare = 0.25
	// Events that share a stamp because they were read late, as a share of all; fewer than sharedLeast are chance.
	sharedSuspect, sharedInvalid, sharedLeast = 0.001, 0.01, 10
	// Replies whose first event was read so, as a share of all: from one in a hundred TTFT p99 is wrong.
	firstSuspect, firstInvalid, firstLeast = 0.005, 0.01, 3
	// Receive lag p99 as a share of the median time between reads of a reply: towards 1 the next events run into those that wait.
	lagSuspect, lagInvalid = 0.7, 0.8
	// The same where the client also used busy of the processors it had: then the reads themselves may have become rarer.
	busyLag, busy = 0.25, 0.9
	// With a fixed concurrency a lag at a reply's end and a late request keep a slot empty: their means as a share of the mean E2E.
	emptySuspect, emptyInvalid = 0.03, 0.10
)

// readings is how this client kept up with what it was sent.
type readings struct {
	// lags counts events, gaps the times between reads of a reply, each by bench.Lag.
	lags, gaps [256]int64
	all, first together
	// ends adds up the lag at the end of each success.
	ends time.Duration
	done int
}

// together counts events by whether they were read promptly or late, and of these those that were not alone in their read.
type together struct{ all, prompt, promptShared, late, lateShared int64 }

// add takes a read of n events, of which count are of interest; gap is the reply's mean time between events, and stalled whether
// this client stalled just then.
func (t *together) add(n, count int, lag, gap time.Duration, stalled bool) {
	t.all += int64(count)
	events, shared := &t.prompt, &t.promptShared
	switch {
	case n > 1 && stalled, lag >= max(lateRead, time.Duration(lateReadShare*float64(gap))):
		events, shared = &t.late, &t.lateShared
	case lag >= max(promptRead, time.Duration(promptReadShare*float64(gap))):
		return
	}
	*events += int64(count)
	if n > 1 {
		*shared += int64(count)
	}
}

// merged is the number of events that share a stamp because they were read late, and their share of all events with a stamp:
// those in late reads that are more than the server writes together, as the prompt reads show.
func (t *together) merged() (events float64, share bench.Measure) {
	if t.all == 0 {
		return 0, bench.Measure{}
	}
	events = float64(t.lateShared)
	if float64(t.prompt) >= witnessShare*float64(t.late) {
		events -= float64(t.late) * float64(t.promptShared) / float64(t.prompt)
	}
	events = max(events, 0)
	return events, bench.Measured(events / float64(t.all))
}

// readings looks at each event's receive stamp and lag.
func (r *run) readings() *readings {
	g := &readings{}
	for _, rec := range r.records {
		eachRead(rec, func(i, j int, lag time.Duration) {
			g.lags[rec.Chunks[i].Lag] += int64(j - i)
			if i > 0 {
				g.gaps[bench.LagOf(rec.Chunks[i].At.Sub(rec.Chunks[i-1].At))]++
			}
			if j == len(rec.Chunks) && rec.OK() {
				g.ends += lag
				g.done++
			}
		})
	}
	w := r.watch(time.Duration(g.gap() * float64(time.Second) / 2))
	for _, rec := range r.records {
		g.classify(rec, w)
	}
	return g
}

// eachRead calls f for each read of a reply that has a lag: its events are i to j−1.
func eachRead(rec *bench.Record, f func(i, j int, lag time.Duration)) {
	for i, j := 0, 0; i < len(rec.Chunks); i = j {
		for j = i + 1; j < len(rec.Chunks) && rec.Chunks[j].At == rec.Chunks[i].At; j++ {
		}
		if lag, known := rec.Chunks[i].Lag.Get(); known {
			f(i, j, lag)
		}
	}
}

// classify books the reads of one reply as prompt or late.
func (g *readings) classify(rec *bench.Record, w *watch) {
	n, reads := len(rec.Chunks), 0
	eachRead(rec, func(int, int, time.Duration) { reads++ })
	if reads == 0 {
		return
	}
	length := rec.LastChunk().Sub(rec.FirstChunk())
	gap, stall := length/time.Duration(max(n-1, 1)), time.Duration(stallShare*float64(length))/time.Duration(max(reads-1, 1))
	eachRead(rec, func(i, j int, lag time.Duration) {
		stalled := j-i > 1 && w.at(rec.Chunks[i].At.Add(lag)) >= max(stall, lateRead)
		g.all.add(j-i, j-i, lag, gap, stalled)
		if i == 0 {
			g.first.add(j, 1, lag, gap, stalled)
		}
	})
}

// watch is the largest lag of all replies over time, in steps.
type watch struct {
	from bench.Instant
	step time.Duration
	most []bench.Lag
}

// Limits of a watch's steps: shorter ones say no more, and a long run has no more than so many.
const (
	leastStep = time.Millisecond
	mostSteps = 1 << 20
)

// watch goes over all reads.
func (r *run) watch(step time.Duration) *watch {
	from, to := bench.Never, bench.Never
	for _, rec := range r.records {
		if first := rec.FirstChunk(); first.Known() {
			if !from.Known() || first < from {
				from = first
			}
			to = max(to, rec.LastChunk())
		}
	}
	w := &watch{from: from, step: max(step, leastStep)}
	if !from.Known() {
		return w
	}
	length := max(to.Sub(from), 0) // a broken journal's instants may be anything
	w.step = max(w.step, length/mostSteps)
	w.most = make([]bench.Lag, length/w.step+1)
	for _, rec := range r.records {
		eachRead(rec, func(i, _ int, lag time.Duration) {
			if k := w.index(rec.Chunks[i].At.Add(lag)); k >= 0 {
				w.most[k] = max(w.most[k], rec.Chunks[i].Lag)
			}
		})
	}
	return w
}

// index is the step of t, cut to those there are; −1 where there are none.
func (w *watch) index(t bench.Instant) int {
	return min(max(int(t.Sub(w.from)/w.step), 0), len(w.most)-1)
}

// at is the largest lag among the events read in t's step and the two before it.
func (w *watch) at(t bench.Instant) time.Duration {
	most := bench.Lag(0)
	for k := w.index(t); k >= 0 && k > w.index(t)-3; k-- {
		most = max(most, w.most[k])
	}
	d, _ := most.Get()
	return d
}

// describeLags describes durations that are counted by bench.Lag.
func describeLags(counts *[256]int64) bench.Distribution {
	s := sample{pooled: true, only: []float64{50, 99, 99.9}}
	for l, n := range counts {
		if d, known := bench.Lag(l).Get(); known {
			s.addTimes(d.Seconds(), n)
		}
	}
	return s.describe()
}

// gap is the median time between two reads of a reply, in seconds; 0 where there were none.
func (g *readings) gap() float64 {
	d := describeLags(&g.gaps)
	q, _ := d.Quantile(50)
	return q.Value
}

// measureClient fills in how this client kept up.
func (r *run) measureClient(s *bench.Summary) {
	g := r.readings()
	r.reads = g
	s.Lag = describeLags(&g.lags)
	_, s.SharedStamps = g.all.merged()
	s.Health = r.health
}

// readLate: events that ran together in the kernel because this client did not read them in time have one stamp, that of the
// last, and the gaps between them are lost.
func (r *run) readLate(s *bench.Summary) (bench.VerdictLevel, string) {
	events, m := r.reads.all.merged()
	share, ok := m.Get()
	if !ok {
		return "", ""
	}
	firsts, m := r.reads.first.merged()
	first, _ := m.Get()
	lag, _ := s.Lag.Quantile(99)
	level := bench.VerdictLevel("")
	switch {
	case share >= sharedInvalid && events >= sharedLeast, first >= firstInvalid && firsts >= firstLeast:
		level = bench.Invalid
	case share >= sharedSuspect && events >= sharedLeast, first >= firstSuspect && firsts >= firstLeast:
		level = bench.Suspect
	}
	if level == bench.Suspect && r.lagLevel(lag.Value) == bench.Invalid {
		level = bench.Invalid
	}
	if level != "" {
		return level, fmt.Sprintf("client overloaded: %.2f %% of the events, and the first one of %.1f %% of the replies, were read so late that they have "+
			"the time of a later one (receive lag p99 %s): ITL and TTFT are wrong by that; %s", 100*share, 100*first, ms(lag.Value), r.remedy())
	}
	if level = r.lagLevel(lag.Value); level == "" {
		return "", ""
	}
	return level, fmt.Sprintf("client at its limit: events waited up to %s to be read (p99), and a reply brings some every %s: later ones run into "+
		"those that wait, and the times between them are lost; %s", ms(lag.Value), ms(r.reads.gap()), r.remedy())
}

// lagLevel judges a receive lag (p99, seconds) by the time between the reads of a reply.
func (r *run) lagLevel(lag float64) bench.VerdictLevel {
	limit := lagSuspect
	if h := r.health; h != nil && h.CPU.Seconds() >= busy*h.Wall.Seconds()*float64(max(h.Cores, 1)) {
		limit = busyLag
	}
	gap := r.reads.gap()
	switch {
	case gap <= 0 || lag < max(limit*gap, lateRead.Seconds()):
		return ""
	case lag >= lagInvalid*gap:
		return bench.Invalid
	}
	return bench.Suspect
}

// slotsEmpty: with a fixed concurrency a slot is empty from the end of a reply until this client has seen it and the next request
// has left.
func (r *run) slotsEmpty(s *bench.Summary) (bench.VerdictLevel, string) {
	if r.scheduled || r.plan.Spec.Load.Concurrency == 0 || s.E2E.Mean <= 0 {
		return "", ""
	}
	lag := r.reads.ends.Seconds() / float64(max(r.reads.done, 1))
	share := (lag + s.Lateness.Mean) / s.E2E.Mean
	if share < emptySuspect {
		return "", ""
	}
	level := bench.Suspect
	if share >= emptyInvalid {
		level = bench.Invalid
	}
	return level, fmt.Sprintf("client overloaded: replies had ended %s before it was seen and requests left %s after they could have gone (means; E2E %s), "+
		"so that less was in flight than asked: throughput is too low by up to %.1f %%; %s", ms(lag), ms(s.Lateness.Mean), ms(s.E2E.Mean), 100*share, r.remedy())
}

// remedy says what the client had to work with, where that is known, and what to do.
func (r *run) remedy() string {
	const words = "give the client more or idle cores, or ask for less load"
	h := r.health
	if h == nil || h.Wall <= 0 {
		return words
	}
	had := fmt.Sprintf("it used %.0f %% of %d cores", 100*h.CPU.Seconds()/h.Wall.Seconds()/float64(max(h.Cores, 1)), h.Cores)
	if h.Cores == 1 {
		had = fmt.Sprintf("it used %.0f %% of one core", 100*h.CPU.Seconds()/h.Wall.Seconds())
	}
	if h.CPUWait > h.CPU/4 {
		had += fmt.Sprintf(" and its threads waited %.1f s for a processor", h.CPUWait.Seconds())
	}
	return had + ": " + words
}

// clockStepped: kernel stamps are on the wall clock; around a step they cannot be believed.
func (r *run) clockStepped(*bench.Summary) (bench.VerdictLevel, string) {
	h := r.health
	if h == nil || h.ClockSteps == 0 && h.Implausible == 0 {
		return "", ""
	}
	return bench.Suspect, fmt.Sprintf("clock stepped: the wall clock was set %s in the run; %s %s the time at which this program read in "+
		"place of the kernel's, and others within a fifth of a second of a step may be off; keep NTP from stepping it", bench.Number(int(h.ClockSteps), "time"), bench.Number(int(h.Implausible), "read"), bench.Agree(int(h.Implausible), "has", "have"))
}
