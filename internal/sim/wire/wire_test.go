package wire

import (
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/servemark/servemark/internal/sim/prose"
)

// nasty are texts that need care inside JSON and across frames.
var nasty = []string{" the", `"`, `\`, "\n", "\r\n\r\n", "data: [DONE]", "é", "河", "😀", "\u2028", "</script>", "\x00", "", "\t\"}]}", " river"}

func replyOf(r *rand.Rand, n int) *Reply {
	a := &Answer{Prompt: []int{1, 2, 3}, Extra: 2, Finish: []string{"stop", "length"}[r.IntN(2)], Think: r.IntN(n + 1)}
	if r.IntN(3) == 0 {
		a.Matched, a.Finish = nasty[r.IntN(len(nasty))], "stop"
	}
	for i := range n {
		a.Pieces = append(a.Pieces, prose.NewPiece(i, nasty[r.IntN(len(nasty))]))
		a.Planned = append(a.Planned, time.Duration(i)*time.Millisecond)
	}
	return &Reply{ID: "id", Model: `m"\`, Answers: []*Answer{a}, Usage: r.IntN(2) == 0, Continuous: r.IntN(2) == 0, ReportCache: r.IntN(2) == 0,
		TokenIDs: r.IntN(2) == 0, Batch: r.IntN(2) == 0, Speculative: r.IntN(2) == 0, Elapsed: func() time.Duration { return 1234567 * time.Microsecond }}
}

// TestFramesCarryTheText writes random answers in every dialect and flavour, cut into random frames: each frame is JSON, and the
// texts in them make the answer's text again.
func TestFramesCarryTheText(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		for _, f := range Flavours {
			c := Chat{Manners: MannersOf(f)}
			for name, d := range map[string]Dialect{"chat": &c, "completion": &Completion{Chat: c}, "generate": &Generate{Incremental: true}, "triton": &Triton{Model: "m"},
				"tgi": &TGIStream{}, "llama": &Llama{Chat: c}} {
				rep := replyOf(r, 1+r.IntN(12))
				a := rep.Answers[0]
				b := NewSSE(r.IntN(2) == 0, r.IntN(2) == 0)
				d.Begin(b, rep, a)
				for from := 0; from < len(a.Pieces); {
					to := from + 1 + r.IntN(3)
					to = min(to, len(a.Pieces))
					d.Tokens(b, rep, a, from, to)
					from = to
				}
				d.Finish(b, rep, a)
				d.End(b, rep)
				if got, want := textIn(t, string(b.Bytes())), a.Text(0, len(a.Pieces)); got != want {
					t.Fatalf("%s %s: text %q, want %q, in %q", f, name, got, want, b.Bytes())
				}
				if whole := d.Whole(rep); !json.Valid(whole) {
					t.Fatalf("%s %s: whole reply %s is not JSON", f, name, whole)
				}
			}
		}
	}
}

// textIn collects every text member of a stream, in order.
func textIn(t *testing.T, stream string) string {
	t.Helper()
	out := ""
	for line := range strings.SplitSeq(strings.ReplaceAll(stream, "\r\n", "\n"), "\n\n") {
		payload, ok := strings.CutPrefix(strings.TrimSuffix(line, " "), "data:")
		if payload = strings.TrimPrefix(payload, " "); !ok || payload == "[DONE]" {
			continue
		}
		var e struct {
			Text    string
			Content string
			Output  string `json:"text_output"`
			Token   struct{ Text string }
			Choices []struct {
				Text  string
				Delta struct {
					Content, Reasoning string
					Reasoning2         string `json:"reasoning_content"`
				}
			}
		}
		if err := json.Unmarshal([]byte(payload), &e); err != nil {
			t.Fatalf("frame %q: %v", payload, err)
		}
		out += e.Text + e.Content + e.Output + e.Token.Text
		for _, c := range e.Choices {
			out += c.Text + c.Delta.Reasoning + c.Delta.Reasoning2 + c.Delta.Content
		}
	}
	return out
}

func TestErrorShapes(t *testing.T) {
	e := Error{Status: 400, Kind: "BadRequestError", Message: "no", Param: "n"}
	for f, want := range map[Flavour]string{
		SGLang:   `{"code":400,"message":"no","object":"error","param":"n","type":"BadRequestError"}`,
		VLLM:     `{"error":{"code":400,"message":"no","param":"n","type":"BadRequestError"}}`,
		LlamaCpp: `{"error":{"code":400,"message":"no","type":"invalid_request_error"}}`,
	} {
		if got, err := json.Marshal(e.Body(f)); err != nil || string(got) != want {
			t.Errorf("%s: %s, %v; want %s", f, got, err, want)
		}
	}
	e.Form = FormBare
	if got, _ := json.Marshal(e.Body(TGI)); string(got) != `{"error":"no","error_type":"validation"}` {
		t.Errorf("bare form: %s", got)
	}
	for _, f := range Flavours {
		b := NewSSE(false, false)
		(&Chat{Manners: MannersOf(f)}).Fail(b, `it "broke"`)
		line, _, _ := strings.Cut(string(b.Bytes()), "\n")
		_, payload, _ := strings.Cut(line, ": ")
		if !json.Valid([]byte(payload)) || !strings.Contains(payload, `it \"broke\"`) {
			t.Errorf("%s: error frame %q", f, b.Bytes())
		}
	}
}
