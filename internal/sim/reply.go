package sim

import (
	"context"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/servemark/servemark/internal/sim/engine"
	"github.com/servemark/servemark/internal/sim/prose"
	"github.com/servemark/servemark/internal/sim/wire"
)

// answer is one choice on its way to a client, with what the server must know of it beside its words.
type answer struct {
	wire.Answer
	reply *reply
	limit int // output limit asked for
	// adapter is the LoRA adapter that answers, "" for the base model.
	adapter string

	seq       *engine.Seq
	submitted time.Duration
	sent      int
	flushed   []time.Duration
}

// request is what the engine needs to know.
func (a *answer) request() engine.Request {
	r := engine.Request{Prompt: a.PromptTokens(), Output: len(a.Pieces), Limit: a.limit}
	if a.reply.pageSize > 0 && a.Extra == 0 {
		r.Pages = engine.PageHashes(a.adapter, append(a.Prompt[:len(a.Prompt):len(a.Prompt)], a.IDs()...), a.reply.pageSize)
	}
	return r
}

// reply is one HTTP request being answered.
type reply struct {
	wire.Reply
	accepted time.Duration
	answers  []*answer
	stream   bool
	pageSize int  // 0: no prefix caching
	interval int  // tokens gathered in a frame, at least 1
	closing  bool // the last bytes are on their way

	mu    sync.Mutex
	queue []release
	wake  chan struct{}
}

// release is what the driver hands over: tokens of one answer whose instant has come.
type release struct {
	engine.Emission
	answer *answer
}

func (r *reply) post(x release) {
	r.mu.Lock()
	r.queue = append(r.queue, x)
	r.mu.Unlock()
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// take waits for released tokens and appends them to buf; it fails when the client went away, and returns nothing when
// none came for as long as idle (0: waits on).
func (r *reply) take(ctx context.Context, buf []release, idle time.Duration) ([]release, error) {
	var silent <-chan time.Time
	if idle > 0 {
		t := time.NewTimer(idle)
		defer t.Stop()
		silent = t.C
	}
	for {
		r.mu.Lock()
		buf = append(buf, r.queue...)
		r.queue = r.queue[:0]
		r.mu.Unlock()
		if len(buf) > 0 {
			return buf, nil
		}
		select {
		case <-r.wake:
		case <-silent:
			return buf, nil
		case <-ctx.Done():
			return buf, ctx.Err()
		}
	}
}

// respond submits the answers and writes them as the engine releases them. The error is the engine's refusal, before anything is written.
func (s *Server) respond(w http.ResponseWriter, q *http.Request, f *Fault, r *reply, d wire.Dialect) *wire.Error {
	r.wake = make(chan struct{}, 1)
	o := newOutlet(w, q, f)
	for i, a := range r.answers {
		a.reply, a.Index = r, i
		r.Answers = append(r.Answers, &a.Answer)
		if o.is(FaultSplit) {
			a.accent(s.tok)
		}
	}
	if err := s.driver.submit(r.answers, r.accepted); err != nil {
		s.abandon(r)
		return badRequest("%v", err)
	}
	var err error
	if r.stream {
		err = s.streamOut(o, r, d)
	} else {
		err = s.wholeOut(o, q, r, d)
	}
	if err != nil {
		s.abandon(r)
	}
	s.driver.note(func(e *engine.Engine) { s.truth.close(r, o.fault, err) })
	return nil
}

func (s *Server) abandon(r *reply) {
	for _, a := range r.answers {
		s.driver.abandon(a)
	}
}

// accent makes the answer begin with characters of several bytes; where its length cuts one in two, words stand in its place.
func (a *answer) accent(t prose.Tokenizer) {
	list := prose.Spell(t, accents)
	n := min(len(list), len(a.Pieces))
	for n > 0 && list[n-1].Text == "" {
		n--
	}
	copy(a.Pieces, list[:n])
}

func (s *Server) streamOut(o *outlet, r *reply, d wire.Dialect) error {
	h := o.w.Header()
	h.Set("Content-Type", s.streamType())
	h.Set("Cache-Control", "no-cache")
	o.w.WriteHeader(http.StatusOK)
	if err := o.rc.Flush(); err != nil {
		return err
	}
	b := wire.NewSSE(s.cfg.CRLF, s.cfg.NoSpace)
	if op, ok := d.(wire.Opener); ok {
		op.Open(b, &r.Reply)
		if err := o.send(b.Bytes()); err != nil {
			return err
		}
	}
	if rw, ok := d.(wire.RoleWriter); ok && s.cfg.EarlyRole {
		for _, a := range r.answers {
			rw.Role(b, &r.Reply, &a.Answer)
		}
		r.RoleSent = true
		if err := o.send(b.Bytes()); err != nil {
			return err
		}
	}
	open := len(r.answers)
	var got []release
	for open > 0 {
		var err error
		got, err = r.take(o.ctx, got[:0], s.cfg.KeepAlive)
		if err != nil {
			return err
		}
		if len(got) == 0 {
			b.Reset()
			b.Comment("keep-alive")
			if err := o.put(b.Bytes()); err != nil {
				return err
			}
			continue
		}
		for rest := got; len(rest) > 0; {
			now := rest
			if o.fault != nil { // one step at a time, to strike after exactly the tokens asked for
				now = rest[:1]
			}
			rest = rest[len(now):]
			if err := s.sendFrames(o, r, d, b, now, &open); err != nil {
				return err
			}
		}
	}
	return nil
}

// sendFrames writes what was released, and the end of the stream after the last answer.
func (s *Server) sendFrames(o *outlet, r *reply, d wire.Dialect, b *wire.SSE, got []release, open *int) error {
	if err := o.strike(d, b); err != nil {
		return err
	}
	b.Reset()
	for _, x := range got {
		*open -= r.frame(b, d, x)
		o.sent += x.Tokens
	}
	if *open == 0 {
		d.End(b, &r.Reply)
		s.truth.last(r)
	}
	err := o.send(b.Bytes())
	s.stamp(got)
	return err
}

// frame writes released tokens and returns 1 when they end their answer.
func (r *reply) frame(b *wire.SSE, d wire.Dialect, x release) int {
	a := x.answer
	a.expect(x)
	if x.First == 0 {
		d.Begin(b, &r.Reply, &a.Answer)
	}
	if to := x.First + x.Tokens; to-a.sent >= r.interval || x.Last {
		d.Tokens(b, &r.Reply, &a.Answer, a.sent, to)
		a.sent = to
	}
	if !x.Last {
		return 0
	}
	d.Finish(b, &r.Reply, &a.Answer)
	return 1
}

// expect notes the planned instant of released tokens.
func (a *answer) expect(x release) {
	a.Cached, a.Preemptions, a.Scheduled = x.Cached, x.Preemptions, x.Scheduled
	a.Steps++
	for range x.Tokens {
		a.Planned = append(a.Planned, x.At)
	}
}

// stamp notes when released tokens had been flushed to the socket.
func (s *Server) stamp(got []release) {
	now := s.driver.now()
	for _, x := range got {
		for range x.Tokens {
			x.answer.flushed = append(x.answer.flushed, now)
		}
	}
}

func (s *Server) wholeOut(o *outlet, q *http.Request, r *reply, d wire.Dialect) error {
	open := len(r.answers)
	var got []release
	for open > 0 {
		var err error
		if got, err = r.take(o.ctx, got[:0], 0); err != nil {
			return err
		}
		for _, x := range got {
			x.answer.expect(x)
			if x.Last {
				open--
			}
		}
		s.stamp(got)
	}
	body := d.Whole(&r.Reply)
	s.truth.last(r)
	if done, err := o.wholeFault(s, q, body); done || err != nil {
		return err
	}
	h := o.w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Content-Length", strconv.Itoa(len(body)))
	return o.send(body)
}
