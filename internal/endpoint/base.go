package endpoint

import (
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
)

// routes that people paste behind a base URL, longest first.
func pastedRoutes() []string {
	return []string{
		"/v1/chat/completions", "/chat/completions", "/v1/completions", "/v1/embeddings", "/v1/responses", "/v1/messages",
		"/v1/models", "/generate", "/v1",
	}
}

// NormalizeBase turns an address as people type it into scheme://host[:port][/prefix]: a missing scheme is http, a
// trailing slash, /v1 or whole route goes, a path prefix stays. User and password are returned apart, since the base URL
// is printed and stored. unix:///path of a socket stays as it is. Notes say what was assumed; the error says what to type.
func NormalizeBase(raw string) (base string, user *url.Userinfo, notes []string, err error) {
	raw = strings.TrimSpace(raw)
	if raw == "" {
		return "", nil, nil, fmt.Errorf("the address of the server is empty; type something like http://localhost:8000")
	}
	full := raw
	if !strings.Contains(raw, "://") {
		bare, err := bracketed(raw)
		if err != nil {
			return "", nil, nil, err
		}
		full = "http://" + bare
		notes = append(notes, fmt.Sprintf("%q has no scheme; %s is used", withoutUser(raw), withoutUser(full)))
	}
	u, err := url.Parse(full)
	if err != nil {
		return "", nil, nil, fmt.Errorf("%q is not an address: %s", withoutUser(raw), parseWords(err, full))
	}
	u.Scheme, u.Host = strings.ToLower(u.Scheme), strings.ToLower(u.Host)
	if u.Scheme == "unix" {
		if u.Host != "" || len(u.Path) < 2 || u.RawQuery != "" || u.Fragment != "" {
			return "", nil, nil, fmt.Errorf("%q names no socket; type unix:///path/of/socket, with three slashes", raw)
		}
		return "unix://" + u.EscapedPath(), nil, notes, nil
	}
	if u.Scheme != "http" && u.Scheme != "https" {
		return "", nil, nil, fmt.Errorf("%q: %s is not spoken here; use http://, https:// or unix://", withoutUser(raw), u.Scheme)
	}
	if u.Hostname() == "" {
		return "", nil, nil, fmt.Errorf("%q names no host; type something like http://localhost:8000", withoutUser(raw))
	}
	if p := u.Port(); p != "" {
		if n, err := strconv.Atoi(p); err != nil || n < 1 || n > 65535 {
			return "", nil, nil, fmt.Errorf("%q: port %s is out of range (1 to 65535)", withoutUser(raw), p)
		}
	}
	if u.RawQuery != "" || u.Fragment != "" {
		return "", nil, nil, fmt.Errorf("%q: what follows ? or # does not belong in a base URL; leave it out", withoutUser(raw))
	}
	host := strings.TrimSuffix(u.Host, ":")
	path := strings.TrimRight(u.EscapedPath(), "/")
	for _, route := range pastedRoutes() {
		if rest, ok := strings.CutSuffix(path, route); ok {
			if path = strings.TrimRight(rest, "/"); route != "/v1" {
				notes = append(notes, fmt.Sprintf("%s is left out of the base URL; the route is chosen by the backend", route))
			}
			break
		}
	}
	return u.Scheme + "://" + host + path, u.User, notes, nil
}

// bracketed puts a bare IPv6 address in brackets. An address whose end could as well be a port is refused.
func bracketed(raw string) (string, error) {
	host, path, _ := strings.Cut(raw, "/")
	if path != "" {
		path = "/" + path
	}
	if _, err := netip.ParseAddr(host); err != nil || !strings.Contains(host, ":") {
		return raw, nil
	}
	i := strings.LastIndexByte(host, ':')
	if n, err := strconv.Atoi(host[i+1:]); err == nil && n >= 80 {
		if _, err := netip.ParseAddr(host[:i]); err == nil {
			return "", fmt.Errorf("%q: an IPv6 address with a port needs brackets: http://[%s]:%d", raw, host[:i], n)
		}
	}
	return "[" + host + "]" + path, nil
}

// withoutUser hides user and password of an address that is quoted in a message.
func withoutUser(raw string) string {
	scheme, rest, ok := strings.Cut(raw, "://")
	if !ok {
		scheme, rest = "", raw
	} else {
		scheme += "://"
	}
	host, path, slash := strings.Cut(rest, "/")
	if i := strings.LastIndexByte(host, '@'); i >= 0 {
		host = "…" + host[i:]
	}
	if slash {
		path = "/" + path
	}
	return scheme + host + path
}

// parseWords says why an address cannot be parsed, without repeating it.
func parseWords(err error, full string) string {
	rest := full[strings.Index(full, "://")+3:]
	host, _, _ := strings.Cut(rest, "/")
	if strings.Count(host, ":") > 1 && !strings.Contains(host, "[") {
		return "an IPv6 address needs brackets, as in http://[::1]:8000"
	}
	if u, ok := err.(*url.Error); ok {
		err = u.Err
	}
	return err.Error()
}

// HostPort joins a host name or address, an IPv6 one with or without its brackets, and a port.
func HostPort(host string, port int) string {
	if strings.HasPrefix(host, "[") && strings.HasSuffix(host, "]") {
		host = host[1 : len(host)-1]
	}
	return net.JoinHostPort(host, strconv.Itoa(port))
}
