package load

import (
	"context"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/servemark/servemark/internal/bench"
)

// talk is a plan of conversations: each string is one, its turns divided by spaces, with gap between them.
func talk(load bench.LoadSpec, gap time.Duration, conversations ...string) *bench.Plan {
	p := &bench.Plan{Spec: bench.Spec{Load: load}}
	for _, c := range conversations {
		for k, text := range strings.Fields(c) {
			r := bench.Request{ID: len(p.Requests), Due: bench.Never, Prompt: bench.Prompt{Text: text}, OutputTokens: 1}
			if k > 0 {
				r.After = &bench.After{Request: r.ID - 1, Gap: gap}
			}
			p.Requests = append(p.Requests, r)
		}
	}
	return p
}

// heard serves every request for 100 ms, answering "<t>", and keeps the bodies it was sent.
type heard struct {
	mu     sync.Mutex
	bodies []string
}

func (h *heard) serve(conn net.Conn, _ int) {
	answer(conn, func(body string, _ int, w *chunks) bool {
		h.mu.Lock()
		h.bodies = append(h.bodies, body)
		h.mu.Unlock()
		time.Sleep(100 * time.Millisecond)
		w.send("<tEND>")
		w.end()
		return true
	})
}

func TestTurnsFollowRealAnswersAfterTheirGap(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var h heard
		plan := talk(bench.LoadSpec{}, 250*time.Millisecond, "a b c", "x")
		records, _ := runIn(t, plan, h.serve, nil)
		slices.Sort(h.bodies)
		if want := []string{"a", "a<tEND>b", "a<tEND>b<tEND>c", "x"}; !slices.Equal(h.bodies, want) {
			t.Errorf("bodies = %q, want %q", h.bodies, want)
		}
		slices.SortFunc(records, func(a, b bench.Record) int { return a.ID - b.ID })
		var due []bench.Instant
		for _, r := range records {
			due = append(due, r.Due)
			if r.Sent != r.Due || r.Admitted != r.Due || !r.OK() {
				t.Errorf("request %d: due %v, admitted %v, sent %v, failure %v; want all at once and none", r.ID, r.Due, r.Admitted, r.Sent, r.Failure)
			}
		}
		if diff := cmp.Diff([]bench.Instant{0, ms(350), ms(700), 0}, due); diff != "" {
			t.Errorf("due times (-want +got):\n%s", diff)
		}
	})
}

// TestNextTurnDoesNotWaitForALingeringServer: an answer is over at its terminal event, however long the body stays open.
func TestNextTurnDoesNotWaitForALingeringServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		serve := func(conn net.Conn, _ int) {
			answer(conn, func(_ string, _ int, w *chunks) bool {
				time.Sleep(100 * time.Millisecond)
				w.send("<tEND>")
				time.Sleep(400 * time.Millisecond)
				w.end()
				return true
			})
		}
		records, p := runIn(t, talk(bench.LoadSpec{Concurrency: 1}, 0, "a b", "x"), serve, nil)
		var due []bench.Instant
		for _, r := range records {
			due = append(due, r.Due)
			if late := r.Sent.Sub(r.Due); late > 2*reuseGrace {
				t.Errorf("request %d left %v after it was due, want %v at most", r.ID, late, reuseGrace)
			}
		}
		if diff := cmp.Diff([]bench.Instant{0, ms(100), ms(100).Add(100*time.Millisecond + 2*reuseGrace)}, due); diff != "" {
			t.Errorf("due times (-want +got):\n%s", diff)
		}
		if p.conns < 2 {
			t.Errorf("%d connection, want one more where one is not free yet", p.conns)
		}
	})
}

func TestConversationKeepsItsSlot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var h heard
		records, p := runIn(t, talk(bench.LoadSpec{Concurrency: 1}, 50*time.Millisecond, "a b", "x y"), h.serve, nil)
		if want := []string{"a", "a<tEND>b", "x", "x<tEND>y"}; !slices.Equal(h.bodies, want) {
			t.Errorf("bodies in order = %q, want %q", h.bodies, want)
		}
		if got := records[2].Admitted; got != ms(250) {
			t.Errorf("the second conversation began at %v, want 250 ms, when the first was over", got)
		}
		if p.conns != 1 {
			t.Errorf("%d connections, want 1", p.conns)
		}
	})
}

func TestTurnsAfterAFailedOneAreCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		serve := func(conn net.Conn, _ int) {
			answer(conn, func(body string, _ int, w *chunks) bool {
				if body == "b" || strings.HasSuffix(body, "b") {
					w.send("t") // cut off before its end
					return false
				}
				w.send("<tEND>")
				w.end()
				return true
			})
		}
		p := &piped{serve: serve}
		live := &Live{}
		e, err := New(Options{BaseURL: "http://server", Protocol: wire{}, Dial: p.dial, Live: live})
		if err != nil {
			t.Fatal(err)
		}
		var records []bench.Record
		if err := e.Run(context.Background(), talk(bench.LoadSpec{}, 0, "a b c d", "x y"), func(r bench.Record) error {
			records = append(records, r)
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		slices.SortFunc(records, func(a, b bench.Record) int { return a.ID - b.ID })
		type fate struct{ ok, failed, cancelled, sent bool }
		var got []fate
		for _, r := range records {
			got = append(got, fate{r.OK(), r.Failure != nil, r.Cancelled, r.Sent.Known()})
		}
		want := []fate{{ok: true, sent: true}, {failed: true, sent: true}, {cancelled: true}, {cancelled: true}, {ok: true, sent: true}, {ok: true, sent: true}}
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(fate{})); diff != "" {
			t.Errorf("fates (-want +got):\n%s", diff)
		}
		if live.Sent.Load() != 4 || live.Done.Load() != 6 || live.Failed.Load() != 1 || live.InFlight.Load() != 0 {
			t.Errorf("live = %d sent, %d done, %d failed, %d in flight; want 4, 6, 1, 0", live.Sent.Load(), live.Done.Load(), live.Failed.Load(), live.InFlight.Load())
		}
		e.Close()
	})
}

func TestNoTurnBeginsAfterTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var h heard
		plan := talk(bench.LoadSpec{Duration: 400 * time.Millisecond}, 250*time.Millisecond, "a b c")
		records, _ := runIn(t, plan, h.serve, nil)
		if len(records) != 2 || records[1].Due != ms(350) {
			t.Errorf("%d records, want the 2 turns that are due within 400 ms: %+v", len(records), records)
		}
	})
}

func TestBrokenTurnsAreRefusedBeforeTheLoad(t *testing.T) {
	plan := talk(bench.LoadSpec{}, 0, "a b")
	plan.Requests[1].After.Request = 1
	e, err := New(Options{BaseURL: "http://server", Protocol: wire{}})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	err = e.Run(context.Background(), plan, func(bench.Record) error { return nil })
	if err == nil || !strings.Contains(err.Error(), "does not come before") {
		t.Errorf("Run of a turn that follows itself: %v, want a refusal", err)
	}
}

func TestConversationStaysOnItsServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		heard := map[string][]string{} // bodies by server
		dial := func(_ context.Context, _, addr string) (net.Conn, error) {
			client, server := net.Pipe()
			go func() {
				defer server.Close()
				answer(server, func(body string, _ int, w *chunks) bool {
					mu.Lock()
					heard[addr] = append(heard[addr], body)
					mu.Unlock()
					w.send("<tEND>")
					w.end()
					return true
				})
			}()
			return client, nil
		}
		runIn(t, talk(bench.LoadSpec{}, time.Second, "a b c", "k l", "x y"), nil, func(o *Options) { o.Dial, o.Replicas = dial, []string{"http://other"} })
		want := map[string][]string{"server:80": {"a", "a<tEND>b", "a<tEND>b<tEND>c", "x", "x<tEND>y"}, "other:80": {"k", "k<tEND>l"}}
		for addr := range heard {
			slices.Sort(heard[addr])
		}
		if diff := cmp.Diff(want, heard); diff != "" {
			t.Errorf("bodies by server (-want +got):\n%s", diff)
		}
	})
}

func TestThinkingIsNotSaidAgain(t *testing.T) {
	rec := bench.Record{Text: "hm, well. Yes", Thinking: len("hm, well. ")}
	for strict, want := range map[bool]string{false: "Yes", true: "hm, well. Yes"} {
		tt := &turns{plan: &bench.Plan{Spec: bench.Spec{Strict: strict}}}
		if got := tt.answer(&rec); got != want {
			t.Errorf("strict %v: answer = %q, want %q", strict, got, want)
		}
	}
}
