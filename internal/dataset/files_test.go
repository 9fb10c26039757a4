package dataset

import (
	"errors"
	"strings"
	"testing"

	"github.com/servemark/servemark/internal/bench"
	"github.com/servemark/servemark/internal/hub"
)

const longBenchRow = `{"context":"Long.","question":"What?","choice_A":"a","choice_B":"b","choice_C":"c","choice_D":"d","answer":"A"}`

func TestLongBenchReadsLinesAndArrays(t *testing.T) {
	want := "Long.\n\nQuestion: What?\nA. a\nB. b\nC. c\nD. d\nAnswer:"
	for name, content := range map[string]string{
		"lines": longBenchRow + "\n{\"context\":\"no question\"}\n", "array": " [" + longBenchRow + ", {\"context\":\"no question\"}]",
	} {
		set := must(t, spec("longbench_v2", func(s *bench.Spec) { s.Dataset.Path, s.Dataset.Rows = file(t, name, content), 1 }), Inputs{Tokenizer: english(1)})
		if r := set.Requests[0]; r.Prompt.Text != want || r.OutputTokens != 10 || !r.InputTokens.Known() {
			t.Errorf("%s: %q, %d tokens out, %v in; want %q, 10, known", name, r.Prompt.Text, r.OutputTokens, r.InputTokens, want)
		}
		if notes := strings.Join(set.Notes, "\n"); !strings.Contains(notes, "no text question") {
			t.Errorf("%s: notes %q do not tell of the row without a question", name, notes)
		}
	}
	_, err := build(spec("longbench_v2", func(s *bench.Spec) { s.Dataset.Path, s.Dataset.ContextLimit = file(t, "f", longBenchRow), 12 }), Inputs{Tokenizer: english(1)})
	if err == nil || !strings.Contains(err.Error(), "exceed the context limit") {
		t.Errorf("a prompt over the context limit: %v", err)
	}
}

// TestPublishedFilesAreFetchedOrAskedFor: a file that is not named comes from the cache, else through Fetch; where neither
// has it the error says which file to bring.
func TestPublishedFilesAreFetchedOrAskedFor(t *testing.T) {
	for _, tc := range []struct{ name, repo, file, content string }{
		{"longbench_v2", "THUDM/LongBench-v2", "data.json", "[" + longBenchRow + "]"},
		{"sharegpt", "anon8231489123/ShareGPT_Vicuna_unfiltered", "ShareGPT_V3_unfiltered_cleaned_split.json",
			`[{"conversations":[{"from":"human","value":"Say a few words."},{"from":"gpt","value":"Here are a few."}]}]`},
	} {
		s := spec(tc.name, func(s *bench.Spec) { s.Dataset.Rows = 1 })
		if _, err := build(s, Inputs{}); err == nil || !strings.Contains(err.Error(), tc.file) || !strings.Contains(err.Error(), "--dataset-path") {
			t.Errorf("%s without a way to fetch: error %v lacks the file to bring", tc.name, err)
		}
		fetched := ""
		in := Inputs{Tokenizer: english(0), Fetch: func(repo hub.Repo, name string) (string, error) {
			fetched = repo.ID + " " + name
			if repo.Kind != hub.Dataset {
				t.Errorf("%s is fetched as a %v", tc.name, repo.Kind)
			}
			return file(t, name, tc.content), nil
		}}
		if set := must(t, s, in); len(set.Requests) != 1 || fetched != tc.repo+" "+tc.file {
			t.Errorf("%s: %d requests of %q, want 1 of %s %s", tc.name, len(set.Requests), fetched, tc.repo, tc.file)
		}
		in.Fetch = func(hub.Repo, string) (string, error) { return "", errors.New("the network is down") }
		if _, err := build(s, in); err == nil || !strings.Contains(err.Error(), "the network is down") || !strings.Contains(err.Error(), tc.file) {
			t.Errorf("%s: error %v lacks the cause and the file to bring", tc.name, err)
		}
	}
}

func TestSpeedBenchPromptsOnEachRoute(t *testing.T) {
	lines := `{"category":"mixed","turns":["one","two"]}
{"category":"low_entropy","turns":["three"]}
{"category":"mixed","turns":[]}
`
	for _, tc := range []struct {
		api    bench.API
		strict bool
		want   string
	}{
		{bench.APIChat, false, "one"}, {bench.APICompletions, false, "<user>one<assistant>"}, {bench.APICompletions, true, "<s><user>one<assistant>"},
	} {
		s := spec("speed-bench", func(s *bench.Spec) {
			s.Target.API, s.Strict = tc.api, tc.strict
			s.Dataset.Path, s.Dataset.Rows, s.Dataset.Category = file(t, "s.jsonl", lines), 3, "mixed"
		})
		set := must(t, s, Inputs{Tokenizer: newGreedy(0, ""), Template: plainTemplate, BOS: "<s>"})
		for i, got := range prompts(set) {
			if got != tc.want || set.Requests[i].OutputTokens != 512 {
				t.Errorf("%s, strict %v: row %d = %q with %d tokens, want %q and 512", tc.api, tc.strict, i, got, set.Requests[i].OutputTokens, tc.want)
			}
		}
		if notes := strings.Join(set.Notes, "\n"); !strings.Contains(notes, "1 row for 3 requests (mixed prompts of") || !strings.Contains(notes, "no turns") {
			t.Errorf("notes = %q, want repeated rows and the empty one", notes)
		}
	}
	_, err := build(spec("speed-bench", func(s *bench.Spec) { s.Dataset.Path, s.Dataset.Category = file(t, "s", lines), "all" }), Inputs{})
	if err == nil || !strings.Contains(err.Error(), `no category "all"`) {
		t.Errorf("category all: %v", err)
	}
}
