package experiment

import (
	"context"
	"math"
	"slices"

	"github.com/servemark/servemark/internal/stats"
)

// bracket doubles the load while it looks good and halves it while it looks bad, with small trials.
func (x *search) bracket(ctx context.Context) error {
	at := x.round(x.Start)
	for range 60 {
		l, err := x.try(ctx, at, firstRequests, "probe")
		if err != nil {
			return err
		}
		if !x.looksGood(l) && l.standing == stats.Open { // bad by look, not beyond doubt: more of it
			if err := x.settle(ctx, l, "probe"); err != nil {
				return err
			}
		}
		if l.standing == stats.Missed {
			if x.previous(l) != nil || x.Whole && at <= 1 {
				return nil
			}
			at = x.round(at / factor)
			continue
		}
		if x.next(l) != nil || x.Most > 0 && at >= x.Most {
			return nil
		}
		at = x.round(at * factor)
	}
	x.found.Stopped = "no load"
	return nil
}

// looksGood reports whether a load meets its goals by the values alone.
func (x *search) looksGood(l *load) bool {
	if l.standing != stats.Open {
		return l.standing == stats.Met
	}
	for _, e := range l.evidence {
		upper := e.Target == e.Goal.Bound && e.Goal.Op.Upper()
		if e.Requests > 0 && (!upper && e.Value < e.Target || upper && e.Value > e.Target) {
			return false
		}
	}
	return true
}

// narrow tries loads between the largest that meets and the smallest that misses until they are close, or what lies between is
// open for good.
func (x *search) narrow(ctx context.Context) error {
	for {
		at, ok := x.candidate()
		if !ok {
			return nil
		}
		l, err := x.try(ctx, at, firstRequests, "narrow")
		if err == nil {
			err = x.settle(ctx, l, "narrow")
		}
		if err != nil {
			return err
		}
	}
}

// candidate is the load whose standing would help most.
func (x *search) candidate() (float64, bool) {
	low, high := x.ends()
	if high == nil {
		if last := x.loads[len(x.loads)-1]; last.standing == stats.Open && !last.spent {
			return last.at, true
		}
		return 0, false // the limit was reached
	}
	if low == nil { // nothing meets yet beyond doubt: settle what looked good, else go lower
		if l := x.openBelow(high); l != nil {
			return l.at, true
		}
		first := x.loads[0]
		if first.at < x.Start/1e4 || x.Whole && first.at <= 1 {
			return 0, false
		}
		return x.round(first.at / factor), true
	}
	if x.close(low.at, high.at) {
		x.found.Stopped = "tolerance"
		return 0, false
	}
	// What is between them was tried and stays open: the gaps on both sides of it are what can still be narrowed.
	open := x.between(low, high)
	if len(open) == 0 {
		return x.middle(low.at, high.at)
	}
	if l := open[len(open)/2]; !l.spent {
		return l.at, true
	}
	below, above := open[0], open[len(open)-1]
	gap := func(a, b float64) float64 { return b/a - 1 }
	left, right := gap(low.at, below.at), gap(above.at, high.at)
	from, to := low.at, below.at
	if right > left {
		from, to = above.at, high.at
	}
	if x.close(from, to) {
		x.found.Stopped = "requests"
		return 0, false
	}
	return x.middle(from, to)
}

// middle is between two loads, false where there is none.
func (x *search) middle(a, b float64) (float64, bool) {
	m := x.round(math.Sqrt(a * b))
	return m, m > a && m < b
}

func (x *search) close(a, b float64) bool {
	return b/a-1 <= x.Tolerance || x.Whole && b-a <= 1
}

// ends are the largest load known to meet below every load known to miss, and the smallest known to miss.
func (x *search) ends() (low, high *load) {
	for _, l := range x.loads {
		switch {
		case l.standing == stats.Missed && high == nil:
			high = l
		case l.standing == stats.Met && high == nil:
			low = l
		}
	}
	return low, high
}

func (x *search) between(low, high *load) []*load {
	var out []*load
	for _, l := range x.loads {
		if l.at > low.at && l.at < high.at {
			out = append(out, l)
		}
	}
	return out
}

// openBelow is the largest load below another that is open and may have more.
func (x *search) openBelow(high *load) *load {
	for _, l := range slices.Backward(x.loads) {
		if l.at < high.at && l.standing == stats.Open && !l.spent {
			return l
		}
	}
	return nil
}

func (x *search) next(l *load) *load     { return x.neighbour(l, 1) }
func (x *search) previous(l *load) *load { return x.neighbour(l, -1) }

func (x *search) neighbour(l *load, step int) *load {
	i := slices.Index(x.loads, l) + step
	if i < 0 || i >= len(x.loads) {
		return nil
	}
	return x.loads[i]
}
