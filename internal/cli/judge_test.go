package cli

import (
	"testing"
	"time"

	"github.com/servemark/servemark/internal/bench"
)

func TestJudge(t *testing.T) {
	met, missed := []bench.GoalResult{{Met: true}}, []bench.GoalResult{{Met: true}, {Met: false}}
	for _, tc := range []struct {
		name string
		job  job
		sum  bench.Summary
		want int
	}{
		{"all well", job{}, bench.Summary{Completed: 5, Goals: met}, exitOK},
		{"nothing succeeded", job{}, bench.Summary{Failed: 0}, exitFailed},
		{"failures within the bound", job{}, bench.Summary{Completed: 99, Failed: 1}, exitOK},
		{"failures above it", job{}, bench.Summary{Completed: 98, Failed: 2}, exitFailed},
		{"cancelled ones are in neither", job{}, bench.Summary{Completed: 1, Cancelled: 9}, exitOK},
		{"invalid, not asked", job{}, bench.Summary{Completed: 5, Verdict: bench.Verdict{Level: bench.Invalid}}, exitOK},
		{"invalid, asked", job{requireValid: true}, bench.Summary{Completed: 5, Verdict: bench.Verdict{Level: bench.Invalid}}, exitInvalid},
		{"suspect is not invalid", job{requireValid: true}, bench.Summary{Completed: 5, Verdict: bench.Verdict{Level: bench.Suspect}}, exitOK},
		{"a goal missed", job{}, bench.Summary{Completed: 5, Goals: missed}, exitGoal},
		{"a goal missed in a demo", job{forgiving: true}, bench.Summary{Completed: 5, Goals: missed}, exitOK},
		{"invalid before a goal", job{requireValid: true}, bench.Summary{Completed: 5, Goals: missed, Verdict: bench.Verdict{Level: bench.Invalid}}, exitInvalid},
		{"failed before invalid", job{requireValid: true}, bench.Summary{Failed: 5, Verdict: bench.Verdict{Level: bench.Invalid}}, exitFailed},
	} {
		tc.job.spec.MaxErrorRate = 0.01
		s := newSession(&console{}, "run", &tc.job)
		if got := s.judge(&tc.sum); got != tc.want {
			t.Errorf("%s: judge = %d, want %d", tc.name, got, tc.want)
		}
	}
}

func TestRowsFor(t *testing.T) {
	smoke := bench.NewRecord(0)
	smoke.Sent = 0
	for i := range 32 {
		smoke.Chunks = append(smoke.Chunks, bench.Chunk{At: bench.At(time.Duration(20+40*i) * time.Millisecond)})
	}
	smoke.Done = smoke.LastChunk()
	at := func(load bench.LoadSpec, out int) *bench.Spec {
		return &bench.Spec{Load: load, Dataset: bench.DatasetSpec{OutputTokens: out}}
	}
	for _, tc := range []struct {
		name        string
		spec        *bench.Spec
		smoke       *bench.Record
		least, most int
	}{
		{"a schedule needs its rate and room for chance", at(bench.LoadSpec{Rate: 100, Duration: 10 * time.Second}, 8), nil, 1100, 1300},
		{"one-token answers after a long smoke test", at(bench.LoadSpec{Concurrency: 2, Duration: 10 * time.Second}, 1), &smoke, 1000, 6000},
		{"long answers", at(bench.LoadSpec{Concurrency: 2, Duration: 10 * time.Second}, 128), &smoke, 8, 40},
		{"no smoke test", at(bench.LoadSpec{Concurrency: 4, Duration: 10 * time.Second}, 8), nil, 800, 900},
		{"no cap at all", at(bench.LoadSpec{Duration: time.Second}, 8), nil, mostRows, mostRows},
	} {
		if got := rowsFor(tc.spec, tc.smoke); got < tc.least || got > tc.most {
			t.Errorf("%s: rowsFor = %d, want %d to %d", tc.name, got, tc.least, tc.most)
		}
	}
}
