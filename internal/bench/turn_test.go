package bench

import (
	"strings"
	"testing"
)

func TestConversationJoinsTurnsAndAnswers(t *testing.T) {
	var c Conversation
	ask := func(messages string) string {
		r, err := c.Ask(&Request{Prompt: Prompt{Messages: []byte(messages)}})
		if err != nil {
			t.Fatal(err)
		}
		return string(r.Prompt.Messages)
	}
	first := ask(` [{"role":"system","content":"Be brief."},{"role":"user","content":"Hi"}] `)
	c.Answer("a <b> \"c\"\n\u2028")
	second := ask(`[{"role":"user","content":"And?"}]`)
	if want := `[{"role":"system","content":"Be brief."},{"role":"user","content":"Hi"}]`; first != want {
		t.Errorf("first turn = %s, want %s", first, want)
	}
	want := `[{"role":"system","content":"Be brief."},{"role":"user","content":"Hi"},` +
		`{"role":"assistant","content":"a <b> \"c\"\n\u2028"},{"role":"user","content":"And?"}]`
	if second != want {
		t.Errorf("second turn = %s, want %s", second, want)
	}
	if _, err := c.Ask(&Request{Prompt: Prompt{Messages: []byte(`{}`)}}); err == nil {
		t.Error("an object was taken for messages")
	}
}

func TestConversationOfTexts(t *testing.T) {
	var c Conversation
	first := Request{ID: 3, OutputTokens: 7, Prompt: Prompt{Text: "user: Hi\nassistant: "}}
	if got, err := c.Ask(&first); err != nil || got.Prompt.Text != first.Prompt.Text || got.OutputTokens != 7 || got.ID != 3 {
		t.Errorf("Ask(first) = %+v, %v; want it unchanged", got, err)
	}
	c.Answer("Hello")
	got, err := c.Ask(&Request{Prompt: Prompt{Text: "\nuser: And?\nassistant: "}})
	if want := "user: Hi\nassistant: Hello\nuser: And?\nassistant: "; err != nil || got.Prompt.Text != want {
		t.Errorf("Ask(second) = %q, %v; want %q", got.Prompt.Text, err, want)
	}
}

func TestTurnsKeepsTheLaw(t *testing.T) {
	text, chat, ids := Prompt{Text: "a"}, Prompt{Messages: []byte(`[]`)}, Prompt{IDs: []uint32{1}}
	for _, tc := range []struct {
		requests []Request
		want     []int
		err      string
	}{
		{[]Request{{Prompt: text}, {Prompt: text, After: &After{Request: 0}}, {Prompt: chat}, {Prompt: text, After: &After{Request: 1}}}, []int{1, 3, -1, -1}, ""},
		{[]Request{{Prompt: text}, {Prompt: text, After: &After{Request: 1}}}, nil, "does not come before"},
		{[]Request{{Prompt: text}, {Prompt: text, After: &After{Request: -1}}}, nil, "does not come before"},
		{[]Request{{Prompt: text}, {Prompt: text, After: &After{}}, {Prompt: text, After: &After{}}}, nil, "both follow"},
		{[]Request{{Prompt: text}, {Prompt: chat, After: &After{}}}, nil, "do not join"},
		{[]Request{{Prompt: ids}, {Prompt: text, After: &After{}}}, nil, "do not join"},
	} {
		got, err := (&Plan{Requests: tc.requests}).Turns()
		if tc.err != "" {
			if err == nil || !strings.Contains(err.Error(), tc.err) {
				t.Errorf("Turns(%+v) = %v, %v; want an error with %q", tc.requests, got, err, tc.err)
			}
			continue
		}
		if err != nil || len(got) != len(tc.want) {
			t.Errorf("Turns(%+v) = %v, %v; want %v", tc.requests, got, err, tc.want)
			continue
		}
		for i := range got {
			if got[i] != tc.want[i] {
				t.Errorf("Turns(%+v) = %v, want %v", tc.requests, got, tc.want)
			}
		}
	}
}
