package hub

import (
	"encoding/json"
	"io"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

const maxServerWords = 300 // bytes of the hub's own words that an error keeps

// refusal turns an HTTP status into an Error. The codes of X-Error-Code are the hub's own; a mirror
// may send none, then the status alone has to say.
func (c *Client) refusal(a *answer, e Error) error {
	token, _ := c.opts.Token.read()
	if token != "" && sameOrigin(a.at, c.endpoint) {
		e.Token = c.opts.Token.Source
	}
	e.Status, e.RenamedTo, e.Page = a.StatusCode, a.renamedTo, c.pageOf(e.Repo)
	e.Server = serverWords(a.Response, token)
	e.Kind = kindOfStatus(a, e)
	switch e.Kind {
	case RateLimited:
		e.RetryAfter = retryAfter(a.Header, time.Now())
	case NotAHub:
		e.Detail = "status " + a.Status
	}
	return &e
}

func kindOfStatus(a *answer, e Error) Kind {
	switch a.Header.Get("X-Error-Code") {
	case "RevisionNotFound":
		return RevisionNotFound
	case "EntryNotFound":
		return FileNotFound
	case "GatedRepo":
		return Gated
	case "RepoNotFound":
		if a.StatusCode == http.StatusUnauthorized && e.Token == "" {
			return NoSuchOrPrivate
		}
		return RepoNotFound
	}
	switch {
	case a.Header.Get("X-Error-Message") == "Access to this resource is disabled.":
		return Disabled
	case a.StatusCode == http.StatusUnauthorized && e.Token == "":
		return NoSuchOrPrivate
	case a.StatusCode == http.StatusUnauthorized:
		return BadToken
	case a.StatusCode == http.StatusForbidden:
		return Forbidden
	case a.StatusCode == http.StatusNotFound && e.File != "":
		return FileNotFound
	case a.StatusCode == http.StatusNotFound:
		return RepoNotFound
	case a.StatusCode == http.StatusTooManyRequests:
		return RateLimited
	case a.StatusCode >= 500:
		return ServerFault
	}
	return NotAHub
}

// serverWords gives what the hub says of a refusal, by header or as the "error" of a JSON body. A
// server that repeats the token gets it cut out.
func serverWords(r *http.Response, token string) string {
	s := r.Header.Get("X-Error-Message")
	if s == "" && strings.Contains(r.Header.Get("Content-Type"), "json") {
		var body struct {
			Error string `json:"error"`
		}
		b, _ := io.ReadAll(io.LimitReader(r.Body, 64<<10))
		if json.Unmarshal(b, &body) == nil {
			s = body.Error
		}
	}
	if token != "" {
		s = strings.ReplaceAll(s, token, "[token]")
	}
	if len(s) > maxServerWords {
		s = s[:maxServerWords] + "…"
	}
	if !utf8.ValidString(s) {
		s = strings.ToValidUTF8(s, "?")
	}
	return s
}

// rateLimit matches the draft header "RateLimit" as the hub sends it: "api";r=0;t=55 (seconds).
var rateLimit = regexp.MustCompile(`\bt\s*=\s*(\d{1,6})`)

func retryAfter(h http.Header, now time.Time) time.Duration {
	s := h.Get("Retry-After")
	if n, err := strconv.ParseUint(s, 10, 24); err == nil {
		return time.Duration(n) * time.Second
	}
	if at, err := http.ParseTime(s); err == nil && at.After(now) {
		return at.Sub(now).Round(time.Second)
	}
	if m := rateLimit.FindStringSubmatch(h.Get("RateLimit")); m != nil {
		n, _ := strconv.Atoi(m[1]) // digits only
		return time.Duration(n) * time.Second
	}
	return 0
}
