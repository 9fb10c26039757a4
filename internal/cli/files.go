package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"
)

// whyNot says in words why a file cannot be read or made; other errors speak for themselves.
func whyNot(err error) string {
	var path *fs.PathError
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "there is no such file or folder"
	case errors.Is(err, fs.ErrPermission):
		return "no permission"
	case errors.Is(err, syscall.EISDIR):
		return "it is a folder"
	case errors.Is(err, syscall.ENOTDIR):
		return "it or a folder in its path is a file"
	case errors.Is(err, syscall.ENOSPC):
		return "the disk is full"
	case errors.As(err, &path):
		return path.Err.Error()
	}
	return err.Error()
}

// unusable is a fault of a file with its cause and what to do.
func unusable(path string, err error, cure string) error {
	return fmt.Errorf("%s: %s; %s", path, whyNot(err), cure)
}

// shellWord writes a path as one word of a shell's command line.
func shellWord(path string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_-+=.,:/@%", r)
	}
	if path != "" && !strings.ContainsFunc(path, func(r rune) bool { return !plain(r) }) {
		return path
	}
	return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
}
