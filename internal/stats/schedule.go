package stats

import (
	"slices"
	"time"

	"github.com/servemark/servemark/internal/bench"
)

// start is how one request came to be sent.
type start struct {
	rec *bench.Record
	// ready is when it could have been sent: due, or the instant at which the user's own cap let it through. connecting is how
	// much of the time between ready and sent went into a new connection.
	ready      bench.Instant
	connecting time.Duration
}

// startsOf returns the start of every request that was sent, by id.
//
// With a schedule a request is ready when due, unless all slots of the cap were taken then: waiting for a slot is the load
// the user asked for. A slot that was free makes the wait ours, whatever the record calls it. Without a schedule a request
// is ready when admitted.
func startsOf(records []*bench.Record, scheduled bool, slots int) []start {
	var admitted, done []bench.Instant
	if scheduled && slots > 0 {
		for _, r := range records {
			if r.Admitted.Known() && r.Done.Known() {
				admitted, done = append(admitted, r.Admitted), append(done, r.Done)
			}
		}
		slices.Sort(admitted)
		slices.Sort(done)
	}
	var out []start
	for _, r := range records {
		if !r.Sent.Known() || !r.Admitted.Known() {
			continue
		}
		s := start{rec: r, ready: r.Admitted}
		if scheduled && r.Due.Known() && r.Due < r.Admitted &&
			(slots <= 0 || upTo(admitted, r.Due)-upTo(done, r.Due) < slots) {
			s.ready = r.Due
		}
		c := &r.Connection
		if end := connectEnd(c); c.DialStart.Known() && end.Known() {
			s.connecting = max(0, min(end, r.Sent).Sub(max(c.DialStart, s.ready)))
		}
		out = append(out, s)
	}
	return out
}

// upTo returns how many of the sorted instants are at or before t.
func upTo(sorted []bench.Instant, t bench.Instant) int {
	n, _ := slices.BinarySearch(sorted, t+1)
	return n
}

// lateness is how long the client kept the request after it could have gone, connecting left out. A request that was sent a
// second time without a refused field has none: its sent is the second one's.
func (s *start) lateness() bench.Measure {
	if s.rec.Resent {
		return bench.Measure{}
	}
	return seconds(s.ready, s.rec.Sent.Add(-s.connecting))
}

// measureSchedule fills in what the client did with the schedule and the cap.
func (r *run) measureSchedule(s *bench.Summary) {
	var late, queue sample
	for i := range r.starts {
		st := &r.starts[i]
		late.add(st.lateness())
		if r.scheduled && r.plan.Spec.Load.Concurrency > 0 {
			queue.add(seconds(st.rec.Due, st.ready))
		}
	}
	s.Lateness, s.ClientQueue = late.describe(), queue.describe()
	if !r.scheduled {
		return
	}
	s.AskedRate = rate(r.starts, func(s *start) bench.Instant { return s.rec.Due })
	s.AchievedRate = rate(r.starts, func(s *start) bench.Instant { return s.rec.Sent })
}

// rate is the number of gaps between the first and the last of the instants, per second.
func rate(starts []start, at func(*start) bench.Instant) bench.Measure {
	length, n := reach(starts, at)
	if n < 2 || length <= 0 {
		return bench.Measure{}
	}
	return bench.Measured(float64(n-1) / length)
}

// reach returns the seconds between the first and the last of the instants, and how many there are.
func reach(starts []start, at func(*start) bench.Instant) (length float64, n int) {
	first, last := bench.Never, bench.Never
	for i := range starts {
		t := at(&starts[i])
		if !t.Known() {
			continue
		}
		n++
		if !first.Known() || t < first {
			first = t
		}
		last = max(last, t)
	}
	if n == 0 {
		return 0, 0
	}
	return last.Sub(first).Seconds(), n
}
