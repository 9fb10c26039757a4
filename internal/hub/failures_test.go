package hub

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

// checkFailure fetches t.json and compares the failure: its kind, what its message says, and that
// neither the token nor a signed address is in it or in its JSON form.
func checkFailure(t *testing.T, name string, c *Client, repo Repo, kind Kind, says ...string) *Error {
	t.Helper()
	_, err := c.Fetch(context.Background(), repo, "t.json", nil)
	var e *Error
	if !errors.Is(err, kind) || !errors.As(err, &e) {
		t.Errorf("%s: Fetch = %v, want kind %q", name, err, kind)
		return &Error{}
	}
	for _, s := range says {
		if !strings.Contains(err.Error(), s) {
			t.Errorf("%s: message %q, want it to say %q", name, err, s)
		}
	}
	j, _ := json.Marshal(e)
	if all := err.Error() + string(j) + fmt.Sprintf("%+v %#v", err, e); strings.Contains(all, "s3cret") {
		t.Errorf("%s: a secret shows in %s", name, all)
	}
	return e
}

func TestRefusalsOfTheHub(t *testing.T) {
	noToken := func(o *Options) { o.Token = Token{} }
	for _, tc := range []struct {
		name   string
		status int
		code   string
		words  string
		header [2]string
		change func(*Options)
		kind   Kind
		says   []string
	}{
		{name: "401 unknown, no token", status: 401, code: "RepoNotFound", change: noToken, kind: NoSuchOrPrivate, says: []string{"does not exist, or it is private", "set HF_TOKEN"}},
		{name: "401 bare, no token", status: 401, words: "Invalid username or password.", change: noToken, kind: NoSuchOrPrivate, says: []string{"does not exist, or it is private"}},
		{name: "401 with a token", status: 401, words: "Invalid credentials in Authorization header", kind: BadToken, says: []string{"token from HF_TOKEN", "renew it"}},
		{name: "401 gated, no token", status: 401, code: "GatedRepo", change: noToken, kind: Gated, says: []string{"no token was sent", "ask for access on the repo's page (http://127.0.0.1:", "/org/name)", "set HF_TOKEN"}},
		{name: "403 gated", status: 403, code: "GatedRepo", kind: Gated, says: []string{"token from HF_TOKEN has no access", "ask for access"}},
		{name: "403", status: 403, words: "your token hf_s3cret lacks a right", kind: Forbidden, says: []string{"forbids", `"your token [token] lacks a right"`, "the token from HF_TOKEN needs the right"}},
		{name: "403, no token", status: 403, change: noToken, kind: Forbidden, says: []string{"forbids", "set HF_TOKEN to a token of an account that may read it", "a proxy or firewall"}},
		{name: "disabled", status: 403, words: "Access to this resource is disabled.", kind: Disabled, says: []string{"has disabled", "use another repo"}},
		{name: "404 repo", status: 404, code: "RepoNotFound", kind: RepoNotFound, says: []string{"has no model org/name", "check the spelling"}},
		{name: "404 revision", status: 404, code: "RevisionNotFound", kind: RevisionNotFound, says: []string{`no revision "main"`, "leave @revision away"}},
		{name: "404 file", status: 404, code: "EntryNotFound", kind: FileNotFound, says: []string{"has no t.json of model org/name"}},
		{name: "404 of a mirror", status: 404, kind: FileNotFound, says: []string{"has no t.json of model org/name"}},
		{name: "429", status: 429, header: [2]string{"Retry-After", "90"}, kind: RateLimited, says: []string{"429", "wait 1m30s"}},
		{name: "429 draft header", status: 429, header: [2]string{"RateLimit", `"resolvers";r=0;t=55`}, change: noToken, kind: RateLimited, says: []string{"wait 55s", "HF_TOKEN"}},
		{name: "503", status: 503, kind: ServerFault, says: []string{"503", "try again later", "HF_ENDPOINT"}},
		{name: "418", status: 418, kind: NotAHub, says: []string{"418", "HF_ENDPOINT"}},
		{name: "200 without a commit", status: 200, kind: NotAHub, says: []string{"X-Repo-Commit"}},
		{name: "200 without an ETag", status: 200, header: [2]string{"X-Repo-Commit", shaA}, kind: NotAHub, says: []string{"ETag"}},
		{name: "a circle", status: 307, header: [2]string{"Location", "/org/name/resolve/main/t.json"}, kind: Circle,
			says: []string{"sends the question for t.json of model org/name from one address to the next without end (10 redirects were followed); ", "login page", "HF_ENDPOINT"}},
		{name: "another host", status: 302, header: [2]string{"Location", "https://other.invalid/org/name/resolve/main/t.json?k=s3cret"}, kind: Elsewhere, says: []string{"https://other.invalid", "HF_ENDPOINT"}},
	} {
		h := newFakeHub(t)
		h.intercept(func(w http.ResponseWriter, _ *http.Request, _ bool) bool {
			if tc.header[0] != "" {
				w.Header().Set(tc.header[0], tc.header[1])
			}
			refuse(w, tc.status, tc.code, tc.words)
			return true
		})
		e := checkFailure(t, tc.name, h.client(t, tc.change), orgName, tc.kind, tc.says...)
		if tc.status >= 400 && e.Status != tc.status {
			t.Errorf("%s: Status = %d, want %d", tc.name, e.Status, tc.status)
		}
	}
}

func TestRefusalOfTheDownload(t *testing.T) {
	h := newFakeHub(t)
	h.large["t.json"] = "text"
	h.intercept(func(w http.ResponseWriter, _ *http.Request, cdn bool) bool {
		if cdn {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusForbidden)
			fmt.Fprint(w, `{"error":"signature\u001b[2J expired"}`)
		}
		return cdn
	})
	e := checkFailure(t, "expired signature", h.client(t, nil), orgName, Forbidden, `signature\x1b[2J expired`)
	if cdn, _ := url.Parse(h.cdn.URL); e.Host != cdn.Host || e.Token != "" {
		t.Errorf("failure names host %q, token %q, want %q and none", e.Host, e.Token, cdn.Host)
	}
}

func TestOfflineAndBareNamesAskNobody(t *testing.T) {
	h := newFakeHub(t)
	h.files["t.json"] = "{}"
	offline := h.client(t, func(o *Options) { o.Offline = "HF_HUB_OFFLINE" })
	checkFailure(t, "offline", offline, orgName, Offline, "not in the local cache", "unset HF_HUB_OFFLINE")
	checkFailure(t, "bare name", h.client(t, nil), Repo{ID: "gpt2"}, BareName, "no organisation", "type org/name")
	if _, err := h.client(t, nil).Head(context.Background(), Repo{ID: "glm-5"}, "t.json"); !errors.Is(err, BareName) {
		t.Errorf("Head of a bare name = %v, want kind %q", err, BareName)
	}
	if _, err := offline.Info(context.Background(), orgName); !errors.Is(err, Offline) {
		t.Errorf("Info offline = %v, want kind %q", err, Offline)
	}
	pinned := h.client(t, nil)
	put(t, pinned.CacheDir(), "models--org--name/.no_exist/"+shaB+"/t.json", "")
	checkFailure(t, "known to be absent", pinned, Repo{ID: "org/name", Revision: shaB}, FileNotFound)
	if got := h.asked(""); len(got) != 0 {
		t.Errorf("requests = %q, want none", got)
	}
}

func TestFaultsOfTheConnection(t *testing.T) {
	closed := httptest.NewServer(http.NotFoundHandler())
	closed.Close()
	secure := httptest.NewUnstartedServer(http.NotFoundHandler())
	secure.Config.ErrorLog = log.New(io.Discard, "", 0) // it reports the refused handshake
	secure.StartTLS()
	defer secure.Close()
	plain := httptest.NewServer(http.NotFoundHandler())
	defer plain.Close()
	for _, tc := range []struct {
		name   string
		change func(*Options)
		kind   Kind
		says   string
	}{
		{"refused", func(o *Options) { o.Endpoint = closed.URL }, Refused, "nothing listens there"},
		{"unknown certificate", func(o *Options) { o.Endpoint = secure.URL }, TLS, "SSL_CERT_FILE"},
		{"no TLS there", func(o *Options) { o.Endpoint = strings.Replace(plain.URL, "http:", "https:", 1) }, TLS, "secure connection"},
		{"DNS", func(o *Options) {
			o.Endpoint, o.Transport = "http://hub.invalid", dialFault(&net.DNSError{Err: "no such host", Name: "hub.invalid", IsNotFound: true})
		}, DNS, "no address here"},
		{"password in the address", func(o *Options) { o.Endpoint = strings.Replace(closed.URL, "http://", "http://u:s3cret@", 1) }, Refused, "nothing listens there"},
		{"unreachable", func(o *Options) { o.Transport = dialFault(syscall.EHOSTUNREACH) }, Network, "check the network"},
		{"proxy refuses", func(o *Options) {
			u, _ := url.Parse(plain.URL)
			tr := newTransport(time.Second).(*http.Transport)
			tr.Proxy = http.ProxyURL(u)
			o.Endpoint, o.Transport = "https://hub.invalid", tr
		}, Proxy, "HTTPS_PROXY"},
		{"proxy gone", func(o *Options) {
			u, _ := url.Parse(closed.URL)
			tr := newTransport(time.Second).(*http.Transport)
			tr.Proxy = http.ProxyURL(u)
			o.Endpoint, o.Transport = "https://hub.invalid", tr
		}, Proxy, "NO_PROXY"},
	} {
		h := newFakeHub(t)
		checkFailure(t, tc.name, h.client(t, tc.change), orgName, tc.kind, tc.says)
	}
}

func dialFault(err error) http.RoundTripper {
	return &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) {
		return nil, &net.OpError{Op: "dial", Net: "tcp", Err: err}
	}}
}

func TestSilenceEnds(t *testing.T) {
	for _, tc := range []struct {
		name string
		cdn  bool // silent there, else at the hub
	}{{"question", false}, {"download", true}} {
		h := newFakeHub(t)
		h.large["t.json"] = strings.Repeat("x", 1000)
		done := make(chan struct{})
		h.intercept(func(w http.ResponseWriter, r *http.Request, cdn bool) bool {
			if cdn != tc.cdn {
				return false
			}
			if cdn {
				w.Header().Set("Content-Length", "1000")
				fmt.Fprint(w, "x")
				w.(http.Flusher).Flush()
			}
			select {
			case <-r.Context().Done():
			case <-done:
			}
			return true
		})
		c := h.client(t, func(o *Options) { o.HeadTimeout, o.StallTimeout = 50*time.Millisecond, 50*time.Millisecond })
		if tc.cdn {
			c.opts.HeadTimeout = 5 * time.Second
		}
		checkFailure(t, tc.name, c, orgName, TimedOut, "did not answer in time")
		close(done)
	}
}

func TestInterruptStaysItself(t *testing.T) {
	h := newFakeHub(t)
	ctx, cancel := context.WithCancel(context.Background())
	h.intercept(func(_ http.ResponseWriter, r *http.Request, _ bool) bool {
		cancel()
		<-r.Context().Done()
		return true
	})
	if _, err := h.client(t, nil).Fetch(ctx, orgName, "t.json", nil); !errors.Is(err, context.Canceled) || errors.Is(err, TimedOut) {
		t.Errorf("interrupted Fetch = %v, want context.Canceled", err)
	}
}

// fullDisk writes so many bytes and then fails as a full disk does.
type fullDisk struct {
	writer
	room int
	err  error
}

func (f *fullDisk) Write(p []byte) (int, error) {
	if len(p) <= f.room {
		f.room -= len(p)
		return f.writer.Write(p)
	}
	n, _ := f.writer.Write(p[:f.room])
	return n, &pathFault{f.err}
}

// pathFault wraps as os.File does.
type pathFault struct{ err error }

func (e *pathFault) Error() string { return "write: " + e.err.Error() }
func (e *pathFault) Unwrap() error { return e.err }

func TestFullDisk(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("uses the error numbers of Unix")
	}
	h := newFakeHub(t)
	h.large["t.json"] = strings.Repeat("x", 1000)
	c := h.client(t, nil)
	for _, errno := range []error{syscall.ENOSPC, syscall.EDQUOT} {
		c.open = func(path string, flag int) (writer, error) {
			w, err := openFile(path, flag)
			return &fullDisk{w, 300, errno}, err
		}
		checkFailure(t, "full disk", c, orgName, DiskFull, "no room", "free some space", "HF_HUB_CACHE")
	}
	c.open = openFile
	if got := fetch(t, c, orgName, "t.json"); got != h.large["t.json"] {
		t.Errorf("after the disk had room: %d bytes, want 1000", len(got))
	}
	if got := h.asked("cdn /t.json auth= range=bytes=600-"); len(got) != 1 {
		t.Errorf("requests = %q, want the last to continue at 600", h.asked("cdn"))
	}
}

func TestCacheThatCannotBeWritten(t *testing.T) {
	h := newFakeHub(t)
	h.files["t.json"] = "{}"
	c := h.client(t, func(o *Options) { o.CacheDir = put(t, t.TempDir(), "file", "in the way") })
	checkFailure(t, "a file in the way", c, orgName, CacheNotWritable, "check the rights", "HF_HUB_CACHE")
}

func TestCorruptDownload(t *testing.T) {
	for _, tc := range []struct{ name, sent, says string }{
		{"other bytes", "yyyy", "checksum"},
		{"more bytes", "xxxxx", "more than the 4 bytes"},
	} {
		h := newFakeHub(t)
		h.large["t.json"] = "xxxx"
		h.intercept(func(w http.ResponseWriter, r *http.Request, cdn bool) bool {
			if cdn {
				serveBytes(w, r, tc.sent)
			}
			return cdn
		})
		c := h.client(t, nil)
		checkFailure(t, tc.name, c, orgName, Corrupt, tc.says, "run again")
		if _, err := os.Stat(filepath.Join(c.CacheDir(), "models--org--name", "snapshots", shaA, "t.json")); err == nil {
			t.Errorf("%s: the file is in the cache, want it refused", tc.name)
		}
	}
}

func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for _, tc := range []struct {
		name, value string
		want        time.Duration
	}{
		{"Retry-After", "7", 7 * time.Second},
		{"Retry-After", now.Add(time.Minute).Format(http.TimeFormat), time.Minute},
		{"Retry-After", now.Add(-time.Minute).Format(http.TimeFormat), 0},
		{"Retry-After", "-3", 0},
		{"RateLimit", `"api"; r=0; t=12`, 12 * time.Second},
		{"RateLimit", `"api";r=0`, 0},
		{"Other", "", 0},
	} {
		if got := retryAfter(http.Header{http.CanonicalHeaderKey(tc.name): {tc.value}}, now); got != tc.want {
			t.Errorf("retryAfter(%s: %s) = %v, want %v", tc.name, tc.value, got, tc.want)
		}
	}
}

// TestPageOf: where to ask for access is on the hub that was asked, and holds no secret of its address.
func TestPageOf(t *testing.T) {
	for endpoint, want := range map[string]string{
		"":                                  "https://huggingface.co/org/name",
		"http://mirror:8080":                "http://mirror:8080/org/name",
		"https://me:s3cret@mirror.test/hf/": "https://mirror.test/hf/org/name",
	} {
		c, err := New(Options{CacheDir: t.TempDir(), Endpoint: endpoint})
		if err != nil {
			t.Fatal(err)
		}
		if got := c.pageOf(orgName); got != want {
			t.Errorf("pageOf(%v) at %q = %q, want %q", orgName, endpoint, got, want)
		}
	}
}
