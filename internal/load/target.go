package load

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
)

// target is one server that requests go to.
type target struct {
	// url is what the transport asks for; host is what the request says (the Host header).
	url  *url.URL
	host string
	// socket is the path of a unix socket, or "".
	socket string
}

// socketHost ends the made-up host names under which the transport keeps connections to unix sockets apart.
const socketHost = ".socket.invalid"

// newTarget reads scheme://host[:port][/prefix], or unix:///path/of/socket, which is plain HTTP. nth tells targets apart.
func newTarget(base string, nth int) (target, error) {
	u, err := url.Parse(base)
	switch {
	case err != nil:
		return target{}, fmt.Errorf("base URL %q cannot be read: %w", base, err)
	case u.Scheme == "unix" && (u.Host != "" || len(u.Path) < 2):
		return target{}, fmt.Errorf("base URL %q names no socket; write unix:///path/of/socket, with three slashes", base)
	case u.Scheme == "unix":
		host := "s" + strconv.Itoa(nth) + socketHost
		return target{url: &url.URL{Scheme: "http", Host: host}, host: "localhost", socket: u.Path}, nil
	case u.Scheme != "http" && u.Scheme != "https":
		return target{}, fmt.Errorf("base URL %q is neither http:// nor https:// nor unix://", base)
	case u.Host == "":
		return target{}, fmt.Errorf("base URL %q has no host", base)
	}
	return target{url: u, host: u.Host}, nil
}

// newTargets reads all base URLs; at least one is needed.
func newTargets(bases []string) ([]target, error) {
	if len(bases) == 0 {
		return nil, errors.New("load: no base URL")
	}
	var out []target
	for i, base := range bases {
		t, err := newTarget(base, i)
		if err != nil {
			return nil, err
		}
		out = append(out, t)
	}
	return out, nil
}

// target is the server that request id goes to: one after the other, all turns of a conversation to the same.
func (e *Engine) target(id int) *target {
	if id < len(e.places) {
		id = e.places[id]
	}
	return &e.targets[id%len(e.targets)]
}

// noProxyForSockets keeps requests to unix sockets away from proxies.
func noProxyForSockets(proxy func(*http.Request) (*url.URL, error)) func(*http.Request) (*url.URL, error) {
	return func(r *http.Request) (*url.URL, error) {
		if strings.HasSuffix(r.URL.Hostname(), socketHost) {
			return nil, nil
		}
		return proxy(r)
	}
}

// ReachSocket lets t, which is for requests outside the load, ask servers whose base URL is unix:///path; for others it does
// nothing. What follows the path of the socket is the route.
func ReachSocket(t *http.Transport, base string) {
	to, err := newTarget(base, 0)
	if err != nil || to.socket == "" {
		return
	}
	beneath := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", to.socket)
	}}
	t.RegisterProtocol("unix", socketTransport{beneath, to})
}

// socketTransport asks over a unix socket.
type socketTransport struct {
	beneath *http.Transport
	to      target
}

// RoundTrip implements http.RoundTripper.
func (s socketTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.URL.Path, r.URL.RawPath = strings.TrimPrefix(r.URL.Path, s.to.socket), ""
	r.URL.Scheme, r.URL.Host, r.Host = s.to.url.Scheme, s.to.url.Host, s.to.host
	return s.beneath.RoundTrip(r)
}

// RootCAs returns the system's certificates and those of a PEM file.
func RootCAs(path string) (*x509.CertPool, error) {
	pem, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("the certificates in %s cannot be read: %w", path, err)
	}
	pool, err := x509.SystemCertPool()
	if err != nil {
		pool = x509.NewCertPool() // none on this system: the file's alone
	}
	if !pool.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("%s holds no certificate in PEM form (-----BEGIN CERTIFICATE-----); convert it with openssl x509", path)
	}
	return pool, nil
}
