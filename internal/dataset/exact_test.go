package dataset

import (
	"testing"

	"github.com/servemark/servemark/internal/bench"
)

// TestExactLengthsWithRealTokenizers: whatever is drawn, a text of the asked number of tokens is found.
func TestExactLengthsWithRealTokenizers(t *testing.T) {
	corpus := file(t, "sharegpt_small.json", string(unzip(t, "testdata/seed_parity/sharegpt_small.json.gz")))
	for name, tok := range tokenizers(t, "gpt2", "smollm2", "qwen3", "mistral_v3", "bert_minilm", "llama3_1") {
		for _, set := range []string{"random", "random-ids", "corpus"} {
			s := spec("random-ids", func(s *bench.Spec) {
				s.Dataset.Rows, s.Dataset.InputTokens, s.Dataset.RangeRatio = 40, 300, 0
				if set != "random-ids" {
					s.Dataset.Name = "random"
				}
				if set == "corpus" {
					s.Dataset.Path = corpus
				}
			})
			made := must(t, s, Inputs{Tokenizer: tok})
			rnd, err := NewStreams(s.Seed)
			if err != nil {
				t.Fatal(err)
			}
			asked := lengths(rnd.NumPy, 300, 0, 40)
			for i, r := range made.Requests {
				want := max(asked[i], 1+tok.NumSpecial())
				if n, err := tok.Count(r.Prompt.Text, true); err != nil || n != want || r.InputTokens != bench.Counted(want) {
					t.Errorf("%s, %s: prompt %d has %d tokens (%v) and says %v, want %d: %.200q", name, set, i, n, err, r.InputTokens, want, r.Prompt.Text)
				}
			}
			t.Logf("%s, %s: %d of %d mended %q", name, set, made.Repaired, len(made.Requests), made.Notes)
		}
	}
}
