package doctor

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/servemark/servemark/internal/bench"
	"github.com/servemark/servemark/internal/endpoint"
)

// tokenizing is a server of vLLM's manners that tokenizes into bytes for who sends the right Authorization header, if one is set.
func tokenizing(t *testing.T, key string) *httptest.Server {
	f := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if key != "" && r.Header.Get("Authorization") != key {
			http.Error(w, `{"error":"Unauthorized"}`, http.StatusUnauthorized)
			return
		}
		switch r.URL.Path {
		case "/v1/models":
			io.WriteString(w, `{"data":[{"id":"glm-5","owned_by":"vllm"},{"id":"b","owned_by":"vllm"}]}`)
		case "/tokenize":
			var b struct{ Model, Prompt string }
			json.NewDecoder(r.Body).Decode(&b)
			if b.Model != "glm-5" {
				http.Error(w, `{"error":{"message":"no such model"}}`, http.StatusNotFound)
				return
			}
			ids := []int{}
			for _, c := range []byte(b.Prompt) {
				ids = append(ids, int(c))
			}
			json.NewEncoder(w).Encode(map[string]any{"tokens": ids})
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(f.Close)
	return f
}

func TestOpenServer(t *testing.T) {
	f := tokenizing(t, "")
	got, err := OpenServer(context.Background(), bench.TokenizerSource(f.URL+"/v1/chat/completions"), ServerAccess{Client: f.Client()})
	if err != nil {
		t.Fatalf("OpenServer = %v", err)
	}
	ids, err := got.Text.Encode("hé", false)
	if err != nil || !slices.Equal(ids, []uint32{'h', 0xc3, 0xa9}) || string(got.Source) != f.URL || got.Local != nil || !strings.Contains(strings.Join(got.Notes, "\n"), "serves 2 models") {
		t.Errorf("OpenServer = %+v, its ids of hé %v, %v; want those of the server and its address without the route", got, ids, err)
	}
	locked := tokenizing(t, "Basic dTpzM2NyZXQ=") // u:s3cret
	if _, err := OpenServer(context.Background(), bench.TokenizerSource(strings.Replace(locked.URL, "://", "://u:s3cret@", 1)), ServerAccess{Client: f.Client()}); err != nil {
		t.Errorf("OpenServer with user and password in the address = %v, want them sent", err)
	}
	key := endpoint.AuthFromEnv(func(name string) string { return map[string]string{"OPENAI_API_KEY": "sk-s3cret"}[name] }, nil)
	for _, tc := range []struct {
		source, want string
		how          ServerAccess
	}{
		{locked.URL, "set OPENAI_API_KEY or API_KEY", ServerAccess{}},
		{locked.URL, "does not accept the key that is sent (key from OPENAI_API_KEY", ServerAccess{Auth: key}},
		{f.URL, `tokenizes nothing for the model "c" (/tokenize of SGLang and vLLM: HTTP 404: no such model; /tokenize of llama.cpp`, ServerAccess{Served: "c"}},
		{"http://127.0.0.1:1", "nothing answers at http://127.0.0.1:1", ServerAccess{}},
		{"http://", "names no host", ServerAccess{}},
	} {
		tc.how.Client = f.Client()
		if _, err := OpenServer(context.Background(), bench.TokenizerSource(tc.source), tc.how); err == nil || !strings.Contains(err.Error(), tc.want) || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("OpenServer(%s) = %v, want %q and no secret", tc.source, err, tc.want)
		}
	}
	interrupted, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := OpenServer(interrupted, bench.TokenizerSource(f.URL), ServerAccess{Client: f.Client()}); err != context.Canceled {
		t.Errorf("OpenServer when interrupted = %v, want %v", err, context.Canceled)
	}
}

func TestIsServer(t *testing.T) {
	for source, want := range map[bench.TokenizerSource]bool{
		"http://h:1": true, "HTTPS://h": true, "unix:///tmp/s": true, "gemma4:e4b": false, "org/name": false, "localhost:8000": false, "/a/b": false, "ftp://h": false,
	} {
		if got := IsServer(source); got != want {
			t.Errorf("IsServer(%q) = %v, want %v", source, got, want)
		}
	}
}

func TestNamedShowsNoPassword(t *testing.T) {
	for _, source := range []bench.TokenizerSource{"http://me:s3cret@h:1", "http://me:s3cret@[bad", "unix://me:s3cret@h", "HTTPS://me:s3cret@h/v1"} {
		_, err := (&Finder{}).Named(context.Background(), source)
		if err == nil || strings.Contains(err.Error(), "s3cret") || !strings.Contains(err.Error(), "address of a server") {
			t.Errorf("Named(%q): %v; want an error without the password", source, err)
		}
	}
}
