package hub

import (
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// DefaultEndpoint is the hub that is asked where HF_ENDPOINT names no other.
const DefaultEndpoint = "https://huggingface.co"

// Options says where the cache is, which hub is asked and with whose token. FromEnv fills it the way
// the Python tools read the same environment; a caller may then change single fields.
type Options struct {
	CacheDir string // folder that holds models--org--name; "" is an error of New
	Endpoint string // scheme and host, and a path where a mirror has one; "" is DefaultEndpoint
	Token    Token  // zero: nothing is sent
	Offline  string // name of the variable that forbids the network; "" lets it be used
	// HeadTimeout bounds a question about a file, StallTimeout the silence within a download. Zero is 10 s.
	HeadTimeout, StallTimeout time.Duration
	UserAgent                 string            // "" is "servemark"
	Transport                 http.RoundTripper // nil: a transport of our own that honours HTTPS_PROXY, HTTP_PROXY, NO_PROXY
	// Renamed, if set, is called once a repo when the hub answers that it has another name now. The file is
	// fetched all the same and kept under the name that was asked for, as the Python tools do.
	Renamed func(from Repo, toID string)
}

// FromEnv reads the variables of huggingface_hub: HF_HOME, HF_HUB_CACHE, HUGGINGFACE_HUB_CACHE,
// XDG_CACHE_HOME, HF_ENDPOINT, HF_TOKEN, HUGGING_FACE_HUB_TOKEN, HF_TOKEN_PATH, HF_HUB_OFFLINE,
// TRANSFORMERS_OFFLINE, HF_HUB_DISABLE_IMPLICIT_TOKEN, HF_HUB_ETAG_TIMEOUT, HF_HUB_DOWNLOAD_TIMEOUT.
// An empty variable counts as unset. No file is opened: a token file is read at the first request.
func FromEnv(getenv func(string) string) Options {
	home := homeDir(getenv)
	first := func(names ...string) string {
		for _, name := range names {
			if v := getenv(name); v != "" {
				return expand(v, home, getenv)
			}
		}
		return ""
	}
	below := func(dir string, more ...string) string {
		if dir == "" {
			return ""
		}
		return filepath.Join(append([]string{dir}, more...)...)
	}
	hfHome := first("HF_HOME")
	if hfHome == "" {
		if hfHome = below(first("XDG_CACHE_HOME"), "huggingface"); hfHome == "" {
			hfHome = below(home, ".cache", "huggingface")
		}
	}
	o := Options{
		CacheDir:     first("HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE"),
		Endpoint:     strings.TrimRight(getenv("HF_ENDPOINT"), "/"),
		HeadTimeout:  seconds(getenv("HF_HUB_ETAG_TIMEOUT")),
		StallTimeout: seconds(getenv("HF_HUB_DOWNLOAD_TIMEOUT")),
	}
	if o.CacheDir == "" {
		o.CacheDir = below(hfHome, "hub")
	}
	for _, name := range []string{"HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE"} {
		if o.Offline == "" && isTrue(getenv(name)) {
			o.Offline = name
		}
	}
	if !isTrue(getenv("HF_HUB_DISABLE_IMPLICIT_TOKEN")) {
		tokenPath := first("HF_TOKEN_PATH")
		if tokenPath == "" {
			tokenPath = below(hfHome, "token")
		}
		o.Token = tokenFromEnv(getenv, tokenPath)
	}
	return o
}

func homeDir(getenv func(string) string) string {
	if runtime.GOOS == "windows" {
		return getenv("USERPROFILE")
	}
	return getenv("HOME")
}

// expand does what Python's expanduser and expandvars do to a path: ~ is the home folder, $NAME and
// ${NAME} the variable, left as they stand where it is unset.
func expand(s, home string, getenv func(string) string) string {
	if home != "" && (s == "~" || strings.HasPrefix(s, "~/") || strings.HasPrefix(s, `~\`)) {
		s = home + s[1:]
	}
	return os.Expand(s, func(name string) string {
		if v := getenv(name); v != "" {
			return v
		}
		return "${" + name + "}"
	})
}

// isTrue reads a switch as huggingface_hub does.
func isTrue(s string) bool {
	switch strings.ToUpper(s) {
	case "1", "ON", "YES", "TRUE":
		return true
	}
	return false
}

func seconds(s string) time.Duration {
	n, err := strconv.Atoi(s)
	if err != nil || n < 0 {
		return 0
	}
	return time.Duration(n) * time.Second
}

// endpointURL checks the address of the hub. Its messages never repeat a user name or password in it.
func (o Options) endpointURL() (*url.URL, error) {
	s := o.Endpoint
	if s == "" {
		s = DefaultEndpoint
	}
	u, err := url.Parse(strings.TrimRight(s, "/"))
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, errors.New("the hub's address (HF_ENDPOINT) is not of the form https://host; " +
			"type the whole address, for example HF_ENDPOINT=" + DefaultEndpoint)
	}
	return u, nil
}

// Token is a hub token and the name of the place it comes from. It prints and marshals as that
// name: the value itself can only reach a request.
type Token struct {
	Source string // "HF_TOKEN", or the token file's path
	value  string
	path   string // read when first needed
}

// NewToken holds a token that the caller already has; source names where it was found.
func NewToken(source, value string) Token {
	return Token{Source: source, value: clean(value)}
}

func tokenFromEnv(getenv func(string) string, path string) Token {
	for _, name := range []string{"HF_TOKEN", "HUGGING_FACE_HUB_TOKEN"} {
		if v := clean(getenv(name)); v != "" {
			return NewToken(name, v)
		}
	}
	if path == "" {
		return Token{}
	}
	return Token{Source: path, path: path}
}

func clean(s string) string {
	return strings.TrimSpace(strings.NewReplacer("\r", "", "\n", "").Replace(s))
}

// Present tells whether there is a token to send: a token file that is absent or empty is none.
func (t Token) Present() bool {
	v, err := t.read()
	return err == nil && v != ""
}

func (t Token) read() (string, error) {
	if t.path == "" {
		return t.value, nil
	}
	b, err := os.ReadFile(t.path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("the hub token file cannot be read: %w; make it readable, or set HF_TOKEN", err)
	}
	return clean(string(b)), nil
}

// String gives the source of the token, never its value.
func (t Token) String() string {
	if t.Source == "" {
		return "no token"
	}
	return "token from " + t.Source
}

// Format keeps the value out of every print verb, %#v among them.
func (t Token) Format(s fmt.State, _ rune) { _, _ = s.Write([]byte(t.String())) }

// MarshalText keeps the value out of every encoder.
func (t Token) MarshalText() ([]byte, error) { return []byte(t.String()), nil }
