package hub

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Cached looks a file up in the local cache only: refs/<revision> names the commit, the file lies
// under snapshots/<commit>. It touches no network. ok is false, without an error, where the repo,
// the revision or the file is not there; an error is a cache that cannot be read, or a bad name.
func (c *Client) Cached(repo Repo, file string) (path string, ok bool, err error) {
	if err := checkFile(repo, file); err != nil {
		return "", false, err
	}
	dir, _, ok, err := c.CachedDir(repo)
	if !ok {
		return "", false, err
	}
	path = filepath.Join(dir, filepath.FromSlash(file))
	ok, err = isFile(path)
	if !ok {
		return "", false, err
	}
	return path, true, nil
}

// CachedDir gives the folder of a repo's cached snapshot and its commit. The folder holds only what
// was downloaded so far, so a file that is absent from it may still exist on the hub.
func (c *Client) CachedDir(repo Repo) (dir, commit string, ok bool, err error) {
	if err := repo.checkLocal(); err != nil {
		return "", "", false, err
	}
	commit, err = c.commitOf(repo)
	if commit == "" {
		return "", "", false, err
	}
	dir = filepath.Join(c.repoDir(repo), "snapshots", commit)
	info, err := os.Stat(dir)
	if err != nil || !info.IsDir() {
		return "", "", false, notThere(err)
	}
	return dir, commit, true, nil
}

// commitOf gives the commit that a revision meant when it was last downloaded, "" if it never was.
func (c *Client) commitOf(repo Repo) (string, error) {
	rev := repo.revision()
	if isCommit(rev) {
		return rev, nil
	}
	b, err := os.ReadFile(filepath.Join(c.repoDir(repo), "refs", filepath.FromSlash(rev)))
	if err != nil {
		return "", notThere(err)
	}
	if commit := strings.TrimSpace(string(b)); isCommit(commit) {
		return commit, nil
	}
	return "", nil // a torn or foreign file: as if it were absent, the hub will say
}

// KnownAbsent tells whether the hub once said that a pinned commit has no such file; that cannot change. Of a branch it is told
// only where the network is forbidden, as the branch may have moved. The marker (.no_exist) is the Python tools' own.
func (c *Client) KnownAbsent(repo Repo, file string) bool {
	commit, _ := c.commitOf(repo)
	if commit == "" || commit != repo.revision() && c.opts.Offline == "" {
		return false
	}
	ok, _ := isFile(filepath.Join(c.repoDir(repo), ".no_exist", commit, filepath.FromSlash(file)))
	return ok
}

func (c *Client) repoDir(repo Repo) string { return filepath.Join(c.opts.CacheDir, repo.folder()) }

func checkFile(repo Repo, file string) error {
	if !isRelative(file) {
		return &Error{Kind: BadName, Repo: repo, File: file, Detail: fmt.Sprintf("%q is not the name of a file inside a repo", file)}
	}
	return nil
}

func isFile(path string) (bool, error) {
	info, err := os.Stat(path)
	if err != nil {
		return false, notThere(err)
	}
	return info.Mode().IsRegular(), nil
}

// notThere turns the errors that only mean absence into none.
func notThere(err error) error {
	if err == nil || errors.Is(err, fs.ErrNotExist) || isNotDir(err) {
		return nil
	}
	return fmt.Errorf("the hub cache cannot be read: %w; check its rights, or set HF_HUB_CACHE to another folder", err)
}
