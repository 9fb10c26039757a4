package dataset

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/servemark/servemark/internal/bench"
)

func TestRandomTextsHaveExactlyTheAskedTokens(t *testing.T) {
	shareGPT := file(t, "s.json", `[{"conversations":[{"from":"human","value":"the hat and the anchor of Thérèse 東京"},{"from":"gpt","value":"yes"}]},
		{"conversation":[{"from":"gpt","value":"in the orchard it is late"},{"from":"human","value":"no"}]}]`)
	for _, tc := range []struct {
		name    string
		special int
		change  func(*bench.Spec)
	}{
		{"random", 0, nil},
		{"random", 1, nil},
		{"random", 2, func(s *bench.Spec) { s.Dataset.RangeRatio = 0 }},
		{"random", 1, func(s *bench.Spec) { s.Dataset.Path, s.Dataset.Rows = shareGPT, 2 }},
		{"random", 0, func(s *bench.Spec) { s.Dataset.InputTokens = 4000; s.Dataset.Rows = 3 }},
		{"random-ids", 0, nil},
		{"random-ids", 2, func(s *bench.Spec) { s.Dataset.RangeRatio = 0.5 }},
		{"random-ids", 0, func(s *bench.Spec) { s.Dataset.InputTokens = 1 }},
	} {
		tok := english(tc.special)
		s := spec(tc.name, tc.change)
		set := must(t, s, Inputs{Tokenizer: tok})
		rnd, err := NewStreams(s.Seed)
		if err != nil {
			t.Fatal(err)
		}
		want := lengths(rnd.NumPy, s.Dataset.InputTokens, s.Dataset.RangeRatio, s.Dataset.Rows)
		for i, r := range set.Requests {
			ids, err := tok.Encode(r.Prompt.Text, true)
			if err != nil {
				t.Fatal(err)
			}
			if asked := max(want[i], 1+tc.special); len(ids) != asked || r.InputTokens != bench.Counted(asked) {
				t.Errorf("%s with %d special tokens: row %d has %d tokens and says %v, want %d", tc.name, tc.special, i, len(ids), r.InputTokens, asked)
			}
		}
		if tc.name == "random-ids" && s.Dataset.InputTokens > 1 && set.Repaired == 0 {
			t.Errorf("random-ids: no prompt was mended, though decoded bytes never encode to themselves")
		}
	}
}

// oneWay is a tokenizer that does not decode.
type oneWay struct{ *greedy }

func (oneWay) Decode([]uint32, bool) (string, error) {
	return "", fmt.Errorf("there is no way back: %w", errors.ErrUnsupported)
}

func TestExactLengthsWithoutDecoding(t *testing.T) {
	tok := oneWay{english(1)}
	short := file(t, "s.json", `[{"conversations":[{"from":"human","value":"the orchard in 1987 (東京)"},{"from":"gpt","value":"yes"}]}]`)
	for _, change := range []func(*bench.Spec){
		nil,
		func(s *bench.Spec) { s.Dataset.RangeRatio = 0 },
		func(s *bench.Spec) { s.Dataset.Path = short },
	} {
		s := spec("random", change)
		rnd, err := NewStreams(s.Seed)
		if err != nil {
			t.Fatal(err)
		}
		asked := lengths(rnd.NumPy, 64, s.Dataset.RangeRatio, 20)
		for i, r := range must(t, s, Inputs{Tokenizer: tok}).Requests {
			want := max(asked[i], 2)
			if ids, _ := tok.Encode(r.Prompt.Text, true); len(ids) != want || r.InputTokens != bench.Counted(want) {
				t.Errorf("prompt %d has %d tokens and says %v, want %d: %q", i, len(ids), r.InputTokens, want, r.Prompt.Text)
			}
		}
	}
	if _, err := build(spec("random-ids", nil), Inputs{Tokenizer: tok}); err == nil || !strings.Contains(err.Error(), "no way back") {
		t.Errorf("random-ids as text: error %v, want the tokenizer's", err)
	}
}

func TestStrictLeavesTextsAsTheyDecode(t *testing.T) {
	tok := english(1)
	s := spec("random-ids", func(s *bench.Spec) { s.Strict = true })
	ids := must(t, spec("random-ids", func(s *bench.Spec) { s.Dataset.SendIDs = true }), Inputs{Tokenizer: tok})
	strict := must(t, s, Inputs{Tokenizer: tok})
	if strict.Repaired != 0 {
		t.Errorf("strict: %d prompts mended, want 0", strict.Repaired)
	}
	for i, r := range strict.Requests {
		// Ids are sent with the whole length, text with one less for the token the server adds.
		if n := len(ids.Requests[i].Prompt.IDs); n != 64 || r.InputTokens != bench.Counted(63) {
			t.Fatalf("row %d: %d ids and a text of %v tokens, want 64 and 63", i, n, r.InputTokens)
		}
		want, err := tok.Decode(ids.Requests[i].Prompt.IDs[:63], false)
		if err != nil {
			t.Fatal(err)
		}
		if r.Prompt.Text != want {
			t.Errorf("row %d = %q, want its ids decoded: %q", i, r.Prompt.Text, want)
		}
	}
}

func TestSameSeedSamePrompts(t *testing.T) {
	for _, name := range []string{"random", "random-ids"} {
		a := must(t, spec(name, nil), Inputs{Tokenizer: english(0)})
		b := must(t, spec(name, nil), Inputs{Tokenizer: english(0)})
		c := must(t, spec(name, func(s *bench.Spec) { s.Seed = 43 }), Inputs{Tokenizer: english(0)})
		if diff := cmp.Diff(prompts(a), prompts(b)); diff != "" {
			t.Errorf("%s: the same seed gave other prompts:\n%s", name, diff)
		}
		if cmp.Equal(prompts(a), prompts(c)) {
			t.Errorf("%s: seed 43 gave the prompts of seed 42", name)
		}
	}
}

func TestRandomWithoutTokenizer(t *testing.T) {
	set := must(t, spec("random", nil), Inputs{Calibration: Calibration{TokensPerWord: 2, Offset: 4}})
	for i, r := range set.Requests {
		if n := len(strings.Fields(r.Prompt.Text)); n != 30 || r.InputTokens.Known() {
			t.Errorf("row %d has %d words and says %v tokens, want (64−4)/2 = 30 and unknown", i, n, r.InputTokens)
		}
	}
	chat := must(t, spec("random", func(s *bench.Spec) { s.Target.API = bench.APIChat }), Inputs{Calibration: Calibration{TokensPerWord: 2, Offset: 4}})
	if n := len(strings.Fields(chat.Requests[0].Prompt.Text)); n != 32 {
		t.Errorf("chat: %d words, want 32: what the template adds is not part of the asked length", n)
	}
	if !strings.Contains(set.Source, "embedded corpus") {
		t.Errorf("Source = %q, want it to name the embedded corpus", set.Source)
	}
	short := file(t, "s.json", `[{"conversations":[{"from":"human","value":" three little words "},{"from":"gpt","value":"yes"}]}]`)
	few := must(t, spec("random", func(s *bench.Spec) { s.Dataset.Path = short }), Inputs{Calibration: Calibration{TokensPerWord: 8}})
	if got, want := few.Requests[0].Prompt.Text, " three little words   three little words   three little"; got != want {
		t.Errorf("8 words of a three-word text = %q, want %q", got, want)
	}
	if len(few.Requests) != 1 || !strings.Contains(strings.Join(few.Notes, "\n"), "20 prompts were asked for") {
		t.Errorf("a file of one row gave %d requests and notes %q, want 1 and a note that it is short", len(few.Requests), few.Notes)
	}
}

func TestRandomPromptsShareNoBeginning(t *testing.T) {
	set := must(t, spec("random", func(s *bench.Spec) { s.Dataset.Rows = 500 }), Inputs{Tokenizer: english(0)})
	seen := map[string]int{}
	for i, r := range set.Requests {
		head := cutWords(r.Prompt.Text, 24)
		if k, ok := seen[head]; ok {
			t.Errorf("prompts %d and %d begin with the same 24 words: %q", k, i, head)
		}
		seen[head] = i
	}
}

func TestZeroOutputDrawsNothing(t *testing.T) {
	with, without := spec("random-ids", func(s *bench.Spec) { s.Dataset.OutputTokens = 0; s.Dataset.RangeRatio = 0 }), spec("random-ids", func(s *bench.Spec) { s.Dataset.OutputTokens = 1; s.Dataset.RangeRatio = 0 })
	a, b := must(t, with, Inputs{Tokenizer: english(0)}), must(t, without, Inputs{Tokenizer: english(0)})
	if diff := cmp.Diff(prompts(a), prompts(b)); diff != "" {
		t.Errorf("an output length of one value drew from the stream:\n%s", diff)
	}
	if a.Requests[0].OutputTokens != 0 {
		t.Errorf("OutputTokens = %d, want 0", a.Requests[0].OutputTokens)
	}
}

func TestCutWords(t *testing.T) {
	for _, tc := range []struct {
		text string
		n    int
		want string
	}{
		{"one two three", 2, "one two"},
		{" one\n\ntwo three", 2, " one\n\ntwo"},
		{"one two", 2, "one two"},
		{"one two ", 2, "one two"},
		{"one", 5, "one"},
		{"", 1, ""},
	} {
		if got := cutWords(tc.text, tc.n); got != tc.want {
			t.Errorf("cutWords(%q, %d) = %q, want %q", tc.text, tc.n, got, tc.want)
		}
	}
}

func TestCalibrationPromptHasItsWords(t *testing.T) {
	for _, n := range []int{1, 2, 64, 512, 3000} {
		a, b := CalibrationPrompt(n, 0), CalibrationPrompt(n, 1)
		if len(strings.Fields(a)) != n || len(strings.Fields(b)) != n {
			t.Errorf("CalibrationPrompt(%d) has %d and %d words", n, len(strings.Fields(a)), len(strings.Fields(b)))
		}
		if n > 8 && cutWords(a, 8) == cutWords(b, 8) {
			t.Errorf("two variants of %d words begin alike: %q", n, cutWords(a, 8))
		}
	}
}

func TestFit(t *testing.T) {
	c, err := Fit(Point{512, 740}, Point{64, 100})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := c.TokensPerWord, 640.0/448; got != want {
		t.Errorf("Fit slope = %v, want %v", got, want)
	}
	if got := c.Words(740); got != 512 {
		t.Errorf("Words(740) = %d, want 512: the line goes through its points", got)
	}
	if c.Error < 1 || c.Error > 100 {
		t.Errorf("Error = %v tokens at 512 words, want a plausible one", c.Error)
	}
	for _, bad := range [][2]Point{{{64, 100}, {64, 101}}, {{64, 100}, {512, 100}}, {{64, 100}, {512, 50000}}} {
		if c, err := Fit(bad[0], bad[1]); err == nil {
			t.Errorf("Fit(%v, %v) = %v, want an error", bad[0], bad[1], c)
		}
	}
}

func BenchmarkRandom1000x1024(b *testing.B) {
	tok := english(0)
	s := spec("random", func(s *bench.Spec) { s.Dataset.Rows, s.Dataset.InputTokens = 1000, 1024 })
	for b.Loop() {
		if _, err := build(s, Inputs{Tokenizer: tok}); err != nil {
			b.Fatal(err)
		}
	}
}
