package dataset

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/servemark/servemark/internal/bench"
)

const traceLines = `{"timestamp": 5300, "input_length": 700, "output_length": 4, "hash_ids": [2, 7]}
{"timestamp": 5000, "input_length": 1300, "hash_ids": [2, 7, 9]}

{"timestamp": 5450, "input_length": 40, "output_length": 6}
{"timestamp": 5150.5, "input_length": 25, "output_length": 5, "hash_ids": [2, 1]}
{"timestamp": 6000, "text_input": "strike nine", "output_length": 7}
`

func mooncake(t *testing.T, content string, change func(*bench.Spec)) *bench.Spec {
	t.Helper()
	return spec("mooncake", func(s *bench.Spec) {
		s.Dataset.Path, s.Dataset.Rows, s.Dataset.Mooncake = file(t, "trace.jsonl", content), 5, &bench.Mooncake{Slowdown: 1, Rounds: 1}
		if change != nil {
			change(s)
		}
	})
}

func TestMooncakeReplaysLengthsTimesAndBlocks(t *testing.T) {
	tok := english(1)
	set := must(t, mooncake(t, traceLines, nil), Inputs{Tokenizer: tok})
	type row struct {
		Due        time.Duration
		In, Out, N int
	}
	var got []row
	for _, r := range set.Requests {
		ids, err := tok.Encode(r.Prompt.Text, true)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, row{r.Due.Sub(0), r.InputTokens.Or(-1), r.OutputTokens, len(ids)})
	}
	ms := time.Millisecond
	nine, _ := tok.Encode("strike nine", true)
	want := []row{{0, 1300, 256, 1300}, {150*ms + ms/2, 25, 5, 25}, {300 * ms, 700, 4, 700}, {450 * ms, 40, 6, 40}, {1000 * ms, len(nine), 7, len(nine)}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
	// Lines 1 and 2 share blocks 2 and 7 but for the first line's end, lines 1 and 3 block 2.
	shared := func(a, b int) int {
		x, y := set.Requests[a].Prompt.Text, set.Requests[b].Prompt.Text
		n := 0
		for n < min(len(x), len(y)) && x[n] == y[n] {
			n++
		}
		ids, _ := tok.Encode(x[:n], false)
		return len(ids)
	}
	for _, tc := range []struct{ a, b, least, most int }{{0, 2, 690, 701}, {0, 1, 20, 26}, {0, 3, 0, 3}} {
		if n := shared(tc.a, tc.b); n < tc.least || n > tc.most {
			t.Errorf("prompts %d and %d begin with %d tokens in common, want %d to %d", tc.a, tc.b, n, tc.least, tc.most)
		}
	}
	notes := strings.Join(set.Notes, "\n")
	if !strings.Contains(notes, "1 line of the trace has no output_length") || !strings.Contains(notes, "1 line of the trace without hash_ids") {
		t.Errorf("notes = %q, want what stands in for missing fields", notes)
	}
}

func TestMooncakeSlowdownIDsAndWords(t *testing.T) {
	set := must(t, mooncake(t, traceLines, func(s *bench.Spec) { s.Dataset.Mooncake.Slowdown, s.Dataset.SendIDs = 2.5, true }), Inputs{Tokenizer: english(1)})
	if r := set.Requests[2]; r.Due != bench.At(750*time.Millisecond) || len(r.Prompt.IDs) != 700 || r.InputTokens != bench.Counted(700) {
		t.Errorf("slowed down, as ids: due %d with %d ids, says %v; want 750 ms and 700", r.Due, len(r.Prompt.IDs), r.InputTokens)
	}
	words := must(t, mooncake(t, traceLines, nil), Inputs{Calibration: Calibration{TokensPerWord: 2}})
	if n := len(strings.Fields(words.Requests[2].Prompt.Text)); n != 350 {
		t.Errorf("without a tokenizer: %d words, want 700/2", n)
	}
	if a, b := cutWords(words.Requests[0].Prompt.Text, 340), cutWords(words.Requests[2].Prompt.Text, 340); a != b {
		t.Errorf("without a tokenizer lines of one block begin differently")
	}
}

func TestMooncakeRefusesWhatItCannotReplay(t *testing.T) {
	for _, tc := range []struct {
		content string
		change  func(*bench.Spec)
		want    []string
	}{
		{`{"timestamp": 0, "input_length": 40, "output_length": 6}
{"timestamp": 20, "input_length": 61, "output_length":27 6, "hash_ids": [0, 2]}`, nil, []string{"trace.jsonl line 2", "another load"}},
		{`{"input_length": 20, "output_length": 4}`, nil, []string{"no timestamp", "line 1"}},
		{`{"timestamp": 1, "input_length": 20, "hash_ids": "x"}`, nil, []string{"hash_ids", "line 1"}},
		{`{"timestamp": 1, "input_length": 1000000000000}`, nil, []string{"longer than any model's context"}},
		{`{"timestamp": 1}`, nil, []string{"neither input_length nor hash_ids"}},
		{traceLines, func(s *bench.Spec) { s.Dataset.Mooncake.Rounds, s.Dataset.SendIDs = 2, true }, []string{"2 rounds", "token ids"}},
		{traceLines, func(s *bench.Spec) { s.Dataset.Mooncake.Rounds, s.Target.API = 2, bench.APIEmbeddings }, []string{"embeddings route"}},
		{traceLines, func(s *bench.Spec) { s.Dataset.Mooncake.Slowdown = -1 }, []string{"slowdown factor is -1"}},
		{traceLines, func(s *bench.Spec) { s.Dataset.Path = "" }, []string{"kvcache-ai/Mooncake"}},
	} {
		_, err := build(mooncake(t, tc.content, tc.change), Inputs{Tokenizer: english(0)})
		for _, want := range tc.want {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%.60q: error %v lacks %q", tc.content, err, want)
			}
		}
	}
}
