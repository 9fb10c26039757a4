package sim

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/servemark/servemark/internal/sim/wire"
)

// ErrCrashed is what Serve returns after a "crash" fault.
var ErrCrashed = errors.New("the simulated server crashed, as it was asked to")

// errCut ends a reply that a fault cut short on purpose.
var errCut = errors.New("cut short by a fault")

// outlet writes one reply to its connection, as fast and as whole as the request's fault allows.
type outlet struct {
	ctx   context.Context
	w     http.ResponseWriter
	rc    *http.ResponseController
	fault *Fault
	sent  int  // tokens that left
	over  bool // the fault has struck
}

func newOutlet(w http.ResponseWriter, q *http.Request, f *Fault) *outlet {
	return &outlet{ctx: q.Context(), w: w, rc: http.NewResponseController(w), fault: f}
}

func (o *outlet) is(k FaultKind) bool { return o.fault != nil && o.fault.Kind == k }

// send writes bytes and flushes them to the socket.
func (o *outlet) send(p []byte) error {
	switch {
	case len(p) == 0:
		return nil
	case o.is(FaultSlowBytes):
		gap := o.fault.Delay
		if gap == 0 {
			gap = time.Millisecond
		}
		for i := range p {
			if err := o.put(p[i : i+1]); err != nil {
				return err
			}
			if err := o.pause(gap); err != nil {
				return err
			}
		}
		return nil
	case o.is(FaultSplit):
		for i := range p {
			if p[i] >= utf8.RuneSelf && i+1 < len(p) {
				if err := o.put(p[:i+1]); err != nil {
					return err
				}
				if err := o.pause(2 * time.Millisecond); err != nil {
					return err
				}
				return o.send(p[i+1:])
			}
		}
	}
	return o.put(p)
}

func (o *outlet) put(p []byte) error {
	if _, err := o.w.Write(p); err != nil {
		return err
	}
	return o.rc.Flush()
}

// pause waits, or fails when the client goes away; 0 waits for that alone.
func (o *outlet) pause(d time.Duration) error {
	var after <-chan time.Time
	if d > 0 {
		t := time.NewTimer(d)
		defer t.Stop()
		after = t.C
	}
	select {
	case <-after:
		return nil
	case <-o.ctx.Done():
		return o.ctx.Err()
	}
}

// reset breaks the connection with a TCP reset.
func (o *outlet) reset() error {
	conn, _, err := o.rc.Hijack()
	if err != nil {
		return err
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		err = tcp.SetLinger(0)
	}
	return errors.Join(err, conn.Close(), errCut)
}

// strike shows a mid-stream fault once its number of tokens has left and more would follow; errCut means the reply is over.
func (o *outlet) strike(d wire.Dialect, b *wire.SSE) error {
	if o.fault == nil || o.over || o.sent < o.fault.After {
		return nil
	}
	o.over = true
	switch o.fault.Kind {
	case FaultError:
		b.Reset()
		d.Fail(b, "the simulated engine failed in mid-stream")
		return errors.Join(o.send(b.Bytes()), errCut)
	case FaultEOF:
		return errCut
	case FaultReset:
		return o.reset()
	case FaultStall:
		return o.pause(o.fault.Delay)
	case FaultGarbage:
		b.Reset()
		b.Garbage()
		return o.send(b.Bytes())
	}
	return nil
}

// stopEarly shows the faults that come before any generation, and reports whether the request is thereby over.
func (s *Server) stopEarly(w http.ResponseWriter, q *http.Request, f *Fault) bool {
	if f == nil {
		return false
	}
	o := newOutlet(w, q, f)
	switch f.Kind {
	case FaultRefuse:
		if !errors.Is(o.reset(), errCut) {
			panic(http.ErrAbortHandler)
		}
		return true
	case FaultCrash:
		s.crashOnce.Do(func() { close(s.crashed) })
		panic(http.ErrAbortHandler)
	case FaultBusy, FaultDown:
		if f.RetryAfter > 0 {
			w.Header().Set("Retry-After", strconv.Itoa(int((f.RetryAfter+time.Second-1)/time.Second)))
		}
		e := &wire.Error{Status: http.StatusTooManyRequests, Kind: "RateLimitError", Message: "The server has too many requests; try again later."}
		if f.Kind == FaultDown {
			e = &wire.Error{Status: http.StatusServiceUnavailable, Kind: "ServiceUnavailableError", Message: "The server cannot take requests at the moment."}
		}
		s.refuse(w, q, e)
		return true
	case FaultSlowStart:
		return o.pause(f.Delay) != nil
	}
	return false
}

// accents begin the answers of a split-utf8 fault: characters of two, three and four bytes.
const accents = "né à l’été, 河水, 😀🚢!"

// wholeFault shows a mid-stream fault on a reply that is not streamed; done means that nothing more may be written.
func (o *outlet) wholeFault(s *Server, q *http.Request, body []byte) (done bool, err error) {
	if o.fault == nil {
		return false, nil
	}
	switch o.fault.Kind {
	case FaultError:
		s.refuse(o.w, q, &wire.Error{Status: http.StatusInternalServerError, Kind: "InternalServerError", Message: "the simulated engine failed"})
		return true, errCut
	case FaultReset:
		return true, o.reset()
	case FaultStall:
		return false, o.pause(o.fault.Delay)
	case FaultEOF, FaultGarbage:
		half := body[:len(body)/2]
		o.w.Header().Set("Content-Type", "application/json")
		_, err := fmt.Fprintf(o.w, "%s", half)
		return true, errors.Join(err, errCut)
	}
	return false, nil
}
