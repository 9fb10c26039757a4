package sim

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/servemark/servemark/internal/bench"
	"github.com/servemark/servemark/internal/sim/engine"
	"github.com/servemark/servemark/internal/sim/virtual"
)

func saying(c, k int) json.RawMessage {
	return json.RawMessage(fmt.Sprintf(`[{"role":"user","content":"%s number %d"}]`, strings.Repeat("the river ", 1+(c+k)%4), c%3))
}

func answerLimit(c, k int) int { return 6 + 3*c + k }

// converse holds conversations with the server, several at once, each turn after the answer before and a little thought.
func converse(t *testing.T, url string, conversations, turns int) (rids [][]string) {
	t.Helper()
	rids = make([][]string, conversations)
	var wg sync.WaitGroup
	for c := range conversations {
		wg.Go(func() {
			var said bench.Conversation
			for k := range turns {
				q, err := said.Ask(&bench.Request{Prompt: bench.Prompt{Messages: saying(c, k)}})
				if err != nil {
					t.Error(err)
					return
				}
				code, body := post(t, url+"/v1/chat/completions", fmt.Sprintf(`{"model":"sim","messages":%s,"max_tokens":%d,"ignore_eos":true}`, q.Prompt.Messages, answerLimit(c, k)))
				var got struct {
					ID      string
					Choices []struct{ Message struct{ Content string } }
				}
				if err := json.Unmarshal([]byte(body), &got); err != nil || code != 200 {
					t.Errorf("turn %d of conversation %d: %d %s", k, c, code, body)
					return
				}
				rids[c] = append(rids[c], got.ID)
				said.Answer(got.Choices[0].Message.Content)
				time.Sleep(time.Duration(1+c%3) * time.Millisecond)
			}
		})
	}
	wg.Wait()
	return rids
}

// planned is the plan that puts the same turns to a virtual engine: first turns at the instants they had, later ones as long after
// the answer before as they came.
func planned(t *testing.T, s *Server, rids [][]string) (*bench.Plan, []Truth) {
	t.Helper()
	byRID := map[string]Truth{}
	for _, x := range s.Truths() {
		byRID[x.RID] = x
	}
	order := make([]int, len(rids))
	for c := range order {
		order[c] = c
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(byRID[rids[a][0]].Submitted, byRID[rids[b][0]].Submitted) })
	p := &bench.Plan{Spec: bench.Spec{Target: bench.Target{Stream: true}}}
	var want []Truth
	for _, c := range order {
		for k, rid := range rids[c] {
			x := byRID[rid]
			q := bench.Request{ID: len(p.Requests), Due: bench.Never, Prompt: bench.Prompt{Messages: saying(c, k)}, OutputTokens: answerLimit(c, k)}
			if k == 0 {
				q.Due = bench.At(x.Submitted)
			} else {
				before := want[len(want)-1].Planned
				q.After = &bench.After{Request: q.ID - 1, Gap: x.Submitted - before[len(before)-1]}
			}
			p.Requests, want = append(p.Requests, q), append(want, x)
		}
	}
	return p, want
}

// TestConversationsKeepTheirScheduleOnBothClocks holds conversations over HTTP, then puts the same turns to the virtual runner: every
// token has the same instant, every turn the same cached prefix.
func TestConversationsKeepTheirScheduleOnBothClocks(t *testing.T) {
	for f, schedule := range map[Flavour]engine.Schedule{VLLM: engine.VLLM, SGLang: engine.SGLang, LlamaCpp: engine.Slots} {
		c := busy(f, schedule)
		c.Engine.Host.Ingest = 0 // a real server's own time before the queue is in the arrivals
		c.Engine.KVTokens = 360
		if schedule == engine.Slots {
			c.Engine.KVTokens = 400 * 8
		}
		s, url := start(t, c)
		plan, want := planned(t, s, converse(t, url, 6, 4))
		s.driver.wait()
		r, err := virtual.New(virtual.Options{Engine: s.params,
			PromptIDs: func(p *bench.Prompt) []int {
				var list []message
				if err := json.NewDecoder(bytes.NewReader(p.Messages)).Decode(&list); err != nil {
					t.Fatal(err)
				}
				text, _, err := render(list)
				if err != nil {
					t.Fatal(err)
				}
				return s.tok.Encode(text)
			},
			Answer: func(_ *bench.Request, prompt []int, n int) (string, []int) {
				a := &answer{}
				a.Prompt = prompt
				if e := s.plan(a, &sampling{MaxTokens: &n, IgnoreEOS: true}, 0, true); e != nil {
					t.Fatal(e.Message)
				}
				return a.Text(0, n), a.IDs()
			}})
		if err != nil {
			t.Fatal(err)
		}
		got := make([]bench.Record, len(plan.Requests))
		if err := r.Run(t.Context(), plan, func(rec bench.Record) error { got[rec.ID] = rec; return nil }); err != nil {
			t.Fatal(err)
		}
		cached := 0
		for i, rec := range got {
			var at []time.Duration
			for _, ch := range rec.Chunks {
				for range ch.Tokens {
					at = append(at, time.Duration(ch.At))
				}
			}
			if x := want[i]; rec.Usage.Prompt.Or(-1) != x.Prompt || rec.Usage.Cached.Or(-1) != x.Cached || !slices.Equal(at, x.Planned) {
				t.Fatalf("%s: request %d had %d prompt tokens, %d cached, tokens at %v; in virtual time %v, %v, %v",
					f, i, x.Prompt, x.Cached, x.Planned, rec.Usage.Prompt, rec.Usage.Cached, at)
			}
			cached += want[i].Cached
		}
		if cached == 0 {
			t.Errorf("%s: no turn found its prefix", f)
		}
	}
}
