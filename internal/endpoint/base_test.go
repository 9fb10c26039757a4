package endpoint

import (
	"strings"
	"testing"
)

func TestNormalizeBase(t *testing.T) {
	for _, tc := range []struct {
		raw, want string
		notes     int
		refusal   string // part of the error
	}{
		{"http://localhost:8000", "http://localhost:8000", 0, ""},
		{"http://localhost:8000/", "http://localhost:8000", 0, ""},
		{" https://H.Example/v1/ ", "https://h.example", 0, ""},
		{"http://h:1/v1", "http://h:1", 0, ""},
		{"http://h:1/v1/chat/completions", "http://h:1", 1, ""},
		{"http://h:1/v1/completions/", "http://h:1", 1, ""},
		{"http://h:1/generate", "http://h:1", 1, ""},
		{"http://h:1/team1/glm/", "http://h:1/team1/glm", 0, ""},
		{"http://h:1/team1/v1", "http://h:1/team1", 0, ""},
		{"http://h:1/a%20b/v1", "http://h:1/a%20b", 0, ""},
		{"localhost:8000", "http://localhost:8000", 1, ""},
		{"127.0.0.1:8000/v1", "http://127.0.0.1:8000", 1, ""},
		{"HTTP://h", "http://h", 0, ""},
		{"http://[::1]:8000/v1", "http://[::1]:8000", 0, ""},
		{"[::1]:8000", "http://[::1]:8000", 1, ""},
		{"::1", "http://[::1]", 1, ""},
		{"fe80::1/v1", "http://[fe80::1]", 1, ""},
		{"http://u:pw@h:1", "http://h:1", 0, ""},
		{"http://h:", "http://h", 0, ""},
		{"", "", 0, "empty"},
		{"ftp://h:1", "", 0, "ftp is not spoken here; use http://, https:// or unix://"},
		{"unix:///tmp/s", "unix:///tmp/s", 0, ""},
		{"UNIX:///tmp/s v1", "unix:///tmp/s%20v1", 0, ""},
		{"unix://tmp/s", "", 0, "three slashes"},
		{"unix:///", "", 0, "three slashes"},
		{"http://", "", 0, "names no host"},
		{"http:///v1", "", 0, "names no host"},
		{"http://h:99999", "", 0, "port 99999 is out of range"},
		{"http://h:0", "", 0, "port 0 is out of range"},
		{"http://h:x", "", 0, "invalid port"},
		{"http://::1:8000", "", 0, "needs brackets"},
		{"::1:8000", "", 0, "http://[::1]:8000"},
		{"http://h/?key=1", "", 0, "does not belong in a base URL"},
		{"http://u:pw@h:x", "", 0, "…@h:x"},
	} {
		got, user, notes, err := NormalizeBase(tc.raw)
		if tc.refusal != "" {
			if err == nil || !strings.Contains(err.Error(), tc.refusal) || strings.Contains(err.Error(), "pw") {
				t.Errorf("NormalizeBase(%q) = %q, error %v; want an error with %q", tc.raw, got, err, tc.refusal)
			}
			continue
		}
		if err != nil || got != tc.want || len(notes) != tc.notes || (user != nil) != strings.Contains(tc.raw, "@") || strings.Contains(strings.Join(notes, ""), "pw") {
			t.Errorf("NormalizeBase(%q) = %q, user %v, notes %q, error %v; want %q, %d notes", tc.raw, got, user, notes, err, tc.want, tc.notes)
		}
	}
}

func TestHostPort(t *testing.T) {
	for _, tc := range []struct {
		host, want string
	}{{"::1", "[::1]:8"}, {"[::1]", "[::1]:8"}, {"h", "h:8"}, {"127.0.0.1", "127.0.0.1:8"}} {
		if got := HostPort(tc.host, 8); got != tc.want {
			t.Errorf("HostPort(%q, 8) = %q, want %q", tc.host, got, tc.want)
		}
	}
}

// What is normalized once stays as it is.
func FuzzNormalizeBase(f *testing.F) {
	for _, s := range []string{"http://h:1/v1", "h/v1/v1", "[::1]:8", "::1", "http://u@h", "http://h//v1//", "a/b", "0/@0", "http://h/v1/chat/completions/v1", "%41"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		base, _, _, err := NormalizeBase(raw)
		if err != nil {
			return
		}
		if host, _, _ := strings.Cut(strings.SplitN(base, "://", 2)[1], "/"); strings.HasSuffix(base, "/") || strings.Contains(host, "@") {
			t.Fatalf("NormalizeBase(%q) = %q", raw, base)
		}
		if strings.HasSuffix(base, "/v1") || strings.HasSuffix(base, "/generate") || strings.HasSuffix(base, "completions") {
			return // a prefix that looks like a route of its own
		}
		if again, user, _, err := NormalizeBase(base); err != nil || again != base || user != nil {
			t.Fatalf("NormalizeBase(%q) = %q, but of that = %q, %v, %v", raw, base, again, user, err)
		}
	})
}
