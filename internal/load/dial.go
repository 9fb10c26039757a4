package load

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/servemark/servemark/internal/bench"
)

// dialer makes stamped connections and keeps those made ahead of their use.
type dialer struct {
	clock   *Clock
	dial    func(ctx context.Context, network, addr string) (net.Conn, error)
	tls     *tls.Config
	timeout time.Duration
	// wall converts kernel stamps; nil for connections that are no sockets.
	wall  *wall
	tally *tally
	// sockets are the unix sockets behind made-up addresses.
	sockets map[string]string

	mu    sync.Mutex
	ready map[string][]readyConn // by scheme and address, oldest first
	open  map[*stampConn]struct{}
}

// readyConn is a connection made ahead of its use.
type readyConn struct {
	conn net.Conn
	at   time.Time
}

// maxReadyAge is how long a connection made ahead may wait: servers close idle ones after as little as five seconds.
const maxReadyAge = 2 * time.Second

// plain dials without TLS: for the server itself, or for a proxy.
func (d *dialer) plain(ctx context.Context, network, addr string) (net.Conn, error) {
	if c := d.take("http", addr); c != nil {
		return c, nil
	}
	return d.connect(ctx, network, addr)
}

// secure dials and shakes hands.
func (d *dialer) secure(ctx context.Context, network, addr string) (net.Conn, error) {
	if c := d.take("https", addr); c != nil {
		return c, nil
	}
	return d.handshake(ctx, network, addr)
}

func (d *dialer) connect(ctx context.Context, network, addr string) (*stampConn, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, d.timeout, context.DeadlineExceeded)
	defer cancel()
	if path, ok := d.sockets[addr]; ok {
		network, addr = "unix", path
	}
	start := time.Now()
	c, err := d.dial(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	sc := &stampConn{Conn: c, clock: d.clock, tally: d.tally, kernel: newKernelReader(c, d.wall), dialStart: start, connected: time.Now(),
		forget: d.forget}
	sc.firstWrite.Store(int64(bench.Never))
	sc.lastWrite.Store(int64(bench.Never))
	sc.lastRead.Store(int64(bench.Never))
	d.mu.Lock()
	d.open[sc] = struct{}{}
	d.mu.Unlock()
	return sc, nil
}

// forget takes a connection that is being closed off the list.
func (d *dialer) forget(c *stampConn) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.open, c)
}

func (d *dialer) handshake(ctx context.Context, network, addr string) (net.Conn, error) {
	sc, err := d.connect(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	cfg := d.tls.Clone()
	if cfg.ServerName == "" {
		host, _, err := net.SplitHostPort(addr)
		if err != nil {
			host = addr
		}
		cfg.ServerName = host
	}
	tc := tls.Client(sc, cfg)
	ctx, cancel := context.WithTimeout(ctx, d.timeout)
	defer cancel()
	if err := tc.HandshakeContext(ctx); err != nil {
		sc.Close()
		return nil, err
	}
	sc.tlsDone = time.Now()
	return tc, nil
}

// take returns a connection made ahead, or nil.
func (d *dialer) take(scheme, addr string) net.Conn {
	key := scheme + " " + addr
	for {
		d.mu.Lock()
		list := d.ready[key]
		if len(list) == 0 {
			d.mu.Unlock()
			return nil
		}
		r := list[0]
		d.ready[key] = list[1:]
		d.mu.Unlock()
		if time.Since(r.at) <= maxReadyAge {
			return r.conn
		}
		r.conn.Close()
	}
}

// ahead makes n connections to where a request for target goes first, a few at a time. Failures are left to the requests
// themselves, which meet and report them.
func (d *dialer) ahead(ctx context.Context, target *url.URL, proxy func(*http.Request) (*url.URL, error), n int) {
	scheme, addr := target.Scheme, address(target)
	if p, err := proxy(&http.Request{URL: target}); err != nil {
		return
	} else if p != nil {
		if scheme == "https" || p.Scheme != "http" {
			return // a tunnel is the transport's to make
		}
		scheme, addr = p.Scheme, address(p)
	}
	slots := make(chan struct{}, 64)
	var wg sync.WaitGroup
	for range n {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			var c net.Conn
			var err error
			if scheme == "https" {
				c, err = d.handshake(ctx, "tcp", addr)
			} else {
				c, err = d.connect(ctx, "tcp", addr)
			}
			if err != nil {
				return
			}
			d.mu.Lock()
			d.ready[scheme+" "+addr] = append(d.ready[scheme+" "+addr], readyConn{c, time.Now()})
			d.mu.Unlock()
		})
	}
	wg.Wait()
}

// discard closes what was made ahead and not used.
func (d *dialer) discard() {
	d.mu.Lock()
	ready := d.ready
	d.ready = map[string][]readyConn{}
	d.mu.Unlock()
	for _, list := range ready {
		for _, r := range list {
			r.conn.Close()
		}
	}
}

// address returns host:port of a URL.
func address(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	return net.JoinHostPort(u.Hostname(), port)
}
