package hub

import (
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// fakeHub answers as huggingface.co does: small files itself by way of a relative redirect, large ones
// by a redirect to another host, renamed repos by a redirect on its own host.
type fakeHub struct {
	*httptest.Server
	cdn     *httptest.Server
	commit  string
	files   map[string]string // small files of org/name
	large   map[string]string // files behind the other host
	renamed map[string]string // old id → new id

	mu   sync.Mutex
	hook hook
	log  []string // "GET hub /path auth=… range=…"
}

// hook may answer a request itself by returning true; cdn tells which of the two hosts was asked.
type hook func(w http.ResponseWriter, r *http.Request, cdn bool) bool

func (h *fakeHub) intercept(f hook) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.hook = f
}

func newFakeHub(t *testing.T) *fakeHub {
	h := &fakeHub{commit: shaA, files: map[string]string{}, large: map[string]string{}, renamed: map[string]string{}}
	h.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if f := h.note(r, "hub"); f == nil || !f(w, r, false) {
			h.serve(w, r)
		}
	}))
	h.cdn = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if f := h.note(r, "cdn"); f == nil || !f(w, r, true) {
			serveBytes(w, r, h.large[strings.TrimPrefix(r.URL.Path, "/")])
		}
	}))
	t.Cleanup(h.Server.Close)
	t.Cleanup(h.cdn.Close)
	return h
}

func (h *fakeHub) note(r *http.Request, host string) hook {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.log = append(h.log, fmt.Sprintf("%s %s %s auth=%s range=%s", r.Method, host, r.URL.EscapedPath(), r.Header.Get("Authorization"), r.Header.Get("Range")))
	return h.hook
}

// asked gives the requests so far that contain s.
func (h *fakeHub) asked(s string) []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	var out []string
	for _, l := range h.log {
		if strings.Contains(l, s) {
			out = append(out, l)
		}
	}
	return out
}

func refuse(w http.ResponseWriter, status int, code, message string) {
	if code != "" {
		w.Header().Set("X-Error-Code", code)
	}
	if message != "" {
		w.Header().Set("X-Error-Message", message)
	}
	w.WriteHeader(status)
}

func (h *fakeHub) serve(w http.ResponseWriter, r *http.Request) {
	p := strings.TrimPrefix(r.URL.Path, "/")
	if p == "api/models/org/name/revision/main" {
		fmt.Fprintf(w, `{"sha":%q,"gated":"auto","private":false,"siblings":[{"rfilename":"a.json"},{"rfilename":"sub/b.json"}]}`, h.commit)
		return
	}
	if rest, ok := strings.CutPrefix(p, "api/resolve-cache/models/org/name/"+h.commit+"/"); ok {
		w.Header().Set("X-Repo-Commit", h.commit)
		w.Header().Set("ETag", `"`+gitSHA1(h.files[rest])+`"`)
		serveBytes(w, r, h.files[rest])
		return
	}
	id, rest, ok := strings.Cut(strings.TrimPrefix(p, "datasets/"), "/resolve/")
	if to := h.renamed[id]; to != "" {
		http.Redirect(w, r, "/"+to+"/resolve/"+rest, http.StatusTemporaryRedirect)
		return
	}
	rev, file, _ := strings.Cut(rest, "/")
	if strings.HasPrefix(rest, "refs/pr/1/") {
		rev, file = "main", strings.TrimPrefix(rest, "refs/pr/1/")
	}
	switch {
	case !ok || id != "org/name":
		refuse(w, http.StatusUnauthorized, "RepoNotFound", "Repository not found")
	case rev != "main" && rev != h.commit:
		refuse(w, http.StatusNotFound, "RevisionNotFound", "Invalid rev id: "+rev)
	case h.large[file] != "":
		w.Header().Set("X-Repo-Commit", h.commit)
		w.Header().Set("X-Linked-Etag", `"`+sha256Hex(h.large[file])+`"`)
		w.Header().Set("X-Linked-Size", strconv.Itoa(len(h.large[file])))
		w.Header().Set("ETag", `"etag-of-the-redirect"`)
		http.Redirect(w, r, h.cdn.URL+"/"+file+"?sig=s3cret", http.StatusFound)
	case h.files[file] != "" && strings.HasPrefix(p, "datasets/"):
		w.Header().Set("X-Repo-Commit", h.commit)
		w.Header().Set("ETag", `W/"`+gitSHA1(h.files[file])+`"`)
		serveBytes(w, r, h.files[file])
	case h.files[file] != "":
		http.Redirect(w, r, (&url.URL{Path: "/api/resolve-cache/models/org/name/" + h.commit + "/" + file}).String(), http.StatusTemporaryRedirect)
	default:
		w.Header().Set("X-Repo-Commit", h.commit)
		refuse(w, http.StatusNotFound, "EntryNotFound", "Entry not found")
	}
}

func serveBytes(w http.ResponseWriter, r *http.Request, s string) {
	http.ServeContent(w, r, "", time.Time{}, strings.NewReader(s))
}

func sha256Hex(s string) string {
	h := sha256.Sum256([]byte(s))
	return hex.EncodeToString(h[:])
}

func gitSHA1(s string) string {
	h := sha1.Sum(fmt.Appendf(nil, "blob %d\x00%s", len(s), s))
	return hex.EncodeToString(h[:])
}

// client makes a client of this hub with a fresh cache and a token that must never show.
func (h *fakeHub) client(t *testing.T, change func(*Options)) *Client {
	t.Helper()
	o := Options{Endpoint: h.URL, Token: NewToken("HF_TOKEN", "hf_s3cret"), HeadTimeout: 5 * time.Second, StallTimeout: 5 * time.Second}
	if change != nil {
		change(&o)
	}
	c := newClient(t, o)
	c.pause = time.Millisecond
	return c
}
