package endpoint

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"strings"
	"syscall"

	"github.com/servemark/servemark/internal/bench"
)

// Classify names the kind of a transport error and tells it in plain words: what happened (in the operating system's
// words where it has some), the likely cause and what to do. It is for errors of dialling, writing and reading, not for
// what a server says.
func Classify(err error) (bench.FailureKind, string) {
	if err == nil {
		return bench.FailClient, "no error"
	}
	var dns *net.DNSError
	var refused *net.OpError
	switch {
	case errors.Is(err, errElsewhere):
		return bench.FailConnect, elsewhereWords(err)
	case errors.As(err, &dns):
		return classifyDNS(dns)
	case isTLS(err):
		return bench.FailTLS, tlsWords(err)
	case errors.Is(err, context.Canceled):
		return bench.FailClient, "cancelled by the user"
	case isTimeout(err):
		return bench.FailTimeout, timeoutWords(err)
	case errors.Is(err, syscall.ECONNREFUSED):
		return bench.FailConnect, fmt.Sprintf("%s: connection refused; no server listens there: is it running, and is the port right?", dialled(err))
	case errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE):
		return bench.FailClient, "too many open files; raise the limit (ulimit -n 65535) or lower the concurrency"
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		return bench.FailClient, "no free local port (cannot assign requested address); lower the concurrency or the rate of new connections"
	case errors.Is(err, syscall.EHOSTUNREACH) || errors.Is(err, syscall.ENETUNREACH):
		return bench.FailConnect, fmt.Sprintf("%s: %s; no route to that address: is the host up, are VPN and firewall right?", dialled(err), root(err))
	case errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE) || errors.Is(err, syscall.ECONNABORTED):
		return bench.FailReset, fmt.Sprintf("the server cut the connection (%s); it may have crashed, restarted, or hit a limit of its own", root(err))
	case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || strings.Contains(err.Error(), "server closed idle connection"):
		return bench.FailReset, "the server closed the connection without an answer; it may have crashed, or it ended an idle connection"
	case errors.As(err, &refused) && refused.Op == "dial":
		return bench.FailConnect, fmt.Sprintf("%s: %s", dialled(err), root(err))
	case strings.Contains(err.Error(), "http2: frame too large"): // the start of an HTTP/1.1 answer, read as a frame's length
		return bench.FailMalformed, "the server does not answer in HTTP/2; leave --http2 out"
	case strings.Contains(err.Error(), "malformed HTTP"):
		return bench.FailMalformed, bound(root(err).Error()) + "; the port is open but does not speak HTTP/1.1: TLS (try https://) or another service?"
	}
	return bench.FailReset, bound(root(err).Error())
}

// NameNotFound reports whether an error means that a host name does not exist, which waiting does not mend.
func NameNotFound(err error) bool {
	var dns *net.DNSError
	return errors.As(err, &dns) && dns.IsNotFound
}

// elsewhereWords tells a refused redirect without net/http's wrapping.
func elsewhereWords(err error) string {
	var u *url.Error
	if errors.As(err, &u) {
		err = u.Err
	}
	return err.Error()
}

func classifyDNS(dns *net.DNSError) (bench.FailureKind, string) {
	switch {
	case dns.IsNotFound:
		return bench.FailDNS, fmt.Sprintf("the name %q does not resolve (%s); is it spelled right, and is this machine on the network that knows it?", dns.Name, dns.Err)
	case dns.IsTimeout:
		return bench.FailDNS, fmt.Sprintf("no name server answered for %q in time; is the network up?", dns.Name)
	}
	return bench.FailDNS, fmt.Sprintf("the name %q could not be resolved: %s", dns.Name, dns.Err)
}

// isTLS reports whether an error comes from the TLS handshake or the certificate.
func isTLS(err error) bool {
	var (
		verify  *tls.CertificateVerificationError
		record  tls.RecordHeaderError
		alert   tls.AlertError
		unknown x509.UnknownAuthorityError
		host    x509.HostnameError
		invalid x509.CertificateInvalidError
	)
	return errors.As(err, &verify) || errors.As(err, &record) || errors.As(err, &alert) || errors.As(err, &unknown) ||
		errors.As(err, &host) || errors.As(err, &invalid) || strings.Contains(err.Error(), "tls: ") ||
		strings.Contains(err.Error(), "server gave HTTP response to HTTPS client")
}

func tlsWords(err error) string {
	var (
		record  tls.RecordHeaderError
		unknown x509.UnknownAuthorityError
		host    x509.HostnameError
		invalid x509.CertificateInvalidError
	)
	switch {
	case errors.As(err, &record) || strings.Contains(err.Error(), "server gave HTTP response to HTTPS client"):
		return "the server does not speak TLS on that port; try http:// in place of https://"
	case errors.As(err, &unknown):
		return fmt.Sprintf("the server's certificate is not trusted (%v); let SSL_CERT_FILE name its authority, or accept any certificate with --insecure", unknown)
	case errors.As(err, &host):
		return fmt.Sprintf("the server's certificate is for another name (%s)", host.Error())
	case errors.As(err, &invalid):
		return fmt.Sprintf("the server's certificate is not valid (%s)", invalid.Error())
	}
	return bound(root(err).Error())
}

func isTimeout(err error) bool {
	var t interface{ Timeout() bool }
	return errors.Is(err, context.DeadlineExceeded) || errors.Is(err, os.ErrDeadlineExceeded) || errors.As(err, &t) && t.Timeout()
}

func timeoutWords(err error) string {
	var op *net.OpError
	if errors.As(err, &op) && op.Op == "dial" {
		return fmt.Sprintf("%s: no answer to the connection attempt in time; is the address right, and does a firewall drop it?", dialled(err))
	}
	return "no answer in time (" + bound(root(err).Error()) + ")"
}

// dialled names the address of a failed dial.
func dialled(err error) string {
	var op *net.OpError
	if errors.As(err, &op) && op.Addr != nil {
		return op.Addr.String()
	}
	var u *url.Error
	if errors.As(err, &u) {
		if at, perr := url.Parse(u.URL); perr == nil {
			return at.Host
		}
	}
	return "the server"
}

// root returns the innermost error, which is the operating system's where it has one.
func root(err error) error {
	for {
		next := errors.Unwrap(err)
		if next == nil {
			return err
		}
		err = next
	}
}
