package load

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net/http"
	"net/http/httptrace"
	"sync/atomic"
	"time"

	"github.com/servemark/servemark/internal/bench"
)

// Limits of a reply that is over or refused.
const (
	drainTime  = time.Second      // how long the rest of a finished reply is awaited, so that its connection can be used again
	reuseGrace = time.Millisecond // how long the slot waits for that: the next request then finds the connection
	drainBytes = 256 << 10
	refusal    = 64 << 10 // how much of an error body is read
	readBuffer = 2 << 10  // of each reply under way; the transport has one of twice the size beneath it
)

// Causes with which a request's context ends.
var (
	errFirstByte = errors.New("no response byte within the first-byte limit")
	errIdle      = errors.New("no further byte within the idle limit")
	errTotal     = errors.New("the reply did not end within the request's limit")
)

// exchange performs one request and completes rec. It calls release, perhaps more than once, as soon as the reply is over
// for the user: at its terminal event (a millisecond later at most, see reuseGrace) or its failure.
func (e *Engine) exchange(ctx context.Context, m bench.Message, rec *bench.Record, release func()) {
	decoder := e.o.Protocol.Decoder(rec)
	x := &attempt{engine: e, rec: rec, user: ctx}
	x.ctx, x.cancel = context.WithCancelCause(ctx)
	defer x.cancel(nil)
	if d := e.o.Load.RequestTimeout; d > 0 {
		total := time.AfterFunc(d, func() { x.cancel(errTotal) })
		defer total.Stop()
	}
	e.o.Live.Sent.Add(1)
	res, err := x.send(m)
	if err == nil && res.StatusCode >= 400 {
		res = x.amend(res, m)
	}
	if err != nil {
		x.fail(decoder, err)
		x.book(err)
		release()
		return
	}
	defer res.Body.Close()
	x.receive(res, decoder, release)
}

// attempt is the state of one exchange.
type attempt struct {
	engine *Engine
	rec    *bench.Record
	user   context.Context // the run's: its end means that the user ended the run
	ctx    context.Context
	cancel context.CancelCauseFunc
	conn   *stampConn
	idle   *time.Timer
}

// send writes the request and waits for the response head. A reused connection that dies before the first response byte
// is replaced once, with the clock running.
func (x *attempt) send(m bench.Message) (*http.Response, error) {
	res, err := x.roundTrip(x.engine.pooled, m)
	if err == nil || x.ctx.Err() != nil || x.conn == nil || !x.rec.Connection.Reused || x.conn.readSince.Load() {
		return res, err
	}
	x.rec.Connection.Replaced = true
	return x.roundTrip(x.engine.fresh, m)
}

// roundTrip sends the message by one transport and stamps sent, written and header.
func (x *attempt) roundTrip(t *http.Transport, m bench.Message) (*http.Response, error) {
	e := x.engine
	to := e.target(x.rec.ID)
	address := *to.url
	address.Path += m.Path
	var sent sending
	req := (&http.Request{
		Method: http.MethodPost, URL: &address, Host: to.host, Header: m.Header, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Body: io.NopCloser(bytes.NewReader(m.Body)), ContentLength: int64(len(m.Body)), // no GetBody: the transport re-sends nothing by itself
	}).WithContext(httptrace.WithClientTrace(x.ctx, sent.trace(e)))
	if d := e.o.Load.FirstByteTimeout; d > 0 {
		first := time.AfterFunc(d, func() { x.cancel(errFirstByte) })
		defer first.Stop()
	}
	res, err := t.RoundTrip(req)
	c := sent.conn.Load()
	if x.conn = c; c == nil {
		return res, err
	}
	begin, end := bench.Instant(c.firstWrite.Load()), bench.Instant(c.lastWrite.Load())
	if e.o.Load.HTTP2 { // other requests write to this connection too
		begin, end = bench.Instant(sent.begun.Load()), bench.Instant(sent.written.Load())
		x.conn = nil
	}
	if !x.rec.Sent.Known() {
		x.rec.Sent = begin // a replacement keeps the first attempt's: the clock runs on
	}
	x.rec.Written = end
	how := &x.rec.Connection
	how.Reused = sent.reused.Load()
	if !how.Reused {
		how.DialStart, how.Connected, how.TLSDone = e.clock.at(c.dialStart), e.clock.at(c.connected), e.clock.at(c.tlsDone)
	}
	if err == nil {
		x.rec.Header, _ = x.lastRead()
		// The goroutine that writes may come to its stamp after the reply has come: then the reply's head bounds it.
		if w := x.rec.Written; !w.Known() || w > x.rec.Header {
			x.rec.Written = x.rec.Header
		}
	}
	return res, err
}

// sending is what the transport reports of one request on its way; it may do so from goroutines of its own.
type sending struct {
	conn           atomic.Pointer[stampConn]
	reused         atomic.Bool
	begun, written atomic.Int64 // for HTTP/2
}

// trace returns the hooks that fill in s.
func (s *sending) trace(e *Engine) *httptrace.ClientTrace {
	s.begun.Store(int64(bench.Never))
	s.written.Store(int64(bench.Never))
	hooks := &httptrace.ClientTrace{GotConn: func(info httptrace.GotConnInfo) {
		c := stamps(info.Conn)
		if c == nil {
			return
		}
		s.begun.Store(int64(e.clock.Now()))
		reused := c.begin()
		if _, secure := info.Conn.(*tls.Conn); secure && !reused && c.tlsDone.IsZero() {
			c.tlsDone = time.Now() // through a proxy's tunnel, which the transport makes
		}
		s.reused.Store(reused)
		s.conn.Store(c)
	}}
	if e.o.Load.HTTP2 {
		hooks.WroteRequest = func(httptrace.WroteRequestInfo) { s.written.Store(int64(e.clock.Now())) }
	}
	return hooks
}

// amend sends the request once more where the server refused a field it can do without; else it returns res with the
// body it has read put back.
func (x *attempt) amend(res *http.Response, m bench.Message) *http.Response {
	body, _ := io.ReadAll(io.LimitReader(res.Body, refusal))
	if changed, ok := x.engine.o.Protocol.Amend(m, res.StatusCode, body); ok {
		io.Copy(io.Discard, io.LimitReader(res.Body, drainBytes))
		res.Body.Close()
		x.rec.Sent = bench.Never // the request that is answered is the second one
		if again, err := x.send(changed); err == nil {
			x.rec.Resent = true
			return again
		}
	}
	res.Body = struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(body), res.Body), res.Body}
	return res
}

// receive feeds the body to the decoder, each piece with the instant at which it was read, and completes the record.
func (x *attempt) receive(res *http.Response, decoder bench.Decoder, release func()) {
	decoder.Head(res.StatusCode, res.Header)
	x.rec.Status = res.StatusCode
	if d := x.engine.o.Load.IdleTimeout; d > 0 {
		x.idle = time.AfterFunc(d, func() { x.cancel(errIdle) })
		defer x.idle.Stop()
	}
	place := x.engine.buffers.Get().(*[readBuffer]byte)
	defer x.engine.buffers.Put(place)
	buf := place[:]
	seen := 0
	for {
		n, err := res.Body.Read(buf)
		at, lag := x.lastRead()
		if n > 0 {
			x.rec.Bytes += int64(n)
			if x.idle != nil {
				x.idle.Reset(x.engine.o.Load.IdleTimeout)
			}
			terminal := decoder.Feed(buf[:n], at)
			if news := x.rec.Chunks[seen:]; len(news) > 0 {
				for i := range news {
					news[i].Lag = lag
				}
				x.engine.o.Live.Chunks.Add(int64(len(news)))
				seen += len(news)
			}
			if terminal {
				x.rec.Done = at
				decoder.End(nil) // before the slot is free: a turn that follows needs the whole record
				grace := time.AfterFunc(reuseGrace, release)
				x.drain(res.Body, buf)
				grace.Stop()
				release()
				return
			}
		}
		if err == io.EOF {
			x.rec.Done = x.engine.clock.Now()
			decoder.End(nil)
			release()
			return
		}
		if err != nil {
			x.fail(decoder, err)
			release()
			return
		}
	}
}

// lastRead is when the bytes just handed out were received, and how long they waited in the kernel.
func (x *attempt) lastRead() (bench.Instant, bench.Lag) {
	if x.conn == nil {
		return x.engine.clock.Now(), 0
	}
	return bench.Instant(x.conn.lastRead.Load()), bench.Lag(x.conn.lag.Load())
}

// drain reads what follows the terminal event, within bounds, so that the connection can be used again.
func (x *attempt) drain(body io.Reader, buf []byte) {
	limit := time.AfterFunc(drainTime, func() { x.cancel(errIdle) })
	defer limit.Stop()
	for left := drainBytes; left > 0; {
		n, err := body.Read(buf)
		left -= n
		if err != nil {
			return
		}
	}
}

// fail completes the record of a request whose reply did not come to its end. What a broken reply is worth (its end may
// have been announced before it broke) is the decoder's to say.
func (x *attempt) fail(decoder bench.Decoder, err error) {
	x.rec.Done = x.engine.clock.Now()
	decoder.End(x.cause(err))
	if x.user.Err() != nil {
		x.rec.Cancelled, x.rec.Failure = true, nil
		return
	}
	switch cause := x.cause(err); cause {
	case errFirstByte, errIdle, errTotal:
		if x.rec.Failure != nil {
			x.rec.Failure = &bench.Failure{Kind: bench.FailTimeout, Message: cause.Error()}
		}
	}
}

// book gives a request that got no response head its failure.
func (x *attempt) book(err error) {
	if x.rec.Cancelled || x.rec.Failure != nil {
		return
	}
	kind, message := x.engine.o.Classify(x.cause(err))
	x.rec.Fail(kind, message)
}

// cause is why the request's context ended, where it did, else err.
func (x *attempt) cause(err error) error {
	if x.ctx.Err() != nil {
		return context.Cause(x.ctx)
	}
	return err
}
