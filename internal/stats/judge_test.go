package stats

import (
	"math"
	"testing"
	"time"

	"github.com/servemark/servemark/internal/bench"
)

// servedAt makes a run of n requests, one every 10 ms, whose TTFT is slow for every k-th and quick for the others; failing ones fail.
func servedAt(n, k int, slow, quick time.Duration, failing bool) Judged {
	p := &bench.Plan{Spec: bench.Spec{Target: bench.Target{Stream: true}, Load: bench.LoadSpec{Rate: 100}}}
	j := Judged{Plan: p}
	for i := range n {
		at := bench.At(time.Duration(i) * 10 * time.Millisecond)
		p.Requests = append(p.Requests, bench.Request{ID: i, Due: at, OutputTokens: 1})
		r := bench.NewRecord(i)
		r.Due, r.Admitted, r.Sent, r.Written, r.Streamed = at, at, at, at, true
		late := quick
		if k > 0 && i%k == k-1 {
			late = slow
			if failing {
				r.Fail(bench.FailServer, "no")
			}
		}
		r.Chunks, r.Done = []bench.Chunk{{At: at.Add(late)}}, at.Add(late)
		r.Usage.Completion = bench.Counted(1)
		j.Records = append(j.Records, r)
	}
	return j
}

func TestJudge(t *testing.T) {
	p90 := bench.Goal{Name: "p90 ttft < 100ms", Metric: "ttft", Statistic: "p90", Op: bench.LessThan, Bound: 0.1}
	mean := bench.Goal{Name: "mean ttft < 100ms", Metric: "ttft", Statistic: "mean", Op: bench.LessThan, Bound: 0.1}
	const quick, slow = 20 * time.Millisecond, 300 * time.Millisecond
	for _, row := range []struct {
		name  string
		goal  bench.Goal
		run   Judged
		least int
		want  Standing
		share float64
	}{
		{"all quick", p90, servedAt(400, 0, slow, quick, false), 100, Met, 1},
		{"all quick, but too short a run", p90, servedAt(400, 0, slow, quick, false), 1000, Open, 1},
		{"one in twenty slow", p90, servedAt(1000, 20, slow, quick, false), 100, Met, 0.95},
		{"one in ten slow: exactly the goal", p90, servedAt(1000, 10, slow, quick, false), 100, Open, 0.9},
		{"one in five slow", p90, servedAt(1000, 5, slow, quick, false), 100, Missed, 0.8},
		{"one in five fails", p90, servedAt(1000, 5, quick, quick, true), 100, Missed, 0.8},
		{"few requests", p90, servedAt(20, 0, slow, quick, false), 0, Open, 1},
		{"mean far below", mean, servedAt(400, 0, slow, quick, false), 100, Met, 0.02},
		{"mean far above", mean, servedAt(400, 2, slow, 200*time.Millisecond, false), 100, Missed, 0.25},
	} {
		e := Judge([]bench.Goal{row.goal}, []Judged{row.run}, 0.01, row.least)[0]
		if e.Standing != row.want || e.Value < row.share-0.02 || e.Value > row.share+0.02 {
			t.Errorf("%s: Judge = %s with %.3f (%.3f to %.3f, target %.2f, worth %.0f), want %s with %.2f", row.name, e.Standing, e.Value, e.Low, e.High, e.Target, e.Effective, row.want, row.share)
		}
	}
}

func TestCheckJudgeable(t *testing.T) {
	for _, row := range []struct {
		goal bench.Goal
		ok   bool
	}{
		{bench.Goal{Metric: "ttft", Statistic: "p99", Op: bench.AtMost}, true},
		{bench.Goal{Metric: "per_user", Statistic: "p10", Op: bench.AtLeast}, true},
		{bench.Goal{Metric: "error_rate", Op: bench.AtMost}, true},
		{bench.Goal{Metric: "slo_attainment", Op: bench.AtLeast}, true},
		{bench.Goal{Metric: "ttft", Statistic: "p99", Op: bench.AtLeast}, false},
		{bench.Goal{Metric: "output_throughput", Op: bench.AtLeast}, false},
		{bench.Goal{Metric: "ttft", Statistic: "max", Op: bench.AtMost}, false},
		{bench.Goal{Metric: "error_rate", Op: bench.AtLeast}, false},
		{bench.Goal{Metric: "luck", Op: bench.AtLeast}, false},
	} {
		if err := CheckJudgeable(row.goal); (err == nil) != row.ok {
			t.Errorf("CheckJudgeable(%+v) = %v, want none: %v", row.goal, err, row.ok)
		}
	}
}

// TestJudgeTokenTimes: a goal on token times is about the share of all tokens, as a percentile of the run is, not about the mean of each
// request's own share.
func TestJudgeTokenTimes(t *testing.T) {
	// Every second reply has 40 token times, all of 10 ms; the others have 4, all of 50 ms: 91 % of the tokens are quick, and half of
	// the requests.
	const long, short = 40, 4
	p := &bench.Plan{Spec: bench.Spec{Target: bench.Target{Stream: true}}}
	var list []bench.Record
	for i := range 2000 {
		at := bench.At(time.Duration(i) * 10 * time.Millisecond)
		gaps, gap := long, 10*time.Millisecond
		if i%2 == 1 {
			gaps, gap = short, 50*time.Millisecond
		}
		p.Requests = append(p.Requests, bench.Request{ID: i, Due: at, OutputTokens: gaps + 1})
		r := bench.NewRecord(i)
		r.Due, r.Admitted, r.Sent, r.Written, r.Streamed, r.ChunkTokens = at, at, at, at, true, bench.ChunkTokensUsage
		for k := range gaps + 1 {
			r.Chunks = append(r.Chunks, bench.Chunk{At: at.Add(time.Duration(k+1) * gap), Tokens: 1})
		}
		r.Done, r.Usage.Completion = r.LastChunk(), bench.Counted(gaps+1)
		list = append(list, r)
	}
	fails := func(every int) []bench.Record {
		out := append([]bench.Record(nil), list...)
		for i := range out {
			if i/2%every == 0 { // of both kinds alike
				out[i].Fail(bench.FailServer, "no")
			}
		}
		return out
	}
	const quick = float64(long) / (long + short)
	for _, row := range []struct {
		name      string
		statistic string
		bound     float64
		records   []bench.Record
		value     float64
		standing  Standing
	}{
		{"p90, met by tokens", "p90", 0.02, list, quick, Met},
		{"p95, missed", "p95", 0.02, list, quick, Missed},
		{"a tenth fails", "p90", 0.02, fails(10), 0.9 * quick, Missed},
		{"mean of all tokens", "mean", 0.02, list, 0.01*quick + 0.05*(1-quick), Met},
	} {
		g := bench.Goal{Name: row.name, Metric: "itl", Statistic: row.statistic, Op: bench.LessThan, Bound: row.bound}
		e := Judge([]bench.Goal{g}, []Judged{{Plan: p, Records: row.records}}, 0.01, 100)[0]
		if e.Standing != row.standing || math.Abs(e.Value-row.value) > 1e-3 {
			t.Errorf("%s: Judge = %s with %.4f (%.4f to %.4f), want %s with %.4f", row.name, e.Standing, e.Value, e.Low, e.High, row.standing, row.value)
		}
		p.Spec.Goals = []bench.Goal{g}
		if got := Summarize(p, list, Options{}).Goals[0]; row.standing == Met && !got.Met {
			t.Errorf("%s: Judge says met, Summarize says %v is not", row.name, got.Value)
		}
	}
}

// TestJudgeInFlight: of a run with a fixed number in flight neither the requests that start it all at once count, nor those that see the
// load fall.
func TestJudgeInFlight(t *testing.T) {
	const n, flight = 1000, 50
	p90 := bench.Goal{Name: "p90 ttft < 100ms", Metric: "ttft", Statistic: "p90", Op: bench.LessThan, Bound: 0.1}
	for _, row := range []struct {
		name     string
		n        int
		flight   int
		requests int
		value    float64
		standing Standing
	}{
		{"all", n, 0, n, 0.90, Open},
		{"without the ends", n, flight, n - 2*flight, 0.95, Met},
		{"nothing is left", 2 * flight, flight, 0, 0, Open},
	} {
		run := servedAt(row.n, 20, 300*time.Millisecond, 20*time.Millisecond, false)
		run.Plan.Spec.Load = bench.LoadSpec{Concurrency: row.flight}
		for i := range run.Records {
			run.Plan.Requests[i].Due = bench.Never
			r := &run.Records[i]
			if i < flight {
				r.Chunks[0].At = r.Sent.Add(300 * time.Millisecond)
			}
			r.Done = r.Sent.Add(400 * time.Millisecond) // E2E shows nothing of this
			r.Chunks, r.Usage.Completion = append(r.Chunks, bench.Chunk{At: r.Done}), bench.Counted(2)
		}
		e := Judge([]bench.Goal{p90}, []Judged{run}, 0.01, 100)[0]
		if e.Requests != row.requests || math.Abs(e.Value-row.value) > 0.005 || e.Standing != row.standing {
			t.Errorf("%s: Judge = %s with %.3f of %d requests, want %s with %.3f of %d", row.name, e.Standing, e.Value, e.Requests, row.standing, row.value, row.requests)
		}
	}
}
