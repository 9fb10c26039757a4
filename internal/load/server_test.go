package load

import (
	"crypto/x509"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/servemark/servemark/internal/bench"
)

// paced answers every POST with n tokens, and keeps the instants just before each was written.
type paced struct {
	n        int
	ttft     time.Duration
	itl      time.Duration
	mu       sync.Mutex
	requests int
	sends    [][]time.Time
}

func (p *paced) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	io.Copy(io.Discard, r.Body)
	var sends []time.Time
	flush := w.(http.Flusher)
	time.Sleep(p.ttft)
	for i := range p.n {
		if i > 0 {
			time.Sleep(p.itl)
		}
		sends = append(sends, time.Now())
		io.WriteString(w, "t")
		flush.Flush()
	}
	io.WriteString(w, "END")
	p.mu.Lock()
	defer p.mu.Unlock()
	p.requests++
	p.sends = append(p.sends, sends)
}

// runAgainst runs n requests one after another against a server.
func runAgainst(t *testing.T, n int, o Options) ([]bench.Record, *Engine) {
	t.Helper()
	e, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	var got []bench.Record
	plan := planOf(bench.LoadSpec{Concurrency: 1}, never(n)...)
	if err := e.Run(t.Context(), plan, func(r bench.Record) error { got = append(got, r); return nil }); err != nil {
		t.Fatal(err)
	}
	for _, r := range got {
		if !r.OK() {
			t.Fatalf("request %d failed: %+v", r.ID, r.Failure)
		}
	}
	return got, e
}

// serverOf serves h on loopback; the options reach it.
func serverOf(h http.Handler, secure bool) (*httptest.Server, Options) {
	if !secure {
		s := httptest.NewServer(h)
		return s, Options{BaseURL: s.URL, Protocol: wire{}}
	}
	s := httptest.NewTLSServer(h)
	roots := x509.NewCertPool()
	roots.AddCert(s.Certificate())
	return s, Options{BaseURL: s.URL, Protocol: wire{}, RootCAs: roots}
}
