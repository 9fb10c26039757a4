package experiment

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/servemark/servemark/internal/bench"
	"github.com/servemark/servemark/internal/stats"
)

// Search looks for the largest load that still meets every goal.
type Search struct {
	Goals []bench.Goal
	// Whole loads are numbers of requests in flight; else they are rates.
	Whole bool
	// Start is the first load tried; Most is never exceeded, 0 for no limit.
	Start, Most float64
	// Tolerance is how close together the two ends are wanted, as a share.
	Tolerance float64
	// MaxRequests and MaxTime bound what is spent; a trial that has begun is finished.
	MaxRequests int
	MaxTime     time.Duration
	// Seed varies prompts and arrivals; every trial has its own.
	Seed int64
	// Trial sends that many requests at a load. It may end one early that the outlook calls hopeless, once it has told it of the plan
	// and of the records; what is in flight then is returned as cancelled.
	Trial func(ctx context.Context, load float64, requests int, seed int64, o *stats.Outlook) (*bench.Plan, []bench.Record, error)
	// Tell is told of every step, nil for nobody.
	Tell func(Step)
	// Now is the time that MaxTime goes by; nil is the wall's.
	Now func() time.Time
}

// Step is what is known of a load after a trial.
type Step struct {
	Load float64 `json:"load"`
	// Requests were sent at this load so far.
	Requests int              `json:"requests"`
	Evidence []stats.Evidence `json:"evidence"`
	Standing stats.Standing   `json:"standing"`
	// Purpose is why: "probe", "narrow", "confirm".
	Purpose string `json:"purpose"`
	// EndedEarly says why the trial was ended before all its requests were done, "" where it was not. Evidence is then what it could
	// have come to at best; Planned is how many requests the trial was to send.
	EndedEarly string `json:"ended_early,omitempty"`
	Planned    int    `json:"planned"`
}

// Found is the answer of a Search: the largest load that meets every goal lies between Low and High.
type Found struct {
	// Low is the largest load that meets every goal beyond doubt, not measured where none does. High is the smallest that misses one
	// beyond doubt, not measured where none was tried. Where the arrivals that were drawn came slower (Low) or faster (High) than
	// asked, it is their rate.
	Low  bench.Measure `json:"low"`
	High bench.Measure `json:"high"`
	// Confirmed is true where a trial of its own at Low met the goals again.
	Confirmed bool `json:"confirmed"`
	// Limiting are the goals that High misses.
	Limiting []string `json:"limiting,omitempty"`
	Requests int      `json:"requests"`
	// Simulated is the time the trials took by their own clocks, first sent to last done.
	Simulated time.Duration `json:"trial_time_ns"`
	Steps     []Step        `json:"steps"`
	// Stopped says why the search ended: "tolerance", "requests", "time", "limit", "no load".
	Stopped string `json:"stopped"`
}

// Sizes of trials. A load is tried first with firstRequests; while the evidence is open each further trial there doubles what has
// been sent, up to a share of the budget.
const (
	firstRequests = 100
	perLoadShare  = 0.25
	// doubt is how often one look at one load may be wrong on one side. There are a handful of looks near the answer, so that each end
	// of the interval is wrong in at most about 2.5 of 100 searches.
	doubt = 0.01
	// factor is the step of the first, rough search.
	factor = 2
	// settleTimes is how many times 1/δ² requests a run needs before a load counts as met.
	settleTimes = 40
	// leastRun is the shortest run that says that a goal is met.
	leastRun = 150
)

// load is one load with its trials.
type load struct {
	at       float64
	runs     []stats.Judged
	sent     int
	standing stats.Standing
	evidence []stats.Evidence
	spent    bool // open, and as much was sent as it may have
	final    bool // it is to be the answer
}

// search is the state of one.
type search struct {
	Search
	found  Found
	loads  []*load // by load
	trials int64
	began  time.Time
}

// errBudget ends a search that has spent what it may.
var errBudget = errors.New("budget spent")

// Run searches. What is known when ctx ends or a trial fails is returned with the error.
func (s Search) Run(ctx context.Context) (Found, error) {
	if s.Now == nil {
		s.Now = time.Now
	}
	x := &search{Search: s, began: s.Now()}
	err := x.bracket(ctx)
	for err == nil && !x.found.Confirmed {
		if err = x.narrow(ctx); err != nil {
			break
		}
		if low, _ := x.ends(); low == nil {
			break
		}
		err = x.confirm(ctx)
	}
	if errors.Is(err, errBudget) { // one more trial is worth it even where the budget is spent
		x.MaxRequests, x.MaxTime = math.MaxInt, 0
		for low, _ := x.ends(); low != nil && !x.found.Confirmed; low, _ = x.ends() {
			if e := x.confirm(ctx); e != nil {
				err = e
				break
			}
		}
	}
	x.answer()
	if errors.Is(err, errBudget) {
		err = nil
	}
	return x.found, err
}

// settle sends more at a load until its standing is clear or it has had its share.
func (x *search) settle(ctx context.Context, l *load, purpose string) error {
	for l.standing == stats.Open {
		next := l.sent
		if x.looksGood(l) {
			next = max(next, x.whole(l))
		}
		if float64(l.sent+next) > perLoadShare*float64(x.MaxRequests) {
			l.spent = true
			return nil
		}
		if _, err := x.try(ctx, l.at, next, purpose); err != nil {
			return err
		}
	}
	return nil
}

// confirm sends a trial of its own at the largest load that met, as large as all before it there. Where the load does not stand
// with that, it is no longer taken to meet.
func (x *search) confirm(ctx context.Context) error {
	low, _ := x.ends()
	low.final = true
	_, err := x.try(ctx, low.at, max(low.sent, x.whole(low)), "confirm")
	if err != nil {
		return err
	}
	x.found.Confirmed = low.standing == stats.Met
	return nil
}

// try sends requests at a load and weighs all that was seen there.
func (x *search) try(ctx context.Context, at float64, requests int, purpose string) (*load, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	switch {
	case x.found.Requests+requests > x.MaxRequests:
		x.found.Stopped = "requests"
		return nil, errBudget
	case x.MaxTime > 0 && x.Now().Sub(x.began) > x.MaxTime:
		x.found.Stopped = "time"
		return nil, errBudget
	}
	l := x.at(at)
	if x.Whole {
		requests = max(requests, int(5*at)) // of which two fifths only lead up to the load and down from it
	}
	outlook := stats.NewOutlook(x.Goals, l.runs, doubt, x.least(l))
	plan, records, err := x.Trial(ctx, at, requests, x.Seed+x.trials, outlook)
	x.trials++
	if err != nil {
		return nil, fmt.Errorf("at %s: %w", number(at), err)
	}
	l.runs = append(l.runs, stats.Judged{Plan: plan, Records: records})
	l.sent += len(records)
	x.found.Requests += len(records)
	x.found.Simulated += lasted(records)
	step := Step{Load: at, Requests: l.sent, Purpose: purpose, Planned: len(plan.Requests)}
	if end := outlook.Cut(records); end != nil { // the load is missed for good: it is not tried again, its records are judged no further
		step.EndedEarly, l.evidence = end.Reason, end.Evidence
	} else {
		l.evidence = stats.Judge(x.Goals, l.runs, doubt, x.least(l))
	}
	l.standing = together(l.evidence)
	step.Evidence, step.Standing = l.evidence, l.standing
	x.found.Steps = append(x.found.Steps, step)
	if x.Tell != nil {
		x.Tell(step)
	}
	return l, nil
}

// least is how long a run has to be before it shows that a load is too large: the queue in front of a server that is busy for a
// share 1−δ of the time needs some 1/δ² requests to fill to where it stays. While a load is only a step on the way, δ is its
// distance from the smallest load known to miss; to be confirmed it has to stand with δ the tolerance.
func (x *search) least(l *load) int {
	room := x.Tolerance
	if _, high := x.ends(); !l.final {
		room = 1
		if high != nil && high.at > l.at {
			room = math.Max(x.Tolerance, 1-l.at/high.at)
		}
	}
	return max(leastRun, int(math.Ceil(settleTimes/(room*room))))
}

// whole is how many requests a run of the least length sends, its ramp-up and its ends included.
func (x *search) whole(l *load) int {
	n := x.least(l) * 5 / 4
	if x.Whole {
		n += 2 * int(l.at)
	}
	return n
}

// at returns the load, new where it was not tried yet.
func (x *search) at(at float64) *load {
	i, ok := slices.BinarySearchFunc(x.loads, at, func(l *load, at float64) int {
		switch {
		case l.at < at:
			return -1
		case l.at > at:
			return 1
		}
		return 0
	})
	if !ok {
		x.loads = slices.Insert(x.loads, i, &load{at: at})
	}
	return x.loads[i]
}

// together is the standing of a load: one goal missed misses it, all met meet it.
func together(list []stats.Evidence) stats.Standing {
	all := stats.Met
	for _, e := range list {
		switch e.Standing {
		case stats.Missed:
			return stats.Missed
		case stats.Open:
			all = stats.Open
		}
	}
	return all
}

// round gives a load the form in which it is asked: whole, or with four digits.
func (x *search) round(at float64) float64 {
	if x.Most > 0 {
		at = math.Min(at, x.Most)
	}
	if x.Whole {
		return math.Max(1, math.Round(at))
	}
	scale := math.Pow(10, 3-math.Floor(math.Log10(at)))
	return math.Round(at*scale) / scale
}

// lasted is how long the records took from the first sent to the last done.
func lasted(records []bench.Record) time.Duration {
	first, last := bench.Never, bench.Never
	for i := range records {
		r := &records[i]
		if r.Sent.Known() && (!first.Known() || r.Sent < first) {
			first = r.Sent
		}
		last = max(last, r.Done)
	}
	d, _ := bench.Elapsed(first, last)
	return d
}

// sent is the load as it was drawn in the load's trials: arrivals at random are now more, now fewer than asked, by about one in
// √n, and it is those that the goals were held against.
func (x *search) sent(l *load) float64 {
	var gaps, length float64
	for _, r := range l.runs {
		n := len(r.Records)
		if last := r.Plan.Requests; !x.Whole && n > 1 && n <= len(last) && last[n-1].Due.Known() {
			gaps += float64(n - 1)
			length += last[n-1].Due.Sub(last[0].Due).Seconds()
		}
	}
	if length <= 0 {
		return l.at
	}
	return gaps / length
}

// answer fills in what was found.
func (x *search) answer() {
	low, high := x.ends()
	if low != nil {
		x.found.Low = bench.Measured(math.Min(low.at, x.sent(low)))
	} else {
		x.found.Confirmed = false
	}
	if high != nil {
		x.found.High = bench.Measured(math.Max(high.at, x.sent(high)))
		for _, e := range high.evidence {
			if e.Standing == stats.Missed {
				x.found.Limiting = append(x.found.Limiting, e.Goal.Name)
			}
		}
	}
	if x.found.Stopped == "" {
		x.found.Stopped = "limit"
		if high != nil {
			x.found.Stopped = "requests"
		}
	}
}
