package load

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"net/http"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	"github.com/servemark/servemark/internal/bench"
)

// Options say how requests travel. The zero value of each field has a sane meaning, except for BaseURL and Protocol, which
// are required.
type Options struct {
	// BaseURL is scheme://host[:port][/prefix], or unix:///path of a socket; a Message's path is appended.
	BaseURL string
	// Replicas are base URLs of further servers of the same model: request i goes to number i modulo their count and one.
	Replicas []string
	Protocol bench.Protocol
	// Classify names a transport error; nil books all of them as a lost connection.
	Classify func(error) (bench.FailureKind, string)
	// Load carries deadlines and TLS choices.
	Load bench.LoadSpec
	// RootCAs replaces the system's certificates; nil keeps them.
	RootCAs *x509.CertPool
	// Proxy chooses a proxy for a request; nil takes the environment's (never for loopback).
	Proxy func(*http.Request) (*url.URL, error)
	// Dial replaces net.Dialer, for tests; what it returns is stamped with user time.
	Dial func(ctx context.Context, network, addr string) (net.Conn, error)
	// Begin is called when everything is ready, just before the run's clock starts; nil for nobody.
	Begin func()
	// Live is updated while the run goes on; nil for none.
	Live *Live
}

// Live holds the figures of a run that is going on. All are safe to read at any time.
type Live struct {
	Sent, Done, Failed, InFlight atomic.Int64
	// Chunks counts token-bearing events received.
	Chunks atomic.Int64
}

// Engine sends requests over pooled keep-alive HTTP/1.1 connections.
type Engine struct {
	o       Options
	targets []target
	// places number the conversations of the plan that runs: a request's is its conversation's; nil before any.
	places []int
	clock  *Clock
	dialer *dialer
	pooled *http.Transport
	// fresh never takes a used connection: it replaces one that died before its first response byte.
	fresh *http.Transport
	// fine sleeps exactly; nil lets the runtime's timers do all.
	fine   func(time.Duration)
	alarms *alarms
	// wall and stamping are for the kernel's receive stamps; nil where there are none.
	wall        *wall
	stamping    *stamping
	tally       *tally
	health      bench.Health
	writeBuffer int // 0 is the transport's own choice
	// buffers are those of replies under way.
	buffers sync.Pool
}

// idleLimit is how long a connection may be idle and still be used again: servers behind uvicorn close theirs after 5 s.
const idleLimit = 4 * time.Second

// New returns an engine. Its clock starts now; Run starts it anew.
func New(o Options) (*Engine, error) {
	targets, err := newTargets(append([]string{o.BaseURL}, o.Replicas...))
	if err != nil {
		return nil, err
	}
	if o.Protocol == nil {
		return nil, errors.New("load: no protocol")
	}
	if o.Proxy == nil {
		o.Proxy = http.ProxyFromEnvironment
	}
	o.Proxy = noProxyForSockets(o.Proxy)
	e := &Engine{targets: targets, alarms: newAlarms()}
	e.fine = e.alarms.sleep
	e.buffers.New = func() any { return new([readBuffer]byte) }
	if o.Dial == nil {
		o.Dial = (&net.Dialer{KeepAlive: 30 * time.Second}).DialContext
		e.wall, e.stamping = &wall{}, newStamping()
	}
	if o.Live == nil {
		o.Live = &Live{}
	}
	if o.Classify == nil {
		o.Classify = func(err error) (bench.FailureKind, string) { return bench.FailReset, err.Error() }
	}
	e.o = o
	e.reset(newClock())
	return e, nil
}

// reset makes transports that stamp with clock c.
func (e *Engine) reset(c *Clock) {
	e.closeIdle()
	timeout := e.o.Load.ConnectTimeout
	if timeout == 0 {
		timeout = connectTimeout
	}
	e.clock, e.tally = c, &tally{}
	if e.wall != nil {
		e.wall.clock = c
		e.wall.restart()
	}
	e.dialer = &dialer{clock: c, dial: e.o.Dial, timeout: timeout, wall: e.wall, tally: e.tally, sockets: map[string]string{},
		ready: map[string][]readyConn{}, open: map[*stampConn]struct{}{},
		tls: &tls.Config{InsecureSkipVerify: e.o.Load.Insecure, RootCAs: e.o.RootCAs, NextProtos: []string{"http/1.1"}}}
	if e.o.Load.HTTP2 {
		e.dialer.wall = nil // its read loop lies between a stamp and its event
		e.dialer.tls.NextProtos = []string{"h2", "http/1.1"}
	}
	for _, t := range e.targets {
		if t.socket != "" {
			e.dialer.sockets[address(t.url)] = t.socket
		}
	}
	e.pooled = e.transport(false)
	e.fresh = e.transport(true)
}

func (e *Engine) transport(single bool) *http.Transport {
	t := &http.Transport{
		Proxy:               e.o.Proxy,
		DialContext:         e.dialer.plain,
		DialTLSContext:      e.dialer.secure,
		TLSClientConfig:     e.dialer.tls,
		TLSHandshakeTimeout: e.dialer.timeout,
		MaxIdleConns:        0,
		MaxIdleConnsPerHost: 1 << 20,
		IdleConnTimeout:     idleLimit,
		DisableCompression:  true,
		DisableKeepAlives:   single,
		WriteBufferSize:     e.writeBuffer,
		Protocols:           new(http.Protocols),
	}
	// HTTP/2 is off unless asked for: its read loop comes between a byte and its stamp.
	t.Protocols.SetHTTP1(!e.o.Load.HTTP2)
	t.Protocols.SetHTTP2(e.o.Load.HTTP2)
	t.Protocols.SetUnencryptedHTTP2(e.o.Load.HTTP2)
	return t
}

// Close closes idle connections, lets the kernel's stamps go and gives descriptors back.
func (e *Engine) Close() {
	e.closeIdle()
	e.stamping.close()
	e.stamping = nil
	e.alarms.close()
}

func (e *Engine) closeIdle() {
	if e.pooled != nil {
		e.pooled.CloseIdleConnections()
		e.fresh.CloseIdleConnections()
		e.dialer.discard()
	}
}

// Clock returns the clock that stamps the Records of the last Run or One.
func (e *Engine) Clock() *Clock { return e.clock }

// Health returns what the engine knows of itself after the last Run.
func (e *Engine) Health() bench.Health { return e.health }

// One asks a single request outside any plan (smoke test, warm-up, calibration) and returns its Record. The error is one
// of encoding; what goes wrong on the way is in the Record.
func (e *Engine) One(ctx context.Context, r *bench.Request) (bench.Record, error) {
	m, err := e.o.Protocol.Encode(r)
	if err != nil {
		return bench.Record{}, err
	}
	rec := bench.NewRecord(r.ID)
	rec.Admitted = e.clock.Now()
	rec.Due = rec.Admitted
	e.exchange(ctx, m, &rec, func() {})
	return rec, nil
}
