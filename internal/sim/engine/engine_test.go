package engine

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
	"time"
)

// job is one arrival of a test workload.
type job struct {
	at  time.Duration
	req Request
}

// outcome is everything a run showed.
type outcome struct {
	seqs      []*Seq
	steps     []Step
	emissions []Emission
}

// play runs jobs, in order of arrival, to the end in virtual time.
func play(t testing.TB, p Params, jobs []job) (*Engine, outcome) {
	t.Helper()
	e, err := New(p)
	if err != nil {
		t.Fatalf("New(%+v) = %v", p, err)
	}
	var o outcome
	e.OnStep(func(s Step) { o.steps = append(o.steps, s) })
	emit := func(em Emission) { o.emissions = append(o.emissions, em) }
	for _, j := range jobs {
		e.Advance(j.at-1, emit)
		s, err := e.Submit(j.req, j.at, j.at)
		if err != nil {
			t.Fatalf("Submit(%+v) = %v", j.req, err)
		}
		o.seqs = append(o.seqs, s)
	}
	e.Advance(math.MaxInt64, emit)
	if e.Live() != 0 {
		t.Fatalf("%d requests never finished", e.Live())
	}
	return e, o
}

// moe is a step model with every term at work.
var moe = StepModel{Base: 15, PerSeq: 0.1, PerContext: 1.3e-5, Experts: 47, NumExperts: 256, ActiveExperts: 8, PerToken: 0.2, PerArea: 7e-7, Overlap: 0.3}

func randomJobs(r *rand.Rand, n, most int, gap time.Duration) []job {
	jobs, at := make([]job, n), time.Duration(0)
	shared := make([]int, most)
	for i := range shared {
		shared[i] = i % 50
	}
	for i := range jobs {
		at += time.Duration(r.ExpFloat64() * float64(gap))
		in, out := 1+r.IntN(most), 1+r.IntN(most/4)
		ids := slices.Clone(shared[:in])
		for k := in / (1 + r.IntN(4)); k < in; k++ {
			ids[k] = 1000 + r.IntN(1000)
		}
		for k := range out {
			ids = append(ids, 5000+i*1000+k)
		}
		jobs[i] = job{at, Request{Prompt: in, Output: out, Limit: out + r.IntN(50), Pages: PageHashes("", ids, 16)}}
	}
	return jobs
}

// TestConservation runs random deployments and workloads of every schedule and checks the laws that hold for all of them.
func TestConservation(t *testing.T) {
	for _, flavour := range []Schedule{Independent, VLLM, SGLang, Slots} {
		for seed := range uint64(25) {
			r := rand.New(rand.NewPCG(seed, 9))
			p := Params{Schedule: flavour, TTFT: 50 * time.Millisecond, ITL: 5 * time.Millisecond, Step: moe, MaxSeqs: 1 + r.IntN(24), TokenBudget: 64 + r.IntN(800),
				KVTokens: 16 * (60 + r.IntN(200)), PrefixCache: r.IntN(2) == 0, MixedChunk: r.IntN(2) == 0, LongestPrefix: r.IntN(2) == 0,
				SpecDepth: r.IntN(4), SpecAccept: r.Float64(), Seed: seed, Host: Host{Ingest: 1, IngestPerToken: 0.001, Out: 0.5, PerToken: 0.05}}
			most := 400
			if flavour == Slots {
				most = p.KVTokens / p.MaxSeqs / 2
				if most < 8 {
					continue
				}
			}
			p.Step.Noise = 0.02
			e, o := play(t, p, randomJobs(r, 150, most, 40*time.Millisecond))
			if err := laws(e, o); err != nil {
				t.Errorf("%s, seed %d: %v", flavour, seed, err)
			}
		}
	}
}

func laws(e *Engine, o outcome) error {
	made := make([]int, len(o.seqs))
	last := time.Duration(-1)
	for _, em := range o.emissions {
		if em.First != made[em.Seq.ID] {
			return fmt.Errorf("request %d: token %d left, %d had left", em.Seq.ID, em.First, made[em.Seq.ID])
		}
		made[em.Seq.ID] += em.Tokens
		if em.At < last {
			return fmt.Errorf("request %d: emission at %v after one at %v", em.Seq.ID, em.At, last)
		}
		last = em.At
		if em.Last != (made[em.Seq.ID] == em.Seq.Output) {
			return fmt.Errorf("request %d: last is %v after %d of %d tokens", em.Seq.ID, em.Last, made[em.Seq.ID], em.Seq.Output)
		}
	}
	total := 0
	for i, s := range o.seqs {
		total += s.Output
		if made[i] != s.Output {
			return fmt.Errorf("request %d made %d of %d tokens", i, made[i], s.Output)
		}
		if !(s.Accepted <= s.Queued && s.Queued <= s.Scheduled && s.Scheduled <= s.Finished) {
			return fmt.Errorf("request %d: accepted %v, queued %v, scheduled %v, finished %v", i, s.Accepted, s.Queued, s.Scheduled, s.Finished)
		}
	}
	c := e.Counts()
	if c.OutputTokens != total || c.Finished != len(o.seqs) || c.PagesUsed != 0 || c.Running != 0 || c.Waiting != 0 {
		return fmt.Errorf("counts %+v, want %d tokens, %d finished and nothing left", c, total, len(o.seqs))
	}
	if e.params.Schedule == Independent {
		return nil
	}
	return stepLaws(e, o, total)
}

func stepLaws(e *Engine, o outcome, total int) error {
	made := 0
	for i, s := range o.steps {
		made += s.Produced
		if i > 0 && s.Start < o.steps[i-1].End {
			return fmt.Errorf("step %d starts at %v, before the last ended at %v", i, s.Start, o.steps[i-1].End)
		}
		if i > 0 && s.Start > o.steps[i-1].End && o.steps[i-1].Running-finishedBy(o, i-1)+o.steps[i-1].Waiting > 0 {
			return fmt.Errorf("idle from %v to %v with work at hand", o.steps[i-1].End, s.Start)
		}
		if s.Running > e.params.MaxSeqs {
			return fmt.Errorf("step %d runs %d of at most %d requests", i, s.Running, e.params.MaxSeqs)
		}
		if n := s.PrefillTokens + s.Decodes; e.params.Schedule == VLLM && n > e.params.TokenBudget || s.PrefillTokens > e.params.TokenBudget {
			return fmt.Errorf("step %d computes %d tokens of at most %d", i, n, e.params.TokenBudget)
		}
		if e.params.Schedule == SGLang && !e.params.MixedChunk && s.Prefills > 0 && s.Decodes > 0 {
			return fmt.Errorf("step %d mixes %d prompts and %d decodes", i, s.Prefills, s.Decodes)
		}
	}
	if made != total {
		return fmt.Errorf("the steps made %d tokens, want %d", made, total)
	}
	return nil
}

func finishedBy(o outcome, step int) int {
	n := 0
	for _, s := range o.seqs {
		if s.Finished == o.steps[step].End {
			n++
		}
	}
	return n
}

// TestSingleStreamIsExact compares a lone request with the closed form: host costs, one step a chunk, one step a token.
func TestSingleStreamIsExact(t *testing.T) {
	p := Params{Schedule: VLLM, Step: moe, TokenBudget: 512, Host: Host{Ingest: 2, IngestPerToken: 0.01, Out: 0.3, PerToken: 0.02}}
	e, o := play(t, p, []job{{at: 7 * time.Millisecond, req: Request{Prompt: 1200, Output: 4}}})
	p = e.Params()
	chunk := func(x, s float64) time.Duration { return p.StepTime(0, 0, int(x), s*x+x*x/2) }
	want := 7*time.Millisecond + ms(2+12) + chunk(512, 0) + chunk(512, 512) + chunk(176, 1024) + ms(0.02) + ms(0.3)
	if got := o.emissions[0].At; got != want {
		t.Errorf("first token at %v, want %v", got, want)
	}
	for k := 1; k < 4; k++ {
		want += p.StepTime(1, 1200+k, 0, 0)
		if got := o.emissions[k].At; got != want {
			t.Errorf("token %d at %v, want %v", k, got, want)
		}
	}
}

// TestLockstepThroughput checks that N requests in step make N tokens every t(N).
func TestLockstepThroughput(t *testing.T) {
	for _, flavour := range []Schedule{VLLM, SGLang, Slots} {
		for _, n := range []int{1, 7, 64} {
			jobs := make([]job, n)
			for i := range jobs {
				jobs[i].req = Request{Prompt: 10, Output: 50}
			}
			e, o := play(t, Params{Schedule: flavour, Step: StepModel{Base: 10, PerSeq: 0.5, PerToken: 0.01}, MaxSeqs: 64}, jobs)
			got := o.emissions[len(o.emissions)-1].At - o.emissions[n-1].At
			if want := 49 * e.params.StepTime(n, 0, 0, 0); got != want {
				t.Errorf("%s: %d requests made 49 tokens each in %v, want %v", flavour, n, got, want)
			}
		}
	}
}

// TestPollaczekKhinchine compares the mean wait of one server with the closed form of an M/G/1 queue.
func TestPollaczekKhinchine(t *testing.T) {
	n, tolerance := 100_000, 0.08
	if os.Getenv("SERVEMARK_LONG") != "" {
		n, tolerance = 1_000_000, 0.03
	} else {
		t.Log("100,000 customers within 8 %; SERVEMARK_LONG=1 takes a million within 3 %")
	}
	for _, rho := range []float64{0.3, 0.6, 0.8} {
		for _, spread := range []int{0, 4} { // output tokens 3, or 1..5 evenly
			r := rand.New(rand.NewPCG(uint64(rho*100), uint64(spread)))
			mean, square := serviceMoments(spread)
			jobs, at := make([]job, n), 0.0
			for i := range jobs {
				at += r.ExpFloat64() * mean / rho
				jobs[i] = job{ms(at), Request{Prompt: 10, Output: 3 - spread/2 + r.IntN(spread+1)}}
			}
			_, o := play(t, Params{Schedule: VLLM, Step: StepModel{Base: 10}, MaxSeqs: 1}, jobs)
			wait := 0.0
			for _, s := range o.seqs {
				wait += float64(s.Scheduled-s.Queued) / 1e6
			}
			wait /= float64(n)
			want := rho / mean * square / (2 * (1 - rho))
			if math.Abs(wait/want-1) > tolerance {
				t.Errorf("ρ=%v, spread %d: mean wait %.3f ms, want %.3f ms within %v %%", rho, spread, wait, want, tolerance*100)
			}
		}
	}
}

// serviceMoments are the mean and the mean square of the service time in ms: 10 ms a token.
func serviceMoments(spread int) (mean, square float64) {
	for k := 3 - spread/2; k <= 3+spread/2; k++ {
		mean += float64(10*k) / float64(spread+1)
		square += float64(100*k*k) / float64(spread+1)
	}
	return mean, square
}

// TestLittlesLaw compares the time average of requests inside, by integrating over arrivals and departures, with λ·E[time].
func TestLittlesLaw(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	for _, flavour := range []Schedule{VLLM, SGLang, Slots} {
		_, o := play(t, Params{Schedule: flavour, Step: moe, MaxSeqs: 16}, randomJobs(r, 2000, 300, 30*time.Millisecond))
		var inside, stay float64
		type change struct {
			at time.Duration
			by float64
		}
		var list []change
		for _, s := range o.seqs {
			list = append(list, change{s.Queued, 1}, change{s.Finished, -1})
			stay += float64(s.Finished - s.Queued)
		}
		slices.SortFunc(list, func(a, b change) int { return int(a.at - b.at) })
		level := 0.0
		for i := 1; i < len(list); i++ {
			level += list[i-1].by
			inside += level * float64(list[i].at-list[i-1].at)
		}
		span := float64(list[len(list)-1].at - list[0].at)
		l, lambda, w := inside/span, float64(len(o.seqs))/span, stay/float64(len(o.seqs))
		if math.Abs(l/(lambda*w)-1) > 0.01 {
			t.Errorf("%s: mean inside %v, λ·W = %v", flavour, l, lambda*w)
		}
		var steps float64 // and the gauges of the steps agree with the integral over the busy time
		for _, s := range o.steps {
			steps += float64(s.Running+s.Waiting) * float64(s.End-s.Start)
		}
		if math.Abs(steps/inside-1) > 0.05 {
			t.Errorf("%s: requests·time by the steps' gauges %.4g, by the requests %.4g", flavour, steps, inside)
		}
	}
}

// TestReplay feeds the arrivals of one run, in coarse pieces of time, to another: the schedule must be the same.
func TestReplay(t *testing.T) {
	for _, flavour := range []Schedule{Independent, VLLM, SGLang, Slots} {
		p := Params{Schedule: flavour, TTFT: 40 * time.Millisecond, ITL: 7 * time.Millisecond, Step: moe, MaxSeqs: 8, KVTokens: 8000, PrefixCache: true, SpecDepth: 2, SpecAccept: 0.6, Seed: 5}
		p.Step.Noise = 0.1
		jobs := randomJobs(rand.New(rand.NewPCG(8, 8)), 200, 300, 50*time.Millisecond)
		_, want := play(t, p, jobs)
		e, err := New(p)
		if err != nil {
			t.Fatal(err)
		}
		var got []Emission
		emit := func(em Emission) { got = append(got, em) }
		now := time.Duration(0)
		for len(jobs) > 0 || e.Live() > 0 {
			for len(jobs) > 0 && jobs[0].at <= now {
				if _, err := e.Submit(jobs[0].req, jobs[0].at, jobs[0].at); err != nil {
					t.Fatal(err)
				}
				jobs = jobs[1:]
			}
			next := now + 13*time.Millisecond
			if len(jobs) > 0 && jobs[0].at < next {
				next = jobs[0].at
			}
			e.Advance(next-1, emit)
			now = next
		}
		if len(got) != len(want.emissions) {
			t.Fatalf("%s: %d emissions, want %d", flavour, len(got), len(want.emissions))
		}
		for i := range got {
			a, b := got[i], want.emissions[i]
			if a.Seq.ID != b.Seq.ID || a.At != b.At || a.First != b.First || a.Tokens != b.Tokens {
				t.Fatalf("%s: emission %d = request %d token %d at %v, want request %d token %d at %v", flavour, i, a.Seq.ID, a.First, a.At, b.Seq.ID, b.First, b.At)
			}
		}
	}
}

func TestAbortGivesEverythingBack(t *testing.T) {
	for _, flavour := range []Schedule{Independent, VLLM, SGLang, Slots} {
		e, err := New(Params{Schedule: flavour, TTFT: 10 * time.Millisecond, ITL: time.Millisecond, Step: moe, MaxSeqs: 2})
		if err != nil {
			t.Fatal(err)
		}
		var list []*Seq
		for range 5 {
			s, err := e.Submit(Request{Prompt: 40, Output: 400}, 0, 0)
			if err != nil {
				t.Fatal(err)
			}
			list = append(list, s)
		}
		late, err := e.Submit(Request{Prompt: 40, Output: 4}, time.Hour, time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		e.Advance(100*time.Millisecond, func(Emission) {})
		for _, s := range append(list, late) {
			e.Abort(s, 100*time.Millisecond)
			e.Abort(s, 100*time.Millisecond)
		}
		e.Advance(time.Hour, func(em Emission) { t.Errorf("%s: request %d spoke after its abort", flavour, em.Seq.ID) })
		if c := e.Counts(); e.Live() != 0 || c.Aborted != 6 || c.PagesUsed != 0 || c.Running+c.Waiting != 0 {
			t.Errorf("%s: after aborting all: live %d, %+v", flavour, e.Live(), c)
		}
	}
}

func TestParamsValidate(t *testing.T) {
	for _, p := range []Params{
		{Schedule: "x"}, {TTFT: -1}, {ITL: -1}, {Step: StepModel{Base: -1}}, {Step: StepModel{Overlap: 2}}, {Step: StepModel{Experts: 1}},
		{MaxSeqs: -1}, {SpecDepth: -1}, {SpecAccept: 2}, {KVTokens: 8}, {PageSize: -2}, {TokenBudget: -1}, {Step: StepModel{Base: math.NaN()}},
	} {
		if _, err := New(p); err == nil {
			t.Errorf("New(%+v) = nil, want an error", p)
		}
	}
	if _, err := New(Params{}); err != nil {
		t.Errorf("New(zero) = %v, want an engine", err)
	}
}

func BenchmarkSchedule(b *testing.B) {
	jobs := randomJobs(rand.New(rand.NewPCG(1, 1)), 2000, 400, 20*time.Millisecond)
	for b.Loop() {
		e, err := New(Params{Schedule: VLLM, Step: moe})
		if err != nil {
			b.Fatal(err)
		}
		for _, j := range jobs {
			if _, err := e.Submit(j.req, j.at, j.at); err != nil {
				b.Fatal(err)
			}
		}
		e.Advance(math.MaxInt64, func(Emission) {})
	}
	b.ReportMetric(float64(b.N*len(jobs))/b.Elapsed().Seconds(), "requests/s")
}
