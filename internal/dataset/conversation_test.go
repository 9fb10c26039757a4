package dataset

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/servemark/servemark/internal/bench"
	"github.com/servemark/servemark/internal/hub"
)

const broken = `[
 {"id":"good1","conversations":[{"from":"human","value":"How many boxes of tea?"},{"from":"gpt","value":"Forty boxes, by the list."}]},
 {"id":"b1","conversations":null},
 {"id":"b2","conversations":["How many?",{"from":"gpt","value":"Nine of them."}]},
 {"id":"b3"},
 {"id":"b4","conversations":[{"from":"human","value":null},{"from":"gpt","value":"A short answer."}]},
 {"id":"b5","conversations":[{"from":"human"},{"from":"gpt","value":"A short answer."}]},
 [],
 {"id":"b6","conversations":[{"from":"human","value":"alone"}]},
 {"id":"good2","conversations":[{"from":"human","value":"Which clock strikes \"nine\"?"},{"from":"gpt","value":"The harbour clock."}]}
]`

func TestBrokenShareGPTRowsAreNamedAndTheRestIsSent(t *testing.T) {
	p := file(t, "sharegpt.json", broken)
	for _, in := range []Inputs{{}, {Tokenizer: english(0)}} {
		set := must(t, spec("sharegpt", func(s *bench.Spec) { s.Dataset.Path, s.Dataset.Rows = p, 2 }), in)
		got := map[string]bool{}
		for _, text := range prompts(set) {
			got[text] = true
		}
		if want := map[string]bool{"How many boxes of tea?": true, `Which clock strikes "nine"?`: true}; !cmp.Equal(got, want) {
			t.Errorf("prompts = %v, want %v", got, want)
		}
		notes := strings.Join(set.Notes, "\n")
		for _, want := range []string{
			"skipped 7 rows: ",
			`2 × no list of conversations (row 2 id "b1", row 4 id "b3")`,
			`1 × a turn is not an object (row 3 id "b2")`,
			`2 × a turn has no text (row 5 id "b4", row 6 id "b5")`,
			"1 × not a JSON object (row 7)",
			`1 × fewer than two turns (row 8 id "b6")`,
		} {
			if !strings.Contains(notes, want) {
				t.Errorf("notes lack %q:\n%s", want, notes)
			}
		}
	}
}

func TestBrokenCustomLinesAreNamedAndBlankOnesAreSilent(t *testing.T) {
	p := file(t, "custom.jsonl", "\n{\"conversations\": [{\"content\": \"When does the ferry leave?\"}, {\"content\": \"At nine by the clock.\"}]}\n   \n"+
		"{\"conversations\": [{\"content\": \"cut off here\n{\"conversations\": [{\"value\": \"How strong is the wind?\"}, {\"value\": \"Strong.\"}]}")
	set := must(t, spec("custom", func(s *bench.Spec) { s.Dataset.Path, s.Dataset.Rows = p, 2 }), Inputs{Tokenizer: english(0)})
	if len(set.Requests) != 2 {
		t.Errorf("%d requests, want the 2 good lines: %q", len(set.Requests), prompts(set))
	}
	if want := "skipped 1 row: 1 × not valid JSON (" + p + " line 4)"; len(set.Notes) != 1 || set.Notes[0] != want {
		t.Errorf("notes = %q, want only %q", set.Notes, want)
	}
}

func TestPairsByRoleUnlessStrict(t *testing.T) {
	p := file(t, "s.json", `[{"conversations":[{"from":"gpt","value":"first words of the model"},{"from":"human","value":"then a question"},{"from":"gpt","value":"and its answer"}]}]`)
	for _, tc := range []struct {
		strict bool
		want   string
	}{{false, "then a question"}, {true, "first words of the model"}} {
		set := must(t, spec("sharegpt", func(s *bench.Spec) { s.Dataset.Path, s.Dataset.Rows, s.Strict = p, 1, tc.strict }), Inputs{Tokenizer: english(0)})
		if got := set.Requests[0].Prompt.Text; got != tc.want {
			t.Errorf("strict %v: prompt = %q, want %q", tc.strict, got, tc.want)
		}
	}
}

func TestConversationLengths(t *testing.T) {
	tok := newGreedy(1, "")
	// Prompts and replies are one token a letter and one for the opening token.
	p := file(t, "c.jsonl", `{"conversations":[{"content":"aaaaa"},{"content":"bbbbbbbbb"}]}
{"conversations":[{"content":""},{"content":"bb"}]}
{"conversations":[{"content":"aaaa"},{"content":""}]}
{"conversations":[{"content":"aaaaaaaaaa"},{"content":"bbbbbbbbbbbbbbbb"}]}`)
	for _, tc := range []struct {
		name   string
		change func(*bench.Spec)
		want   map[string][2]int // prompt → input and output tokens
	}{
		{"as they are", nil, map[string][2]int{"aaaaa": {6, 10}, "aaaaaaaaaa": {11, 17}}},
		{"fixed output", func(s *bench.Spec) { s.Dataset.FixedOutput = 7 }, map[string][2]int{"aaaaa": {6, 7}, "aaaa": {5, 7}, "aaaaaaaaaa": {11, 7}}},
		{"one token out", func(s *bench.Spec) { s.Dataset.FixedOutput = 1 }, map[string][2]int{"aaaaa": {6, 1}, "aaaa": {5, 1}, "aaaaaaaaaa": {11, 1}}},
		{"context limit", func(s *bench.Spec) { s.Dataset.ContextLimit = 20 }, map[string][2]int{"aaaaa": {6, 10}}},
		{"suffix", func(s *bench.Spec) { s.Dataset.PromptSuffix, s.Dataset.ContextLimit = "!", 30 }, map[string][2]int{"aaaaa!Assistant:": {17, 10}, "!Assistant:": {12, 3}}},
		{"template", func(s *bench.Spec) { s.Dataset.ApplyTemplate, s.Dataset.FixedOutput = true, 4 }, map[string][2]int{
			"<user>aaaaa<assistant>": {23, 4}, "<user><assistant>": {18, 4}, "<user>aaaa<assistant>": {22, 4}, "<user>aaaaaaaaaa<assistant>": {28, 4}}},
	} {
		set := must(t, spec("custom", func(s *bench.Spec) {
			s.Dataset.Path = p
			if tc.change != nil {
				tc.change(s)
			}
		}), Inputs{Tokenizer: tok, Template: plainTemplate, BOS: "<s>"})
		got := map[string][2]int{}
		for _, r := range set.Requests {
			got[r.Prompt.Text] = [2]int{r.InputTokens.Or(-1), r.OutputTokens}
		}
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.name, diff)
		}
	}
}

func TestConversationsAsIDs(t *testing.T) {
	p := file(t, "c.jsonl", `{"conversations":[{"content":"ab"},{"content":"cd"}]}`)
	set := must(t, spec("custom", func(s *bench.Spec) { s.Dataset.Path, s.Dataset.Rows, s.Dataset.SendIDs = p, 1, true }), Inputs{Tokenizer: newGreedy(1, "")})
	if diff := cmp.Diff(bench.Prompt{IDs: []uint32{1 << 20, 'a', 'b'}}, set.Requests[0].Prompt); diff != "" {
		t.Errorf("prompt (-want +got):\n%s", diff)
	}
}

func TestTemplatedTokensAreCountedForChat(t *testing.T) {
	p := file(t, "c.jsonl", `{"conversations":[{"content":"ab"},{"content":"cd"}]}`)
	set := must(t, spec("custom", func(s *bench.Spec) { s.Dataset.Path, s.Dataset.Rows, s.Target.API = p, 1, bench.APIChat }), Inputs{Tokenizer: newGreedy(1, ""), Template: plainTemplate})
	r := set.Requests[0]
	if want := len("<s><user>ab<assistant>"); r.InputTokens != bench.Counted(3) || r.TemplatedTokens != bench.Counted(want) {
		t.Errorf("tokens = %v, templated %v; want 3 and %d", r.InputTokens, r.TemplatedTokens, want)
	}
}

// oneFile is a cache with one file in it.
type oneFile string

func (f oneFile) Cached(repo hub.Repo, name string) (string, bool, error) {
	return string(f), f != "" && repo.Kind == hub.Dataset && name == shareGPTFile, nil
}

func TestShareGPTComesFromTheCacheOrTheHub(t *testing.T) {
	p := oneFile(file(t, "s.json", broken))
	fetch := func(hub.Repo, string) (string, error) { return string(p), nil }
	for name, in := range map[string]Inputs{"cache": {Cache: p}, "hub": {Cache: oneFile(""), Fetch: fetch}} {
		set := must(t, spec("sharegpt", func(s *bench.Spec) { s.Dataset.Rows = 2 }), in)
		if len(set.Requests) != 2 || !strings.Contains(set.Source, string(p)) {
			t.Errorf("%s: %d requests from %q, want 2 from %s", name, len(set.Requests), set.Source, p)
		}
	}
	set := must(t, spec("random", nil), Inputs{Cache: p, Tokenizer: english(0)})
	if !strings.Contains(set.Source, string(p)) {
		t.Errorf("random: Source = %q, want the cached file", set.Source)
	}
	if _, err := build(spec("sharegpt", nil), Inputs{Cache: oneFile("")}); err == nil || !strings.Contains(err.Error(), shareGPTFile) {
		t.Errorf("no file anywhere: error %v, want the name of the file to bring", err)
	}
}

func TestRefusals(t *testing.T) {
	dir := t.TempDir()
	for _, tc := range []struct {
		name    string
		content string // of the file at the path, if any
		change  func(*bench.Spec)
		in      Inputs
		want    []string // parts of the message
	}{
		{name: "tweets", want: []string{`no data set "tweets"`, "sharegpt"}},
		{name: "sharegpt", content: "not json", want: []string{"is not a JSON array"}},
		{name: "sharegpt", content: `{"conversations":[]}`, want: []string{"does not begin with [", "the data set custom"}},
		{name: "sharegpt", content: `[{"conversations":[{"from":"human","value":"a b"},{"from":"gpt","value":"c d"}]}, {"conver`, want: []string{"after 1 row:", "incomplete"}},
		{name: "sharegpt", content: `[1 2]`, want: []string{"where a comma is due"}},
		{name: "sharegpt", content: `[1,]`, want: []string{"where a value is due"}},
		{name: "sharegpt", content: `[] x`, want: []string{"follows the array's end"}},
		{name: "sharegpt", content: `[]`, want: []string{"no usable row"}},
		{name: "sharegpt", content: `[{"conversations":[]}]`, want: []string{"no usable row", "fewer than two turns (row 1)"}},
		{name: "custom", content: "{\n", want: []string{"no usable row", "line 1"}},
		{name: "custom", want: []string{"custom needs a file", `{"conversations"`}},
		{name: "custom", change: func(s *bench.Spec) { s.Dataset.Path = dir }, want: []string{"is a folder"}},
		{name: "random", change: func(s *bench.Spec) { s.Dataset.Path = "no/such.json" }, want: []string{"no/such.json does not exist"}},
		{name: "random", change: func(s *bench.Spec) { s.Strict = true }, in: Inputs{Tokenizer: english(0)}, want: []string{"--strict-compat", shareGPTFile}},
		{name: "random-ids", want: []string{"no tokenizer was found", "--tokenizer"}},
		{name: "random", change: func(s *bench.Spec) { s.Dataset.SendIDs = true }, want: []string{"--tokenize-prompt", "--tokenizer"}},
		{name: "random", change: func(s *bench.Spec) { s.Dataset.SendIDs = true; s.Target.API = bench.APIChat }, in: Inputs{Tokenizer: english(0)}, want: []string{"chat route"}},
		{name: "random", change: func(s *bench.Spec) {
			s.Dataset.Rows, s.Dataset.RangeRatio, s.Dataset.InputTokens, s.Dataset.OutputTokens, s.Seed = 0, 1.5, 0, -1, -1
		}, want: []string{"number of prompts is 0", "range ratio is 1.5", "input length is 0", "output length is -1", "seed -1"}},
		{name: "random", change: func(s *bench.Spec) { s.Dialect, s.Dataset.FixedOutput = bench.DialectNative, 5 }, want: []string{"--sharegpt-output-len means nothing"}},
		{name: "sharegpt", content: broken, change: func(s *bench.Spec) { s.Dataset.ApplyTemplate = true }, want: []string{"--apply-chat-template", "none was found"}},
		{name: "sharegpt", content: broken, change: func(s *bench.Spec) { s.Strict, s.Dataset.FixedOutput = true, 3 }, want: []string{"under 4"}},
		{name: "openai", content: "{}", want: []string{"chat backend"}},
		{name: "openai", want: []string{"openai needs a file", "chat backend"}},
	} {
		set, err := build(spec(tc.name, func(s *bench.Spec) {
			if tc.content != "" {
				s.Dataset.Path = file(t, "data", tc.content)
			}
			if tc.change != nil {
				tc.change(s)
			}
		}), tc.in)
		if err == nil {
			t.Errorf("%s with %q: made %d requests, want a refusal with %q", tc.name, tc.content, len(set.Requests), tc.want)
			continue
		}
		for _, want := range tc.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s with %q: error %q lacks %q", tc.name, tc.content, err, want)
			}
		}
	}
}

func TestInertSettingsAreNotedInTheDialects(t *testing.T) {
	set := must(t, spec("random", func(s *bench.Spec) { s.Dataset.PromptSuffix, s.Dataset.ApplyTemplate = "x", true }), Inputs{Tokenizer: english(0)})
	want := []string{"--prompt-suffix has no effect on the data set random", "--apply-chat-template has no effect on the data set random"}
	if diff := cmp.Diff(want, set.Notes); diff != "" {
		t.Errorf("notes (-want +got):\n%s", diff)
	}
}
