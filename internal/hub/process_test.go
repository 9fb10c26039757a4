package hub

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// TestMain lets the test binary play another process: one that fetches org/name's t.bin.
func TestMain(m *testing.M) {
	endpoint := os.Getenv("HUB_TEST_ENDPOINT")
	if endpoint == "" {
		os.Exit(m.Run())
	}
	c, err := New(Options{CacheDir: os.Getenv("HUB_TEST_CACHE"), Endpoint: endpoint})
	if err == nil {
		var path string
		path, err = c.Fetch(context.Background(), orgName, "t.bin", nil)
		fmt.Println(path)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func process(t *testing.T, h *fakeHub, cache string) *exec.Cmd {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), "HUB_TEST_ENDPOINT="+h.URL, "HUB_TEST_CACHE="+cache)
	return cmd
}

func TestTwoProcessesDownloadOnce(t *testing.T) {
	h := newFakeHub(t)
	h.large["t.bin"] = strings.Repeat("0123456789", 10_000)
	var asked atomic.Int32
	both := make(chan struct{})
	h.intercept(func(_ http.ResponseWriter, r *http.Request, cdn bool) bool {
		if r.Method == http.MethodHead && !cdn && asked.Add(1) == 2 {
			close(both)
		}
		if cdn { // the first downloader is held until the second is on its way to the lock
			select {
			case <-both:
				time.Sleep(100 * time.Millisecond)
			case <-r.Context().Done():
			}
		}
		return false
	})
	cache := t.TempDir()
	type result struct {
		out []byte
		err error
	}
	results := make(chan result, 2)
	for range 2 {
		cmd := process(t, h, cache)
		go func() {
			out, err := cmd.CombinedOutput()
			results <- result{out, err}
		}()
	}
	for range 2 {
		r := <-results
		b, err := os.ReadFile(strings.TrimSpace(string(r.out)))
		if r.err != nil || err != nil || string(b) != h.large["t.bin"] {
			t.Errorf("process: %v, %v, said %q, %d bytes, want the whole file", r.err, err, r.out, len(b))
		}
	}
	if got := h.asked("GET cdn"); len(got) != 1 {
		t.Errorf("downloads = %q, want one", got)
	}
}

func TestKilledProcessIsContinued(t *testing.T) {
	h := newFakeHub(t)
	h.large["t.bin"] = strings.Repeat("0123456789", 10_000)
	started := make(chan struct{})
	var first atomic.Bool
	h.intercept(func(w http.ResponseWriter, r *http.Request, cdn bool) bool {
		if !cdn || !first.CompareAndSwap(false, true) {
			return false
		}
		w.Header().Set("Content-Length", "100000")
		fmt.Fprint(w, h.large["t.bin"][:40_000])
		w.(http.Flusher).Flush()
		close(started)
		<-r.Context().Done()
		return true
	})
	cache := t.TempDir()
	cmd := process(t, h, cache)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	<-started
	c := h.client(t, func(o *Options) { o.CacheDir = cache })
	partial := c.repoDir(orgName) + "/blobs/" + sha256Hex(h.large["t.bin"]) + ".incomplete"
	for deadline := time.Now().Add(5 * time.Second); sizeOf(partial) < 40_000 && time.Now().Before(deadline); {
		time.Sleep(5 * time.Millisecond)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // its exit status is the signal
	if got := fetch(t, c, orgName, "t.bin"); got != h.large["t.bin"] {
		t.Errorf("text has %d bytes, want the original's", len(got))
	}
	if got := h.asked("cdn /t.bin auth= range=bytes=40000-"); len(got) != 1 {
		t.Errorf("requests = %q, want one that continues at 40000", h.asked("cdn"))
	}
}

func TestInterruptWhileWaitingForAnother(t *testing.T) {
	h := newFakeHub(t)
	h.files["t.json"] = "{}"
	c := h.client(t, nil)
	lockPath := put(t, c.CacheDir(), ".locks/models--org--name/"+gitSHA1("{}")+".lock", "")
	release, exclusive, err := lock(context.Background(), lockPath)
	if err != nil || !exclusive {
		t.Fatalf("lock = %v, %v", exclusive, err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 150*time.Millisecond)
	defer cancel()
	_, err = c.Fetch(ctx, orgName, "t.json", nil)
	if err == nil || !strings.Contains(err.Error(), "another process") {
		t.Errorf("Fetch under another's lock = %v, want a word about another process", err)
	}
	release()
	if got := fetch(t, c, orgName, "t.json"); got != "{}" {
		t.Errorf("after the release: %q, want {}", got)
	}
}
