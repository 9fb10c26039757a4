package stats

import (
	"encoding/json"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/servemark/servemark/internal/bench"
)

const msec = bench.Instant(time.Millisecond)

// success is a streamed reply sent at from whose chunks arrive at the given milliseconds after it.
func success(id int, from bench.Instant, usage int, chunks ...int) bench.Record {
	r := bench.NewRecord(id)
	r.Admitted, r.Sent, r.Written, r.Header = from, from, from, from
	r.Streamed, r.Status, r.Finish = true, 200, "stop"
	r.Usage.Completion = bench.Counted(usage)
	for _, c := range chunks {
		r.Chunks = append(r.Chunks, bench.Chunk{At: from + bench.Instant(c)*msec})
	}
	r.Done = max(from, r.LastChunk())
	return r
}

// planOf is a plan of n chat requests without a schedule.
func planOf(n, output int) *bench.Plan {
	p := &bench.Plan{Spec: bench.Spec{Target: bench.Target{API: bench.APIChat, Stream: true}, MaxErrorRate: 0.01}}
	for i := range n {
		p.Requests = append(p.Requests, bench.Request{ID: i, Due: bench.Never, InputTokens: bench.Counted(10), OutputTokens: output})
	}
	return p
}

func p50(t *testing.T, d bench.Distribution) float64 {
	t.Helper()
	q, ok := d.Quantile(50)
	if !ok {
		t.Fatalf("no median in %+v", d)
	}
	return q.Value
}

func want(t *testing.T, what string, got, want float64) {
	t.Helper()
	if !close(got, want) {
		t.Errorf("%s = %v, want %v", what, got, want)
	}
}

func wantMeasure(t *testing.T, what string, m bench.Measure, x float64) {
	t.Helper()
	if got, ok := m.Get(); !ok || !close(got, x) {
		t.Errorf("%s = %v (measured %v), want %v", what, got, ok, x)
	}
}

// Role and usage chunks at both ends are not tokens: TTFT 300, gaps of 50, E2E to the last token though done is 600 later.
func TestEndsOfAReply(t *testing.T) {
	r := success(0, 0, 4, 300, 350, 400, 450)
	r.Done = 1050 * msec
	s := Summarize(planOf(1, 4), []bench.Record{r}, Options{})
	want(t, "TTFT", p50(t, s.TTFT), 0.3)
	want(t, "E2E", p50(t, s.E2E), 0.45)
	want(t, "TPOT", p50(t, s.TPOT), 0.05)
	want(t, "ITL mean", s.ITL.Mean, 0.05)
	if s.ITL.N != 3 || s.Duration != 1050*time.Millisecond {
		t.Errorf("ITL n = %d, duration = %v, want 3, 1.05s", s.ITL.N, s.Duration)
	}
	strict := Strict(planOf(1, 4), []bench.Record{r})
	want(t, "strict E2E", p50(t, strict.E2E), 1.05)
	want(t, "strict TPOT", p50(t, strict.TPOT), 0.25)
}

func TestFirstTokenAndFirstAnswer(t *testing.T) {
	thinks := success(0, 0, 4, 100, 200, 300, 305)
	thinks.Chunks[0].Channel, thinks.Chunks[1].Channel = bench.ChannelReasoning, bench.ChannelReasoning
	calls := success(1, 0, 3, 100, 110, 120)
	for i := range calls.Chunks {
		calls.Chunks[i].Channel = bench.ChannelTool
	}
	s := Summarize(planOf(2, 16), []bench.Record{thinks, calls}, Options{})
	want(t, "TTFT max", s.TTFT.Max, 0.1)
	want(t, "first answer max", s.FirstAnswer.Max, 0.3)
	want(t, "first answer min", s.FirstAnswer.Min, 0.1)
	if n := s.OutputTokens.Or(-1); n != 7 || s.OutputSource != bench.TokensByServer {
		t.Errorf("output tokens = %d by %q, want 7 by the server", n, s.OutputSource)
	}
}

func TestNotMeasured(t *testing.T) {
	whole := success(0, 0, 8)
	whole.Streamed, whole.Done = false, 500*msec
	empty := success(0, 0, 3)
	empty.Done = 200 * msec
	uncounted := success(0, 0, 3, 10, 20)
	uncounted.Usage.Completion = bench.Unknown
	for _, row := range []struct {
		name                       string
		rec                        bench.Record
		ttft, tpot, itl, gaps, e2e int // sample sizes
	}{
		{"one token", success(0, 0, 1, 120), 1, 0, 0, 0, 1},
		{"not streamed", whole, 0, 0, 0, 0, 1},
		{"empty", empty, 0, 0, 0, 0, 1},
		{"all in one read", success(0, 0, 3, 120, 120, 120), 1, 0, 0, 0, 1},
		{"nobody counted", uncounted, 1, 0, 0, 1, 1},
		{"ordinary", success(0, 0, 3, 10, 20, 30), 1, 1, 2, 2, 1},
	} {
		s := Summarize(planOf(1, 8), []bench.Record{row.rec}, Options{})
		got := []int{s.TTFT.N, s.TPOT.N, s.ITL.N, s.ChunkGap.N, s.E2E.N}
		if diff := cmp.Diff([]int{row.ttft, row.tpot, row.itl, row.gaps, row.e2e}, got); diff != "" {
			t.Errorf("%s: n of TTFT, TPOT, ITL, chunk gap, E2E differ (-want +got):\n%s", row.name, diff)
		}
		b, err := json.Marshal(s)
		if err != nil {
			t.Fatalf("%s: %v", row.name, err)
		}
		var back struct{ TPOT *struct{} }
		if err := json.Unmarshal(b, &back); err != nil || (back.TPOT == nil) != (row.tpot == 0) {
			t.Errorf("%s: tpot in JSON is null: %v, want %v (%v)", row.name, back.TPOT == nil, row.tpot == 0, err)
		}
	}
}

func TestITLPerToken(t *testing.T) {
	stated := success(0, 0, 9, 100, 160, 200, 230)
	stated.ChunkTokens = bench.ChunkTokensUsage
	for i, n := range []uint16{2, 3, 0, 2} {
		stated.Chunks[i].Tokens = n
	}
	ids := success(0, 0, 9, 100, 120)
	ids.ChunkTokens = bench.ChunkTokensIDs
	ids.Chunks[0].Tokens, ids.Chunks[1].Tokens = 1, 4
	for _, row := range []struct {
		name  string
		rec   bench.Record
		want  []float64
		words string
	}{
		{"running usage; a chunk without tokens joins the next", stated, []float64{.02, .02, .02, .035, .035}, spreadWords[spreadUsage]},
		{"ids", ids, []float64{.005, .005, .005, .005}, spreadWords[spreadIDs]},
		{"one each", success(0, 0, 3, 10, 20, 40), []float64{.01, .02}, spreadWords[spreadOne]},
		{"two each", success(0, 0, 6, 10, 20, 40), []float64{.005, .005, .01, .01}, spreadWords[spreadEven]},
		{"fewer tokens than chunks", success(0, 0, 2, 10, 20, 40, 80), []float64{.06}, spreadWords[spreadEven]},
		{"a count beyond belief", success(0, 0, 1<<40, 10, 20), nil, spreadWords[spreadUnknown]},
	} {
		f := PerRequest(planOf(1, 16), []bench.Record{row.rec})
		if !slices.EqualFunc(f[0].ITL, row.want, close) {
			t.Errorf("%s: ITL = %v, want %v", row.name, f[0].ITL, row.want)
		}
		if s := Summarize(planOf(1, 16), []bench.Record{row.rec}, Options{}); s.ChunkTokens != row.words {
			t.Errorf("%s: chunk tokens = %q, want %q", row.name, s.ChunkTokens, row.words)
		}
	}
}

func TestFailuresAndCancelled(t *testing.T) {
	fail := func(id int, kind bench.FailureKind, status int, message string) bench.Record {
		r := success(id, 0, 5, 10)
		r.Status, r.Chunks = status, nil
		r.Fail(kind, message)
		return r
	}
	refused := bench.NewRecord(4)
	refused.Admitted, refused.Done = 0, 5
	refused.Fail(bench.FailConnect, "dial tcp 127.0.0.1:9999: connect: connection refused")
	cancelled := success(5, 0, 3, 10)
	cancelled.Cancelled = true
	never := bench.NewRecord(6)
	never.Cancelled = true
	s := Summarize(planOf(8, 8), []bench.Record{
		success(0, 0, 4, 10, 20, 30, 40), fail(2, bench.FailStatus, 429, "slow down, request 17a of 9"),
		fail(1, bench.FailStatus, 429, "slow down, request 4 of 10"), fail(3, bench.FailServer, 200, "out of memory"),
		refused, cancelled, never,
	}, Options{})
	got := []int{s.Planned, s.Sent, s.Completed, s.Failed, s.Cancelled}
	if diff := cmp.Diff([]int{8, 6, 1, 4, 2}, got); diff != "" || !s.Partial {
		t.Errorf("planned, sent, completed, failed, cancelled differ (partial %v, want true):\n%s", s.Partial, diff)
	}
	groups := []bench.FailureGroup{
		{Kind: bench.FailStatus, Status: 429, Message: "slow down, request 4 of 10", Count: 2},
		{Kind: bench.FailConnect, Message: "dial tcp 127.0.0.1:9999: connect: connection refused", Count: 1},
		{Kind: bench.FailServer, Status: 200, Message: "out of memory", Count: 1},
	}
	if diff := cmp.Diff(groups, s.Failures); diff != "" {
		t.Errorf("failure groups (-want +got):\n%s", diff)
	}
	if n := s.OutputTokens.Or(-1); n != 4 {
		t.Errorf("output tokens = %d, want 4: those of the success alone", n)
	}
}

func TestNothingSucceeded(t *testing.T) {
	r := bench.NewRecord(0)
	r.Admitted, r.Sent, r.Done, r.Status = 0, 0, 9*msec, 500
	r.Fail(bench.FailStatus, "scripted: out of memory")
	s := Summarize(planOf(1, 8), []bench.Record{r}, Options{})
	if s.TTFT.N+s.E2E.N+s.ITL.N+s.TPOT.N != 0 || s.Concurrency.Known() || s.PeakOutputRate.Known() {
		t.Errorf("Summarize(no success) measured a latency: %+v", s)
	}
	wantMeasure(t, "request rate", s.RequestRate, 0)
	if s.Verdict.Level != bench.Invalid || s.InputSource != bench.TokensUnknown || s.OutputSource != bench.TokensUnknown {
		t.Errorf("verdict %q, sources %q, %q; want INVALID and unknown", s.Verdict.Level, s.InputSource, s.OutputSource)
	}
	if empty := Summarize(planOf(0, 0), nil, Options{}); empty.Duration != 0 || empty.Verdict.Level != bench.Invalid {
		t.Errorf("Summarize(nothing) = %+v", empty)
	}
}

func TestTokenSources(t *testing.T) {
	type counts struct{ prompt, completion, retokenized bench.Count }
	n, no := bench.Counted, bench.Unknown
	for _, row := range []struct {
		name          string
		replies       []counts
		input, output bench.Count
		inSrc, outSrc bench.TokenSource
	}{
		{"server", []counts{{n(12), n(4), no}, {n(13), n(5), n(9)}}, n(25), n(9), bench.TokensByServer, bench.TokensByServer},
		{"one without usage", []counts{{n(12), n(4), n(4)}, {no, no, n(6)}}, n(20), n(10), bench.TokensByTokenizer, bench.TokensMixed},
		{"no usage", []counts{{no, no, n(4)}, {no, no, n(6)}}, n(20), n(10), bench.TokensByTokenizer, bench.TokensByTokenizer},
		{"nobody", []counts{{n(12), n(4), no}, {no, no, no}}, n(20), no, bench.TokensByTokenizer, bench.TokensUnknown},
	} {
		var records []bench.Record
		for i, c := range row.replies {
			r := success(i, 0, 0, 10, 20)
			r.Usage.Prompt, r.Usage.Completion, r.Retokenized = c.prompt, c.completion, c.retokenized
			records = append(records, r)
		}
		s := Summarize(planOf(2, 16), records, Options{})
		if s.InputTokens != row.input || s.OutputTokens != row.output || s.InputSource != row.inSrc || s.OutputSource != row.outSrc {
			t.Errorf("%s: input %v (%s), output %v (%s), want %v (%s), %v (%s)", row.name, s.InputTokens, s.InputSource, s.OutputTokens,
				s.OutputSource, row.input, row.inSrc, row.output, row.outSrc)
		}
		if s.OutputRate.Known() != row.output.Known() {
			t.Errorf("%s: output rate known = %v", row.name, s.OutputRate.Known())
		}
	}
}

func TestScheduleClocks(t *testing.T) {
	p := planOf(3, 4)
	for i := range p.Requests {
		p.Requests[i].Due = bench.Instant(i) * 100 * msec
	}
	p.Spec.Load.Rate, p.Spec.Load.Concurrency = 10, 1
	var records []bench.Record
	for i, admitted := range []bench.Instant{0, 250, 500} { // one slot, 250 ms each
		r := success(i, admitted*msec+msec/10, 4, 100, 120, 140, 160)
		r.Due, r.Admitted = p.Requests[i].Due, admitted*msec
		r.Done = (admitted + 250) * msec
		records = append(records, r)
	}
	s := Summarize(p, records, Options{})
	want(t, "client queue max", s.ClientQueue.Max, 0.3)
	want(t, "client queue min", s.ClientQueue.Min, 0)
	want(t, "lateness max", s.Lateness.Max, 0.0001)
	want(t, "TTFT from due max", s.TTFTFromDue.Max, 0.4001)
	want(t, "E2E from due max", s.E2EFromDue.Max, 0.4601)
	want(t, "TTFT max", s.TTFT.Max, 0.1)
	wantMeasure(t, "asked rate", s.AskedRate, 10)
	wantMeasure(t, "achieved rate", s.AchievedRate, 4)
	if s.Verdict.Level != bench.Valid {
		t.Errorf("verdict = %+v, want VALID: waiting for the user's own cap spoils nothing", s.Verdict)
	}
	free := slices.Clone(records)
	for i := range free { // the same delays though a slot was free all the time
		free[i].Done = free[i].LastChunk()
	}
	free[1].Due, free[2].Due = 200*msec, 450*msec
	s = Summarize(p, free, Options{})
	want(t, "lateness with a free slot", s.Lateness.Max, 0.0501)
	want(t, "client queue with a free slot", s.ClientQueue.Max, 0)
}

func TestPermutationChangesNothing(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for range 60 {
		p, records := randomRun(rng, 1+rng.IntN(40))
		for name, f := range map[string]func([]bench.Record) any{
			"Summarize":        func(r []bench.Record) any { return Summarize(p, r, Options{}) },
			"Strict":           func(r []bench.Record) any { return Strict(p, r) },
			"PerRequest":       func(r []bench.Record) any { return PerRequest(p, r) },
			"StrictPerRequest": func(r []bench.Record) any { return StrictPerRequest(p, r) },
		} {
			a := f(records)
			shuffled := slices.Clone(records)
			rng.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
			if diff := cmp.Diff(a, f(shuffled), cmp.AllowUnexported(bench.Count{}, bench.Measure{})); diff != "" {
				t.Fatalf("%s depends on the order of records:\n%s", name, diff)
			}
		}
	}
}
