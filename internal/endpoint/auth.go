package endpoint

import (
	"fmt"
	"log/slog"
	"net/http"
	"strings"

	"github.com/servemark/servemark/internal/bench"
)

// Auth is what a request carries to be let in: the API key and the user's extra headers. The zero Auth carries
// nothing. Printing it shows names, never values.
type Auth struct {
	authorization string
	from          string
	extra         http.Header
}

// AuthFromEnv takes the key from OPENAI_API_KEY, sent as a bearer token, else from API_KEY, sent as it is (SGLang's
// rule); extra headers win over both. Empty variables count as unset.
func AuthFromEnv(getenv func(string) string, extra http.Header) Auth {
	a := Auth{extra: extra.Clone()}
	if k := strings.TrimSpace(getenv("OPENAI_API_KEY")); k != "" {
		a.authorization, a.from = "Bearer "+k, "OPENAI_API_KEY"
	} else if k := strings.TrimSpace(getenv("API_KEY")); k != "" {
		a.authorization, a.from = k, "API_KEY"
	}
	return a
}

// WithBasic returns a copy that sends user and password as HTTP basic authentication, unless a key already
// authorizes (an extra Authorization header wins over both); it is for addresses of the form http://user:password@host.
func (a Auth) WithBasic(user, password string) Auth {
	if a.authorization == "" {
		r := http.Request{Header: http.Header{}}
		r.SetBasicAuth(user, password)
		a.authorization, a.from = r.Header.Get("Authorization"), "the base URL"
	}
	return a
}

// From names the environment variable that holds the key, or "" where there is none.
func (a Auth) From() string { return a.from }

// Present reports whether anything is sent that could let a request in.
func (a Auth) Present() bool {
	return a.authorization != "" || a.extra.Get("Authorization") != "" || a.extra.Get("X-Api-Key") != ""
}

// Apply sets the headers in h.
func (a Auth) Apply(h http.Header) {
	if a.authorization != "" {
		h.Set("Authorization", a.authorization)
	}
	for name, values := range a.extra {
		h[http.CanonicalHeaderKey(name)] = append([]string(nil), values...)
	}
}

// String names where the key comes from, never the key.
func (a Auth) String() string {
	if a.from == "" {
		return "no key, " + bench.Number(len(a.extra), "extra header")
	}
	return fmt.Sprintf("key from %s, %s", a.from, bench.Number(len(a.extra), "extra header"))
}

// GoString is String: %#v must not show the key either.
func (a Auth) GoString() string { return "endpoint.Auth(" + a.String() + ")" }

// LogValue is String: a structured log must not show the key either.
func (a Auth) LogValue() slog.Value { return slog.StringValue(a.String()) }
