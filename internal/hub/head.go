package hub

import (
	"cmp"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// FileInfo is what the hub says of a file before it is downloaded.
type FileInfo struct {
	Repo      Repo   // as it was asked for
	File      string // its name inside the repo
	Host      string // the hub that was asked
	Commit    string // the commit that the revision means now
	Size      int64  // bytes; -1 where the hub does not say
	ETag      string // name of the blob: sha256 of a large file, git's sha1 of a small one
	RenamedTo string // the repo's new name, if it has one
}

// Head asks the hub about one file without downloading it, so that a caller can say what it is about
// to do. It asks the network even where the file is cached.
func (c *Client) Head(ctx context.Context, repo Repo, file string) (FileInfo, error) {
	e := Error{Repo: repo, File: file, Host: c.Host()}
	if err := c.mayAsk(repo, file); err != nil {
		return FileInfo{}, err
	}
	bounded, cancel := context.WithTimeout(ctx, c.opts.HeadTimeout)
	defer cancel()
	a, err := c.ask(bounded, http.MethodHead, c.fileURL(repo, repo.revision(), file),
		http.Header{"Accept-Encoding": {"identity"}}, false)
	if err != nil {
		return FileInfo{}, c.failure(ctx, e, a.at.Host, err)
	}
	defer a.Body.Close()
	if a.StatusCode/100 != 2 && a.next == nil {
		c.noteAbsent(a, repo, file)
		return FileInfo{}, c.refusal(a, e)
	}
	return c.fileInfo(a, e)
}

// mayAsk tells whether a name may leave the machine.
func (c *Client) mayAsk(repo Repo, file string) error {
	if err := repo.check(); err != nil {
		return err
	}
	if file != "" {
		if err := checkFile(repo, file); err != nil {
			return err
		}
	}
	if c.opts.Offline != "" {
		return &Error{Kind: Offline, Repo: repo, File: file, Detail: c.opts.Offline}
	}
	return nil
}

// fileInfo reads the headers of a file's answer: X-Linked-Etag and X-Linked-Size describe a large
// file behind a redirect, ETag and Content-Length a small one.
func (c *Client) fileInfo(a *answer, e Error) (FileInfo, error) {
	info := FileInfo{Repo: e.Repo, File: e.File, Host: e.Host, Size: -1, RenamedTo: a.renamedTo}
	info.Commit = a.headers.Get("X-Repo-Commit")
	e.Kind, e.RenamedTo = NotAHub, a.renamedTo
	if !isCommit(info.Commit) {
		if e.Detail = "its answer names no commit (X-Repo-Commit)"; a.next != nil {
			e.Kind, e.Detail = Elsewhere, origin(a.next)
		}
		return FileInfo{}, &e
	}
	info.ETag = normalETag(cmp.Or(a.headers.Get("X-Linked-Etag"), a.Header.Get("ETag")))
	if !isBlobName(info.ETag) {
		e.Detail = "its answer has no usable ETag"
		return FileInfo{}, &e
	}
	if n, err := strconv.ParseInt(a.headers.Get("X-Linked-Size"), 10, 64); err == nil && n >= 0 {
		info.Size = n
	} else if a.next == nil {
		info.Size = a.ContentLength
	}
	return info, nil
}

// normalETag strips the quotes and the mark of a weak tag.
func normalETag(s string) string { return strings.Trim(strings.TrimPrefix(s, "W/"), `"`) }

// isBlobName tells whether an ETag can be a file's name.
func isBlobName(s string) bool {
	return s != "" && len(s) <= 128 && s[0] != '.' &&
		strings.IndexFunc(s, func(c rune) bool { return !isWord(c) && c != '-' && c != '.' }) < 0
}

// noteAbsent leaves the marker that tells this and other tools that a commit has no such file. It is
// a hint only, so a cache that cannot be written is no error here.
func (c *Client) noteAbsent(a *answer, repo Repo, file string) {
	commit := a.headers.Get("X-Repo-Commit")
	if a.Header.Get("X-Error-Code") != "EntryNotFound" || !isCommit(commit) {
		return
	}
	marker := filepath.Join(c.repoDir(repo), ".no_exist", commit, filepath.FromSlash(file))
	if os.MkdirAll(filepath.Dir(marker), 0o777) != nil {
		return
	}
	if f, err := os.OpenFile(marker, os.O_CREATE|os.O_WRONLY, 0o666); err == nil {
		_ = f.Close()
	}
	_ = c.writeRef(repo, commit)
}

// RepoInfo is what the hub says of a repo as a whole.
type RepoInfo struct {
	Commit    string   // the commit that the revision means now
	Files     []string // every file of that commit, with slashes
	Gated     bool     // its owner decides who may read it
	Private   bool
	RenamedTo string // the repo's new name, if it has one
}

const maxRepoInfo = 64 << 20 // bytes of the hub's answer about one repo

// Info asks the hub about a repo: whether this token may see it, and which files it has. That a
// gated repo is seen does not mean that its files may be read: Head of a file tells.
func (c *Client) Info(ctx context.Context, repo Repo) (RepoInfo, error) {
	e := Error{Repo: repo, Host: c.Host()}
	if err := c.mayAsk(repo, ""); err != nil {
		return RepoInfo{}, err
	}
	bounded, cancel := context.WithTimeout(ctx, c.opts.HeadTimeout)
	defer cancel()
	u := c.address("api/" + repo.Kind.String() + "s/" + repo.ID + "/revision/" + url.PathEscape(repo.revision()))
	a, err := c.ask(bounded, http.MethodGet, u, http.Header{"Accept": {"application/json"}}, false)
	if err != nil {
		return RepoInfo{}, c.failure(ctx, e, a.at.Host, err)
	}
	defer a.Body.Close()
	if a.next != nil {
		e.Kind, e.Detail = Elsewhere, origin(a.next)
		return RepoInfo{}, &e
	}
	if a.StatusCode != http.StatusOK {
		return RepoInfo{}, c.refusal(a, e)
	}
	var body struct {
		SHA      string `json:"sha"`
		Private  bool   `json:"private"`
		Gated    any    `json:"gated"` // false, "auto" or "manual"
		Siblings []struct {
			Name string `json:"rfilename"`
		} `json:"siblings"`
	}
	b, err := io.ReadAll(io.LimitReader(a.Body, maxRepoInfo))
	if err != nil {
		return RepoInfo{}, c.failure(ctx, e, a.at.Host, err)
	}
	if err := json.Unmarshal(b, &body); err != nil || !isCommit(body.SHA) {
		e.Kind, e.Detail = NotAHub, "its answer about the repo is not JSON with a commit"
		return RepoInfo{}, &e
	}
	info := RepoInfo{Commit: body.SHA, Private: body.Private, Gated: body.Gated != nil && body.Gated != false, RenamedTo: a.renamedTo}
	for _, s := range body.Siblings {
		info.Files = append(info.Files, s.Name)
	}
	return info, nil
}
