package stats

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/servemark/servemark/internal/bench"
)

// oneReply is a streamed chat reply: thought at 100 ms, content at 300 and 500, a tool call at 700, due 50 ms before it was sent.
func oneReply() (*bench.Plan, []bench.Record) {
	ms := func(n int) bench.Instant { return bench.At(time.Duration(n) * time.Millisecond) }
	plan := &bench.Plan{Spec: bench.Spec{Target: bench.Target{API: bench.APIChat, Stream: true}, Load: bench.LoadSpec{Rate: 1}},
		Requests: []bench.Request{{ID: 0, Due: ms(0), InputTokens: bench.Counted(10), OutputTokens: 8}}}
	rec := bench.NewRecord(0)
	rec.Due, rec.Admitted, rec.Sent, rec.Done, rec.Streamed = ms(0), ms(0), ms(50), ms(850), true
	rec.Chunks = append(append(chunksAt(bench.ChannelReasoning, 150), chunksAt(bench.ChannelContent, 350, 550)...), chunksAt(bench.ChannelTool, 750)...)
	rec.Usage = bench.Usage{Prompt: bench.Counted(14), Completion: bench.Counted(8)}
	rec.Retokenized = bench.Counted(5)
	return plan, []bench.Record{rec}
}

// TestOneReplyManyNumbers: the same reply, each tool's number by its rule, computed by hand.
func TestOneReplyManyNumbers(t *testing.T) {
	plan, records := oneReply()
	for _, tc := range []struct {
		tool, figure string
		want         float64
	}{
		{"sglang", "mean TTFT", 100},
		{"sglang", "mean E2E", 800},                 // to the last line
		{"sglang", "mean TPOT", 100},                // (800−100)/(8−1)
		{"sglang", "mean ITL", 200},                 // 150→350→550; the tool call is no token
		{"vllm", "mean TTFT", 100},                  //
		{"vllm", "mean E2E", 700},                   // to the last token chunk, the tool call
		{"vllm", "mean TPOT", 600.0 / 7},            //
		{"vllm", "total input tokens", 14},          // usage
		{"sglang", "total input tokens", 10},        // the data set's
		{"aiperf", "mean time to first token", 100}, //
		{"aiperf", "mean time to first output token", 300},
		{"aiperf", "mean inter-token latency", 150}, // (700−100)/(5−1) by its own tokenizer
		{"aiperf", "mean inter-chunk latency", 200},
		{"guidellm", "mean TPOT", 700.0 / 8},       // TTFT inside
		{"guidellm", "mean ITL", 600.0 / 7},        //
		{"guidellm", "mean request latency", 800},  //
		{"inference-perf", "mean TTFT", 300},       // reasoning is not seen
		{"inference-perf", "mean ITL", 200},        //
		{"inference-perf", "mean TPOT", 200.0 / 4}, // (500−300)/(5−1)
		{"mlperf", "mean TTFT", 150},               // from due
		{"mlperf", "mean latency", 750},            //
		{"mlperf", "mean TPOT", 600.0 / 7},         //
	} {
		figures, ok := As(tc.tool, plan, records)
		if !ok {
			t.Fatalf("As(%s): unknown", tc.tool)
		}
		found := false
		for _, f := range figures {
			if f.Name != tc.figure {
				continue
			}
			found = true
			if v, known := f.Value.Get(); !known || math.Abs(v-tc.want) > 1e-6 {
				t.Errorf("As(%s) %s = %v (%s), want %v", tc.tool, tc.figure, v, f.Why, tc.want)
			}
			if f.Rule == "" {
				t.Errorf("As(%s) %s has no rule", tc.tool, tc.figure)
			}
		}
		if !found {
			t.Errorf("As(%s) has no figure %q", tc.tool, tc.figure)
		}
	}
	records[0].Chunks[2].Tokens = 4 // tokens of one chunk have no time between them
	figures, _ := As("inference-perf", plan, records)
	for _, f := range figures {
		if v, _ := f.Value.Get(); f.Name == "mean ITL" && math.Abs(v-200.0/4) > 1e-6 {
			t.Errorf("with a chunk of 4 tokens inference-perf's %s = %v, want %v", f.Name, v, 200.0/4)
		}
	}
	records[0].Retokenized = bench.Unknown
	figures, _ = As("aiperf", plan, records)
	for _, f := range figures {
		if f.Name == "mean inter-token latency" && (f.Value.Known() || f.Why != noText) {
			t.Errorf("without text %s = %v (%s), want %q", f.Name, f.Value, f.Why, noText)
		}
	}
	if _, ok := As("nobody", plan, records); ok {
		t.Error("As knows a tool that does not exist")
	}
}

func TestEarlyStopping(t *testing.T) {
	values := func(n int) []float64 {
		out := make([]float64, n)
		for i := range out {
			out[i] = float64(i + 1)
		}
		return out
	}
	// 0.99^459 is the first power below 1 %: then the largest value is the bound. With 2,000 values 10 may lie above it, as
	// P(X ≤ 9) of a binomial with n 2,000 and p 1 % is 0.47 % and P(X ≤ 10) 1.03 %.
	for _, tc := range []struct {
		n    int
		want float64
	}{{458, -1}, {459, 459}, {2000, 1991}} {
		got, why := earlyStopping(values(tc.n), 0.99)
		if v, known := got.Get(); known != (tc.want > 0) || known && v != 1000*tc.want {
			t.Errorf("earlyStopping of %d = %v (%s), want %v", tc.n, v, why, 1000*tc.want)
		} else if !known && !strings.Contains(why, "459") {
			t.Errorf("earlyStopping of %d: %q does not say how many are needed", tc.n, why)
		}
	}
}

// TestDefinitions: each word is found by each of its names, and each rule is of a known tool.
func TestDefinitions(t *testing.T) {
	seen := map[string]string{}
	for _, d := range Definitions() {
		if d.Title == "" || d.Meaning == "" || d.Ours == "" || d.Key == "" {
			t.Errorf("%s lacks a part: %+v", d.Name, d)
		}
		for _, word := range append([]string{d.Name, strings.ToUpper(d.Name), strings.ReplaceAll(d.Name, "-", "_")}, d.Aliases...) {
			got, ok := Define(word)
			if !ok || got.Name != d.Name {
				t.Errorf("Define(%s) = %s, %v; want %s", word, got.Name, ok, d.Name)
			}
		}
		for _, word := range append([]string{d.Name}, d.Aliases...) {
			if other, taken := seen[word]; taken {
				t.Errorf("%s means both %s and %s", word, other, d.Name)
			}
			seen[word] = d.Name
		}
		for _, r := range d.Theirs {
			if ToolTitle(r.Tool) == "" || r.Rule == "" {
				t.Errorf("%s: rule %q of %q", d.Name, r.Rule, r.Tool)
			}
		}
	}
	if _, ok := Define("nothing"); ok {
		t.Error("Define knows a word that does not exist")
	}
}

func TestOutputPerStep(t *testing.T) {
	plan, records := oneReply()
	records[0].Usage.Completion = bench.Counted(4)
	rates, step := OutputPerStep(plan, records)
	if step != time.Second || len(rates) != 1 || math.Abs(rates[0]-4/0.8) > 1e-9 {
		t.Errorf("OutputPerStep = %v in steps of %s, want 4 tokens in one step of 0.8 s: 5 a second", rates, step)
	}
	records[0].Streamed = false
	if rates, _ := OutputPerStep(plan, records); rates != nil {
		t.Errorf("OutputPerStep of a reply in one piece = %v, want none", rates)
	}
}

func TestProbes(t *testing.T) {
	_, records := oneReply()
	failed, cut := bench.NewRecord(1), bench.NewRecord(2)
	failed.Fail(bench.FailReset, "gone")
	cut.Cancelled = true
	p := Probes(append(records, failed, cut))
	if p.Completed != 1 || p.Failed != 1 || math.Abs(p.E2E.Mean-0.7) > 1e-9 {
		t.Errorf("Probes = %+v, want one good of 700 ms, one failed, the cut one in neither", p)
	}
}

// TestLevelsAndAcceptance: sums over the answers that state them.
func TestLevelsAndAcceptance(t *testing.T) {
	plan, records := oneReply()
	records[0].Usage.Verifies = bench.Counted(4)
	records[0].Usage.CachedBy = bench.CacheLevels{Device: bench.Counted(5), Host: bench.Counted(1), Backend: "nixl"}
	second := records[0]
	second.ID, second.Usage.CachedBy = 1, bench.CacheLevels{Device: bench.Counted(2)}
	s := Summarize(plan, append(records, second), Options{})
	if v, ok := s.AcceptLength.Get(); !ok || v != 2 {
		t.Errorf("accept length = %v, want 16 tokens in 8 verifications", v)
	}
	if want := (bench.CacheLevels{Device: bench.Counted(7), Host: bench.Counted(1), Backend: "nixl"}); s.CachedBy != want {
		t.Errorf("cached by level = %+v, want %+v", s.CachedBy, want)
	}
	second.Usage.Verifies = bench.Unknown
	if s := Summarize(plan, append(records, second), Options{}); s.AcceptLength.Known() {
		t.Errorf("accept length = %v though an answer states none", s.AcceptLength)
	}
}
