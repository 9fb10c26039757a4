package hub

import (
	"context"
	"errors"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var orgName = Repo{ID: "org/name"}

func fetch(t *testing.T, c *Client, repo Repo, file string) string {
	t.Helper()
	path, err := c.Fetch(context.Background(), repo, file, nil)
	if err != nil {
		t.Fatalf("Fetch(%v, %q) = %v", repo, file, err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// tree lists every entry below dir: a link with its target, a file with its text.
func tree(t *testing.T, dir string) []string {
	t.Helper()
	var out []string
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, _ := filepath.Rel(dir, p)
		name = filepath.ToSlash(name)
		if d.Type()&fs.ModeSymlink != 0 {
			target, err := os.Readlink(p)
			out = append(out, name+" -> "+filepath.ToSlash(target))
			return err
		}
		b, err := os.ReadFile(p)
		if len(b) > 60 {
			b = []byte("(" + strconv.Itoa(len(b)) + " bytes)")
		}
		out = append(out, name+" = "+string(b))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestFetchWritesTheSharedLayout(t *testing.T) {
	h := newFakeHub(t)
	h.files["config.json"] = `{"a":1}`
	h.files["sub/dir/x.json"] = `{"x":1}`
	h.large["tokenizer.json"] = strings.Repeat("large ", 100)
	c := h.client(t, nil)
	var last [2]int64
	for file, want := range map[string]string{"config.json": h.files["config.json"], "sub/dir/x.json": h.files["sub/dir/x.json"]} {
		if got := fetch(t, c, orgName, file); got != want {
			t.Errorf("text of %s = %q, want %q", file, got, want)
		}
	}
	if _, err := c.Fetch(context.Background(), orgName, "tokenizer.json", func(done, total int64) { last = [2]int64{done, total} }); err != nil {
		t.Fatal(err)
	}
	if want := [2]int64{600, 600}; last != want {
		t.Errorf("last progress = %v, want %v", last, want)
	}
	if _, err := c.Fetch(context.Background(), orgName, "none.json", nil); !errors.Is(err, FileNotFound) {
		t.Errorf("Fetch(none.json) = %v, want kind %q", err, FileNotFound)
	}
	small, nested, large := gitSHA1(h.files["config.json"]), gitSHA1(h.files["sub/dir/x.json"]), sha256Hex(h.large["tokenizer.json"])
	want := []string{
		".no_exist/" + shaA + "/none.json = ",
		"refs/main = " + shaA,
		"snapshots/" + shaA + "/config.json -> ../../blobs/" + small,
		"snapshots/" + shaA + "/sub/dir/x.json -> ../../../../blobs/" + nested,
		"snapshots/" + shaA + "/tokenizer.json -> ../../blobs/" + large,
	}
	var got []string
	for _, l := range tree(t, filepath.Join(c.CacheDir(), "models--org--name")) {
		if !strings.HasPrefix(l, "blobs/") {
			got = append(got, l)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("cache layout (-want +got):\n%s", diff)
	}
	before := len(h.asked(""))
	fetch(t, c, orgName, "tokenizer.json")
	fetch(t, h.client(t, func(o *Options) { o.CacheDir, o.Offline = c.CacheDir(), "HF_HUB_OFFLINE" }), orgName, "config.json")
	if after := len(h.asked("")); after != before {
		t.Errorf("requests for cached files = %d, want 0", after-before)
	}
}

func TestFetchOfOtherKindsAndRevisions(t *testing.T) {
	h := newFakeHub(t)
	h.files["a b#.json"] = "{}"
	c := h.client(t, nil)
	for _, repo := range []Repo{
		{ID: "org/name", Revision: shaA}, {ID: "org/name", Revision: "refs/pr/1"}, {ID: "org/name", Kind: Dataset},
	} {
		if got := fetch(t, c, repo, "a b#.json"); got != "{}" {
			t.Errorf("text at %v = %q, want {}", repo, got)
		}
		if _, ok, err := c.Cached(repo, "a b#.json"); !ok || err != nil {
			t.Errorf("Cached(%v) = %v, %v, want it", repo, ok, err)
		}
	}
	for _, want := range []string{"GET hub /datasets/org/name/resolve/", "/org/name/resolve/refs%2Fpr%2F1/a%20b%23.json"} {
		if len(h.asked(want)) == 0 {
			t.Errorf("no request with %q; all: %q", want, h.asked(""))
		}
	}
}

func TestTokenGoesToTheEndpointOnly(t *testing.T) {
	h := newFakeHub(t)
	h.large["t.json"] = "text"
	fetch(t, h.client(t, nil), orgName, "t.json")
	for _, l := range h.asked(" hub ") {
		if !strings.Contains(l, "auth=Bearer hf_s3cret") {
			t.Errorf("request without the token: %s", l)
		}
	}
	cdn := h.asked(" cdn ")
	if len(cdn) != 1 || strings.Contains(cdn[0], "s3cret") {
		t.Errorf("requests to the other host = %q, want one without the token", cdn)
	}
	fetch(t, h.client(t, func(o *Options) { o.Token = Token{} }), orgName, "t.json")
	if n := len(h.asked("auth= ")); n != 4 { // both cdn requests and HEAD and GET without a token
		t.Errorf("requests without a token = %d, want 4: %q", n, h.asked(""))
	}
}

func TestRenamedRepoIsFollowedAndTold(t *testing.T) {
	h := newFakeHub(t)
	h.files["a.json"] = "{}"
	h.renamed["old/name"] = "org/name"
	h.files["b.json"] = "[]"
	var told string
	c := h.client(t, func(o *Options) { o.Renamed = func(from Repo, to string) { told += from.ID + " is " + to } })
	if got := fetch(t, c, Repo{ID: "old/name"}, "a.json"); got != "{}" || told != "old/name is org/name" {
		t.Errorf("text = %q, told %q, want {} and the new name", got, told)
	}
	if fetch(t, c, Repo{ID: "old/name", Revision: shaA}, "b.json"); told != "old/name is org/name" {
		t.Errorf("after a second file told %q, want the new name once", told)
	}
	info, err := c.Head(context.Background(), Repo{ID: "old/name"}, "a.json")
	if want := (FileInfo{Repo: Repo{ID: "old/name"}, File: "a.json", Host: c.Host(), Commit: shaA, Size: 2, ETag: gitSHA1("{}"), RenamedTo: "org/name"}); err != nil || info != want {
		t.Errorf("Head = %+v, %v, want %+v", info, err, want)
	}
	_, err = c.Fetch(context.Background(), Repo{ID: "old/name"}, "none.json", nil)
	if !errors.Is(err, FileNotFound) || !strings.Contains(err.Error(), "calls it org/name now") {
		t.Errorf("Fetch of an absent file = %v, want file not found that names org/name", err)
	}
}

func TestBrokenDownloadIsContinued(t *testing.T) {
	h := newFakeHub(t)
	h.large["t.bin"] = strings.Repeat("0123456789", 5000)
	breaks := 3
	h.intercept(func(w http.ResponseWriter, r *http.Request, cdn bool) bool {
		if !cdn || breaks == 0 {
			return false
		}
		breaks--
		serveBytes(&cutWriter{w, 10_000}, r, h.large["t.bin"])
		panic(http.ErrAbortHandler)
	})
	if got := fetch(t, h.client(t, nil), orgName, "t.bin"); got != h.large["t.bin"] {
		t.Errorf("text has %d bytes, want the original's %d", len(got), len(h.large["t.bin"]))
	}
	got := h.asked(" cdn ")
	for i, want := range []string{"range=", "range=bytes=10000-", "range=bytes=20000-", "range=bytes=30000-"} {
		if i >= len(got) || !strings.HasSuffix(got[i], want) {
			t.Errorf("requests to the other host = %q, want number %d to end in %q", got, i, want)
		}
	}
}

// cutWriter lets only so many bytes of a body through.
type cutWriter struct {
	http.ResponseWriter
	left int
}

func (c *cutWriter) Write(p []byte) (int, error) {
	if len(p) > c.left {
		n, _ := c.ResponseWriter.Write(p[:c.left])
		c.left = 0
		c.ResponseWriter.(http.Flusher).Flush()
		return n, errors.New("cut")
	}
	c.left -= len(p)
	return c.ResponseWriter.Write(p)
}

func TestPartialFileOfAnEarlierRun(t *testing.T) {
	body := strings.Repeat("abc", 1000)
	for _, tc := range []struct {
		name, partial string
		noRange       bool
		gets          int
	}{
		{name: "good part", partial: body[:1000], gets: 1},
		{name: "good part, no ranges", partial: body[:1000], noRange: true, gets: 1},
		{name: "whole", partial: body, gets: 0},
		{name: "bad part", partial: strings.Repeat("x", 1000), gets: 2},
		{name: "bad whole", partial: strings.Repeat("x", len(body)), gets: 1},
		{name: "too long", partial: body + "more", gets: 1},
	} {
		h := newFakeHub(t)
		h.large["t.bin"] = body
		h.intercept(func(w http.ResponseWriter, r *http.Request, cdn bool) bool {
			if cdn && tc.noRange {
				r.Header.Del("Range")
			}
			return false
		})
		c := h.client(t, nil)
		put(t, c.CacheDir(), "models--org--name/blobs/"+sha256Hex(body)+".incomplete", tc.partial)
		if got := fetch(t, c, orgName, "t.bin"); got != body {
			t.Errorf("%s: text differs from the original", tc.name)
		}
		if got := h.asked("GET cdn"); len(got) != tc.gets {
			t.Errorf("%s: downloads = %q, want %d", tc.name, got, tc.gets)
		}
	}
}

func TestCopyWhereLinksAreRefused(t *testing.T) {
	h := newFakeHub(t)
	h.files["sub/a.json"] = "{}"
	c := h.client(t, nil)
	c.symlink = func(string, string) error { return errors.New("a privilege is missing") }
	if got := fetch(t, c, orgName, "sub/a.json"); got != "{}" {
		t.Errorf("text = %q, want {}", got)
	}
	for _, l := range tree(t, c.CacheDir()) {
		if strings.Contains(l, "->") || strings.Contains(l, "tmp") {
			t.Errorf("entry %q, want plain files only", l)
		}
	}
}

func TestInfo(t *testing.T) {
	h := newFakeHub(t)
	got, err := h.client(t, nil).Info(context.Background(), orgName)
	want := RepoInfo{Commit: shaA, Files: []string{"a.json", "sub/b.json"}, Gated: true}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("Info: %v (-want +got):\n%s", err, diff)
	}
}
