package cli

import (
	"testing"
	"time"

	"github.com/servemark/servemark/internal/bench"
)

func TestArrivalWords(t *testing.T) {
	due := []*bench.Request{{Due: bench.At(0)}, {Due: bench.At(1500 * time.Millisecond)}}
	waits := []*bench.Request{{Due: bench.Never}}
	for _, tt := range []struct {
		load bench.LoadSpec
		sent []*bench.Request
		want string
	}{
		{bench.LoadSpec{}, waits, "all at once"},
		{bench.LoadSpec{Concurrency: 1}, waits, "one at a time, the next as soon as one has ended"},
		{bench.LoadSpec{Concurrency: 8, Duration: time.Minute}, waits, "8 at a time, the next as soon as one has ended; none is begun after 1m0s, so how many are sent depends on the server"},
		{bench.LoadSpec{Rate: 2.5}, due, "at random times (a Poisson process), 2.5 a second on average; the last is due after 1.5s"},
		{bench.LoadSpec{Rate: 2, Arrival: bench.ArrivalConstant, Concurrency: 3}, due, "at equal distances, 2 a second on average, no more than 3 at a time; the last is due after 1.5s"},
		{bench.LoadSpec{Rate: 2, Arrival: bench.ArrivalGamma, Burstiness: 0.5}, due, "at random times, more in bursts than a Poisson process (gamma, shape 0.5), 2 a second on average; the last is due after 1.5s"},
		{bench.LoadSpec{Rate: 2, Arrival: bench.ArrivalGamma, Burstiness: 4}, due, "at random times, more evenly than a Poisson process (gamma, shape 4), 2 a second on average; the last is due after 1.5s"},
		{bench.LoadSpec{Trace: true}, due, "at the times of the data set; the last is due after 1.5s"},
		{bench.LoadSpec{RampUp: &bench.RampUp{Start: 1, End: 10}}, due, "at random times (a Poisson process), 1 a second at the start and 10 at the end, changing evenly; the last is due after 1.5s"},
		{bench.LoadSpec{Stages: []bench.Stage{{Rate: 1, For: 2 * time.Second}, {Rate: 5, For: time.Minute}}, Duration: 62 * time.Second}, due,
			"at random times (a Poisson process), 1 a second for 2s, then 5 a second for 1m0s; the last is due after 1.5s; none is begun after 1m2s"},
	} {
		if got := arrivalWords(&tt.load, tt.sent); got != tt.want {
			t.Errorf("arrivalWords(%+v) = %q, want %q", tt.load, got, tt.want)
		}
	}
}

func TestLengthWords(t *testing.T) {
	counted := []*bench.Request{{InputTokens: bench.Counted(3), OutputTokens: 4}, {InputTokens: bench.Counted(9), OutputTokens: 1}}
	blind := []*bench.Request{{OutputTokens: 1}}
	random := bench.Spec{Dataset: bench.DatasetSpec{Name: "random", InputTokens: 16, RangeRatio: 1}, Body: bench.BodySpec{IgnoreEOS: true}}
	embeddings := bench.Spec{Target: bench.Target{API: bench.APIEmbeddings}}
	for _, tt := range []struct {
		spec            bench.Spec
		sent            []*bench.Request
		prompts, answer string
	}{
		{bench.Spec{}, counted, "prompts of 3 to 9 tokens (12 in all)", "answers of at most 1 to 4 tokens"},
		{bench.Spec{}, blind, "prompts of unknown length (prompt_len is null where nothing here can count)", "answers of at most 1 token"},
		{random, blind, "prompts of about 16 tokens", "answers of 1 token (ignore_eos is asked for, so that none ends sooner)"},
		{embeddings, counted[:1], "prompts of 3 tokens (3 in all)", "no text is generated"},
	} {
		if got := promptWords(&tt.spec, tt.sent); got != tt.prompts {
			t.Errorf("promptWords = %q, want %q", got, tt.prompts)
		}
		if got := answerWords(&tt.spec, tt.sent); got != tt.answer {
			t.Errorf("answerWords = %q, want %q", got, tt.answer)
		}
	}
}

// TestWillBeSent: what is due after a run's time is left out, with the turns that follow it.
func TestWillBeSent(t *testing.T) {
	p := &bench.Plan{Spec: bench.Spec{Load: bench.LoadSpec{Rate: 1, Duration: time.Second}}, Requests: []bench.Request{
		{ID: 0, Due: bench.At(time.Second)}, {ID: 1, Due: bench.Never, After: &bench.After{Request: 0}},
		{ID: 2, Due: bench.At(time.Second + 1)}, {ID: 3, Due: bench.Never, After: &bench.After{Request: 2}}, {ID: 4, Due: bench.Never, After: &bench.After{Request: 3}},
	}}
	if got := willBeSent(p); len(got) != 2 || got[1].ID != 1 {
		t.Errorf("willBeSent = %d requests, want the first two", len(got))
	}
	p.Spec.Load.Duration = 0
	if got := willBeSent(p); len(got) != 5 {
		t.Errorf("without a time willBeSent = %d requests, want 5", len(got))
	}
}
