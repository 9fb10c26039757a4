package endpoint

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"
)

// asker makes the small requests of introspection to one server. The key goes to that host only: a redirect elsewhere
// is not followed.
type asker struct {
	client  *http.Client
	base    string
	auth    Auth
	version string
}

// errElsewhere is the cause where a redirect leads to another host.
var errElsewhere = errors.New("the server redirects to another host")

// maxAnswer bounds the body of an introspection answer.
const maxAnswer = 8 << 20

func newAsker(client *http.Client, base, version string, auth Auth) asker {
	c := *client
	c.CheckRedirect = func(req *http.Request, via []*http.Request) error {
		if req.URL.Host != via[0].URL.Host || via[0].URL.Scheme == "https" && req.URL.Scheme != "https" {
			return fmt.Errorf("%w: it points to %s://%s, and key and headers are for %s only", errElsewhere, req.URL.Scheme, req.URL.Host, via[0].URL.Host)
		}
		if len(via) >= 5 {
			return errors.New("redirected more than 5 times")
		}
		return nil
	}
	return asker{client: &c, base: base, auth: auth, version: version}
}

// answer is what came back; err is set where nothing did.
type answer struct {
	route  string // "GET /v1/models"
	status int
	header http.Header
	body   []byte
	err    error
}

// ok reports whether the answer is a success.
func (a answer) ok() bool { return a.err == nil && a.status >= 200 && a.status < 300 }

// object returns the JSON object of a successful answer, numbers as written, or nil.
func (a answer) object() map[string]any {
	if !a.ok() {
		return nil
	}
	dec := json.NewDecoder(bytes.NewReader(a.body))
	dec.UseNumber()
	var o map[string]any
	if dec.Decode(&o) != nil {
		return nil
	}
	return o
}

// fault says in words why the answer is of no use.
func (a answer) fault() string {
	if a.err != nil {
		_, words := Classify(a.err)
		return words
	}
	return fmt.Sprintf("HTTP %d: %s", a.status, a.words())
}

// barred reports whether the server wants a key, or another one.
func (a answer) barred() bool {
	return a.err == nil && (a.status == http.StatusUnauthorized || a.status == http.StatusForbidden)
}

// words are the server's own, else the status's.
func (a answer) words() string {
	if w := wordsOf(a.body); w != "" {
		return w
	}
	return http.StatusText(a.status)
}

// get asks for a route below the base URL.
func (q asker) get(ctx context.Context, path string, limit time.Duration) answer {
	return q.do(ctx, http.MethodGet, path, nil, limit)
}

// post sends a JSON body.
func (q asker) post(ctx context.Context, path string, body []byte, limit time.Duration) answer {
	return q.do(ctx, http.MethodPost, path, body, limit)
}

func (q asker) do(ctx context.Context, method, path string, body []byte, limit time.Duration) answer {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	a := answer{route: method + " " + path}
	req, err := http.NewRequestWithContext(ctx, method, q.base+path, bytes.NewReader(body))
	if err != nil {
		a.err = err
		return a
	}
	req.Header.Set("User-Agent", userAgent(q.version))
	req.Header.Set("Accept", "application/json, */*")
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	q.auth.Apply(req.Header)
	res, err := q.client.Do(req)
	if err != nil {
		var u *url.Error
		if errors.As(err, &u) && u.Timeout() && ctx.Err() != nil {
			err = fmt.Errorf("no answer within %s: %w", limit, context.DeadlineExceeded)
		}
		a.err = err
		return a
	}
	defer res.Body.Close()
	a.status, a.header = res.StatusCode, res.Header
	if a.body, a.err = io.ReadAll(io.LimitReader(res.Body, maxAnswer+1)); len(a.body) > maxAnswer {
		a.err = fmt.Errorf("the answer is longer than %d MiB", maxAnswer>>20)
	}
	return a
}
