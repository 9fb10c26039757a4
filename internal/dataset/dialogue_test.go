package dataset

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/servemark/servemark/internal/bench"
)

// said plays a set through with answers "A0", "A1" … and returns the prompts as they would be asked, "" before a new conversation.
func said(t *testing.T, set *bench.Plan) []string {
	t.Helper()
	next, err := set.Turns()
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for i := range set.Requests {
		if set.Requests[i].After != nil {
			continue
		}
		var c bench.Conversation
		out = append(out, "")
		for k := i; k >= 0; k = next[k] {
			r, err := c.Ask(&set.Requests[k])
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, r.Prompt.Text+string(r.Prompt.Messages))
			c.Answer("A" + string(rune('0'+len(out)-2)))
		}
	}
	return out
}

func TestSharedPrefixTurnsOnAChatRoute(t *testing.T) {
	s := sharedPrefix(func(s *bench.Spec) {
		s.Target.API = bench.APIChat
		*s.Dataset.SharedPrefix = bench.SharedPrefix{Groups: 2, PromptsPerGroup: 2, SystemTokens: 20, QuestionTokens: 4, OutputTokens: 9, RangeRatio: 1, Turns: 3, RoutingKey: true}
		s.Dataset.ThinkTime = time.Second
		s.Dataset.Rows = 4
	})
	set := must(t, s, Inputs{Tokenizer: english(1), Template: plainTemplate})
	if len(set.Requests) != 12 || len(set.Notes) != 0 {
		t.Fatalf("%d requests, notes %q; want 4 conversations of 3 turns and no note", len(set.Requests), set.Notes)
	}
	systems := map[string]string{}
	for i, r := range set.Requests {
		if r.OutputTokens != 9 || r.Due.Known() {
			t.Errorf("turn %d asks for %d tokens, due %v; want 9 and never", i, r.OutputTokens, r.Due)
		}
		if i%3 > 0 {
			if r.After == nil || *r.After != (bench.After{Request: i - 1, Gap: time.Second}) || r.InputTokens.Known() {
				t.Errorf("turn %d: after %+v with %v tokens, want after %d + 1 s and unknown", i, r.After, r.InputTokens, i-1)
			}
			continue
		}
		var messages []struct{ Role, Content string }
		if err := json.Unmarshal(r.Prompt.Messages, &messages); err != nil || len(messages) != 1 {
			t.Fatalf("turn %d: %s: %v", i, r.Prompt.Messages, err)
		}
		system, _, ok := strings.Cut(messages[0].Content, "\n\n")
		if !ok || r.After != nil || r.InputTokens.Or(0) < 24 || r.TemplatedTokens.Or(0) <= r.InputTokens.Or(0) {
			t.Errorf("turn %d = %q after %v with %v, %v tokens; want a shared part and a question that begin a conversation, counted", i, messages, r.After, r.InputTokens, r.TemplatedTokens)
		}
		if key, ok := systems[system]; ok && key != r.RoutingKey || r.RoutingKey == "" {
			t.Errorf("turn %d has routing key %q, want its group's %q", i, r.RoutingKey, key)
		}
		systems[system] = r.RoutingKey
	}
	if len(systems) != 2 {
		t.Errorf("%d shared parts, want 2", len(systems))
	}
}

func TestDialogueOnATextRoute(t *testing.T) {
	ask := func(in Inputs) []string {
		j := &job{spec: &bench.Spec{Target: bench.Target{API: bench.APICompletions}}, in: &in, set: &Set{}}
		turns, err := j.dialogue([]string{"one", "two", "three"})
		if err != nil {
			t.Fatal(err)
		}
		j.addConversation(turns)
		return said(t, &bench.Plan{Requests: j.set.Requests})
	}
	unstable := func(messages json.RawMessage, generate bool) (string, error) { // drops what came before
		var list []struct{ Role, Content string }
		if err := json.Unmarshal(messages, &list); err != nil {
			return "", err
		}
		return list[len(list)-1].Content, nil
	}
	lines := []string{"", "user: one\nassistant:", "user: one\nassistant:A0\nuser: two\nassistant:", "user: one\nassistant:A0\nuser: two\nassistant:A1\nuser: three\nassistant:"}
	for name, tc := range map[string]struct {
		in   Inputs
		want []string
	}{
		"template": {Inputs{Template: plainTemplate, BOS: "<s>"}, []string{"", "<user>one<assistant>", "<user>one<assistant>A0<user>two<assistant>",
			"<user>one<assistant>A0<user>two<assistant>A1<user>three<assistant>"}},
		"none":     {Inputs{}, lines},
		"unstable": {Inputs{Template: unstable}, lines},
		"refusing": {Inputs{Template: func(json.RawMessage, bool) (string, error) { return "", errors.New("no") }}, lines},
	} {
		if diff := cmp.Diff(tc.want, ask(tc.in)); diff != "" {
			t.Errorf("%s: prompts (-want +got):\n%s", name, diff)
		}
	}
}

func TestMooncakeRoundsFollowAnswers(t *testing.T) {
	for _, api := range []bench.API{bench.APIChat, bench.APICompletions} {
		set := must(t, mooncake(t, traceLines, func(s *bench.Spec) { s.Dataset.Mooncake.Rounds, s.Target.API = 3, api }), Inputs{Tokenizer: english(1)})
		if len(set.Requests) != 15 {
			t.Fatalf("%s: %d requests, want 5 lines of 3 rounds", api, len(set.Requests))
		}
		got := said(t, &bench.Plan{Requests: set.Requests})
		for i := 0; i < len(got); i += 4 {
			for k := 2; k < 4; k++ {
				if asked := got[i+k]; !strings.Contains(asked, "Round "+string(rune('0'+k))) || !strings.Contains(asked, "A"+string(rune('0'+i+k-2))) || len(asked) <= len(got[i+k-1]) {
					t.Errorf("%s: round %d of line %d lacks what was said before: %.80q", api, k, i/4, asked)
				}
			}
		}
		for i, r := range set.Requests {
			if (i%3 == 0) != r.Due.Known() || i%3 == 0 && !r.InputTokens.Known() {
				t.Errorf("%s: request %d due %v with %v tokens; want first rounds due and counted, no others", api, i, r.Due, r.InputTokens)
			}
		}
		if first := set.Requests[0]; first.InputTokens != bench.Counted(1300) || first.OutputTokens != 256 || set.Requests[2].OutputTokens != 256 {
			t.Errorf("%s: the first line has %v tokens in, %d out, its third round %d; want 1300, 256, 256", api, first.InputTokens, first.OutputTokens, set.Requests[2].OutputTokens)
		}
	}
}

func TestStrictConversationsAskForUsage(t *testing.T) {
	for _, tc := range []struct{ extra, want string }{
		{"", `{"stream_options":{"include_usage":true}}`},
		{`{"a":1,"stream_options":{"x":2}}`, `{"stream_options":{"x":2,"include_usage":true}}`},
		{`{"stream_options":{"include_usage":false}}`, `{"stream_options":{"include_usage":false}}`},
	} {
		s := &bench.Spec{Strict: true, Target: bench.Target{API: bench.APIChat, Stream: true}, Body: bench.BodySpec{Extra: json.RawMessage(tc.extra)}}
		j := &job{spec: s, in: &Inputs{}}
		if got := string(j.usageOptions()); got != tc.want {
			t.Errorf("usageOptions beside %s = %s, want %s", tc.extra, got, tc.want)
		}
		if s.Target.Stream = false; j.usageOptions() != nil {
			t.Error("usage is asked for of a reply that does not stream")
		}
	}
}
