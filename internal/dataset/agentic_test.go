package dataset

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/servemark/servemark/internal/bench"
)

const agenticFile = `{"metadata": {"conversations": [1], "n": 3}, "conversations": [
 [{"messages": [{"role":"system","content":"S"},{"role":"user","content":"one","name":"x"}], "prompt_tokens": 11},
  {"messages": [], "prompt_tokens": 5},
  {"messages": [{"role":"tool","tool_call_id":"7","content":[{"type":"text","text":"two"}]}], "prompt_tokens": 15},
  {"messages": [{"role":"user","content":"three"}]}],
 [{"messages": []}],
 [{"messages": [{"role":"user","content":"lone"}], "prompt_tokens": 3}]
], "tail": []}`

func agentic(t *testing.T, content string, change func(*bench.Spec)) *bench.Spec {
	t.Helper()
	return spec("agentic-trace", func(s *bench.Spec) {
		s.Dataset.Path, s.Dataset.Rows, s.Target.API = file(t, "trace.json", content), 0, bench.APIChat
		if change != nil {
			change(s)
		}
	})
}

func TestAgenticTraceReplaysConversations(t *testing.T) {
	first := []string{"", `[{"role":"system","content":"S"},{"role":"user","content":"one"}]`,
		`[{"role":"system","content":"S"},{"role":"user","content":"one"},{"role":"assistant","content":"A0"},{"role":"tool","content":[{"type":"text","text":"two"}]}]`,
		`[{"role":"system","content":"S"},{"role":"user","content":"one"},{"role":"assistant","content":"A0"},{"role":"tool","content":[{"type":"text","text":"two"}]},{"role":"assistant","content":"A1"},{"role":"user","content":"three"}]`}
	lone := []string{"", `[{"role":"user","content":"lone"}]`}
	for _, tc := range []struct {
		name   string
		change func(*bench.Spec)
		want   []string
		output int
	}{
		{"all", nil, append(append([]string{}, first...), lone...), 220},
		{"one", func(s *bench.Spec) { s.Dataset.Rows, s.Dataset.FixedOutput = 1, 5 }, first, 5},
		{"from the third, two turns each", func(s *bench.Spec) { s.Dataset.Agentic = &bench.AgenticTrace{Offset: 5, MaxTurns: 2} },
			append(append([]string{}, lone...), first[:3]...), 220},
	} {
		set := must(t, agentic(t, agenticFile, tc.change), Inputs{})
		got := said(t, &bench.Plan{Requests: set.Requests})
		if tc.name != "all" { // answers are numbered through
			for i := range got {
				got[i] = strings.NewReplacer("A2", "A0", "A3", "A1").Replace(got[i])
			}
		}
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%s: prompts (-want +got):\n%s", tc.name, diff)
		}
		if r := set.Requests[len(set.Requests)-1]; r.OutputTokens != tc.output {
			t.Errorf("%s: output limit %d, want %d", tc.name, r.OutputTokens, tc.output)
		}
		if notes := strings.Join(set.Notes, "\n"); tc.name != "one" && !strings.Contains(notes, "no turn with messages (conversation 2)") {
			t.Errorf("%s: notes %q do not tell of the empty conversation", tc.name, notes)
		}
	}
}

func TestAgenticTraceCountsItsFirstTurn(t *testing.T) {
	for strict, want := range map[bool]int{true: 11, false: len("<s><system>S<user>one<assistant>")} {
		set := must(t, agentic(t, agenticFile, func(s *bench.Spec) { s.Strict = strict }), Inputs{Tokenizer: newGreedy(0, ""), Template: plainTemplate})
		if got := set.Requests[0].InputTokens; got != bench.Counted(want) || set.Requests[1].InputTokens.Known() {
			t.Errorf("strict %v: input tokens %v, then %v; want %d, then unknown", strict, got, set.Requests[1].InputTokens, want)
		}
	}
}

func TestAgenticTraceRefusals(t *testing.T) {
	for _, tc := range []struct {
		content string
		change  func(*bench.Spec)
		want    string
	}{
		{`{"conversations": [[{"messages":[{"role":"user"}]}]]}`, nil, "conversation 1: turn 1: message 1 has no role or no content"},
		{`{"conversations": []}`, nil, "missing or empty"},
		{`{"conversations": 3}`, nil, "no list"},
		{`[1]`, nil, "not a JSON object"},
		{`{"conversations": [[{"messages":[`, nil, "ends in the middle"},
		{agenticFile, func(s *bench.Spec) { s.Target.API = bench.APICompletions }, "choose a chat backend"},
		{agenticFile, func(s *bench.Spec) { s.Dataset.Agentic = &bench.AgenticTrace{Offset: -1} }, "offset is -1"},
		{agenticFile, func(s *bench.Spec) { s.Dataset.Agentic = &bench.AgenticTrace{MaxTurns: -2} }, "most turns are -2"},
		{agenticFile, func(s *bench.Spec) { s.Dataset.Path = "" }, "needs a file"},
	} {
		if _, err := build(agentic(t, tc.content, tc.change), Inputs{}); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%.50s: error %v lacks %q", tc.content, err, tc.want)
		}
	}
}
