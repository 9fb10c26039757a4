package cli

import (
	"errors"
	"io/fs"
	"os"
	"strings"
	"testing"
)

func TestShellWord(t *testing.T) {
	for path, want := range map[string]string{
		"run.journal": "run.journal", "/a/b-1_2.x": "/a/b-1_2.x", "a b": "'a b'", "": "''", "ü": "'ü'", "it's": `'it'\''s'`, "$HOME": "'$HOME'", "a;b": "'a;b'",
	} {
		if got := shellWord(path); got != want {
			t.Errorf("shellWord(%q) = %s, want %s", path, got, want)
		}
	}
}

func TestUnusable(t *testing.T) {
	_, missing := os.Open(t.TempDir() + "/none")
	for _, tt := range []struct {
		err  error
		want string
	}{
		{missing, "x: there is no such file or folder; do y"}, {&fs.PathError{Op: "open", Path: "x", Err: fs.ErrPermission}, "x: no permission; do y"},
		{&fs.PathError{Op: "stat", Path: "x", Err: errors.New("odd")}, "x: odd; do y"}, {errors.New("no JSON"), "x: no JSON; do y"},
	} {
		if got := unusable("x", tt.err, "do y"); got.Error() != tt.want || strings.Contains(got.Error(), "open") {
			t.Errorf("unusable(%v) = %v, want %s", tt.err, got, tt.want)
		}
	}
}
