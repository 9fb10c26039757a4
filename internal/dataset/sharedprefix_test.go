package dataset

import (
	"math"
	"strings"
	"testing"

	"github.com/servemark/servemark/internal/bench"
)

func sharedPrefix(change func(*bench.Spec)) *bench.Spec {
	return spec("generated-shared-prefix", func(s *bench.Spec) {
		s.Dataset.SharedPrefix = &bench.SharedPrefix{Groups: 4, PromptsPerGroup: 5, SystemTokens: 40, QuestionTokens: 12, OutputTokens: 9, RangeRatio: 1}
		if change != nil {
			change(s)
		}
	})
}

func TestSharedPrefixGroups(t *testing.T) {
	for name, in := range map[string]Inputs{"tokenizer": {Tokenizer: english(1)}, "none": {Calibration: Calibration{TokensPerWord: 2}}} {
		set := must(t, sharedPrefix(nil), in)
		groups := map[string]int{}
		for i, r := range set.Requests {
			system, question, ok := strings.Cut(r.Prompt.Text, "\n\n")
			if !ok || question == "" || r.OutputTokens != 9 {
				t.Errorf("%s: row %d = %q with %d tokens out, want two parts and 9", name, i, r.Prompt.Text, r.OutputTokens)
			}
			if in.Tokenizer == nil && (len(strings.Fields(system)) != 20 || len(strings.Fields(question)) != 6 || r.InputTokens.Known()) {
				t.Errorf("%s: row %d = %q says %v tokens; want 20 and 6 words at 2 tokens a word, and unknown", name, i, r.Prompt.Text, r.InputTokens)
			}
			groups[system]++
		}
		for system, n := range groups {
			if n != 5 || len(groups) != 4 {
				t.Errorf("%s: the shared part %.20q stands before %d prompts and there are %d parts, want 5 and 4", name, system, n, len(groups))
			}
		}
	}
}

func TestSharedPrefixZipfSharesByRank(t *testing.T) {
	set := must(t, sharedPrefix(func(s *bench.Spec) {
		s.Dataset.SharedPrefix.PromptsPerGroup, s.Dataset.SharedPrefix.ZipfAlpha = 1000, 1
	}), Inputs{})
	groups := map[string]int{}
	for _, r := range set.Requests {
		system, _, _ := strings.Cut(r.Prompt.Text, "\n\n")
		groups[system]++
	}
	most := 0
	for _, n := range groups {
		most = max(most, n)
	}
	// The first of four ranks has 1/(1+1/2+1/3+1/4) = 48 % of 4,000 prompts; one standard deviation is 32.
	if want := 4000 * 0.48; math.Abs(float64(most)-want) > 130 {
		t.Errorf("the commonest shared part has %d prompts, want about %v", most, want)
	}
}

func TestSharedPrefixFaults(t *testing.T) {
	_, err := build(sharedPrefix(func(s *bench.Spec) {
		*s.Dataset.SharedPrefix = bench.SharedPrefix{RangeRatio: 2, ZipfAlpha: math.NaN(), OutputTokens: -1}
		s.Strict = true
	}), Inputs{})
	if err == nil {
		t.Fatal("a shared prefix of nothing was made")
	}
	for _, want := range []string{"number of groups is 0", "prompts per group is 0", "shared part's length is 0", "question's length is 0", "output length is -1", "range ratio is 2", "zipf exponent is NaN", "--tokenizer"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("error lacks %q:\n%v", want, err)
		}
	}
}
