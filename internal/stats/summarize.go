package stats

import (
	"time"

	"github.com/servemark/servemark/internal/bench"
)

// Options are what a Summary needs to know beside the Plan and its Records. The zero value is a run that went to its end.
type Options struct {
	// Unfinished is true where the run was cut short: by the user, or by whatever left a journal without its end.
	Unfinished bool
	// Figures are measured outside the run and may be named by goals ("single_stream" of a stream that was alone); they win
	// over the run's own figure of that name.
	Figures map[string]bench.Measure
	// Health is what the load engine knew of itself; nil where nobody kept it.
	Health *bench.Health
}

// Summarize computes everything that a report says of a run, by servemark's own definitions (docs/metrics.md). Records may
// come in any order.
func Summarize(plan *bench.Plan, records []bench.Record, o Options) bench.Summary {
	r := gather(plan, records)
	r.health = o.Health
	s := r.counts()
	s.Partial = o.Unfinished || len(records) < len(plan.Requests) && plan.Spec.Load.Duration == 0
	s.Duration = r.duration()
	r.countTokens(&s)
	r.measureRates(&s)
	r.measureLatency(&s)
	r.measureSchedule(&s)
	r.measureClient(&s)
	s.Failures = groupFailures(r.records)
	s.Goodput = goodput(plan.Spec.SLOs, r.judged(), s.Completed+s.Failed, s.Duration)
	if s.Goodput != nil {
		s.Goodput.FromDue = r.headlineFromDue()
	}
	s.SteadyState = r.steadyState()
	s.Goals = r.reachGoals(plan.Spec.Goals, &s, o.Figures)
	s.Notes = r.notes(&s)
	s.Verdict = r.verdict(&s)
	return s
}

// run is the material of one Summary.
type run struct {
	plan    *bench.Plan
	records []*bench.Record // by id
	index   map[int]*bench.Request
	replies []reply // successes, by id
	// scheduled is true where the plan gives requests due times of their own.
	scheduled bool
	starts    []start // of every request that was sent, by id
	health    *bench.Health
	reads     *readings
}

// gather computes what several figures share.
func gather(plan *bench.Plan, records []bench.Record) *run {
	r := &run{plan: plan, records: byID(records), index: requestsByID(plan)}
	for i := range plan.Requests {
		if plan.Requests[i].Due.Known() {
			r.scheduled = true
			break
		}
	}
	for _, rec := range r.records {
		if rec.OK() {
			r.replies = append(r.replies, figure(rec, r.index[rec.ID]))
		}
	}
	r.starts = startsOf(r.records, r.scheduled, plan.Spec.Load.Concurrency)
	return r
}

// counts tells requests apart by what became of them.
func (r *run) counts() bench.Summary {
	s := bench.Summary{Planned: len(r.plan.Requests), Scheduled: r.scheduled}
	if r.plan.Spec.Load.Duration > 0 {
		s.Planned = len(r.records) // the plan holds more prompts than the time takes; how many belong to the run is seen afterwards
	}
	for _, rec := range r.records {
		switch {
		case rec.Cancelled:
			s.Cancelled++
		case rec.Failure != nil:
			s.Failed++
		default:
			s.Completed++
			if n, _ := rec.Usage.Completion.Get(); n > 0 && rec.Streamed && len(rec.Chunks) == 0 {
				s.Empty++
			}
		}
		if rec.Sent.Known() || rec.Failure != nil && !rec.Cancelled {
			s.Sent++
		}
		if rec.Resent {
			s.Resent++
		}
		if rec.Connection.Replaced {
			s.Replaced++
		}
		s.MalformedCount += rec.Malformed
	}
	return s
}

// duration is first sent to last done, over all requests that were sent.
func (r *run) duration() time.Duration {
	first, last, ok := r.span()
	if !ok {
		return 0
	}
	return last.Sub(first)
}

// span is when the first request was sent and the last one done.
func (r *run) span() (first, last bench.Instant, ok bool) {
	first, last = bench.Never, bench.Never
	for _, s := range stays(r.records) {
		if !first.Known() || s.from < first {
			first = s.from
		}
		last = max(last, s.to)
	}
	return first, last, first.Known() && last.Known()
}

// measureRates fills in what is per second, and concurrency.
func (r *run) measureRates(s *bench.Summary) {
	per := func(c bench.Count) bench.Measure {
		n, known := c.Get()
		if !known || s.Duration <= 0 {
			return bench.Measure{}
		}
		return bench.Measured(float64(n) / s.Duration.Seconds())
	}
	s.RequestRate = per(bench.Counted(s.Completed))
	s.InputRate, s.OutputRate = per(s.InputTokens), per(s.OutputTokens)
	s.TotalRate = per(s.InputTokens.Plus(s.OutputTokens))

	e2e, user := sample{series: true}, sample{series: true}
	for i := range r.replies {
		rep := &r.replies[i]
		e2e.add(rep.e2e)
		user.add(rep.speed())
	}
	s.E2E, s.PerUser = e2e.describe(), user.describe()
	s.Concurrency = concurrency(s.E2E, s.Duration)
	sweep := edges(stays(r.records))
	s.PeakConcurrency = peakConcurrency(sweep)
	in, known := arrivals(r.replies)
	if known {
		s.PeakOutputRate = peakOutputRate(in, s.Duration)
	}
	s.Steady = steady(sweep, s.PeakConcurrency, r.replies, in, known, s.Duration)
}

// concurrency is Σ E2E ÷ duration: the mean number of requests being answered.
func concurrency(e2e bench.Distribution, run time.Duration) bench.Measure {
	if run <= 0 || e2e.N == 0 {
		return bench.Measure{}
	}
	return bench.Measured(e2e.Mean * float64(e2e.N) / run.Seconds())
}

// measureLatency fills in the distributions of successes.
func (r *run) measureLatency(s *bench.Summary) {
	ttft, answer, tpot := sample{series: true}, sample{series: true}, sample{series: true}
	ttftDue, answerDue, e2eDue := sample{series: true}, sample{series: true}, sample{series: true}
	itl, gaps := sample{pooled: true}, sample{pooled: true}
	chunks := 0
	for i := range r.replies {
		chunks += len(r.replies[i].rec.Chunks)
	}
	itl.points, gaps.points = make([]point, 0, chunks), make([]point, 0, chunks)
	for i := range r.replies {
		rep := &r.replies[i]
		ttft.add(rep.ttft)
		answer.add(rep.answer)
		tpot.add(rep.tpot)
		rep.eachITL(itl.addTimes)
		rep.eachGap(func(x float64) { gaps.addTimes(x, 1) })
		if r.scheduled {
			rec := rep.rec
			e2eDue.add(seconds(rec.Due, lastToken(rec)))
			if rec.Streamed {
				ttftDue.add(seconds(rec.Due, rec.FirstChunk()))
				answerDue.add(seconds(rec.Due, rec.FirstAnswer()))
			}
		}
	}
	s.TTFT, s.FirstAnswer, s.TPOT = ttft.describe(), answer.describe(), tpot.describe()
	s.ITL, s.ChunkGap = itl.describe(), gaps.describe()
	s.TTFTFromDue, s.AnswerFromDue, s.E2EFromDue = ttftDue.describe(), answerDue.describe(), e2eDue.describe()

	var connect sample
	for _, rec := range r.records {
		connect.add(seconds(rec.Connection.DialStart, connectEnd(&rec.Connection)))
	}
	s.Connect = connect.describe()
}

// connectEnd is when a new connection was ready for the request.
func connectEnd(c *bench.Connection) bench.Instant {
	if c.TLSDone.Known() {
		return c.TLSDone
	}
	return c.Connected
}

// headlineFromDue reports whether this run's headline latency counts from when requests were due.
func (r *run) headlineFromDue() bool {
	return r.scheduled && r.plan.Spec.Dialect == bench.DialectNative
}
