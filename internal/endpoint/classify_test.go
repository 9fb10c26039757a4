package endpoint

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/servemark/servemark/internal/bench"
)

func TestClassify(t *testing.T) {
	addr := &net.TCPAddr{IP: net.IPv4(10, 0, 0, 9), Port: 8000}
	dial := func(e syscall.Errno) error {
		return &url.Error{Op: "Post", URL: "http://10.0.0.9:8000/x", Err: &net.OpError{Op: "dial", Net: "tcp", Addr: addr, Err: os.NewSyscallError("connect", e)}}
	}
	for _, tc := range []struct {
		err   error
		kind  bench.FailureKind
		words string
	}{
		{&net.OpError{Op: "dial", Err: &net.DNSError{Err: "no such host", Name: "gpu-7", IsNotFound: true}}, bench.FailDNS, `the name "gpu-7" does not resolve (no such host)`},
		{&net.DNSError{Err: "i/o timeout", Name: "gpu-7", IsTimeout: true}, bench.FailDNS, "no name server answered"},
		{dial(syscall.ECONNREFUSED), bench.FailConnect, "10.0.0.9:8000: connection refused; no server listens there"},
		{dial(syscall.EHOSTUNREACH), bench.FailConnect, "no route to host"},
		{dial(syscall.EMFILE), bench.FailClient, "ulimit -n"},
		{dial(syscall.EADDRNOTAVAIL), bench.FailClient, "no free local port"},
		{errors.New("http2: frame too large"), bench.FailMalformed, "does not answer in HTTP/2; leave --http2 out"},
		{errReset, bench.FailReset, "cut the connection (connection reset by peer)"},
		{io.EOF, bench.FailReset, "closed the connection without an answer"},
		{fmt.Errorf("x: %w", io.ErrUnexpectedEOF), bench.FailReset, "closed the connection without an answer"},
		{&net.OpError{Op: "dial", Net: "tcp", Addr: addr, Err: context.DeadlineExceeded}, bench.FailTimeout, "10.0.0.9:8000: no answer to the connection attempt"},
		{context.DeadlineExceeded, bench.FailTimeout, "no answer in time"},
		{os.ErrDeadlineExceeded, bench.FailTimeout, "no answer in time"},
		{context.Canceled, bench.FailClient, "cancelled"},
		{&tls.CertificateVerificationError{Err: errors.New("x509: expired")}, bench.FailTLS, "x509: expired"},
		{tls.RecordHeaderError{Msg: "first record does not look like a TLS handshake"}, bench.FailTLS, "try http://"},
		{errors.New(`net/http: HTTP/1.x transport connection broken: malformed HTTP response "SSH-2.0"`), bench.FailMalformed, "does not speak HTTP/1.1"},
		{errors.New("something new"), bench.FailReset, "something new"},
	} {
		kind, words := Classify(tc.err)
		if kind != tc.kind || !strings.Contains(words, tc.words) {
			t.Errorf("Classify(%v) = %q, %q; want %q, …%s…", tc.err, kind, words, tc.kind, tc.words)
		}
	}
}

// What net/http really returns for live faults.
func TestClassifyLiveErrors(t *testing.T) {
	secure := httptest.NewUnstartedServer(http.NotFoundHandler())
	secure.Config.ErrorLog = log.New(io.Discard, "", 0)
	secure.StartTLS()
	defer secure.Close()
	clear := httptest.NewServer(http.NotFoundHandler())
	defer clear.Close()
	closed := httptest.NewServer(http.NotFoundHandler())
	closed.Close()
	mute := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		c, _, err := w.(http.Hijacker).Hijack()
		if err == nil {
			c.Close()
		}
	}))
	defer mute.Close()
	client := &http.Client{Transport: &http.Transport{}, Timeout: 10 * time.Second}
	defer client.CloseIdleConnections()
	for _, tc := range []struct {
		url   string
		kind  bench.FailureKind
		words string
	}{
		{secure.URL, bench.FailTLS, "not trusted"},
		{strings.Replace(clear.URL, "http://", "https://", 1), bench.FailTLS, "try http://"},
		{closed.URL, bench.FailConnect, "connection refused"},
		{mute.URL, bench.FailReset, "closed the connection without an answer"},
	} {
		_, err := client.Get(tc.url)
		if kind, words := Classify(err); err == nil || kind != tc.kind || !strings.Contains(words, tc.words) {
			t.Errorf("Classify(%v) = %q, %q; want %q, …%s…", err, kind, words, tc.kind, tc.words)
		}
	}
}
