package virtual

import (
	"container/heap"
	"errors"
	"fmt"
	"slices"

	"github.com/servemark/servemark/internal/bench"
	"github.com/servemark/servemark/internal/sim/engine"
)

// talk is a conversation under way: what was said so far, in tokens, and in words where they are known.
type talk struct {
	number int // the first request's id
	tokens int
	ids    []int // kept for the prefix cache alone
	said   bench.Conversation
	answer string // to the last turn
	begun  bool
}

// next puts the turn q to the conversation and plans its answer. Where words and answers are known, the whole conversation is
// counted anew, as a server does; else a turn adds its own tokens to those before it.
func (r *Runner) next(t *talk, q *bench.Request) (engine.Request, error) {
	if r.o.PromptIDs != nil && r.o.Answer != nil {
		if t.begun {
			t.said.Answer(t.answer)
		}
		whole, err := t.said.Ask(q)
		if err != nil {
			return engine.Request{}, err
		}
		t.ids = slices.Clone(r.o.PromptIDs(&whole.Prompt))
		t.tokens = len(t.ids)
	} else if err := r.add(t, q); err != nil {
		return engine.Request{}, err
	}
	t.begun = true
	if t.tokens < 1 {
		return engine.Request{}, errUncounted
	}
	req := engine.Request{Prompt: t.tokens, Output: max(q.OutputTokens, 0)}
	answer, err := r.reply(t, q, req.Output)
	if err != nil {
		return req, err
	}
	t.tokens += req.Output
	if r.o.Engine.PrefixCache {
		t.ids = append(t.ids, answer...)
		req.Pages = r.pages(q.Adapter, t.ids)
	}
	return req, nil
}

// add appends what the turn itself says. Tokens that are only counted stand for themselves: no other conversation has them.
func (r *Runner) add(t *talk, q *bench.Request) error {
	n, ids, err := r.count(q)
	if err != nil {
		return err
	}
	if r.o.Engine.PrefixCache {
		if len(ids) != n {
			ids = t.own(n)
		}
		t.ids = append(t.ids, ids...)
	}
	t.tokens += n
	return nil
}

// reply is the answer's tokens where the cache needs them; it keeps the answer's words.
func (r *Runner) reply(t *talk, q *bench.Request, n int) ([]int, error) {
	if r.o.Answer == nil || r.o.PromptIDs == nil {
		if !r.o.Engine.PrefixCache {
			return nil, nil
		}
		return t.own(n), nil
	}
	words, ids, err := r.answer(q, t.ids, n)
	t.answer = words
	return ids, err
}

// answer asks Options.Answer and checks that it kept to the length.
func (r *Runner) answer(q *bench.Request, prompt []int, n int) (words string, ids []int, err error) {
	words, ids = r.o.Answer(q, prompt, n)
	if len(ids) != n {
		return "", nil, fmt.Errorf("its answer has %d tokens instead of %d", len(ids), n)
	}
	return words, ids, nil
}

// own makes n tokens that follow those before and occur in this conversation alone; ids of vocabularies are never negative.
func (t *talk) own(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = -1 - (t.number<<32 | (len(t.ids) + i))
	}
	return out
}

var errUncounted = errors.New("the number of its prompt tokens is not known")

// turn is the next turn of a conversation, waiting for its time.
type turn struct {
	due bench.Instant
	id  int
}

// turnHeap has the earliest turn first, the lower id where two are due at once.
type turnHeap []turn

func (h turnHeap) Len() int { return len(h) }
func (h turnHeap) Less(i, j int) bool {
	return h[i].due < h[j].due || h[i].due == h[j].due && h[i].id < h[j].id
}
func (h turnHeap) Swap(i, j int) { h[i], h[j] = h[j], h[i] }

// Push is heap's: it takes a turn.
func (h *turnHeap) Push(v any) {
	if t, ok := v.(turn); ok {
		*h = append(*h, t)
	}
}

// Pop is heap's.
func (h *turnHeap) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}

// over books a request that has ended: its conversation goes on when the think time has passed, or is over and gives its place
// back. After a failure the turns that are left are cancelled.
func (x *run) over(rec bench.Record) {
	if x.failed = x.emit(rec); x.failed != nil {
		return
	}
	next, t := x.next[rec.ID], x.talks[rec.ID]
	delete(x.talks, rec.ID)
	if next >= 0 && rec.OK() {
		due := rec.Done.Add(x.plan.Requests[next].After.Gap)
		if d := x.plan.Spec.Load.Duration; d <= 0 || due <= bench.At(d) {
			x.talks[next] = t
			heap.Push(&x.turns, turn{due, next})
			return
		}
		next = -1
	}
	x.live--
	for ; next >= 0 && x.failed == nil; next = x.next[next] {
		left := bench.NewRecord(x.plan.Requests[next].ID)
		left.Cancelled = true
		x.failed = x.emit(left)
	}
}

// follow asks every turn that is due now. It holds its conversation's place and waits for no other.
func (x *run) follow() error {
	for len(x.turns) > 0 && x.turns[0].due <= x.now && x.failed == nil {
		t, ok := heap.Pop(&x.turns).(turn)
		if !ok {
			return nil
		}
		if err := x.start(t.id, t.due); err != nil {
			return err
		}
	}
	return x.failed
}
