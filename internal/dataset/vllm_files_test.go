package dataset

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/servemark/servemark/internal/bench"
)

const timedLines = `{"t": "2.5", "in": 30, "out": 4, "blocks": [7, 8]}
{"t": 1, "in": 50, "out": 5, "blocks": [7, 8, 9, 10]}

{"t": 1.5, "in": 40, "out": 6}
{"t": 3, "in": 48, "out": 7, "blocks": [7, 8, 9]}
`

func timed(t *testing.T, content string, change func(*bench.Spec)) *bench.Spec {
	t.Helper()
	return vllmSpec("timed_trace", func(s *bench.Spec) {
		s.Dataset.Path, s.Dataset.Rows = file(t, "trace.jsonl", content), 4
		s.Dataset.TimedTrace = &bench.TimedTrace{BlockTokens: 16, Seconds: 2, SelfTimed: true, Timestamp: "t", InputLength: "in", OutputLength: "out", HashIDs: "blocks"}
		if change != nil {
			change(s)
		}
	})
}

func TestTimedTraceReplaysBlocksAndTimes(t *testing.T) {
	tok := english(1)
	type row struct {
		Due     time.Duration
		In, Out int
	}
	sec := time.Second
	for _, tc := range []struct {
		name   string
		change func(*bench.Spec)
		want   []row
	}{
		{"sorted, from the first", nil, []row{{0, 50, 5}, {sec, 40, 6}, {3 * sec, 30, 4}, {4 * sec, 48, 7}}},
		{"strict: as it stands", func(s *bench.Spec) { s.Strict = true }, []row{{5 * sec, 30, 4}, {5 * sec, 50, 5}, {5 * sec, 0, 6}, {6 * sec, 48, 7}}},
		{"by the rate", func(s *bench.Spec) { s.Dataset.TimedTrace.SelfTimed = false }, []row{{-1, 30, 4}, {-1, 50, 5}, {-1, 40, 6}, {-1, 48, 7}}},
	} {
		set := must(t, timed(t, timedLines, tc.change), Inputs{Tokenizer: tok})
		var got []row
		for _, r := range set.Requests {
			due := time.Duration(-1)
			if r.Due.Known() {
				due = r.Due.Sub(0)
			}
			got = append(got, row{due, len(r.Prompt.IDs), r.OutputTokens})
			if r.InputTokens != bench.Counted(len(r.Prompt.IDs)) {
				t.Errorf("%s: %d ids are said to be %v tokens", tc.name, len(r.Prompt.IDs), r.InputTokens)
			}
		}
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%s: rows (-want +got):\n%s", tc.name, diff)
		}
		if set.Timed == (tc.name == "by the rate") {
			t.Errorf("%s: timed is %v", tc.name, set.Timed)
		}
	}
	set := must(t, timed(t, timedLines, nil), Inputs{Tokenizer: tok})
	long, last := set.Requests[0].Prompt.IDs, set.Requests[3].Prompt.IDs
	if !slices.Equal(long[:48], last[:48]) || slices.Equal(long[:16], long[16:32]) {
		t.Error("lines of the same blocks differ, or different blocks are the same")
	}
	again := must(t, timed(t, timedLines, nil), Inputs{Tokenizer: tok})
	other := must(t, timed(t, timedLines, func(s *bench.Spec) { s.Seed = 43 }), Inputs{Tokenizer: tok})
	if !slices.Equal(long, again.Requests[0].Prompt.IDs) || slices.Equal(long, other.Requests[0].Prompt.IDs) {
		t.Error("the same seed gives other ids, or another seed the same")
	}
	if notes := strings.Join(set.Notes, "\n"); !strings.Contains(notes, "1 line of the trace has fewer blocks") {
		t.Errorf("notes %q do not tell of the line without blocks", notes)
	}
	chat := must(t, timed(t, timedLines, func(s *bench.Spec) { s.Target.API = bench.APIChat }), Inputs{Tokenizer: tok})
	for i, want := range []int{50, 40, 30, 48} {
		ids, err := tok.Encode(chat.Requests[i].Prompt.Text, true)
		if err != nil || len(ids) != want || chat.Requests[i].InputTokens != bench.Counted(want) {
			t.Errorf("chat: row %d has %d tokens and says %v (%v), want %d", i, len(ids), chat.Requests[i].InputTokens, err, want)
		}
	}
}

func TestTimedTraceRefusals(t *testing.T) {
	for _, tc := range []struct {
		content string
		change  func(*bench.Spec)
		want    string
	}{
		{`{"t":1,"in":5}`, nil, "no out ("},
		{`{"t":1,"in":0,"out":3}`, nil, "in is 0"},
		{`{"t":"x","in":5,"out":3}`, nil, `t is "x"`},
		{`{"t":1,"in":5,"out":3,"blocks":{}}`, nil, "blocks is no list"},
		{`{"t":1,"in":5,"out":3 4}`, nil, "line 1"},
		{timedLines, func(s *bench.Spec) { s.Dataset.TimedTrace.BlockTokens = 0 }, "stands for 0 tokens"},
		{timedLines, func(s *bench.Spec) { s.Dataset.TimedTrace.Seconds = -1 }, "is -1 seconds"},
		{timedLines, func(s *bench.Spec) { s.Strict, s.Target.API = true, bench.APIChat }, "choose a completions backend"},
		{timedLines, func(s *bench.Spec) { s.Dataset.Path = "" }, `"blocks":[1,2]`},
	} {
		if _, err := build(timed(t, tc.content, tc.change), Inputs{Tokenizer: english(0)}); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%.40s: error %v lacks %q", tc.content, err, tc.want)
		}
	}
}

func TestBurstGPTLengths(t *testing.T) {
	content := "Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type\n5,GPT-4,20,9,29,API log\n6,ChatGPT,30,9,39,API log\n9,GPT-4,25,0,25,API log\n11,GPT-4,12,3,15,\"a, b\"\n"
	burst := func(content string, rows int) *bench.Spec {
		return vllmSpec("burstgpt", func(s *bench.Spec) { s.Dataset.Path, s.Dataset.Rows = file(t, "b.csv", content), rows })
	}
	tok := english(1)
	lengths := map[[2]int]bool{}
	set := must(t, burst(content, 2), Inputs{Tokenizer: tok})
	for _, r := range set.Requests {
		ids, err := tok.Encode(r.Prompt.Text, true)
		if err != nil || r.InputTokens != bench.Counted(len(ids)) {
			t.Errorf("a prompt of %d tokens says %v (%v)", len(ids), r.InputTokens, err)
		}
		lengths[[2]int{len(ids), r.OutputTokens}] = true
	}
	if want := map[[2]int]bool{{20, 9}: true, {12, 3}: true}; !cmp.Equal(lengths, want) {
		t.Errorf("lengths %v, want those of GPT-4's answered rows %v", lengths, want)
	}
	if n := len(must(t, burst(content, 7), Inputs{}).Requests); n != 7 {
		t.Errorf("%d requests without a tokenizer of a trace of two rows, want 7", n)
	}
	for content, want := range map[string]string{"a,b\n1,2\n": "its first line", strings.Replace(content, "20,9", "20,x", 1): "line 2", "Timestamp,Model,Request tokens,Response tokens\n": "no usable row",
		strings.Replace(content, "20,9", "-4,9", 1): `"-4" and "9" are no lengths`} {
		if _, err := build(burst(content, 2), Inputs{Tokenizer: tok}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.30q: error %v lacks %q", content, err, want)
		}
	}
}

func TestSpeedBenchOfAFolder(t *testing.T) {
	dir := t.TempDir()
	lines := `{"category":"math","messages":[{"content":"one"}]}
{"category":"coding","messages":[{"content":"two"}]}
{"category":"math","messages":[]}
`
	if err := os.WriteFile(filepath.Join(dir, "qualitative.jsonl"), []byte(lines), 0o600); err != nil {
		t.Fatal(err)
	}
	s := func(change func(*bench.Spec)) *bench.Spec {
		return vllmSpec("speed_bench", func(s *bench.Spec) {
			s.Dataset.Path, s.Dataset.Subset, s.Dataset.Rows, s.Dataset.FixedOutput = dir, "qualitative", 0, 5
			change(s)
		})
	}
	all := must(t, s(func(*bench.Spec) {}), Inputs{})
	math := must(t, s(func(s *bench.Spec) { s.Dataset.Category = "math" }), Inputs{})
	if got := prompts(all); len(got) != 2 || math.Requests[0].Prompt.Text != "one" || len(math.Requests) != 1 || math.Requests[0].OutputTokens != 5 {
		t.Errorf("prompts %q, of math %q; want both, and one of 5 tokens", got, prompts(math))
	}
	if notes := strings.Join(math.Notes, "\n"); strings.Contains(notes, otherCategory) || !strings.Contains(notes, "no messages with a text") {
		t.Errorf("notes = %q, want the broken row and none of another category", notes)
	}
	for change, want := range map[*func(*bench.Spec)]string{
		ptr(func(s *bench.Spec) { s.Dataset.Subset = "other" }):  "other.jsonl does not exist",
		ptr(func(s *bench.Spec) { s.Dataset.Path = "" }):         "needs a folder",
		ptr(func(s *bench.Spec) { s.Dataset.FixedOutput = 0 }):   "output length is 0",
		ptr(func(s *bench.Spec) { s.Dataset.Category = "none" }): "no usable row",
	} {
		if _, err := build(s(*change), Inputs{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v lacks %q", err, want)
		}
	}
}

func ptr[T any](v T) *T { return &v }

func TestRerankAndBatchFaults(t *testing.T) {
	for _, tc := range []struct {
		name   string
		change func(*bench.Spec)
		want   string
	}{
		{"random-rerank", func(s *bench.Spec) { s.Dataset.InputTokens = 3 }, "at least 4"},
		{"random-rerank", func(s *bench.Spec) { s.Dataset.VLLM.Pairs = false }, "--random-batch-size 2"},
		{"random-rerank", func(s *bench.Spec) { s.Target.API = bench.APIChat }, "vllm-rerank"},
		{"random", func(s *bench.Spec) { s.Target.API, s.Dataset.VLLM.BatchSize = bench.APIChat, 2 }, "for embeddings only"},
		{"random-mm", func(s *bench.Spec) {}, "without its images"},
		{"random-mm", func(s *bench.Spec) { s.Dataset.VLLM.Images = &bench.ImageBuckets{Base: 4, Limit: 2} }, "at least 4 images"},
		{"random-mm", func(s *bench.Spec) {
			s.Dataset.VLLM.Images = &bench.ImageBuckets{Base: 1, Limit: 2, Buckets: []bench.ImageBucket{{Height: 4, Width: 4, Frames: 16, Share: 1}}}
		}, "are a video"},
		{"random-mm", func(s *bench.Spec) {
			s.Dataset.VLLM.Images = &bench.ImageBuckets{Base: 1, Limit: 2, Buckets: []bench.ImageBucket{{Height: 0, Width: 4, Frames: 1, Share: 1}}}
		}, "0x4 is no image size"},
		{"random-mm", func(s *bench.Spec) { s.Dataset.VLLM.Images = &bench.ImageBuckets{Base: 1, Limit: 2, RangeRatio: 2} }, "range ratio of the number of images is 2"},
	} {
		s := vllmSpec(tc.name, func(s *bench.Spec) {
			s.Target.API, s.Dataset.VLLM = bench.APIRerank, &bench.VLLMData{Pairs: true}
			tc.change(s)
		})
		if _, err := build(s, Inputs{Tokenizer: english(0)}); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: error %v lacks %q", tc.name, err, tc.want)
		}
	}
}
