package endpoint

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/servemark/servemark/internal/bench"
)

// Pace of Ready: how often it asks, how long one question may take, and how often it repeats an unchanged cause.
const (
	readyEvery  = time.Second
	readyTry    = 5 * time.Second
	readyRepeat = 5 * time.Second
)

// Ready waits until GET /v1/models answers 200, for at most timeout. report is told why it waits: at once, whenever the
// cause changes, and every 5 s. What waiting does not mend ends it at once: a key that is missing or wrong (401, 403), a
// name that does not resolve, a failing TLS handshake, a redirect to another host. The error names the last cause.
//
// A server that answers 404 there is up but does not list models; it counts as ready.
func Ready(ctx context.Context, client *http.Client, base string, auth Auth, timeout time.Duration, report func(cause string)) error {
	q := newAsker(client, base, "", auth)
	start := time.Now()
	said, saidAt := "", start
	for {
		began := time.Now()
		a := q.get(ctx, routeModels, min(readyTry, max(time.Second, timeout-time.Since(start))))
		if ctx.Err() != nil {
			return fmt.Errorf("waiting for %s: %w", base, ctx.Err())
		}
		if a.ok() || a.err == nil && (a.status == http.StatusNotFound || a.status == http.StatusMethodNotAllowed) {
			return nil
		}
		cause, final := newRedactor(auth).text(a.fault()), a.hopeless()
		if a.barred() {
			cause = fmt.Sprintf("%s refuses the request: %s; %s", base, cause, keyCure(auth))
		}
		if final {
			return fmt.Errorf("the server is not ready: %s", cause)
		}
		if time.Since(start) >= timeout {
			return fmt.Errorf("the server is not ready after %s: GET %s%s: %s", timeout, base, routeModels, cause)
		}
		if cause != said || time.Since(saidAt) >= readyRepeat {
			said, saidAt = cause, time.Now()
			report(cause)
		}
		pause := time.NewTimer(min(readyEvery-min(readyEvery, time.Since(began)), max(0, timeout-time.Since(start))))
		select {
		case <-pause.C:
		case <-ctx.Done():
			pause.Stop()
		}
	}
}

// keyCure says what to do about a key.
func keyCure(auth Auth) string {
	if auth.Present() {
		return fmt.Sprintf("the key that is sent is wrong or not allowed (%s)", auth)
	}
	return "a key is missing: set OPENAI_API_KEY (sent as a bearer token) or API_KEY (sent as it is)"
}

// hopeless reports whether asking again cannot help.
func (a answer) hopeless() bool {
	if a.err == nil {
		return a.barred() || a.status >= 300 && a.status < 400
	}
	if errors.Is(a.err, errElsewhere) || NameNotFound(a.err) {
		return true
	}
	kind, _ := Classify(a.err)
	return kind == bench.FailTLS
}
