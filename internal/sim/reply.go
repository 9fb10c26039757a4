package sim

import (
	"context"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/servemark/servemark/internal/sim/engine"
)

// answer is one choice on its way to a client: what it will say is known from the start, the engine decides when.
type answer struct {
	reply   *reply
	index   int
	prompt  []int // prompt tokens
	extra   int   // prompt tokens without ids (images)
	pieces  []piece
	think   int // tokens before this index are reasoning
	tool    *toolCall
	finish  string // "stop", "length" or "tool_calls"
	matched string // the stop text that ended it
	limit   int    // output limit asked for
	embed   bool   // no tokens, the prefill alone

	seq       *engine.Seq
	submitted time.Duration
	latest    engine.Emission // the last one expected
	steps     int             // that made tokens of it
	sent      int
	planned   []time.Duration
	flushed   []time.Duration
}

// toolCall is a call the answer makes instead of speaking; its arguments are the answer's tokens.
type toolCall struct{ id, name string }

func (a *answer) promptTokens() int { return len(a.prompt) + a.extra }

// cached is the part of the prompt that the engine found in its prefix cache; known once a token has left.
func (a *answer) cached() int { return a.latest.Cached }

func (a *answer) text(from, to int) string {
	n := 0
	for _, p := range a.pieces[from:to] {
		n += len(p.text)
	}
	b := make([]byte, 0, n)
	for _, p := range a.pieces[from:to] {
		b = append(b, p.text...)
	}
	return string(b)
}

func (a *answer) ids() []int {
	out := make([]int, len(a.pieces))
	for i, p := range a.pieces {
		out[i] = p.id
	}
	return out
}

// request is what the engine needs to know.
func (a *answer) request() engine.Request {
	r := engine.Request{Prompt: a.promptTokens(), Output: len(a.pieces), Limit: a.limit}
	if a.reply.pageSize > 0 && a.extra == 0 {
		r.Pages = engine.PageHashes(append(a.prompt[:len(a.prompt):len(a.prompt)], a.ids()...), a.reply.pageSize)
	}
	return r
}

// reply is one HTTP request being answered: one answer, or several for a batch of prompts.
type reply struct {
	id         string
	created    int64
	model      string
	accepted   time.Duration
	answers    []*answer
	stream     bool
	usage      bool // a usage-only chunk at the end
	continuous bool // usage in every chunk
	roleSent   bool // the role chunk left before the first token
	tokenIDs   bool
	batch      bool // the client sent a list, and gets one even for a single prompt
	pageSize   int  // 0: no prefix caching
	interval   int  // tokens gathered in a frame, at least 1

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

func (r *reply) totals() (prompt, completion, cached, reasoning int) {
	for _, a := range r.answers {
		prompt += a.promptTokens()
		completion += len(a.pieces)
		cached += a.cached()
		reasoning += a.think
	}
	return prompt, completion, cached, reasoning
}

// dialect writes answers in one protocol.
type dialect interface {
	// begin is called just before the first token of an answer.
	begin(b *sse, r *reply, a *answer)
	// tokens writes the tokens [from, to) of an answer; to is len(a.pieces) at its end.
	tokens(b *sse, r *reply, a *answer, from, to int)
	// finish is called just after the last token of an answer.
	finish(b *sse, r *reply, a *answer)
	// end is called when all answers are finished.
	end(b *sse, r *reply)
	// whole is the JSON body of a reply that is not streamed.
	whole(r *reply) []byte
	// fail writes an error in mid-stream, and what then ends the stream.
	fail(b *sse, words string)
}

// roleWriter is a dialect with a first chunk that carries no token.
type roleWriter interface {
	role(b *sse, r *reply, a *answer)
}

// respond submits the answers and writes them as the engine releases them.
func (s *Server) respond(w http.ResponseWriter, q *http.Request, f *Fault, r *reply, d dialect) {
	r.wake = make(chan struct{}, 1)
	o := newOutlet(w, q, f)
	for i, a := range r.answers {
		a.reply, a.index = r, i
		if o.is(FaultSplit) {
			a.accent(s.tok)
		}
	}
	if err := s.driver.submit(r.answers, r.accepted); err != nil {
		s.abandon(r)
		s.refuse(w, q, badRequest("%v", err))
		return
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
}

func (s *Server) abandon(r *reply) {
	for _, a := range r.answers {
		s.driver.abandon(a)
	}
}

// accent makes the answer begin with characters of several bytes; where its length cuts one in two, words stand in its place.
func (a *answer) accent(t Tokenizer) {
	list := spell(t, accents)
	n := min(len(list), len(a.pieces))
	for n > 0 && list[n-1].text == "" {
		n--
	}
	copy(a.pieces, list[:n])
}

func (s *Server) streamOut(o *outlet, r *reply, d dialect) error {
	h := o.w.Header()
	h.Set("Content-Type", s.streamType())
	h.Set("Cache-Control", "no-cache")
	o.w.WriteHeader(http.StatusOK)
	if err := o.rc.Flush(); err != nil {
		return err
	}
	b := s.newSSE()
	if rw, ok := d.(roleWriter); ok && s.cfg.EarlyRole {
		for _, a := range r.answers {
			rw.role(b, r, a)
		}
		r.roleSent = true
		if err := o.send(b.buf); err != nil {
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
			if err := o.put([]byte(": keep-alive" + b.eol + b.eol)); err != nil {
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
func (s *Server) sendFrames(o *outlet, r *reply, d dialect, b *sse, got []release, open *int) error {
	if err := o.strike(d, b); err != nil {
		return err
	}
	b.buf = b.buf[:0]
	for _, x := range got {
		*open -= r.frame(b, d, x)
		o.sent += x.Tokens
	}
	if *open == 0 {
		d.end(b, r)
	}
	err := o.send(b.buf)
	s.stamp(got)
	return err
}

// frame writes released tokens and returns 1 when they end their answer.
func (r *reply) frame(b *sse, d dialect, x release) int {
	a := x.answer
	a.expect(x)
	if x.First == 0 {
		d.begin(b, r, a)
	}
	if to := x.First + x.Tokens; to-a.sent >= r.interval || x.Last {
		d.tokens(b, r, a, a.sent, to)
		a.sent = to
	}
	if !x.Last {
		return 0
	}
	d.finish(b, r, a)
	return 1
}

func (s *Server) newSSE() *sse {
	b := &sse{eol: "\n", lead: "data: "}
	if s.cfg.CRLF {
		b.eol = "\r\n"
	}
	if s.cfg.NoSpace {
		b.lead = "data:"
	}
	return b
}

// expect notes the planned instant of released tokens.
func (a *answer) expect(x release) {
	a.latest = x.Emission
	a.steps++
	for range x.Tokens {
		a.planned = append(a.planned, x.At)
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

func (s *Server) wholeOut(o *outlet, q *http.Request, r *reply, d dialect) error {
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
	body := d.whole(r)
	if done, err := o.wholeFault(s, q, body); done || err != nil {
		return err
	}
	h := o.w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Content-Length", strconv.Itoa(len(body)))
	return o.send(body)
}

// sse gathers server-sent events into one buffer, which goes out in one write.
type sse struct {
	buf  []byte
	eol  string
	lead string
}

func (b *sse) open() { b.buf = append(b.buf, b.lead...) }
func (b *sse) shut() {
	b.buf = append(b.buf, b.eol...)
	b.buf = append(b.buf, b.eol...)
}
func (b *sse) str(s string) { b.buf = append(b.buf, s...) }
func (b *sse) num(n int)    { b.buf = strconv.AppendInt(b.buf, int64(n), 10) }

// text writes the pieces as the inside of one JSON string.
func (b *sse) text(list []piece) {
	for i := range list {
		b.buf = append(b.buf, list[i].esc...)
	}
}

// data writes one event with the given payload.
func (b *sse) data(payload string) {
	b.open()
	b.str(payload)
	b.shut()
}

func (b *sse) idList(list []piece) {
	b.str("[")
	for i, p := range list {
		if i > 0 {
			b.str(",")
		}
		b.num(p.id)
	}
	b.str("]")
}
