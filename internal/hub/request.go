package hub

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"
)

const (
	defaultTimeout = 10 * time.Second // as huggingface_hub's, for a question and for silence in a download
	maxRedirects   = 10
)

// newTransport makes the connection pool of one client. A refusing proxy becomes a typed error, which
// net/http alone reports as bare text.
func newTransport(headerTimeout time.Duration) http.RoundTripper {
	return &http.Transport{
		Proxy:                 http.ProxyFromEnvironment,
		DialContext:           (&net.Dialer{Timeout: defaultTimeout, KeepAlive: 30 * time.Second}).DialContext,
		ForceAttemptHTTP2:     true,
		MaxIdleConns:          8,
		IdleConnTimeout:       30 * time.Second,
		TLSHandshakeTimeout:   defaultTimeout,
		ResponseHeaderTimeout: headerTimeout,
		OnProxyConnectResponse: func(_ context.Context, _ *url.URL, _ *http.Request, res *http.Response) error {
			if res.StatusCode == http.StatusOK {
				return nil
			}
			return &proxyRefusal{status: res.Status}
		},
	}
}

type proxyRefusal struct{ status string }

func (p *proxyRefusal) Error() string { return fmt.Sprintf("the proxy answers %q", p.status) }

// answer is the last response of a chain of redirects and what the chain told.
type answer struct {
	*http.Response
	at        *url.URL    // where the last response came from
	next      *url.URL    // redirect to another origin that was not followed, if any
	headers   http.Header // hub headers, the later hop's before the earlier's
	renamedTo string
}

// ask sends one request and follows redirects by hand. With an error the answer still tells where. The token goes to the endpoint's own origin and
// nowhere else. A redirect to another origin is followed only if elsewhere is set: a question about
// a file ends at the hub, whose redirect already carries the answer.
func (c *Client) ask(ctx context.Context, method string, u *url.URL, header http.Header, elsewhere bool) (*answer, error) {
	token, err := c.opts.Token.read()
	if err != nil {
		return &answer{at: u}, err
	}
	a := &answer{at: u, headers: http.Header{}}
	for range maxRedirects {
		req, err := http.NewRequestWithContext(ctx, method, a.at.String(), nil)
		if err != nil {
			return a, errors.New("a redirect to something that is no address")
		}
		for k, v := range header {
			req.Header[k] = v
		}
		req.Header.Set("User-Agent", c.opts.UserAgent)
		if token != "" && sameOrigin(a.at, c.endpoint) {
			req.Header.Set("Authorization", "Bearer "+token)
		}
		if a.Response, err = c.http.Do(req); err != nil {
			return a, withoutAddress(err)
		}
		for _, k := range []string{"X-Repo-Commit", "X-Linked-Etag", "X-Linked-Size"} {
			if v := a.Header.Get(k); v != "" {
				a.headers.Set(k, v)
			}
		}
		next, err := a.Location()
		if a.StatusCode/100 != 3 || err != nil {
			return a, nil
		}
		if sameOrigin(next, c.endpoint) {
			if id := c.repoOf(next); id != "" && id != c.repoOf(a.at) {
				a.renamedTo = id
			}
		} else if !elsewhere {
			a.next = next
			return a, nil
		}
		_ = a.Body.Close()
		a.at, a.Response = next, nil
	}
	return a, errCircle
}

// errCircle ends a chain of redirects that may have no end.
var errCircle = fmt.Errorf("%d redirects were followed", maxRedirects)

// withoutAddress drops the address from a client error: one of a signed download is a secret.
func withoutAddress(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		return u.Err
	}
	return err
}

// sameOrigin compares scheme, host and port.
func sameOrigin(a, b *url.URL) bool {
	return a.Scheme == b.Scheme && strings.EqualFold(a.Hostname(), b.Hostname()) && port(a) == port(b)
}

// origin names scheme and host, without anything secret in an address.
func origin(u *url.URL) string { return u.Scheme + "://" + u.Host }

func port(u *url.URL) string {
	if p := u.Port(); p != "" || u.Scheme != "https" && u.Scheme != "http" {
		return p
	}
	return map[string]string{"http": "80", "https": "443"}[u.Scheme]
}

// fileURL is ENDPOINT[/datasets]/org/name/resolve/REVISION/FILE; a slash in the revision is escaped,
// one in the file is not.
func (c *Client) fileURL(repo Repo, revision, file string) *url.URL {
	parts := strings.Split(file, "/")
	for i := range parts {
		parts[i] = url.PathEscape(parts[i])
	}
	return c.address(repo.page() + "/resolve/" + url.PathEscape(revision) + "/" + strings.Join(parts, "/"))
}

// address joins an escaped path to the endpoint.
func (c *Client) address(escaped string) *url.URL {
	u := *c.endpoint
	full := strings.TrimRight(u.EscapedPath(), "/") + "/" + escaped
	u.RawPath = full
	u.Path, _ = url.PathUnescape(full) // escaped by us: it cannot fail
	return &u
}

// pageOf is the address of a repo's page, without user and password that the hub's address may have in it.
func (c *Client) pageOf(repo Repo) string {
	u := c.address(repo.page())
	u.User = nil
	return u.String()
}

// repoOf gives the repo that an address of the endpoint is about, "" for any other address.
func (c *Client) repoOf(u *url.URL) string {
	p := strings.TrimPrefix(u.Path, strings.TrimRight(c.endpoint.Path, "/")+"/")
	isAPI := false
	for _, prefix := range []string{"api/models/", "api/datasets/"} {
		if rest, ok := strings.CutPrefix(p, prefix); ok {
			p, isAPI = rest, true
		}
	}
	p = strings.TrimPrefix(p, "datasets/")
	parts := strings.SplitN(p, "/", 4)
	if len(parts) < 2 || !isAPI && (len(parts) < 3 || parts[2] != "resolve") {
		return ""
	}
	id := parts[0] + "/" + parts[1]
	if (Repo{ID: id}).check() != nil {
		return ""
	}
	return id
}

// failure turns a fault of the connection to a host into an Error. An interrupted context stays itself.
func (c *Client) failure(ctx context.Context, e Error, host string, err error) error {
	e.Host = host
	if ctx.Err() != nil {
		return fmt.Errorf("asking %s for %s: %w", e.Host, e.thing(), context.Cause(ctx))
	}
	e.Kind, e.Err = kindOf(err), err
	return &e
}

func kindOf(err error) Kind {
	var (
		op      *net.OpError
		refusal *proxyRefusal
		dns     *net.DNSError
		timeout interface{ Timeout() bool }
	)
	switch {
	case errors.Is(err, errCircle):
		return Circle
	case errors.As(err, &op) && op.Op == "proxyconnect", errors.As(err, &refusal):
		return Proxy
	case errors.As(err, &dns) && !dns.IsTimeout:
		return DNS
	case isRefused(err):
		return Refused
	case isTLS(err):
		return TLS
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, errStalled), errors.As(err, &timeout) && timeout.Timeout():
		return TimedOut
	}
	return Network
}

func isTLS(err error) bool {
	var (
		verification *tls.CertificateVerificationError
		record       tls.RecordHeaderError
		alert        tls.AlertError
		authority    x509.UnknownAuthorityError
		hostname     x509.HostnameError
		invalid      x509.CertificateInvalidError
	)
	return errors.As(err, &verification) || errors.As(err, &record) || errors.As(err, &alert) ||
		errors.As(err, &authority) || errors.As(err, &hostname) || errors.As(err, &invalid) ||
		errors.Is(err, http.ErrSchemeMismatch)
}
