package endpoint

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/servemark/servemark/internal/bench"
)

// fake is a server that answers the routes it has, and remembers what it was asked.
type fake struct {
	*httptest.Server
	mu    sync.Mutex
	asked []string
	keys  []string
}

// newFake serves routes: path to JSON body; a body that begins with a three-digit number is that status and the rest.
func newFake(t testing.TB, routes map[string]string, header http.Header) *fake {
	t.Helper()
	f := &fake{}
	f.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f.mu.Lock()
		f.asked = append(f.asked, r.Method+" "+r.URL.RequestURI())
		f.keys = append(f.keys, r.Header.Get("Authorization"))
		f.mu.Unlock()
		body, ok := routes[r.URL.Path]
		if !ok {
			http.Error(w, `{"detail":"Not Found"}`, http.StatusNotFound)
			return
		}
		for name, v := range header {
			w.Header()[name] = v
		}
		status := 200
		if n, err := fmt.Sscanf(body, "%3d ", &status); n == 1 && err == nil {
			body = body[4:]
		}
		w.WriteHeader(status)
		io.WriteString(w, body)
	}))
	t.Cleanup(f.Close)
	return f
}

// recorded returns the body of a recorded reply of llama.cpp.
func recorded(t testing.TB, name string) (*http.Response, []byte) {
	t.Helper()
	file, err := os.Open("testdata/llamacpp-2026.10.11549/" + name + ".http")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	res, err := http.ReadResponse(bufio.NewReader(file), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return res, body
}

func discover(t *testing.T, f *fake, o DiscoverOptions) bench.Server {
	t.Helper()
	s, err := Discover(context.Background(), f.Client(), f.URL, o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

const sglangInfo = `{"model_path":"/models/glm","tokenizer_path":"zai-org/GLM-5","served_model_name":"glm-5","context_length":131072,"tp_size":4,"pp_size":1,"dp_size":2,
 "max_total_num_tokens":500000,"quantization":"fp8","api_key":"sk-verysecret1","admin_api_key":null,"launch_command":"python -m sglang.launch_server --api-key topsecret --tokenizer-path zai-org/GLM-5 --hf-token=hf_abcdefghij",
 "env":["--api-key","alsosecret","--port","30000"],"version":"0.5.23","skip_tokenizer_init":false,"proxy":"http://me:pass@proxy:3128","nested":{"hf_token":"hf_zzzzzzzzzz"}}`

func TestDiscover(t *testing.T) {
	_, llamaModels := recorded(t, "models")
	_, llamaProps := recorded(t, "props")
	models := func(owner, more string) string {
		return fmt.Sprintf(`{"object":"list","data":[{"id":"glm-5","object":"model","owned_by":%q%s}]}`, owner, more)
	}
	for _, tc := range []struct {
		name   string
		routes map[string]string
		header http.Header
		want   []string // facts as "name=value"
		engine bench.Engine
		check  func(bench.Server) string // "" if right
	}{
		{"SGLang", map[string]string{
			"/v1/models": models("sglang", `,"root":"glm-5","max_model_len":131072`), "/model_info": `{"model_path":"/models/glm","tokenizer_path":"zai-org/GLM-5"}`,
			"/server_info": sglangInfo, "/v1/loads": `{"version":"0.5.23","accelerator":"NVIDIA H200","num_accelerators":8}`, "/openapi.json": `{"paths":{"/tokenize":{}}}`, "/api/version": `{"version":"0.5"}`,
		}, nil, []string{"engine=sglang", "version=0.5.23", "serves=glm-5", "longest context=131072", "weights=/models/glm", "tokenizer=zai-org/GLM-5", "KV cache tokens=500000", "quantization=fp8", "parallel=tp4 dp2",
			"accelerator=8 × NVIDIA H200", "tokenize route=yes"}, bench.EngineSGLang, func(s bench.Server) string {
			if s.TokenizerPath != "zai-org/GLM-5" || s.ModelPath != "/models/glm" || s.MaxLen.Or(0) != 131072 || !s.Tokenize || s.EngineFrom != "GET /model_info model_path" || s.Info["version"] != "0.5.23" {
				return fmt.Sprintf("%+v", s)
			}
			return ""
		}},
		{"SGLang of older names", map[string]string{
			"/v1/models": models("sglang", ""), "/get_model_info": `{"model_path":"zai-org/GLM-5","tokenizer_path":"zai-org/GLM-5"}`, "/get_server_info": `{"version":"0.4.1"}`,
		}, nil, []string{"engine=sglang", "version=0.4.1", "serves=glm-5", "weights=zai-org/GLM-5", "tokenizer=zai-org/GLM-5"}, bench.EngineSGLang, nil},
		{"vLLM", map[string]string{
			"/v1/models": models("vllm", `,"root":"zai-org/GLM-5","max_model_len":4096`), "/version": `{"version":"0.33.0"}`,
			"/metrics": "# HELP x\nvllm:cache_config_info{block_size=\"16\",cache_dtype=\"auto\",enable_prefix_caching=\"True\",num_gpu_blocks=\"100\"} 1.0\nvllm:num_requests_running 0\n",
		}, nil, []string{"engine=vllm", "version=0.33.0", "serves=glm-5", "weights=zai-org/GLM-5", "longest context=4096", "KV cache tokens=1600", "KV cache type=auto", "prefix cache=on", "tokenize route=yes"}, bench.EngineVLLM, nil},
		{"llama.cpp, as recorded", map[string]string{"/v1/models": string(llamaModels), "/props": string(llamaProps)}, nil,
			[]string{"engine=llama.cpp", "version=b0-unknown", "serves=glm-5", "weights=/models___________________________________________/SmolLM2-135M-Instruct.Q4_1.gguf", "longest context=2048", "slots=2", "parameters=134515008", "quantization=Q4_1", "tokenize route=yes"},
			bench.EngineLlamaCpp, nil},
		{"LMDeploy", map[string]string{"/v1/models": models("lmdeploy", ""), "/openapi.json": `{"paths":{"/v1/encode":{}}}`}, nil,
			[]string{"engine=lmdeploy", "serves=glm-5", "tokenize route=yes"}, bench.EngineLMDeploy, nil},
		{"LMDeploy that hides its description", map[string]string{"/v1/models": models("lmdeploy", "")}, nil,
			[]string{"engine=lmdeploy", "serves=glm-5", "tokenize route=yes"}, bench.EngineLMDeploy, nil},
		{"something else", map[string]string{"/v1/models": models("mock", "")}, nil, []string{"engine=unknown, asked as OpenAI-compatible", "serves=glm-5"}, bench.EngineUnknown, func(s bench.Server) string {
			if len(s.Notes) > 0 {
				return fmt.Sprint(s.Notes)
			}
			return ""
		}},
		{"TGI", map[string]string{"/v1/models": models("x", ""), "/info": `{"model_id":"zai-org/GLM-5","model_sha":"abc","max_total_tokens":2048,"version":"3.3"}`}, nil,
			[]string{"engine=TGI (text-generation-inference)", "version=3.3", "serves=glm-5", "weights=zai-org/GLM-5", "revision=abc", "longest context=2048", "tokenize route=yes"}, bench.EngineUnknown, nil},
		{"Ollama", map[string]string{"/v1/models": models("library", ""), "/api/version": `{"version":"0.14"}`, "/": "Ollama is running"}, nil,
			[]string{"engine=Ollama", "version=0.14", "serves=glm-5"}, bench.EngineUnknown, nil},
		{"LiteLLM", map[string]string{"/v1/models": models("openai", "")}, http.Header{"X-Litellm-Version": {"1.1"}}, []string{"engine=LiteLLM proxy", "serves=glm-5"}, bench.EngineUnknown, func(s bench.Server) string {
			if !strings.Contains(strings.Join(s.Notes, ";"), "LiteLLM proxy stands in between") {
				return fmt.Sprint(s.Notes)
			}
			return ""
		}},
		{"Dynamo", map[string]string{"/v1/models": models("nvidia", ""), "/metrics": "dynamo_frontend_model_context_length 4\n"}, nil, []string{"engine=NVIDIA Dynamo", "serves=glm-5"}, bench.EngineUnknown, nil},
		{"NIM", map[string]string{"/v1/models": models("vllm", ""), "/version": `{"version":"0.33.0"}`, "/v1/metadata": `{"a":1}`}, nil,
			[]string{"engine=NVIDIA NIM over vLLM", "version=0.33.0", "serves=glm-5", "tokenize route=yes"}, bench.EngineVLLM, nil},
		{"no list of models", map[string]string{}, nil, []string{"engine=unknown, asked as OpenAI-compatible"}, bench.EngineUnknown, func(s bench.Server) string {
			if !slices.Equal(s.Notes, []string{"GET /v1/models: HTTP 404: Not Found"}) {
				return fmt.Sprint(s.Notes)
			}
			return ""
		}},
		{"a page where JSON should be", map[string]string{"/v1/models": "<html>", "/server_info": "[]"}, nil, []string{"engine=unknown, asked as OpenAI-compatible"}, bench.EngineUnknown, nil},
	} {
		f := newFake(t, tc.routes, tc.header)
		s := discover(t, f, DiscoverOptions{})
		var got []string
		for _, fact := range s.Facts {
			if got = append(got, fact.Name+"="+fact.Value); fact.From == "" {
				t.Errorf("%s: fact %s has no source", tc.name, fact.Name)
			}
		}
		if diff := cmp.Diff(tc.want, got); diff != "" || s.Engine != tc.engine {
			t.Errorf("%s: engine %q, want %q; facts (-want +got):\n%s", tc.name, s.Engine, tc.engine, diff)
		}
		if tc.check != nil {
			if wrong := tc.check(s); wrong != "" {
				t.Errorf("%s: %s", tc.name, wrong)
			}
		}
		for _, route := range f.asked {
			if strings.Contains(route, "/health") || !strings.HasPrefix(route, "GET ") {
				t.Errorf("%s: asked %s", tc.name, route)
			}
		}
	}
}

func TestDiscoverAsksTheNamedEngineOnly(t *testing.T) {
	f := newFake(t, map[string]string{"/v1/models": `{"data":[{"id":"m","owned_by":"llamacpp","meta":{"n_ctx":2048}}]}`}, nil)
	s := discover(t, f, DiscoverOptions{Engine: bench.EngineSGLang})
	slices.Sort(f.asked)
	if want := []string{"GET /model_info", "GET /openapi.json", "GET /server_info", "GET /v1/loads?include=all", "GET /v1/models"}; !slices.Equal(f.asked, want) {
		t.Errorf("asked %v, want %v", f.asked, want)
	}
	if s.Engine != bench.EngineLlamaCpp || s.MaxLen.Or(0) != 2048 || !strings.Contains(strings.Join(s.Notes, ";"), "the backend named is for sglang, but this is llama.cpp") {
		t.Errorf("engine %q, context %v, notes %q; want llama.cpp, and a note", s.Engine, s.MaxLen, s.Notes)
	}
}

func TestDiscoverHidesSecrets(t *testing.T) {
	f := newFake(t, map[string]string{"/v1/models": `{"data":[{"id":"m","owned_by":"sglang"}]}`, "/model_info": `{"model_path":"hf_1234567890x"}`, "/server_info": strings.Replace(sglangInfo, `"nested"`, `"echo":"my-own-key-77","nested"`, 1)}, nil)
	auth := AuthFromEnv(func(name string) string { return map[string]string{"OPENAI_API_KEY": "my-own-key-77"}[name] }, nil)
	s := discover(t, f, DiscoverOptions{Auth: auth})
	all := fmt.Sprintf("%+v", s)
	for _, secret := range []string{"sk-verysecret1", "topsecret", "alsosecret", "hf_abcdefghij", "hf_zzzzzzzzzz", "me:pass", "my-own-key-77", "hf_1234567890x"} {
		if strings.Contains(all, secret) {
			t.Errorf("the Server holds %q", secret)
		}
	}
	for _, kept := range []string{"--tokenizer-path zai-org/GLM-5", "30000", "max_total_num_tokens:500000", "tokenizer_path:zai-org/GLM-5", "proxy:3128"} {
		if !strings.Contains(all, kept) {
			t.Errorf("the Server lost %q: %s", kept, all)
		}
	}
	for _, key := range f.keys {
		if key != "Bearer my-own-key-77" {
			t.Errorf("a question carried Authorization %q", key)
		}
	}
}

func TestDiscoverBarred(t *testing.T) {
	routes := map[string]string{"/v1/models": `401 {"error":"Unauthorized"}`, "/version": `{"version":"0.33.0"}`, "/metrics": "x\nvllm:a 1\n"}
	s := discover(t, newFake(t, routes, nil), DiscoverOptions{})
	if s.Engine != bench.EngineVLLM || !strings.Contains(strings.Join(s.Notes, "\n"), "GET /v1/models: HTTP 401: Unauthorized\nthe server wants a key; set OPENAI_API_KEY") {
		t.Errorf("engine %q, notes %q", s.Engine, s.Notes)
	}
	routes["/server_info"], routes["/props"] = routes["/v1/models"], routes["/v1/models"]
	s = discover(t, newFake(t, routes, nil), DiscoverOptions{})
	want := []string{"GET /v1/models and 2 other routes: HTTP 401: Unauthorized",
		"the server wants a key; set OPENAI_API_KEY (sent as OpenAI's own clients do) or API_KEY (sent as it is)"}
	if !slices.Equal(s.Notes, want) || !s.Barred {
		t.Errorf("of three closed routes: notes %q, barred %v; want %q, true", s.Notes, s.Barred, want)
	}
	auth := AuthFromEnv(func(string) string { return "wrong-key-1" }, nil)
	if s := discover(t, newFake(t, routes, nil), DiscoverOptions{Auth: auth}); !strings.Contains(strings.Join(s.Notes, "\n"), "does not accept the key that is sent (key from OPENAI_API_KEY") {
		t.Errorf("notes with a wrong key: %q", s.Notes)
	}
}

func TestKeyStaysWithItsHost(t *testing.T) {
	var leaked []string
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { leaked = append(leaked, r.URL.Path) }))
	defer other.Close()
	f := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/v1/models":
			http.Redirect(w, r, "/here", http.StatusTemporaryRedirect)
		case "/here":
			io.WriteString(w, `{"data":[{"id":"m"}]}`)
		default:
			http.Redirect(w, r, other.URL+r.URL.Path, http.StatusFound)
		}
	}))
	defer f.Close()
	s, err := Discover(context.Background(), f.Client(), f.URL, DiscoverOptions{Auth: AuthFromEnv(func(string) string { return "some-key-123" }, http.Header{"X-Team": {"a"}})})
	if err != nil || len(s.Models) != 1 || len(leaked) > 0 || !strings.Contains(strings.Join(s.Notes, "\n"), "redirects to another host") {
		t.Errorf("Discover = %v, models %v, other host asked %v, notes %q", err, s.Models, leaked, s.Notes)
	}
}

func TestDiscoverNobodyThere(t *testing.T) {
	f := newFake(t, nil, nil)
	f.Close()
	if _, err := Discover(context.Background(), http.DefaultClient, f.URL, DiscoverOptions{}); err == nil || !strings.Contains(err.Error(), "connection refused") || !strings.Contains(err.Error(), f.URL) {
		t.Errorf("Discover of a closed port = %v, want the cause and the address", err)
	}
}

func TestDiscoverSlowRoute(t *testing.T) {
	block := make(chan struct{})
	f := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/v1/models" {
			io.WriteString(w, `{"data":[{"id":"m"}]}`)
			return
		}
		select {
		case <-block:
		case <-r.Context().Done():
		}
	}))
	defer f.Close()
	defer close(block)
	start := time.Now()
	s, err := Discover(context.Background(), f.Client(), f.URL, DiscoverOptions{Engine: bench.EngineLlamaCpp, Timeout: 50 * time.Millisecond})
	if err != nil || len(s.Models) != 1 || !strings.Contains(strings.Join(s.Notes, "\n"), "GET /props: no answer in time") || time.Since(start) > 5*time.Second {
		t.Errorf("Discover = %v, models %v, notes %q, after %s", err, s.Models, s.Notes, time.Since(start))
	}
}
