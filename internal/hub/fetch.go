package hub

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"
)

const (
	maxStandstill = 3 // attempts in a row that bring no byte before a download gives up
	copyBuffer    = 128 << 10
)

var errStalled = errors.New("no byte arrived in time")

// Fetch gives the path of a file in the cache, downloading it if it is not there. What is cached for
// the revision is taken as it is, without asking the hub whether a branch has moved. progress, if
// set, is called from this goroutine with bytes done and in all (-1: unknown). A broken download is continued
// where it ended, by this call or a later one; two processes that want the same file download it once.
func (c *Client) Fetch(ctx context.Context, repo Repo, file string, progress func(done, total int64)) (string, error) {
	path, ok, err := c.Cached(repo, file)
	if ok || err != nil {
		return path, err
	}
	if err := repo.check(); err != nil {
		return "", err
	}
	if c.KnownAbsent(repo, file) {
		return "", &Error{Kind: FileNotFound, Repo: repo, File: file, Host: c.Host()}
	}
	info, err := c.Head(ctx, repo, file)
	if err != nil {
		return "", err
	}
	if info.RenamedTo != "" && c.opts.Renamed != nil {
		if _, told := c.renamed.LoadOrStore(repo.folder(), true); !told {
			c.opts.Renamed(repo, info.RenamedTo)
		}
	}
	d := &download{client: c, info: info, progress: progress, blob: filepath.Join(c.repoDir(repo), "blobs", info.ETag)}
	path = filepath.Join(c.repoDir(repo), "snapshots", info.Commit, filepath.FromSlash(file))
	if err := d.into(ctx, path); err != nil {
		return "", err
	}
	return path, nil
}

// download brings one file into the cache.
type download struct {
	client   *Client
	info     FileInfo
	blob     string // where its bytes end up
	progress func(done, total int64)
}

func (d *download) into(ctx context.Context, path string) error {
	c, repo := d.client, d.info.Repo
	lockPath := filepath.Join(c.opts.CacheDir, ".locks", repo.folder(), d.info.ETag+".lock")
	for _, p := range []string{d.blob, path, lockPath} {
		if err := os.MkdirAll(filepath.Dir(p), 0o777); err != nil {
			return d.writeFault(err)
		}
	}
	release, exclusive, err := lock(ctx, lockPath)
	if err != nil {
		if ctx.Err() != nil {
			return fmt.Errorf("waiting for another process that downloads %s of %s: %w", d.info.File, repo, context.Cause(ctx))
		}
		return d.writeFault(err)
	}
	defer release()
	ok, err := isFile(d.blob)
	if err != nil {
		return err
	}
	if !ok {
		if err := d.fill(ctx, exclusive); err != nil {
			return err
		}
	}
	if err := c.link(d.blob, path); err != nil {
		return d.writeFault(err)
	}
	if err := c.writeRef(repo, d.info.Commit); err != nil {
		return d.writeFault(err)
	}
	return nil
}

// fill downloads the blob beside its place, checks it and renames it. Where the file system has no
// locks the partial file gets a name of its own, so that two processes cannot mix their bytes.
func (d *download) fill(ctx context.Context, exclusive bool) error {
	partial := d.blob + ".incomplete"
	if !exclusive {
		partial = fmt.Sprintf("%s.%d-%d.incomplete", d.blob, os.Getpid(), time.Now().UnixNano())
		defer os.Remove(partial) // of no use to a later run; gone already after success
	}
	resumed := sizeOf(partial) > 0
	for {
		if err := d.receive(ctx, partial); err != nil {
			return err
		}
		err := verify(partial, d.info)
		if err == nil {
			break
		}
		if !errors.Is(err, Corrupt) {
			return d.writeFault(err)
		}
		_ = os.Remove(partial)
		if !resumed {
			return err
		}
		resumed = false // the older part may have been bad: once more from the start
	}
	if err := os.Rename(partial, d.blob); err != nil {
		return d.writeFault(err)
	}
	return nil
}

// receive asks for the rest of the file until all of it is there.
func (d *download) receive(ctx context.Context, partial string) error {
	for standstill := 0; ; {
		before := sizeOf(partial)
		if d.info.Size >= 0 && before > d.info.Size {
			if err := os.Remove(partial); err != nil {
				return d.writeFault(err)
			}
			before = 0
		}
		if before == d.info.Size && before > 0 {
			d.tell(before)
			return nil
		}
		err := d.receiveRest(ctx, partial, before)
		var broken *brokenOff
		if !errors.As(err, &broken) {
			return err
		}
		if sizeOf(partial) > before {
			standstill = 0
		}
		if standstill++; standstill >= maxStandstill || ctx.Err() != nil {
			return d.client.failure(ctx, d.fault(), broken.host, broken.err)
		}
		select {
		case <-time.After(d.client.pause):
		case <-ctx.Done():
		}
	}
}

// brokenOff is a connection that ended too early: worth another attempt from where it ended.
type brokenOff struct {
	host string
	err  error
}

func (b *brokenOff) Error() string { return b.err.Error() }

func (d *download) receiveRest(ctx context.Context, partial string, from int64) error {
	c := d.client
	watched, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	watch := time.AfterFunc(c.opts.StallTimeout, func() { cancel(errStalled) })
	defer watch.Stop()
	header := http.Header{"Accept-Encoding": {"identity"}}
	if from > 0 {
		header.Set("Range", fmt.Sprintf("bytes=%d-", from))
	}
	// By commit, not by branch: the bytes must be those that Head described.
	a, err := c.ask(watched, http.MethodGet, c.fileURL(d.info.Repo, d.info.Commit, d.info.File), header, true)
	if err != nil {
		if context.Cause(watched) == errStalled {
			err = errStalled
		}
		return c.failure(ctx, d.fault(), a.at.Host, err)
	}
	defer a.Body.Close()
	flag, err := d.accept(a, partial, from)
	if err != nil {
		return err
	}
	if flag&os.O_TRUNC != 0 {
		from = 0
	}
	w, err := c.open(partial, flag)
	if err != nil {
		return d.writeFault(err)
	}
	err = d.copy(w, a.Body, from, func() { watch.Reset(c.opts.StallTimeout) })
	if cerr := w.Close(); err == nil && cerr != nil {
		err = d.writeFault(cerr)
	}
	var broken *brokenOff
	if errors.As(err, &broken) {
		broken.host = a.at.Host
		if context.Cause(watched) == errStalled {
			broken.err = errStalled
		}
	}
	return err
}

// accept says how the partial file must be opened for an answer: continued or begun anew.
func (d *download) accept(a *answer, partial string, from int64) (flag int, err error) {
	switch {
	case a.StatusCode == http.StatusRequestedRangeNotSatisfiable && from > 0:
		if err := os.Remove(partial); err != nil {
			return 0, d.writeFault(err)
		}
		return 0, &brokenOff{a.at.Host, errors.New("the server has no bytes after those already here")}
	case a.StatusCode == http.StatusPartialContent && from > 0:
		if !strings.HasPrefix(a.Header.Get("Content-Range"), fmt.Sprintf("bytes %d-", from)) {
			e := d.fault()
			e.Kind, e.Detail = NotAHub, "it sent another part of the file than was asked for"
			return 0, &e
		}
		return os.O_CREATE | os.O_WRONLY | os.O_APPEND, nil
	case a.StatusCode == http.StatusOK:
		return os.O_CREATE | os.O_WRONLY | os.O_TRUNC, nil
	}
	e := d.fault()
	e.Host = a.at.Host
	return 0, d.client.refusal(a, e)
}

// copy writes the body and tells the progress. A read fault is a *brokenOff, a write fault an *Error.
func (d *download) copy(w io.Writer, body io.Reader, done int64, alive func()) error {
	buf := make([]byte, copyBuffer)
	for {
		n, rerr := body.Read(buf)
		if n > 0 {
			alive()
			if d.info.Size >= 0 && done+int64(n) > d.info.Size {
				return d.corrupt(fmt.Sprintf("more than the %d bytes it announced", d.info.Size))
			}
			if _, err := w.Write(buf[:n]); err != nil {
				return d.writeFault(err)
			}
			done += int64(n)
			d.tell(done)
		}
		if rerr == io.EOF {
			if d.info.Size >= 0 && done < d.info.Size {
				return &brokenOff{err: io.ErrUnexpectedEOF}
			}
			return nil
		}
		if rerr != nil {
			return &brokenOff{err: rerr}
		}
	}
}

func (d *download) tell(done int64) {
	if d.progress != nil {
		d.progress(done, d.info.Size)
	}
}

// fault is an Error about this download, its kind still to be set.
func (d *download) fault() Error {
	return Error{Repo: d.info.Repo, File: d.info.File, Host: d.info.Host, RenamedTo: d.info.RenamedTo}
}

func (d *download) corrupt(detail string) error {
	e := d.fault()
	e.Kind, e.Detail = Corrupt, detail
	return &e
}

func (d *download) writeFault(err error) error {
	e := Error{Kind: CacheNotWritable, Repo: d.info.Repo, File: d.info.File, Err: err}
	if isDiskFull(err) {
		e.Kind = DiskFull
	}
	return &e
}

func sizeOf(path string) int64 {
	info, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return info.Size()
}

// link makes the snapshot's entry for a blob: a relative symlink, so that the cache can be moved, or
// a copy where links are refused.
func (c *Client) link(blob, path string) error {
	if ok, _ := isFile(path); ok {
		return nil
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) { // a link whose blob is gone
		return err
	}
	target, err := filepath.Rel(filepath.Dir(path), blob)
	if err != nil {
		return err
	}
	if c.symlink(target, path) == nil {
		return nil
	}
	if ok, _ := isFile(path); ok { // another process was faster
		return nil
	}
	return c.copyFile(blob, path)
}

func (c *Client) copyFile(from, to string) error {
	src, err := os.Open(from)
	if err != nil {
		return err
	}
	defer src.Close()
	tmp := fmt.Sprintf("%s.%d.tmp", to, os.Getpid())
	w, err := c.open(tmp, os.O_CREATE|os.O_TRUNC|os.O_WRONLY)
	if err != nil {
		return err
	}
	defer os.Remove(tmp) // after success it has been renamed
	_, err = io.Copy(w, src)
	if cerr := w.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return err
	}
	return os.Rename(tmp, to)
}

// writeRef notes which commit a branch or tag means, whole or not at all.
func (c *Client) writeRef(repo Repo, commit string) error {
	if repo.revision() == commit {
		return nil
	}
	if known, _ := c.commitOf(repo); known == commit {
		return nil
	}
	ref := filepath.Join(c.repoDir(repo), "refs", filepath.FromSlash(repo.revision()))
	if err := os.MkdirAll(filepath.Dir(ref), 0o777); err != nil {
		return err
	}
	tmp := fmt.Sprintf("%s.%d-%d.tmp", ref, os.Getpid(), time.Now().UnixNano())
	if err := os.WriteFile(tmp, []byte(commit), 0o666); err != nil {
		return err
	}
	if err := os.Rename(tmp, ref); err != nil {
		_ = os.Remove(tmp)
		return err
	}
	return nil
}
