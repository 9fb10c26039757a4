package load

import (
	"bufio"
	"encoding/pem"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/servemark/servemark/internal/bench"
)

// brief is a server of short replies that counts its requests.
func brief() *paced { return &paced{n: 3, ttft: time.Millisecond, itl: time.Millisecond} }

// checkReached checks that every request came through with its three tokens, and what the client says of its connections.
func checkReached(t *testing.T, got []bench.Record, secure bool) {
	t.Helper()
	for _, r := range got {
		if len(r.Chunks) != 3 && len(r.Chunks) != 4 || r.Status != 200 { // the decoder of these tests counts pieces with a t
			t.Errorf("request %d: %d tokens, status %d; want 3, 200", r.ID, len(r.Chunks), r.Status)
		}
		if c := r.Connection; r.ID == 0 && c.TLSDone.Known() != secure {
			t.Errorf("request 0: connection %+v, want TLS known: %v", c, secure)
		}
		if r.Sent.Known() && (r.Sent > r.Written || r.Written > r.FirstChunk() || r.LastChunk() > r.Done) {
			t.Errorf("request %d: sent %d, written %d, first %d, last %d, done %d are out of order", r.ID, r.Sent, r.Written, r.FirstChunk(), r.LastChunk(), r.Done)
		}
	}
}

func TestOwnCertificates(t *testing.T) {
	server := httptest.NewTLSServer(brief())
	defer server.Close()
	path := filepath.Join(t.TempDir(), "ca.pem")
	block := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	if err := os.WriteFile(path, block, 0o600); err != nil {
		t.Fatal(err)
	}
	roots, err := RootCAs(path)
	if err != nil {
		t.Fatal(err)
	}
	got, _ := runAgainst(t, 2, Options{BaseURL: server.URL, Protocol: wire{}, RootCAs: roots})
	checkReached(t, got, true)
	got, _ = runAgainst(t, 1, Options{BaseURL: server.URL, Protocol: wire{}, Load: bench.LoadSpec{Insecure: true}})
	checkReached(t, got, true)

	e, err := New(Options{BaseURL: server.URL, Protocol: wire{}})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	rec, err := e.One(t.Context(), &bench.Request{Prompt: bench.Prompt{Text: "q"}})
	if err != nil || rec.OK() || !strings.Contains(rec.Failure.Message, "certificate") {
		t.Errorf("One(unknown certificate) = %+v, %v; want a failure that names the certificate", rec.Failure, err)
	}

	if err := os.WriteFile(path, []byte("no certificate"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := RootCAs(path); err == nil || !strings.Contains(err.Error(), "PEM") {
		t.Errorf("RootCAs(text) = %v, want an error that names PEM", err)
	}
	if _, err := RootCAs(path + ".missing"); err == nil {
		t.Error("RootCAs(missing file) = nil, want an error")
	}
}

func TestIPv6(t *testing.T) {
	l, err := net.Listen("tcp6", "[::1]:0")
	if err != nil {
		t.Skipf("no IPv6 on this machine: %v", err)
	}
	server := httptest.NewUnstartedServer(brief())
	server.Listener.Close()
	server.Listener = l
	server.Start()
	defer server.Close()
	got, e := runAgainst(t, 2, Options{BaseURL: server.URL, Protocol: wire{}})
	checkReached(t, got, false)
	if share, _ := func() (float64, bool) { h := e.Health(); return h.KernelShare().Get() }(); runtime.GOOS == "linux" && share < 0.9 {
		t.Errorf("the kernel stamped %.2f of the reads over IPv6, want nearly all", share)
	}
}

func TestUnixSocket(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.sock")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Skipf("no unix sockets on this machine: %v", err)
	}
	p := brief()
	var host atomic.Value
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host.Store(r.Host + r.URL.Path)
		p.ServeHTTP(w, r)
	}))
	server.Listener.Close()
	server.Listener = l
	server.Start()
	defer server.Close()
	broken := func(*http.Request) (*url.URL, error) { return url.Parse("http://127.0.0.1:1") }
	got, e := runAgainst(t, 2, Options{BaseURL: "unix://" + path, Protocol: wire{}, Proxy: broken})
	checkReached(t, got, false)
	if h := e.Health(); h.KernelReads != 0 || h.UserReads == 0 {
		t.Errorf("health %+v, want user time: unix sockets have no stamps", h)
	}
	if got := host.Load(); got != "localhost/ask" {
		t.Errorf("the server was asked for %v, want localhost/ask", got)
	}
	transport := &http.Transport{}
	ReachSocket(transport, "unix://"+path)
	res, err := (&http.Client{Transport: transport}).Get("unix://" + path + "/v1/models")
	if err != nil {
		t.Fatal(err)
	}
	io.Copy(io.Discard, res.Body)
	res.Body.Close()
	if got := host.Load(); got != "localhost/v1/models" {
		t.Errorf("outside the load the server was asked for %v, want localhost/v1/models", got)
	}
}

func TestBaseURLs(t *testing.T) {
	for in, want := range map[string]string{
		"unix://relative": "three slashes", "unix:///": "three slashes", "ftp://h": "neither", "http://": "no host", "http://h:x": "cannot be read",
	} {
		if _, err := New(Options{BaseURL: in, Protocol: wire{}}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("New(%q) = %v, want an error with %q", in, err, want)
		}
	}
}

func TestReplicasTakeTurns(t *testing.T) {
	servers := []*paced{brief(), brief(), brief()}
	var o Options
	for i, p := range servers {
		s := httptest.NewServer(p)
		defer s.Close()
		if i == 0 {
			o = Options{BaseURL: s.URL, Protocol: wire{}}
		} else {
			o.Replicas = append(o.Replicas, s.URL)
		}
	}
	got, _ := runAgainst(t, 7, o)
	checkReached(t, got, false)
	for i, want := range []int{3, 2, 2} {
		if servers[i].requests != want {
			t.Errorf("server %d got %d requests, want %d of 7", i, servers[i].requests, want)
		}
	}
}

// tunnel is an HTTP proxy for plain requests and for CONNECT.
type tunnel struct {
	connects, plain atomic.Int64
}

func (p *tunnel) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodConnect {
		p.plain.Add(1)
		r.RequestURI = ""
		res, err := http.DefaultTransport.RoundTrip(r)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		defer res.Body.Close()
		w.WriteHeader(res.StatusCode)
		in := bufio.NewReader(res.Body)
		for {
			b, err := in.ReadByte()
			if err != nil {
				return
			}
			w.Write([]byte{b})
			w.(http.Flusher).Flush()
		}
	}
	p.connects.Add(1)
	up, err := net.Dial("tcp", r.Host)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	w.WriteHeader(http.StatusOK)
	down, _, err := w.(http.Hijacker).Hijack()
	if err != nil {
		up.Close()
		return
	}
	go func() { io.Copy(up, down); up.Close() }()
	go func() { io.Copy(down, up); down.Close() }()
}

func TestProxies(t *testing.T) {
	for name, secure := range map[string]bool{"plain": false, "CONNECT": true} {
		t.Run(name, func(t *testing.T) {
			server, o := serverOf(brief(), secure)
			defer server.Close()
			p := &tunnel{}
			proxy := httptest.NewServer(p)
			defer proxy.Close()
			o.Proxy = func(*http.Request) (*url.URL, error) { return url.Parse(proxy.URL) }
			got, e := runAgainst(t, 2, o)
			checkReached(t, got, secure)
			if secure && p.connects.Load() == 0 || !secure && p.plain.Load() != 2 {
				t.Errorf("the proxy saw %d CONNECT and %d plain requests", p.connects.Load(), p.plain.Load())
			}
			h := e.Health()
			if share, _ := h.KernelShare().Get(); runtime.GOOS == "linux" && share < 0.9 {
				t.Errorf("the kernel stamped %.2f of the reads, want nearly all: %+v", share, h)
			}
		})
	}
}

func TestHTTP2OnRequest(t *testing.T) {
	var major atomic.Int64
	p := brief()
	h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		major.Store(int64(r.ProtoMajor))
		p.ServeHTTP(w, r)
	})
	for name, secure := range map[string]bool{"TLS": true, "clear text": false} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewUnstartedServer(h)
			server.EnableHTTP2 = true
			server.Config.Protocols = new(http.Protocols)
			server.Config.Protocols.SetHTTP1(true)
			server.Config.Protocols.SetHTTP2(true)
			server.Config.Protocols.SetUnencryptedHTTP2(true)
			if secure {
				server.StartTLS()
			} else {
				server.Start()
			}
			defer server.Close()
			for _, http2 := range []bool{false, true} {
				got, e := runAgainst(t, 3, Options{BaseURL: server.URL, Protocol: wire{}, Load: bench.LoadSpec{Insecure: true, HTTP2: http2}})
				checkReached(t, got, secure)
				want, stamped := int64(1), runtime.GOOS == "linux"
				if http2 {
					want, stamped = 2, false
				}
				if n := major.Load(); n != want {
					t.Errorf("HTTP2 %v: the server was asked with HTTP/%d, want HTTP/%d", http2, n, want)
				}
				if health := e.Health(); (health.KernelReads > 0) != stamped {
					t.Errorf("HTTP2 %v: health %+v, want kernel stamps: %v", http2, health, stamped)
				}
			}
		})
	}
}
