package hub

import (
	"errors"
	"strings"
	"testing"
)

func TestParseRepo(t *testing.T) {
	sha := strings.Repeat("ab", 20)
	for _, c := range []struct {
		in   string
		want Repo
		kind Kind
	}{
		{in: "org/name", want: Repo{ID: "org/name"}},
		{in: "Org-1/na.me_x", want: Repo{ID: "Org-1/na.me_x"}},
		{in: "org/name@main", want: Repo{ID: "org/name", Revision: "main"}},
		{in: "org/name@refs/pr/3", want: Repo{ID: "org/name", Revision: "refs/pr/3"}},
		{in: "org/name@" + sha, want: Repo{ID: "org/name", Revision: sha}},
		{in: "glm-5", kind: BareName},
		{in: "gpt2", kind: BareName},
		{in: "", kind: BadName},
		{in: "org/name@", kind: BadName},
		{in: "org/name@../x", kind: BadName},
		{in: "org/name@/etc", kind: BadName},
		{in: "/models/x", kind: BadName},
		{in: "./org/name", kind: BadName},
		{in: "../name", kind: BadName},
		{in: "~/name", kind: BadName},
		{in: `C:\models`, kind: BadName},
		{in: `org\name`, kind: BadName},
		{in: "org/name:latest", kind: BadName},
		{in: "http://host/org/name", kind: BadName},
		{in: "datasets/org/name", kind: BadName},
		{in: "org/na--me", kind: BadName},
		{in: "org/na..me", kind: BadName},
		{in: "org/name.git", kind: BadName},
		{in: "org/-name", kind: BadName},
		{in: "org/name.", kind: BadName},
		{in: "/name", kind: BadName},
		{in: "org/", kind: BadName},
		{in: "org/näme", kind: BadName},
		{in: "org/" + strings.Repeat("a", 97), kind: BadName},
	} {
		got, err := ParseRepo(c.in)
		if c.kind == "" {
			if err != nil || got != c.want {
				t.Errorf("ParseRepo(%q) = %+v, %v, want %+v", c.in, got, err, c.want)
			}
		} else if !errors.Is(err, c.kind) || !strings.Contains(err.Error(), "type org/name") {
			t.Errorf("ParseRepo(%q) = %+v, %v, want kind %q and what to type", c.in, got, err, c.kind)
		}
	}
}

func FuzzParseRepo(f *testing.F) {
	for _, s := range []string{"org/name", "org/name@main", "a/b@refs/pr/1", "../x", "a:b", "a--b/c"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		r, err := ParseRepo(s)
		if err != nil {
			return
		}
		back, err := ParseRepo(r.String())
		if err != nil || back.ID != r.ID || back.revision() != r.revision() {
			t.Errorf("ParseRepo(%q.String()) = %+v, %v, want %+v", s, back, err, r)
		}
		if strings.Contains(r.folder(), "/") || strings.Contains(r.folder(), "..") {
			t.Errorf("folder of %q = %q, want one plain name", s, r.folder())
		}
		sha := strings.Repeat("0a", 20)
		got, ok := FromSnapshotPath("/c/" + r.folder() + "/snapshots/" + sha + "/x")
		if want := (Repo{ID: r.ID, Revision: sha}); !ok || got != want {
			t.Errorf("FromSnapshotPath of %q = %+v, %v, want %+v", s, got, ok, want)
		}
	})
}

func TestFromSnapshotPath(t *testing.T) {
	sha := strings.Repeat("0123456789", 4)
	for _, c := range []struct {
		in   string
		want Repo
		ok   bool
	}{
		{in: "/home/me/.cache/huggingface/hub/models--zai-org--GLM-5/snapshots/" + sha, want: Repo{ID: "zai-org/GLM-5", Revision: sha}, ok: true},
		{in: "/c/models--a--b/snapshots/" + sha + "/", want: Repo{ID: "a/b", Revision: sha}, ok: true},
		{in: "/c/models--a--b/snapshots/" + sha + "/sub/tokenizer.json", want: Repo{ID: "a/b", Revision: sha}, ok: true},
		{in: `C:\hf\hub\models--a--b\snapshots\` + sha + `\x`, want: Repo{ID: "a/b", Revision: sha}, ok: true},
		{in: "datasets--a--b/snapshots/" + sha, want: Repo{ID: "a/b", Revision: sha, Kind: Dataset}, ok: true},
		{in: "/c/models--gpt2/snapshots/" + sha},
		{in: "/c/models--a--b/snapshots/main"},
		{in: "/c/models--a--b/blobs/" + sha},
		{in: "/models/GLM-5"},
		{in: ""},
	} {
		if got, ok := FromSnapshotPath(c.in); got != c.want || ok != c.ok {
			t.Errorf("FromSnapshotPath(%q) = %+v, %v, want %+v, %v", c.in, got, ok, c.want, c.ok)
		}
	}
}
