package doctor

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/servemark/servemark/internal/bench"
	"github.com/servemark/servemark/internal/hub"
)

const commit = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

// wordTokenizer knows a, b, c and, as a special token that only a configuration names, <s>.
const wordTokenizer = `{"version":"1.0","added_tokens":[{"id":3,"content":"<s>","special":true}],"pre_tokenizer":null,"normalizer":null,"post_processor":null,"decoder":null,
"model":{"type":"BPE","vocab":{"a":0,"b":1,"c":2},"merges":[],"unk_token":"a"}}`

// fakeHub has org/name with some files; others are 404, and those in broken get a status of their own.
type fakeHub struct {
	*httptest.Server
	mu     sync.Mutex
	files  map[string]string
	broken map[string]int
	asked  []string
}

func newFakeHub(t *testing.T, files map[string]string) *fakeHub {
	h := &fakeHub{files: files, broken: map[string]int{}}
	h.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.mu.Lock()
		defer h.mu.Unlock()
		id, rest, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/resolve/")
		_, file, _ := strings.Cut(rest, "/")
		h.asked = append(h.asked, r.Method+" "+id+" "+file)
		w.Header().Set("X-Repo-Commit", commit)
		body, ok := h.files[file]
		switch {
		case id == "org/old":
			http.Redirect(w, r, "/org/name/resolve/"+rest, http.StatusTemporaryRedirect)
		case h.broken[file] != 0:
			w.WriteHeader(h.broken[file])
		case id != "org/name" || !ok:
			w.Header().Set("X-Error-Code", "EntryNotFound")
			w.WriteHeader(http.StatusNotFound)
		default:
			w.Header().Set("ETag", fmt.Sprintf(`"etag-%s"`, strings.ReplaceAll(file, "/", "-")))
			w.Header().Set("Content-Length", fmt.Sprint(len(body)))
			if r.Method == http.MethodGet {
				fmt.Fprint(w, body)
			}
		}
	}))
	t.Cleanup(h.Close)
	return h
}

// finder looks into a cache and asks the hub, unless offline names what forbids it.
func (h *fakeHub) finder(t *testing.T, cache, offline string) (*Finder, *[]string) {
	t.Helper()
	client, err := hub.New(hub.Options{CacheDir: cache, Endpoint: h.URL, Offline: offline})
	if err != nil {
		t.Fatal(err)
	}
	said := &[]string{}
	return &Finder{Hub: client, Say: func(s string) { *said = append(*said, s) }}, said
}

func open(f *Finder, source bench.TokenizerSource) (Tokenizer, error) {
	return f.Named(context.Background(), source)
}

// TestFilesBesideMustCome: a file beside the tokenizer that the hub has and does not give fails the source, now and from the
// cache; once it comes the tokenizer is whole, and what the hub lacks is not asked for again.
func TestFilesBesideMustCome(t *testing.T) {
	h := newFakeHub(t, map[string]string{"tokenizer.json": wordTokenizer, "tokenizer_config.json": `{"bos_token":"<s>"}`})
	cache := t.TempDir()
	for _, file := range []string{"tokenizer_config.json", "chat_template.jinja"} {
		h.broken = map[string]int{file: http.StatusServiceUnavailable}
		f, _ := h.finder(t, filepath.Join(cache, file), "")
		if got, err := open(f, "org/name"); err == nil || !errors.Is(err, hub.ServerFault) || !strings.Contains(err.Error(), file) {
			t.Errorf("with 503 for %s: %+v, %v; want that failure", file, got, err)
		}
	}
	cache = filepath.Join(cache, "tokenizer_config.json")
	f, _ := h.finder(t, cache, "")
	h.broken = map[string]int{"tokenizer_config.json": http.StatusServiceUnavailable}
	if got, err := open(f, "org/name"); err != nil || !strings.Contains(strings.Join(got.Notes, " "), "its opening token and chat template may differ") {
		t.Errorf("from the cache, with 503 for what it lacks: %v, notes %q; want it with a note: its ids do not depend on that", err, got.Notes)
	}
	ranked := t.TempDir()
	put(t, ranked, "models--org--name/refs/main", commit)
	put(t, ranked, "models--org--name/snapshots/"+commit+"/tekken.json", "{}")
	f, _ = h.finder(t, ranked, "")
	if got, err := open(f, "org/name"); err == nil || !errors.Is(err, hub.ServerFault) || !strings.Contains(err.Error(), "without tokenizer_config.json, on which its ids depend") {
		t.Errorf("a cached tekken.json, with 503 for tokenizer_config.json: %+v, %v; want that failure", got, err)
	}
	off, _ := h.finder(t, cache, "HF_HUB_OFFLINE")
	got, err := open(off, "org/name")
	if notes := strings.Join(got.Notes, " "); err != nil || !strings.Contains(notes, "tokenizer_config.json") || !strings.Contains(notes, "HF_HUB_OFFLINE forbids") || !strings.Contains(notes, "opening token") {
		t.Errorf("offline: %v, notes %q; want it as it is with a note on what may be missing", err, notes)
	}
	h.broken = nil
	f, said := h.finder(t, cache, "")
	got, err = open(f, "org/name")
	if err != nil || len(got.Notes) != 0 || len(*said) != 1 || !strings.Contains((*said)[0], "looking for tokenizer_config.json") {
		t.Fatalf("once the hub answers: %v, notes %q, said %q; want it completed after a line", err, got.Notes, *said)
	}
	if ids, err := SpecialIDs(&got); err != nil || !slices.Equal(ids, []uint32{3}) {
		t.Errorf("its special ids = %v, %v; want those of the configuration", ids, err)
	}
	asked := len(h.asked)
	for _, offline := range []string{"", "HF_HUB_OFFLINE"} {
		f, said = h.finder(t, cache, offline)
		if got, err = open(f, "org/name"); err != nil || len(got.Notes)+len(*said) != 0 || len(h.asked) != asked {
			t.Errorf("again, offline %q: %v, notes %q, said %q, asked %q; want silence", offline, err, got.Notes, *said, h.asked[asked:])
		}
	}
}

// TestACachedTokenizerServesWithoutTheHub: who cannot reach the hub, or is refused what only a template needs, is told and goes on.
func TestACachedTokenizerServesWithoutTheHub(t *testing.T) {
	h := newFakeHub(t, map[string]string{"tokenizer.json": wordTokenizer})
	cache := t.TempDir()
	put(t, cache, "models--org--name/refs/main", commit)
	put(t, cache, "models--org--name/snapshots/"+commit+"/tokenizer.json", wordTokenizer)
	f, _ := h.finder(t, cache, "")
	url := h.URL
	h.URL = "http://127.0.0.1:1"
	gone, _ := h.finder(t, cache, "")
	if got, err := open(gone, "org/name"); err != nil || !strings.Contains(strings.Join(got.Notes, " "), "the hub could not be asked") {
		t.Errorf("without a way to the hub: %v, notes %q; want it with a note", err, got.Notes)
	}
	h.URL = url
	put(t, cache, "models--org--name/snapshots/"+commit+"/tokenizer_config.json", `{}`)
	h.broken = map[string]int{"config.json": http.StatusForbidden}
	if got, err := open(f, "org/name"); err != nil || !strings.Contains(strings.Join(got.Notes, " "), "; its chat template may differ") {
		t.Errorf("refused a file that ids do not depend on: %v, notes %q; want it with a note", err, got.Notes)
	}
}

func put(t *testing.T, dir, name, text string) {
	t.Helper()
	p := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(p, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestWordsOfTheCacheAndTheHub: what is said of a broken copy, of a name without organisation and of a repository without a
// tokenizer is true.
func TestWordsOfTheCacheAndTheHub(t *testing.T) {
	h := newFakeHub(t, map[string]string{"model.safetensors": "w"})
	cache := t.TempDir()
	for name, text := range map[string]string{
		"models--org--name/refs/main": commit, "models--org--torn/refs/main": commit, "models--gpt2/refs/main": commit, "models--org--empty/refs/main": commit,
		"models--org--torn/snapshots/" + commit + "/tokenizer.json":   wordTokenizer[:40],
		"models--gpt2/snapshots/" + commit + "/tokenizer.json":        wordTokenizer,
		"models--org--empty/snapshots/" + commit + "/config.json":     `{}`,
		"models--gpt2/.no_exist/" + commit + "/tokenizer_config.json": "",
	} {
		put(t, cache, name, text)
	}
	for _, tc := range []struct {
		source  bench.TokenizerSource
		offline string
		want    []string
		not     string
	}{
		{"org/torn", "HF_HUB_OFFLINE", []string{"its copy in the hub cache cannot be used", "tokenizer.json", "delete " + filepath.Join(cache, "models--org--torn")}, "not in the hub cache"},
		{"org/empty", "HF_HUB_OFFLINE", []string{"it is not in the hub cache", "HF_HUB_OFFLINE forbids"}, ""},
		{"gpt3", "", []string{"no such file or folder", "not the name of a repository", "the hub cache has no tokenizer of that name"}, ""},
		{"org/name", "", []string{"tokenizer.json, tekken.json, tokenizer.model, tiktoken.model or qwen.tiktoken of model org/name", "adapters or converted weights"}, ""},
	} {
		f, _ := h.finder(t, cache, tc.offline)
		_, err := open(f, tc.source)
		for _, want := range tc.want {
			if err == nil || !strings.Contains(err.Error(), want) || tc.not != "" && strings.Contains(err.Error(), tc.not) {
				t.Errorf("Named(%q), offline %q = %v; want %q in it, and not %q", tc.source, tc.offline, err, want, tc.not)
			}
		}
	}
	f, said := h.finder(t, cache, "")
	got, err := open(f, "gpt2")
	if err != nil || len(*said) != 0 || !strings.Contains(strings.Join(got.Notes, " "), "its chat template may differ from the repository's") {
		t.Errorf("a cached name without organisation: %v, said %q, notes %q; want it with a note and nothing sent", err, *said, got.Notes)
	}
	if s := strings.Join(h.asked, "\n"); strings.Contains(s, "gpt") {
		t.Errorf("a name without organisation was sent:\n%s", s)
	}
}

// TestNewFinderTellsOfNamesAndDownloads: the new name of a repository is said once, and the quarters of a large file.
func TestNewFinderTellsOfNamesAndDownloads(t *testing.T) {
	h := newFakeHub(t, map[string]string{"tokenizer.json": wordTokenizer, "tokenizer_config.json": `{}`, "config.json": `{"x":"` + strings.Repeat("y", 5<<20) + `"}`})
	env := map[string]string{"HF_HUB_CACHE": t.TempDir(), "HF_ENDPOINT": h.URL, "HF_TOKEN": "hf_s3cret"}
	var said []string
	f := NewFinder(func(name string) string { return env[name] }, "test/1", func(line string) { said = append(said, line) })
	if _, err := open(f, "org/old"); err != nil {
		t.Fatal(err)
	}
	want := []string{"fetching the tokenizer of org/old from " + strings.TrimPrefix(h.URL, "http://") + " into the hub cache", "org/old is called org/name on the hub now",
		"config.json: 1 of 5 MB", "config.json: 2 of 5 MB", "config.json: 3 of 5 MB", "config.json: 5 of 5 MB"}
	if !slices.Equal(said, want) {
		t.Errorf("said %q, want %q", said, want)
	}
	broken := NewFinder(func(name string) string { return "relative nonsense" }, "test/1", func(string) {})
	if broken.Hub != nil || broken.HubFault == nil {
		t.Errorf("NewFinder of a broken environment = %+v, want its fault kept", broken)
	}
}
