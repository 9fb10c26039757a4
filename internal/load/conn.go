package load

import (
	"crypto/tls"
	"net"
	"sync/atomic"
	"time"

	"github.com/servemark/servemark/internal/bench"
)

// stampConn is a connection that knows when bytes last passed through it. A reader that has just been given bytes finds
// in lastRead the instant at which the kernel received them (or, where it does not say, at which they were read), however many
// layers (buffers, TLS) lie between.
type stampConn struct {
	net.Conn
	clock *Clock
	tally *tally
	// kernel reads with the kernel's receive stamps; nil where this connection has none.
	kernel *kernelReader
	// dialStart, connected and tlsDone (zero without TLS) are set before the connection is handed out.
	dialStart, connected, tlsDone time.Time
	// firstWrite is just before the first write since begin, lastWrite just after the last one; lastRead is when the bytes of
	// the last read were received, and lag how long they waited to be read.
	firstWrite, lastWrite, lastRead atomic.Int64
	lag                             atomic.Uint32
	// readSince is true once bytes have arrived since begin.
	readSince atomic.Bool
	uses      atomic.Int32
	forget    func(*stampConn)
}

// tally counts reads by where their stamps come from, for all connections of an engine.
type tally struct {
	kernel, user, unstamped, implausible atomic.Int64
}

// clear begins to count anew.
func (t *tally) clear() {
	for _, n := range []*atomic.Int64{&t.kernel, &t.user, &t.unstamped, &t.implausible} {
		n.Store(0)
	}
}

// begin prepares the stamps for the next request and reports whether the connection has served one before.
func (c *stampConn) begin() (reused bool) {
	c.firstWrite.Store(int64(bench.Never))
	c.lastWrite.Store(int64(bench.Never))
	c.readSince.Store(false)
	return c.uses.Add(1) > 1
}

// Read reads and stamps.
func (c *stampConn) Read(p []byte) (int, error) {
	if c.kernel == nil || len(p) == 0 {
		n, err := c.Conn.Read(p)
		if n > 0 {
			c.stampUser(c.clock.Now())
		}
		return n, err
	}
	n, at, err := c.kernel.read(p)
	if n > 0 {
		c.stamp(at, c.clock.Now())
	}
	return n, err
}

// stampSlack is how far a kernel stamp may be beside what it follows before it is not believed: conversion errors and the
// reordering of segments are far below, steps of the wall clock that matter are above.
const stampSlack = time.Millisecond

// stamp books bytes that the kernel received at at (Never: it does not say) and that were read at now.
func (c *stampConn) stamp(at, now bench.Instant) {
	last := bench.Instant(c.lastRead.Load())
	switch {
	case !at.Known():
		c.tally.unstamped.Add(1)
	case at > now.Add(stampSlack), last.Known() && at < last.Add(-stampSlack):
		c.tally.implausible.Add(1)
	default:
		at = min(max(at, last), now)
		c.tally.kernel.Add(1)
		c.lastRead.Store(int64(at))
		c.lag.Store(uint32(bench.LagOf(now.Sub(at))))
		c.readSince.Store(true)
		return
	}
	c.stampUser(now)
}

func (c *stampConn) stampUser(now bench.Instant) {
	c.tally.user.Add(1)
	c.lastRead.Store(int64(now))
	c.lag.Store(0)
	c.readSince.Store(true)
}

// Write stamps and writes.
func (c *stampConn) Write(p []byte) (int, error) {
	if c.firstWrite.Load() == int64(bench.Never) {
		c.firstWrite.Store(int64(c.clock.Now()))
	}
	n, err := c.Conn.Write(p)
	c.lastWrite.Store(int64(c.clock.Now()))
	return n, err
}

// Close closes the connection and takes it off the engine's list.
func (c *stampConn) Close() error {
	c.forget(c)
	return c.Conn.Close()
}

// stamps finds the stampConn beneath a connection that net/http reports.
func stamps(c net.Conn) *stampConn {
	for {
		switch x := c.(type) {
		case *stampConn:
			return x
		case *tls.Conn:
			c = x.NetConn()
		default:
			return nil
		}
	}
}

// connectTimeout is the default limit for reaching the server.
const connectTimeout = 10 * time.Second
