package engine

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// slow makes the arithmetic of a golden schedule easy: a step takes 10 ms and 1 ms for every 10 prompt tokens.
var slow = StepModel{Base: 10, PerToken: 0.1, Overlap: 1}

// schedule writes a run as a table: when each step ran, what it computed, what was preempted, who waited.
func schedule(o outcome) string {
	var b strings.Builder
	for _, s := range o.steps {
		fmt.Fprintf(&b, "%5.1f-%-5.1f decode %d prompt %d", float64(s.Start)/1e6, float64(s.End)/1e6, s.Decodes, s.PrefillTokens)
		if s.Preempted > 0 {
			fmt.Fprintf(&b, " preempted %d", s.Preempted)
		}
		if s.Waiting > 0 {
			fmt.Fprintf(&b, " waiting %d", s.Waiting)
		}
		b.WriteString("\n")
	}
	return b.String()
}

func at(ms int) time.Duration { return time.Duration(ms) * time.Millisecond }

func pagesOf(shared, own int) []uint64 {
	var ids []int
	for i := range shared {
		ids = append(ids, i)
	}
	for i := range own {
		ids = append(ids, 1000+shared+i)
	}
	return PageHashes("", ids, 10)
}

func TestGoldenSchedules(t *testing.T) {
	stall := []job{{0, Request{Prompt: 10, Output: 6}}, {at(25), Request{Prompt: 300, Output: 2}}}
	for _, tt := range []struct {
		name   string
		params Params
		jobs   []job
		want   string
	}{
		{"vllm mixes a long prompt with decodes, in chunks", Params{Schedule: VLLM, TokenBudget: 101}, stall, `
  0.0-11.0  decode 0 prompt 10
 11.0-21.1  decode 1 prompt 0
 21.1-31.2  decode 1 prompt 0
 31.2-51.3  decode 1 prompt 100
 51.3-71.4  decode 1 prompt 100
 71.4-91.5  decode 1 prompt 100
 91.5-101.6 decode 1 prompt 0
`},
		{"sglang stalls decodes for the whole prompt", Params{Schedule: SGLang, TokenBudget: 101}, stall, `
  0.0-11.0  decode 0 prompt 10
 11.0-21.1  decode 1 prompt 0
 21.1-31.2  decode 1 prompt 0
 31.2-51.3  decode 0 prompt 101
 51.3-71.4  decode 0 prompt 101
 71.4-91.2  decode 0 prompt 98
 91.2-101.4 decode 2 prompt 0
101.4-111.5 decode 1 prompt 0
111.5-121.6 decode 1 prompt 0
`},
		{"sglang with mixed chunks does not", Params{Schedule: SGLang, TokenBudget: 100, MixedChunk: true}, stall, `
  0.0-11.0  decode 0 prompt 10
 11.0-21.1  decode 1 prompt 0
 21.1-31.2  decode 1 prompt 0
 31.2-51.3  decode 1 prompt 100
 51.3-71.4  decode 1 prompt 100
 71.4-91.5  decode 1 prompt 100
 91.5-101.6 decode 1 prompt 0
`},
		{"vllm preempts the latest when pages run out, and computes it again",
			Params{Schedule: VLLM, PageSize: 10, KVTokens: 60}, []job{{0, Request{Prompt: 28, Output: 8}}, {0, Request{Prompt: 28, Output: 4}}}, `
  0.0-15.6  decode 0 prompt 56
 15.6-25.8  decode 2 prompt 0
 25.8-36.0  decode 2 prompt 0
 36.0-46.1  decode 1 prompt 0 preempted 1 waiting 1
 46.1-56.2  decode 1 prompt 0 waiting 1
 56.2-66.3  decode 1 prompt 0 waiting 1
 66.3-76.4  decode 1 prompt 0 waiting 1
 76.4-86.5  decode 1 prompt 0 waiting 1
 86.5-99.6  decode 0 prompt 31
`},
		{"vllm takes a request back only when all of it fits",
			Params{Schedule: VLLM, PageSize: 10, KVTokens: 60, TokenBudget: 20}, []job{{0, Request{Prompt: 18, Output: 16}}, {0, Request{Prompt: 28, Output: 9}}}, `
  0.0-12.0  decode 0 prompt 20
 12.0-24.0  decode 1 prompt 19
 24.0-34.8  decode 1 prompt 7
 34.8-45.0  decode 2 prompt 0
 45.0-55.2  decode 2 prompt 0
 55.2-65.3  decode 1 prompt 0 preempted 1 waiting 1
 65.3-75.4  decode 1 prompt 0 waiting 1
 75.4-85.5  decode 1 prompt 0 waiting 1
 85.5-95.6  decode 1 prompt 0 waiting 1
 95.6-105.7 decode 1 prompt 0 waiting 1
105.7-115.8 decode 1 prompt 0 waiting 1
115.8-125.9 decode 1 prompt 0 waiting 1
125.9-136.0 decode 1 prompt 0 waiting 1
136.0-146.1 decode 1 prompt 0 waiting 1
146.1-156.2 decode 1 prompt 0 waiting 1
156.2-166.3 decode 1 prompt 0 waiting 1
166.3-178.3 decode 0 prompt 20
178.3-189.4 decode 0 prompt 11
189.4-199.5 decode 1 prompt 0
199.5-209.6 decode 1 prompt 0
209.6-219.7 decode 1 prompt 0
219.7-229.8 decode 1 prompt 0
229.8-239.9 decode 1 prompt 0
`},
		{"sglang retracts the shortest answer",
			Params{Schedule: SGLang, PageSize: 10, KVTokens: 60, Conservativeness: 0.01}, []job{{0, Request{Prompt: 28, Output: 12}}, {at(15), Request{Prompt: 18, Output: 10}}}, `
  0.0-12.8  decode 0 prompt 28
 12.8-22.9  decode 1 prompt 0
 22.9-34.7  decode 0 prompt 18
 34.7-44.9  decode 2 prompt 0
 44.9-55.1  decode 2 prompt 0
 55.1-65.2  decode 1 prompt 0 preempted 1 waiting 1
 65.2-75.3  decode 1 prompt 0 waiting 1
 75.3-85.4  decode 1 prompt 0 waiting 1
 85.4-95.5  decode 1 prompt 0 waiting 1
 95.5-105.6 decode 1 prompt 0 waiting 1
105.6-115.7 decode 1 prompt 0 waiting 1
115.7-125.8 decode 1 prompt 0 waiting 1
125.8-135.9 decode 1 prompt 0 waiting 1
135.9-148.0 decode 0 prompt 21
148.0-158.1 decode 1 prompt 0
158.1-168.2 decode 1 prompt 0
168.2-178.3 decode 1 prompt 0
178.3-188.4 decode 1 prompt 0
188.4-198.5 decode 1 prompt 0
198.5-208.6 decode 1 prompt 0
`},
		{"a prefix hit computes only what is new", Params{Schedule: VLLM, PageSize: 10, PrefixCache: true},
			[]job{{0, Request{Prompt: 100, Output: 1, Pages: pagesOf(80, 21)}}, {at(50), Request{Prompt: 100, Output: 1, Pages: pagesOf(85, 16)}}}, `
  0.0-20.0  decode 0 prompt 100
 50.0-62.0  decode 0 prompt 20
`},
		{"slots continue the place that shares most", Params{Schedule: Slots, PageSize: 10, PrefixCache: true, MaxSeqs: 2, TokenBudget: 64},
			[]job{{0, Request{Prompt: 60, Output: 1, Pages: pagesOf(60, 1)}}, {0, Request{Prompt: 60, Output: 2, Pages: pagesOf(0, 62)}},
				{at(60), Request{Prompt: 60, Output: 1, Pages: pagesOf(40, 21)}}}, `
  0.0-16.4  decode 0 prompt 64
 16.4-32.0  decode 0 prompt 56
 32.0-42.1  decode 1 prompt 0
 60.0-72.0  decode 0 prompt 20
`},
	} {
		p := tt.params
		p.Step = slow
		_, o := play(t, p, tt.jobs)
		if diff := cmp.Diff(strings.TrimLeft(tt.want, "\n"), schedule(o)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}
