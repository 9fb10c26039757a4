package dataset

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/servemark/servemark/internal/bench"
)

func vllmSpec(name string, change func(*bench.Spec)) *bench.Spec {
	return spec(name, func(s *bench.Spec) {
		s.Dialect, s.Seed = bench.DialectVLLM, 0
		s.Dataset.RangeRatio, s.Dataset.VLLM = 0, &bench.VLLMData{}
		if change != nil {
			change(s)
		}
	})
}

func TestVLLMRandomHasExactlyTheAskedTokens(t *testing.T) {
	for _, special := range []int{0, 2} {
		tok := english(special)
		set := must(t, vllmSpec("random", func(s *bench.Spec) { s.Dataset.VLLM.PrefixTokens = 10 }), Inputs{Tokenizer: tok})
		for i, r := range set.Requests {
			if ids, _ := tok.Encode(r.Prompt.Text, true); len(ids) != 74 || r.InputTokens != bench.Counted(74) || r.OutputTokens != 16 {
				t.Errorf("%d special: row %d has %d tokens, says %v, asks for %d; want 10+64 and 16", special, i, len(ids), r.InputTokens, r.OutputTokens)
			}
			if head := set.Requests[0].Prompt.Text[:8]; !strings.HasPrefix(r.Prompt.Text, head) {
				t.Errorf("row %d = %.20q does not begin as row 0: %q", i, r.Prompt.Text, head)
			}
		}
	}
	set := must(t, vllmSpec("random", func(s *bench.Spec) { s.Dataset.RangeRatio, s.Dataset.Rows = 0.5, 300 }), Inputs{Tokenizer: english(0)})
	low, high := 1000, 0
	for _, r := range set.Requests {
		low, high = min(low, r.InputTokens.Or(0)), max(high, r.InputTokens.Or(0))
	}
	if low < 32 || low > 34 || high > 96 || high < 94 {
		t.Errorf("lengths from %d to %d, want 32 to 96: 64·(1±0.5)", low, high)
	}
}

func TestVLLMRandomWithoutTokenizer(t *testing.T) {
	set := must(t, vllmSpec("random", func(s *bench.Spec) { s.Dataset.VLLM.PrefixTokens = 20 }), Inputs{Calibration: Calibration{TokensPerWord: 2}})
	heads := map[string]bool{}
	for i, r := range set.Requests {
		if n := len(strings.Fields(r.Prompt.Text)); n != 42 || r.InputTokens.Known() {
			t.Errorf("row %d has %d words and says %v, want (20+64)/2 and unknown", i, n, r.InputTokens)
		}
		heads[cutWords(r.Prompt.Text, 10)] = true
	}
	if len(heads) != 1 {
		t.Errorf("%d beginnings of 10 words, want the one prefix", len(heads))
	}
}

func TestPrefixRepetition(t *testing.T) {
	tok := english(1)
	set := must(t, vllmSpec("prefix_repetition", func(s *bench.Spec) {
		s.Dataset.Rows, s.Dataset.VLLM = 11, &bench.VLLMData{PrefixTokens: 30, SuffixTokens: 12, Prefixes: 3}
	}), Inputs{Tokenizer: tok})
	heads := map[string]int{}
	for i, r := range set.Requests {
		if ids, _ := tok.Encode(r.Prompt.Text, true); len(ids) != 43 || r.InputTokens != bench.Counted(43) {
			t.Errorf("row %d has %d tokens and says %v, want 30+12 and the opening one", i, len(ids), r.InputTokens)
		}
		heads[r.Prompt.Text[:12]]++
	}
	var sizes []int
	for _, n := range heads {
		sizes = append(sizes, n)
	}
	if !slices.Equal(sizes, []int{3, 3, 3}) || !strings.Contains(strings.Join(set.Notes, "\n"), "11 prompts cannot be dealt evenly to 3 prefixes: 9 are sent") {
		t.Errorf("prompts by beginning = %v with notes %q, want three of three and a note on the two left out", sizes, set.Notes)
	}
}

func TestVLLMCustom(t *testing.T) {
	p := file(t, "c.jsonl", `{"prompt":"ab","output_tokens":5}
{"prompt":"abc"}
{"output_tokens":5}
{"prompt":"abcd","output_tokens":7.0}
`)
	tok := newGreedy(1, "")
	for _, tc := range []struct {
		name   string
		change func(*bench.Spec)
		want   []string
		note   string
	}{
		{"in order", nil, []string{"ab", "abcd"}, `no "output_tokens" of at least 1, and no --custom-output-len for all (line 2)`},
		{"fixed output", func(s *bench.Spec) { s.Dataset.FixedOutput = 9 }, []string{"ab", "abc", "abcd"}, "line 3"},
		{"two", func(s *bench.Spec) { s.Dataset.FixedOutput, s.Dataset.Rows = 9, 2 }, []string{"ab", "abc"}, "line 3"},
		{"template", func(s *bench.Spec) {
			s.Dataset.FixedOutput, s.Dataset.Rows, s.Dataset.ApplyTemplate = 9, 1, true
		}, []string{"<user>ab<assistant>"}, "line 3"},
		{"template, strict", func(s *bench.Spec) {
			s.Dataset.FixedOutput, s.Dataset.Rows, s.Dataset.ApplyTemplate, s.Strict = 9, 1, true, true
		}, []string{"<s><user>ab<assistant>"}, "line 3"},
	} {
		set := must(t, vllmSpec("custom", func(s *bench.Spec) {
			s.Dataset.Path, s.Dataset.Rows, s.Dataset.VLLM.KeepOrder = p, 0, true
			if tc.change != nil {
				tc.change(s)
			}
		}), Inputs{Tokenizer: tok, Template: plainTemplate, BOS: "<s>"})
		got := prompts(set)
		// Rows beyond those of the file are repeats.
		if diff := cmp.Diff(tc.want, got[:min(len(got), len(tc.want))]); diff != "" || !strings.Contains(strings.Join(set.Notes, "\n"), tc.note) {
			t.Errorf("%s: notes %q, prompts (-want +got):\n%s", tc.name, set.Notes, diff)
		}
	}
}

func TestShortVLLMFilesAreRepeatedAndSaySo(t *testing.T) {
	p := file(t, "c.jsonl", `{"prompt":"ab"}`+"\n"+`{"prompt":"cd"}`)
	change := func(s *bench.Spec) { s.Dataset.Path, s.Dataset.Rows, s.Dataset.FixedOutput = p, 6, 3 }
	set := must(t, vllmSpec("custom", change), Inputs{})
	if len(set.Requests) != 6 || !strings.Contains(strings.Join(set.Notes, "\n"), "2 rows for 6 requests (prompts of") {
		t.Errorf("%d requests with notes %q, want 6 and a note on 4 repeats", len(set.Requests), set.Notes)
	}
	short := must(t, vllmSpec("custom", func(s *bench.Spec) { change(s); s.Dataset.VLLM.NoRepeat = true }), Inputs{})
	if len(short.Requests) != 2 || !strings.Contains(strings.Join(short.Notes, "\n"), "6 prompts were asked for") {
		t.Errorf("--no-oversample: %d requests with notes %q, want 2 and a note that they are few", len(short.Requests), short.Notes)
	}
}

func TestVLLMRefusals(t *testing.T) {
	for _, tc := range []struct {
		name   string
		change func(*bench.Spec)
		in     Inputs
		want   []string
	}{
		{"random", func(s *bench.Spec) {
			s.Dataset.RangeRatio, s.Dataset.VLLM.OutputRangeRatio, s.Dataset.VLLM.PrefixTokens, s.Dataset.OutputTokens = 1, -1, -1, -1
		}, Inputs{}, []string{"input range ratio is 1", "output range ratio is -1", "prefix length is -1", "output length is -1"}},
		{"random", func(s *bench.Spec) { s.Dataset.InputTokens = 0 }, Inputs{}, []string{"may leave a prompt with none"}},
		{"random", func(s *bench.Spec) { s.Strict = true }, Inputs{}, []string{"no tokenizer was found"}},
		{"prefix_repetition", func(s *bench.Spec) { s.Dataset.VLLM.Prefixes = 21; s.Dataset.OutputTokens = -1 }, Inputs{}, []string{"0 and 0 tokens", "21 prefixes for 20", "output length is -1", "no tokenizer was found"}},
		{"custom", func(s *bench.Spec) { s.Dataset.ApplyTemplate, s.Dataset.FixedOutput = true, -2 }, Inputs{}, []string{"custom needs a file", "--skip-chat-template", "fixed output length is -2"}},
		{"random-ids", nil, Inputs{}, []string{`no data set "random-ids"`, "prefix_repetition"}},
	} {
		_, err := build(vllmSpec(tc.name, tc.change), tc.in)
		for _, want := range tc.want {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: error %v lacks %q", tc.name, err, want)
			}
		}
	}
}
