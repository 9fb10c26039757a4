package wire

import (
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"
)

// responseEvent is the union of the events' members.
type responseEvent struct {
	Type     string
	Number   int    `json:"sequence_number"`
	Output   *int   `json:"output_index"`
	Content  *int   `json:"content_index"`
	ItemID   string `json:"item_id"`
	Delta    string
	Text     string
	Args     string `json:"arguments"`
	Item     responseItem
	Response struct {
		ID, Status string
		Output     []responseItem
		Usage      *struct {
			Output int `json:"output_tokens"`
			Total  int `json:"total_tokens"`
		}
	}
}

type responseItem struct {
	ID, Type, Status, Arguments string
	Content                     []struct{ Type, Text string }
}

func (it responseItem) said() string {
	out := it.Arguments
	for _, c := range it.Content {
		out += c.Text
	}
	return out
}

// TestResponsesEvents writes random answers cut into random frames: numbers are dense, every item opens before its text and closes
// once, its end repeats its deltas, and the last event holds the items that streamed.
func TestResponsesEvents(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for round := range 400 {
		f := []Flavour{SGLang, VLLM}[round%2]
		rep := replyOf(r, 1+r.IntN(12))
		rep.ID = "resp_1234"
		a := rep.Answers[0]
		if r.IntN(4) == 0 {
			a.Tool, a.Think = &ToolCall{ID: "call_1", Name: `f"x`}, 0
		}
		d := &Responses{Manners: MannersOf(f), Summary: f == SGLang && r.IntN(3) == 0}
		b := NewSSE(false, false)
		d.Open(b, rep)
		d.Begin(b, rep, a)
		for from := 0; from < len(a.Pieces); {
			to := min(from+1+r.IntN(3), len(a.Pieces))
			d.Tokens(b, rep, a, from, to)
			from = to
		}
		d.Finish(b, rep, a)
		d.End(b, rep)
		checkResponse(t, f, a, string(b.Bytes()), d.Whole(rep))
	}
}

func checkResponse(t *testing.T, f Flavour, a *Answer, stream string, whole []byte) {
	t.Helper()
	var last responseEvent
	var said strings.Builder
	items, open, now := []responseItem{}, "", ""
	for n, frame := range strings.Split(strings.TrimSuffix(stream, "\n\n"), "\n\n") {
		name, payload, _ := strings.Cut(frame, "\ndata: ")
		var e responseEvent
		if err := json.Unmarshal([]byte(payload), &e); err != nil || e.Number != n || name != "event: "+e.Type {
			t.Fatalf("%s: event %d is %q: %v", f, n, frame, err)
		}
		last = e
		switch kind := strings.TrimPrefix(e.Type, "response."); {
		case kind == "output_item.added":
			if open != "" || *e.Output != len(items) || e.Item.Status != "in_progress" || e.Item.said() != "" {
				t.Fatalf("%s: item opens with %q in %q open", f, payload, open)
			}
			open, now = e.Item.ID, ""
		case strings.HasSuffix(kind, ".delta"):
			now += e.Delta
			said.WriteString(e.Delta)
		case kind == "output_item.done":
			if e.Item.ID != open || e.Item.said() != now || e.Item.Status != "completed" {
				t.Fatalf("%s: item ends with %q, its deltas were %q", f, payload, now)
			}
			items, open = append(items, e.Item), ""
		case strings.HasSuffix(kind, "text.done") || kind == "function_call_arguments.done":
			if e.Text+e.Args != now || e.ItemID != open {
				t.Fatalf("%s: %q does not repeat %q", f, payload, now)
			}
		}
		if e.ItemID != "" && (e.ItemID != open && !strings.HasSuffix(e.Type, "item.done") || *e.Output != len(items)) {
			t.Fatalf("%s: %q while item %d, %q, is open", f, payload, len(items), open)
		}
	}
	if got, want := said.String(), a.Text(0, len(a.Pieces)); got != want {
		t.Fatalf("%s: deltas say %q, want %q", f, got, want)
	}
	checkLast(t, f, a, last, items, whole)
}

func checkLast(t *testing.T, f Flavour, a *Answer, last responseEvent, items []responseItem, whole []byte) {
	t.Helper()
	status := map[string]string{"stop": "completed", "length": "incomplete"}[a.Finish]
	name := "response.completed"
	if f == SGLang {
		name = "response." + status
	}
	var unstreamed responseEvent
	if err := json.Unmarshal(whole, &unstreamed.Response); err != nil {
		t.Fatalf("%s: %s: %v", f, whole, err)
	}
	for which, o := range map[string]responseEvent{"last event": last, "whole": unstreamed} {
		if o.Response.Status != status || len(o.Response.Output) != len(items) || o.Response.Usage.Output != len(a.Pieces) || o.Response.Usage.Total != len(a.Pieces)+a.PromptTokens() {
			t.Fatalf("%s: %s is %+v; want %s with %d items and %d output tokens", f, which, o.Response, status, len(items), len(a.Pieces))
		}
		for i, it := range o.Response.Output {
			if it.ID != items[i].ID || it.said() != items[i].said() || it.Type != items[i].Type {
				t.Fatalf("%s: item %d of the %s is %+v, streamed was %+v", f, i, which, it, items[i])
			}
		}
	}
	if last.Type != name {
		t.Fatalf("%s: the last event is %s, want %s", f, last.Type, name)
	}
}
