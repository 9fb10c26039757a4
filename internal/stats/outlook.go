package stats

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/servemark/servemark/internal/bench"
)

// Outlook follows a run that is going on and says when it is hopeless: when it can no longer meet a goal, whatever becomes of the
// requests that are not finished. Two things are asked. What has been seen must miss the goal, as Judge says. And the value of the
// whole run must miss it by as much as what was seen leaves in doubt, even if all that is still to come were perfect and the ramp-up
// that will be cut off (at most the first half) were the one that helps most. The value's bound is a matter of counting; only how
// much the requests are worth as independent ones is estimated, from those seen.
//
// Requests that wait for longer than a goal allows count as misses before they are answered, so that a server which answers nothing
// at all is seen through too. An Outlook is safe for concurrent use; the zero value is not ready.
type Outlook struct {
	goals  []bench.Goal
	before []Judged
	doubt  float64
	least  int

	mu      sync.Mutex
	earlier []Evidence // by goal: of the runs before
	plan    *bench.Plan
	records []bench.Record // those finished
	marks   []mark         // by request id
	looked  []float64      // by goal: by how much the value failed at the last look
	end     *Ending
}

// mark is what is known of one request.
type mark struct {
	ended, failed bool
	places        []place // by goal; nil before the end
}

// place is a request's place in a goal: its score and what it weighs.
type place struct{ score, weight float64 }

// Ending is why a run is hopeless.
type Ending struct {
	// Reason is a sentence for the user, without its full stop.
	Reason string
	// Evidence has a value for each goal: for the one that is out of reach the best the run could have come to, for the others what
	// it had come to.
	Evidence []Evidence
}

// NewOutlook prepares to follow a run of a load that earlier runs were judged at; doubt and least are those of Judge.
func NewOutlook(goals []bench.Goal, before []Judged, doubt float64, least int) *Outlook {
	return &Outlook{goals: goals, before: before, doubt: doubt, least: least}
}

// Begin names the plan that is sent from now on.
func (o *Outlook) Begin(plan *bench.Plan) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.plan, o.records, o.end = plan, nil, nil
	o.earlier = Judge(o.goals, o.before, o.doubt, o.least)
	o.marks, o.looked = make([]mark, len(plan.Requests)), make([]float64, len(o.goals))
}

// Add takes the Record of a request that is finished. Cancelled ones say nothing and are left out.
func (o *Outlook) Add(rec bench.Record) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if rec.Cancelled || rec.ID < 0 || rec.ID >= len(o.marks) || o.marks[rec.ID].ended {
		return
	}
	o.records = append(o.records, rec)
	one := run{plan: o.plan, records: []*bench.Record{&rec}, scheduled: o.plan.Requests[rec.ID].Due.Known()}
	if rec.OK() {
		one.replies = []reply{figure(&rec, &o.plan.Requests[rec.ID])}
	}
	m := mark{ended: true, failed: !rec.OK(), places: make([]place, len(o.goals))}
	for i, g := range o.goals {
		m.places[i] = one.place(g)
	}
	o.marks[rec.ID] = m
}

// place is that of the one request of a run; a failed one is a miss.
func (r *run) place(g bench.Goal) place {
	if len(r.replies) == 0 {
		if _, share := targetShare(g); share {
			return place{0, 1}
		}
		return place{}
	}
	score, _, weight := r.score(g, &r.replies[0], r.judged()[0])
	return place{score, weight}
}

// Cut returns why the run was ended before its plan was done, nil where it came to its end, hopeless or not. records are all that the
// run came to. Of the nil Outlook nothing is ended.
func (o *Outlook) Cut(records []bench.Record) *Ending {
	if o == nil {
		return nil
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.end == nil || len(records) == len(o.marks) && !slices.ContainsFunc(records, func(r bench.Record) bool { return r.Cancelled }) {
		return nil
	}
	return o.end
}

// lookAgain is how much further the value of a goal has to fail before what was seen is weighed once more.
const lookAgain = 1.25

// Hopeless reports whether the run is, at an instant of its clock. answered says of a request that is not finished whether its
// first token has come; nil where nobody knows. Once hopeless, a run remains so. It takes microseconds as long as the value can
// still be met, and is meant to be asked a few times a second.
func (o *Outlook) Hopeless(now bench.Instant, answered func(id int) bool) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.end != nil || o.plan == nil || len(o.records) == len(o.marks) {
		return o.end != nil
	}
	for i, g := range o.goals {
		late := o.late(g, now, answered)
		best := o.best(i, late)
		fails := best.fails(g)
		if fails <= 0 || fails < lookAgain*o.looked[i] {
			continue
		}
		o.looked[i] = fails
		seen := o.judge(g, o.seen(late, now))
		if seen.Standing == Missed && seen.settle(best, o.doubt) {
			seen.BestCase = true
			o.finish(i, seen, best)
			return true
		}
	}
	return false
}

// finish writes down that the run is hopeless by a goal.
func (o *Outlook) finish(missed int, e Evidence, best outcome) {
	o.end = &Ending{Reason: o.reason(&e, best)}
	for i, g := range o.goals {
		if i == missed {
			o.end.Evidence = append(o.end.Evidence, e)
			continue
		}
		other := o.judge(g, o.records)
		if other.Standing == Met { // of part of a run nothing is met
			other.Standing = Open
		}
		o.end.Evidence = append(o.end.Evidence, other)
	}
}

// judge weighs records of this run together with the earlier runs of the load.
func (o *Outlook) judge(g bench.Goal, records []bench.Record) Evidence {
	runs := append(slices.Clone(o.before), Judged{Plan: o.plan, Records: records})
	return Judge([]bench.Goal{g}, runs, o.doubt, o.least)[0]
}

// outcome is the best that can become of a goal.
type outcome struct {
	// value is that of the whole run together with the earlier ones, half that of its second half alone.
	value, half float64
	// misses of the planned requests are certain, waiting of them not answered.
	misses, waiting int
}

// fails is by how much the value misses the goal, as a share of its target; not above 0 where it can still be met.
func (b *outcome) fails(g bench.Goal) float64 {
	if share, ok := targetShare(g); ok {
		return share - b.value
	}
	if !g.Op.Upper() { // a single reply can be fast enough to make up for all others
		return math.Inf(-1)
	}
	return b.value/g.Bound - 1
}

// best is what becomes of a goal if all that is not finished and not late turns out perfect.
func (o *Outlook) best(goal int, late map[int]time.Duration) outcome {
	g := o.goals[goal]
	_, share := targetShare(g)
	var out outcome
	places := make([]place, len(o.marks))
	replies := 0
	for id := range o.marks {
		m, p := &o.marks[id], place{0, 1}
		waited, overdue := late[id]
		switch {
		case m.ended:
			p = m.places[goal]
		case overdue && !share:
			p.score = waited.Seconds()
		case !overdue:
			if g.Metric == "itl" || g.Metric == "chunk_gap" {
				p.weight = float64(max(o.plan.Requests[id].OutputTokens-1, 1))
			}
			if share {
				p.score = 1
			}
		}
		if edge := o.edge(); id < edge || id >= len(o.marks)-edge {
			p.weight = 0
		}
		if places[id] = p; share && p.weight > 0 && p.score < 0.5 {
			out.misses++
		}
		if !m.failed {
			replies++
		}
	}
	out.waiting = len(late)
	o.bound(&out, places, replies, share, &o.earlier[goal])
	return out
}

// edge is how many requests at both ends of the run are never judged: as many as are in flight, where that number is fixed.
func (o *Outlook) edge() int {
	if o.plan.Spec.Load.Scheduled() {
		return 0
	}
	return o.plan.Spec.Load.Concurrency
}

// bound fills in the value for the ramp-up, of at most half the replies, that is best for it.
func (o *Outlook) bound(out *outcome, places []place, replies int, share bool, before *Evidence) {
	sum, weight, n, after := 0.0, 0.0, 0.0, 0
	out.value = math.Inf(1)
	if share {
		out.value = math.Inf(-1)
	}
	for id := len(places) - 1; id >= 0; id-- {
		sum += places[id].score * places[id].weight
		if weight += places[id].weight; places[id].weight > 0 {
			n++
		}
		if !o.marks[id].failed {
			after++
		}
		if 2*after < replies || weight == 0 {
			continue // so much is never cut off
		}
		v := sum / weight
		if out.half == 0 {
			out.half = v
		}
		earlier := float64(before.Requests)
		v = (v*n + before.Value*earlier) / (n + earlier)
		if share {
			out.value = math.Max(out.value, v)
		} else {
			out.value = math.Min(out.value, v)
		}
	}
}

// settle puts the best case in the place of what was seen, with the weight of what was seen, and reports whether the goal is missed even
// so.
func (e *Evidence) settle(best outcome, doubt float64) bool {
	wide := e.High - e.Value
	e.Value = best.value
	share, ok := targetShare(e.Goal)
	switch {
	case ok && e.Goal.Metric != "itl" && e.Goal.Metric != "chunk_gap":
		e.Low, e.High = shareBounds(e.Value*e.Effective, e.Effective, doubt)
		return e.High < share
	case ok:
		e.Low, e.High = e.Value-wide, e.Value+wide
		return e.High < share
	case math.IsInf(wide, 1): // too few batches: a queue that grows without end
		return best.half > overflow*e.Goal.Bound
	}
	e.Low, e.High = e.Value-wide, e.Value+wide
	return e.Low > e.Goal.Bound
}

// late are requests whose waiting counts against a goal already, with how long they have waited: longer than the bound or, for a goal
// on a mean, for however long.
func (o *Outlook) late(g bench.Goal, now bench.Instant, answered func(id int) bool) map[int]time.Duration {
	first, last := o.limits(g)
	if answered == nil {
		first = 0
	}
	if first == 0 && last == 0 {
		return nil
	}
	_, share := targetShare(g)
	out := map[int]time.Duration{}
	for i := range o.plan.Requests {
		q := &o.plan.Requests[i]
		if o.marks[i].ended || !q.Due.Known() || q.Due >= now {
			continue
		}
		waited := now.Sub(q.Due)
		// The end of a reply of one token may be under way when its token has long come.
		if last > 0 && (!share || waited > last) && q.OutputTokens != 1 || first > 0 && (!share || waited > first) && !answered(i) {
			out[i] = waited
		}
	}
	return out
}

// limits are how long after its due time a request may get its first token and its end, 0 for any time. Only goals that count from
// when a request was due have them; of a mean they are marks only.
func (o *Outlook) limits(g bench.Goal) (first, last time.Duration) {
	if !g.Op.Upper() && g.Metric != "slo_attainment" || o.plan.Spec.Dialect != bench.DialectNative {
		return 0, 0
	}
	bound := time.Duration(g.Bound * float64(time.Second))
	switch g.Metric {
	case "ttft":
		first = bound
	case "e2e":
		last = bound
	case "slo_attainment":
		for _, slo := range o.plan.Spec.SLOs {
			switch slo.Metric {
			case "ttft":
				first = slo.Max
			case "e2el":
				last = slo.Max
			}
		}
	}
	if !o.plan.Spec.Target.Stream {
		first = 0
	}
	return first, last
}

// seen are the records of what is known: what is finished, and what is late as if it were answered now.
func (o *Outlook) seen(late map[int]time.Duration, now bench.Instant) []bench.Record {
	out := slices.Grow(slices.Clone(o.records), len(late))
	for id := range late {
		q := &o.plan.Requests[id]
		rec := bench.NewRecord(id)
		rec.Due, rec.Admitted, rec.Sent, rec.Written, rec.Header, rec.Done = q.Due, q.Due, q.Due, q.Due, now, now
		rec.Status, rec.Finish, rec.ChunkTokens = 200, "length", bench.ChunkTokensUsage
		rec.Usage.Completion = bench.Counted(max(q.OutputTokens, 1))
		if rec.Streamed = o.plan.Spec.Target.Stream; rec.Streamed {
			rec.Chunks = []bench.Chunk{{At: now, Tokens: uint16(min(max(q.OutputTokens, 1), math.MaxUint16))}}
		}
		out = append(out, rec)
	}
	slices.SortFunc(out, func(a, b bench.Record) int { return cmp.Compare(a.ID, b.ID) })
	return out
}

// reason says what is hopeless.
func (o *Outlook) reason(e *Evidence, best outcome) string {
	n := len(o.marks)
	share, ok := targetShare(e.Goal)
	if !ok {
		return fmt.Sprintf("%s is out of reach after %d of %d requests, however fast the rest", e.Goal.Name, len(o.records), n)
	}
	waiting := ""
	if best.waiting > 0 {
		waiting = fmt.Sprintf(", %d of them still waiting", best.waiting)
	}
	earlier := ""
	if len(o.before) > 0 {
		earlier = ", earlier trials of this load counted in"
	}
	return fmt.Sprintf("%s is out of reach: %d of %d requests are outside it%s; were all others inside and the ramp-up that helps most left out, %.1f %% would be at best%s, and %.4g %% are needed",
		e.Goal.Name, best.misses, n, waiting, 100*e.Value, earlier, 100*share)
}
