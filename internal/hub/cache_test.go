package hub

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const shaA, shaB = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"

// put writes a file below dir, with its folders.
func put(t *testing.T, dir, name, text string) string {
	t.Helper()
	p := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(p, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return p
}

func newClient(t *testing.T, o Options) *Client {
	t.Helper()
	if o.CacheDir == "" {
		o.CacheDir = t.TempDir()
	}
	c, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestCached(t *testing.T) {
	c := newClient(t, Options{})
	d := c.CacheDir()
	put(t, d, "models--o--n/refs/main", shaA)
	put(t, d, "models--o--n/refs/refs/pr/1", shaB+"\n")
	put(t, d, "models--o--n/refs/torn", shaA[:12])
	put(t, d, "models--o--n/refs/gone", strings.Repeat("c", 40))
	put(t, d, "models--o--n/snapshots/"+shaA+"/tokenizer.json", "A")
	put(t, d, "models--o--n/snapshots/"+shaA+"/sub/x.json", "X")
	put(t, d, "models--o--n/snapshots/"+shaB+"/tokenizer.json", "B")
	put(t, d, "datasets--o--n/refs/main", shaB)
	put(t, d, "datasets--o--n/snapshots/"+shaB+"/data.json", "D")
	put(t, d, "models--gpt2/refs/main", shaA)
	put(t, d, "models--gpt2/snapshots/"+shaA+"/tokenizer.json", "G")
	if err := os.Symlink("../../blobs/none", filepath.Join(d, "models--o--n/snapshots", shaA, "dangling")); err != nil {
		t.Log("no symlinks here:", err)
	}
	for _, tc := range []struct {
		repo Repo
		file string
		want string // "" where it is not cached
	}{
		{Repo{ID: "o/n"}, "tokenizer.json", "A"},
		{Repo{ID: "o/n", Revision: "main"}, "sub/x.json", "X"},
		{Repo{ID: "o/n", Revision: shaB}, "tokenizer.json", "B"},
		{Repo{ID: "o/n", Revision: "refs/pr/1"}, "tokenizer.json", "B"},
		{Repo{ID: "o/n", Kind: Dataset}, "data.json", "D"},
		{Repo{ID: "gpt2"}, "tokenizer.json", "G"},
		{Repo{ID: "o/n", Revision: "torn"}, "tokenizer.json", ""},
		{Repo{ID: "o/n", Revision: "gone"}, "tokenizer.json", ""},
		{Repo{ID: "o/n", Revision: "v2"}, "tokenizer.json", ""},
		{Repo{ID: "o/n"}, "sub", ""},
		{Repo{ID: "o/n"}, "tokenizer.json/x", ""},
		{Repo{ID: "o/n"}, "dangling", ""},
		{Repo{ID: "o/n"}, "none", ""},
		{Repo{ID: "o/other"}, "tokenizer.json", ""},
	} {
		path, ok, err := c.Cached(tc.repo, tc.file)
		got := ""
		if ok {
			b, rerr := os.ReadFile(path)
			if rerr != nil {
				t.Error(rerr)
			}
			got = string(b)
		}
		if err != nil || got != tc.want || ok != (tc.want != "") {
			t.Errorf("Cached(%v, %q) = %q (text %q), %v, %v, want text %q", tc.repo, tc.file, path, got, ok, err, tc.want)
		}
	}
	dir, commit, ok, err := c.CachedDir(Repo{ID: "o/n"})
	if want := filepath.Join(d, "models--o--n", "snapshots", shaA); dir != want || commit != shaA || !ok || err != nil {
		t.Errorf("CachedDir = %q, %q, %v, %v, want %q, %q", dir, commit, ok, err, want, shaA)
	}
}

func TestCachedRefusesNamesThatLeaveTheCache(t *testing.T) {
	c := newClient(t, Options{})
	for _, tc := range []struct{ id, rev, file string }{
		{"o/n", "", "../x"}, {"o/n", "", "/etc/passwd"}, {"o/n", "", `a\..\b`}, {"o/n", "", "a/../../b"}, {"o/n", "", ""}, {"o/n", "", "C:x"},
		{"../n", "", "x"}, {"o/..", "", "x"}, {"o/n", "../../x", "x"},
	} {
		if p, ok, err := c.Cached(Repo{ID: tc.id, Revision: tc.rev}, tc.file); ok || !errors.Is(err, BadName) {
			t.Errorf("Cached(%q@%q, %q) = %q, %v, %v, want kind bad name", tc.id, tc.rev, tc.file, p, ok, err)
		}
	}
}
