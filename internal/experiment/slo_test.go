package experiment

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/servemark/servemark/internal/bench"
	"github.com/servemark/servemark/internal/stats"
)

// step is a server that answers at once up to a load and far too late above it.
func step(capacity float64, whole bool) Search {
	return Search{Goals: []bench.Goal{{Name: "p90 ttft < 100ms", Metric: "ttft", Statistic: "p90", Op: bench.LessThan, Bound: 0.1}},
		Whole: whole, Start: 1, Tolerance: 0.1, MaxRequests: 60_000,
		Trial: func(_ context.Context, load float64, requests int, seed int64, _ *stats.Outlook) (*bench.Plan, []bench.Record, error) {
			late := 20 * time.Millisecond
			if load > capacity {
				late = time.Second
			}
			p := &bench.Plan{Spec: bench.Spec{Target: bench.Target{Stream: true}}}
			var records []bench.Record
			for i := range requests {
				at := bench.At(time.Duration(float64(i) / load * 1e9))
				p.Requests = append(p.Requests, bench.Request{ID: i, Due: at, OutputTokens: 1})
				r := bench.NewRecord(i)
				r.Due, r.Admitted, r.Sent, r.Written, r.Streamed = at, at, at, at, true
				r.Chunks, r.Done, r.Usage.Completion = []bench.Chunk{{At: at.Add(late)}}, at.Add(late), bench.Counted(1)
				records = append(records, r)
			}
			return p, records, nil
		}}
}

func TestSearch(t *testing.T) {
	for _, row := range []struct {
		name       string
		search     func() Search
		low, high  float64 // 0 for none
		stopped    string
		unfinished bool
	}{
		{"rate", func() Search { return step(7.3, false) }, 7.3 / 1.1, 7.3 * 1.1, "tolerance", false},
		{"rate far above the start", func() Search { return step(900, false) }, 900 / 1.1, 900 * 1.1, "tolerance", false},
		{"rate far below the start", func() Search { return step(0.02, false) }, 0.02 / 1.1, 0.02 * 1.1, "tolerance", false},
		{"requests in flight", func() Search { return step(5, true) }, 5, 6, "tolerance", false},
		{"one in flight", func() Search { return step(1, true) }, 1, 2, "tolerance", false},
		{"not even one in flight", func() Search { return step(0.5, true) }, 0, 1, "requests", false},
		{"more than is allowed", func() Search { s := step(100, false); s.Most = 4; return s }, 4, 0, "limit", false},
		{"few requests allowed", func() Search { s := step(7.3, false); s.MaxRequests = 450; return s }, 0, 8, "requests", true},
	} {
		f, err := row.search().Run(t.Context())
		if err != nil {
			t.Errorf("%s: %v", row.name, err)
			continue
		}
		low, ok := f.Low.Get()
		high, too := f.High.Get()
		if ok != (row.low > 0) || too != (row.high > 0) || f.Stopped != row.stopped || ok && f.Confirmed == row.unfinished {
			t.Errorf("%s: found %v to %v (known %v, %v), confirmed %v, stopped by %s; want %v to %v by %s", row.name, low, high, ok, too, f.Confirmed, f.Stopped, row.low, row.high, row.stopped)
			continue
		}
		if ok && low < row.low*(1-1e-3) || too && high > row.high*(1+1e-3) {
			t.Errorf("%s: found %v to %v, want within %v to %v", row.name, low, high, row.low, row.high)
		}
	}
}

func TestSearchEndsEarly(t *testing.T) {
	s := step(7.3, false)
	inner, n := s.Trial, 0
	boom := errors.New("boom")
	s.Trial = func(ctx context.Context, load float64, requests int, seed int64, o *stats.Outlook) (*bench.Plan, []bench.Record, error) {
		if n++; n == 5 {
			return nil, nil, boom
		}
		return inner(ctx, load, requests, seed, o)
	}
	if f, err := s.Run(t.Context()); !errors.Is(err, boom) || len(f.Steps) != 4 {
		t.Errorf("Run with a trial that fails = %d steps, %v, want 4 and its error", len(f.Steps), err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	s = step(7.3, false)
	s.Tell = func(Step) { cancel() }
	if f, err := s.Run(ctx); !errors.Is(err, context.Canceled) || len(f.Steps) != 1 {
		t.Errorf("Run that is cancelled after a step = %d steps, %v", len(f.Steps), err)
	}
	now := time.Unix(0, 0)
	s = step(7.3, false)
	s.MaxTime, s.Now = time.Minute, func() time.Time { now = now.Add(20 * time.Second); return now }
	if f, err := s.Run(t.Context()); err != nil || f.Stopped != "time" {
		t.Errorf("Run past its time = stopped by %q, %v, want time", f.Stopped, err)
	}
}

// TestSearchGoesLower: where the smallest load that was tried can be neither met nor missed with what it may have, the search goes on below
// it.
func TestSearchGoesLower(t *testing.T) {
	s := step(1, false)
	inner := s.Trial
	s.Start = 8
	s.Trial = func(ctx context.Context, load float64, requests int, seed int64, o *stats.Outlook) (*bench.Plan, []bench.Record, error) {
		if load != 1 {
			return inner(ctx, load, requests, seed, o)
		}
		p, records, err := inner(ctx, load, requests, seed, o)
		for i := range records {
			if r := &records[i]; i%10 == 0 { // exactly the goal: p90
				r.Chunks[0].At, r.Done = r.Due.Add(time.Second), r.Due.Add(time.Second)
			}
		}
		return p, records, err
	}
	f, err := s.Run(t.Context())
	low, ok := f.Low.Get()
	high, too := f.High.Get()
	if err != nil || !ok || !too || low < 0.85 || low >= 1 || high <= 1 || high > 1.2 || !f.Confirmed {
		t.Errorf("Run = %v to %v, confirmed %v, stopped by %s, %v; want the two sides of 1, confirmed", f.Low, f.High, f.Confirmed, f.Stopped, err)
	}
}
