package bench

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestZeroValuesClaimNothing(t *testing.T) {
	var c Count
	if n, known := c.Get(); known {
		t.Errorf("zero Count = %d, known; want unknown", n)
	}
	var m Measure
	if v, ok := m.Get(); ok {
		t.Errorf("zero Measure = %v, measured; want not measured", v)
	}
	r := NewRecord(3)
	for name, at := range map[string]Instant{"Due": r.Due, "Admitted": r.Admitted, "Sent": r.Sent, "Written": r.Written,
		"Header": r.Header, "Done": r.Done, "FirstChunk": r.FirstChunk(), "LastChunk": r.LastChunk(), "FirstAnswer": r.FirstAnswer()} {
		if at.Known() {
			t.Errorf("NewRecord(3).%s = %d, want Never", name, at)
		}
	}
}

func TestCountArithmetic(t *testing.T) {
	for _, tc := range []struct{ a, b, want Count }{
		{Counted(2), Counted(3), Counted(5)},
		{Counted(0), Counted(0), Counted(0)},
		{Unknown, Counted(3), Unknown},
		{Counted(3), Unknown, Unknown},
		{Counted(-1), Counted(1), Unknown},
	} {
		if got := tc.a.Plus(tc.b); got != tc.want {
			t.Errorf("%v.Plus(%v) = %v, want %v", tc.a, tc.b, got, tc.want)
		}
	}
}

func TestRecordSurvivesJSON(t *testing.T) {
	r := NewRecord(7)
	r.Admitted, r.Sent, r.Written, r.Header, r.Done = 10, 20, 30, 40, 99
	r.Chunks = []Chunk{{At: 50, Bytes: 300, Tokens: 2, Channel: ChannelReasoning}, {At: 60, Bytes: 1, Channel: ChannelContent}}
	r.Usage = Usage{Prompt: Counted(9), Completion: Counted(0)}
	r.Status, r.Finish, r.Streamed, r.Retokenized = 200, "length", true, Counted(4)
	r.Fail(FailServer, "first cause")
	r.Fail(FailReset, "second cause")
	b, err := json.Marshal(&r)
	if err != nil {
		t.Fatal(err)
	}
	got := NewRecord(0)
	if err := json.Unmarshal(b, &got); err != nil {
		t.Fatalf("Unmarshal(%s): %v", b, err)
	}
	if diff := cmp.Diff(r, got, cmp.AllowUnexported(Count{})); diff != "" {
		t.Errorf("record changed on its way through JSON (-want +got):\n%s", diff)
	}
	if got.Failure.Message != "first cause" {
		t.Errorf("Failure.Message = %q, want the first cause to stay", got.Failure.Message)
	}
	if at := got.FirstAnswer(); at != 60 {
		t.Errorf("FirstAnswer() = %d, want 60, the first chunk that is not reasoning", at)
	}
}

func TestFingerprintFollowsTheWorkload(t *testing.T) {
	base := func() *Plan {
		return &Plan{Spec: Spec{Load: LoadSpec{Rate: 5}, Target: Target{BaseURL: "http://a", API: APIChat, Stream: true}},
			Requests: []Request{{ID: 0, Due: 5, Prompt: Prompt{Text: "hello"}, OutputTokens: 3}}}
	}
	seal := func(change func(*Plan)) string {
		p := base()
		change(p)
		p.Seal()
		return p.Fingerprint
	}
	same := seal(func(*Plan) {})
	if got := seal(func(p *Plan) { p.Spec.Target.BaseURL, p.Spec.Tag, p.Spec.Load.IdleTimeout = "http://b", "x", 5 }); got != same {
		t.Errorf("fingerprint depends on the address or the tag: %s != %s", got, same)
	}
	for name, change := range map[string]func(*Plan){
		"prompt": func(p *Plan) { p.Requests[0].Prompt.Text = "hallo" },
		"due":    func(p *Plan) { p.Requests[0].Due = 6 },
		"output": func(p *Plan) { p.Requests[0].OutputTokens = 4 },
		"rate":   func(p *Plan) { p.Spec.Load.Rate = 6 },
		"body":   func(p *Plan) { p.Spec.Body.IgnoreEOS = true },
	} {
		if got := seal(change); got == same {
			t.Errorf("fingerprint does not depend on the %s", name)
		}
	}
	timed := func(change func(*Plan)) string {
		return seal(func(p *Plan) { p.Spec.Load.Duration = 9; change(p) })
	}
	if a, b := timed(func(*Plan) {}), timed(func(p *Plan) { p.Requests = append(p.Requests, Request{ID: 1}); p.Spec.Dataset.Rows = 2 }); a != b {
		t.Errorf("fingerprint of a run that time ends depends on how many prompts were made: %s != %s", a, b)
	}
	if a, b := timed(func(*Plan) {}), timed(func(p *Plan) { p.Spec.Seed = 4 }); a == b {
		t.Error("fingerprint of a run that time ends does not depend on the seed")
	}
	p := base()
	p.Seal()
	if q := p.WithoutPrompts(); q.Fingerprint != p.Fingerprint || q.Requests[0].Prompt.Text != "" || p.Requests[0].Prompt.Text == "" {
		t.Errorf("WithoutPrompts() = %+v, want no prompt, the same fingerprint, the original untouched", q)
	}
}
