package virtual

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/servemark/servemark/internal/bench"
	"github.com/servemark/servemark/internal/sim/engine"
)

// conversations makes n of them, the k-th turn saying says[k] tokens and answered with out, think apart.
func conversations(n int, says []int, out int, think time.Duration, load bench.LoadSpec, gap time.Duration) *bench.Plan {
	p := &bench.Plan{Spec: bench.Spec{Target: bench.Target{Stream: true}, Load: load}}
	for c := range n {
		for k, in := range says {
			q := bench.Request{ID: len(p.Requests), Due: bench.Never, InputTokens: bench.Counted(in), OutputTokens: out}
			if k > 0 {
				q.After = &bench.After{Request: q.ID - 1, Gap: think}
			} else if gap > 0 {
				q.Due = bench.At(time.Duration(c) * gap)
			}
			p.Requests = append(p.Requests, q)
		}
	}
	return p
}

// told is what the tests look at in a record, in milliseconds.
func told(list []bench.Record) []string {
	out := make([]string, len(list))
	for i, r := range list {
		ms := func(at bench.Instant) int { return int(time.Duration(at).Milliseconds()) }
		switch {
		case r.Cancelled && !r.Sent.Known():
			out[i] = fmt.Sprintf("%d cancelled", r.ID)
		case !r.OK():
			out[i] = fmt.Sprintf("%d failed %d", r.ID, r.Status)
		default:
			out[i] = fmt.Sprintf("%d due %d sent %d done %d prompt %d cached %d", r.ID, ms(r.Due), ms(r.Sent), ms(r.Done), r.Usage.Prompt.Or(-1), r.Usage.Cached.Or(-1))
		}
	}
	return out
}

func TestTurnsAreExact(t *testing.T) {
	cached := engine.Params{TTFT: 40 * time.Millisecond, ITL: 10 * time.Millisecond}
	for _, tt := range []struct {
		name string
		o    Options
		plan *bench.Plan
		want []string
	}{
		{"think time after the answer's end; a turn repeats all that was said", Options{Engine: cached, OneWay: 3 * time.Millisecond},
			conversations(1, []int{10, 5, 7}, 3, 100*time.Millisecond, bench.LoadSpec{}, 0),
			[]string{"0 due 0 sent 0 done 66 prompt 10 cached -1", "1 due 166 sent 166 done 232 prompt 18 cached -1", "2 due 332 sent 332 done 398 prompt 28 cached -1"}},
		{"no think time", Options{Engine: cached}, conversations(1, []int{10, 5}, 3, 0, bench.LoadSpec{}, 0),
			[]string{"0 due 0 sent 0 done 60 prompt 10 cached -1", "1 due 60 sent 60 done 120 prompt 18 cached -1"}},
		{"a conversation keeps its place from first to last", Options{Engine: cached},
			conversations(2, []int{10, 5}, 3, 100*time.Millisecond, bench.LoadSpec{Concurrency: 1}, 0),
			[]string{"0 due 0 sent 0 done 60 prompt 10 cached -1", "1 due 160 sent 160 done 220 prompt 18 cached -1",
				"2 due 220 sent 220 done 280 prompt 10 cached -1", "3 due 380 sent 380 done 440 prompt 18 cached -1"}},
		{"arrivals of others go on between", Options{Engine: cached},
			conversations(2, []int{10, 5}, 3, 100*time.Millisecond, bench.LoadSpec{Rate: 20}, 50*time.Millisecond),
			[]string{"0 due 0 sent 0 done 60 prompt 10 cached -1", "2 due 50 sent 50 done 110 prompt 10 cached -1",
				"1 due 160 sent 160 done 220 prompt 18 cached -1", "3 due 210 sent 210 done 270 prompt 18 cached -1"}},
		{"after a failure the rest is cancelled, and the place free", Options{Engine: cached, ContextLen: 20},
			conversations(2, []int{10, 5, 1, 1}, 3, 0, bench.LoadSpec{Concurrency: 1}, 0),
			[]string{"0 due 0 sent 0 done 60 prompt 10 cached -1", "1 failed 400", "2 cancelled", "3 cancelled",
				"4 due 60 sent 60 done 120 prompt 10 cached -1", "5 failed 400", "6 cancelled", "7 cancelled"}},
		{"nothing is asked that is due after the end", Options{Engine: cached},
			conversations(2, []int{10, 5, 5}, 3, 100*time.Millisecond, bench.LoadSpec{Concurrency: 1, Duration: 200 * time.Millisecond}, 0),
			[]string{"0 due 0 sent 0 done 60 prompt 10 cached -1", "1 due 160 sent 160 done 220 prompt 18 cached -1"}},
		{"a turn that times out ends the conversation", Options{Engine: cached},
			conversations(1, []int{10, 5}, 30, 0, bench.LoadSpec{RequestTimeout: 50 * time.Millisecond}, 0),
			[]string{"0 failed 200", "1 cancelled"}},
	} {
		if diff := cmp.Diff(tt.want, told(runAll(t, tt.o, tt.plan))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

// TestTurnsFindTheirPrefix: a turn finds the full pages of all that was computed before it; the answer's last token was never
// computed. What is only counted is nobody else's.
func TestTurnsFindTheirPrefix(t *testing.T) {
	o := Options{Engine: engine.Params{Schedule: engine.VLLM, PrefixCache: true, Step: engine.StepModel{Base: 10}}} // pages of 16
	cachedOf := func(list []bench.Record) map[int]string {
		out := map[int]string{}
		for _, r := range list {
			out[r.ID] = fmt.Sprintf("%d of %d", r.Usage.Cached.Or(-1), r.Usage.Prompt.Or(-1))
		}
		return out
	}
	got := cachedOf(runAll(t, o, conversations(2, []int{20, 5, 40}, 13, 0, bench.LoadSpec{}, time.Second)))
	want := map[int]string{0: "0 of 20", 1: "32 of 38", 2: "48 of 91", 3: "0 of 20", 4: "32 of 38", 5: "48 of 91"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("counted turns (-want +got):\n%s", diff)
	}
	// One letter is one token here: the second conversation begins like the first, and an answer is known by its words.
	o.PromptIDs = func(p *bench.Prompt) []int {
		ids := make([]int, len(p.Text))
		for i := range ids {
			ids[i] = int(p.Text[i])
		}
		return ids
	}
	o.Answer = func(_ *bench.Request, prompt []int, n int) (string, []int) {
		words := strings.Repeat(string(rune('a'+len(prompt)%26)), n)
		return words, o.PromptIDs(&bench.Prompt{Text: words})
	}
	p := conversations(2, []int{20, 5}, 13, 0, bench.LoadSpec{}, time.Second)
	for i := range p.Requests {
		p.Requests[i].InputTokens = bench.Unknown
		p.Requests[i].Prompt.Text = strings.Repeat("x", []int{20, 5}[i%2])
	}
	got = cachedOf(runAll(t, o, p))
	want = map[int]string{0: "0 of 20", 1: "32 of 38", 2: "16 of 20", 3: "32 of 38"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("spoken turns (-want +got):\n%s", diff)
	}
}

func TestTurnsThatBreakTheLaw(t *testing.T) {
	r, err := New(Options{Engine: fixed})
	if err != nil {
		t.Fatal(err)
	}
	p := conversations(1, []int{10, 5}, 3, 0, bench.LoadSpec{}, 0)
	p.Requests[1].After.Request = 1
	if err := r.Run(t.Context(), p, func(bench.Record) error { return nil }); err == nil {
		t.Error("a turn that follows itself: Run = nil, want an error")
	}
	p = conversations(1, []int{10, 0}, 3, 0, bench.LoadSpec{}, 0)
	if err := r.Run(t.Context(), p, func(bench.Record) error { return nil }); err == nil || !strings.Contains(err.Error(), "request 1") {
		t.Errorf("a turn without a count: Run = %v, want an error that names request 1", err)
	}
	short := func(*bench.Request, []int, int) (string, []int) { return "", nil }
	r, err = New(Options{Engine: fixed, PromptIDs: func(*bench.Prompt) []int { return []int{1} }, Answer: short})
	if err != nil {
		t.Fatal(err)
	}
	p = conversations(1, []int{10, 5}, 3, 0, bench.LoadSpec{}, 0)
	if err := r.Run(t.Context(), p, func(bench.Record) error { return nil }); err == nil || !strings.Contains(err.Error(), "0 tokens instead of 3") {
		t.Errorf("answers too short: Run = %v, want an error", err)
	}
}
