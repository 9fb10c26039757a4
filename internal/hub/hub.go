// Package hub decides where a file of a model repo comes from: the local cache that the Python tools
// share, or a hub on the network. The cache is asked first; a hub is asked only for org/name and never when
// the environment says offline. What is downloaded is written in the same layout, so other tools find
// it. The package prints nothing: progress and renames are told by callback, failures are of type *Error.
package hub

import (
	"cmp"
	"errors"
	"net/http"
	"net/url"
	"os"
	"sync"
	"time"
)

// Client reads one cache and asks one hub. It is safe for use by many goroutines and, through locks
// in the cache, beside other processes.
type Client struct {
	opts     Options
	endpoint *url.URL
	http     *http.Client
	open     func(path string, flag int) (writer, error)
	symlink  func(target, link string) error
	pause    time.Duration // before a broken download is continued

	renamed sync.Map // folders of repos whose new name was told
}

// New checks the options and makes a client. It opens no file and no connection.
func New(opts Options) (*Client, error) {
	if opts.CacheDir == "" {
		return nil, errors.New("no folder for the hub cache: the home folder is unknown here; set HF_HOME or HF_HUB_CACHE")
	}
	endpoint, err := opts.endpointURL()
	if err != nil {
		return nil, err
	}
	opts.HeadTimeout = cmp.Or(opts.HeadTimeout, defaultTimeout)
	opts.StallTimeout = cmp.Or(opts.StallTimeout, defaultTimeout)
	opts.UserAgent = cmp.Or(opts.UserAgent, "servemark")
	if opts.Transport == nil {
		opts.Transport = newTransport(opts.StallTimeout)
	}
	return &Client{opts: opts, endpoint: endpoint, open: openFile, symlink: os.Symlink, pause: time.Second, http: &http.Client{
		Transport:     opts.Transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}, nil
}

// Host is the hub's host as a caller should announce it before Fetch asks it; the address's user and
// password, if any, are left out.
func (c *Client) Host() string { return c.endpoint.Host }

// Offline names the variable that forbids the network, "" where it may be used.
func (c *Client) Offline() string { return c.opts.Offline }

// CacheDir is the folder that is read and written.
func (c *Client) CacheDir() string { return c.opts.CacheDir }

// writer is the part of os.File that a download needs; a test puts a full disk in its place.
type writer interface {
	Write(p []byte) (int, error)
	Close() error
}

func openFile(path string, flag int) (writer, error) { return os.OpenFile(path, flag, 0o666) }
