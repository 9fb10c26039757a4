package load

import (
	"crypto/tls"
	"net"
	"sync/atomic"
	"time"

	"github.com/servemark/servemark/internal/bench"
)

// stampConn is a connection that knows when bytes last passed through it. A reader that has just been given bytes finds
// in lastRead the instant at which they left the kernel, however many layers (buffers, TLS) lie between.
type stampConn struct {
	net.Conn
	clock *Clock
	// dialStart, connected and tlsDone (zero without TLS) are set before the connection is handed out.
	dialStart, connected, tlsDone time.Time
	// firstWrite is just before the first write since begin; lastWrite and lastRead are just after the last one.
	firstWrite, lastWrite, lastRead atomic.Int64
	// readSince is true once bytes have arrived since begin.
	readSince atomic.Bool
	uses      atomic.Int32
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
	n, err := c.Conn.Read(p)
	if n > 0 {
		c.lastRead.Store(int64(c.clock.Now()))
		c.readSince.Store(true)
	}
	return n, err
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
