package doctor

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/servemark/servemark/internal/bench"
	"github.com/servemark/servemark/internal/hub"
	"github.com/servemark/servemark/tokenizer"
)

func TestServed(t *testing.T) {
	serves := func(ids ...string) *bench.Server {
		s := &bench.Server{BaseURL: "http://h"}
		for _, id := range ids {
			s.Models = append(s.Models, bench.ModelCard{ID: bench.ServedModel(id)})
		}
		return s
	}
	withLora := serves("glm-5", "my-adapter")
	withLora.Models[1].Parent = "glm-5"
	for _, tc := range []struct {
		name  string
		asked bench.Model
		srv   *bench.Server
		want  bench.ServedModel
		note  string // part of a note; "" is no note
		fails bool
	}{
		{"nothing named", bench.Model{}, serves("glm-5"), "glm-5", "", false},
		{"several served", bench.Model{}, serves("a", "b"), "a", "serves 2 models", false},
		{"adapters are not models to choose from", bench.Model{}, withLora, "glm-5", "", false},
		{"an adapter that comes first is not the model", bench.Model{}, &bench.Server{Models: []bench.ModelCard{withLora.Models[1], withLora.Models[0]}}, "glm-5", "", false},
		{"an adapter, named", bench.Model{Asked: "my-adapter"}, withLora, "my-adapter", "", false},
		{"nothing named, nothing served", bench.Model{}, serves(), "", "", true},
		{"named and served", bench.Model{Asked: "glm-5"}, serves("glm-5"), "glm-5", "", false},
		{"a repository that is served under another name", bench.Model{Asked: "zai-org/GLM-5"}, serves("glm-5"), "glm-5", "not a name this server answers to", false},
		{"the same with an adapter beside it", bench.Model{Asked: "zai-org/GLM-5"}, withLora, "glm-5", "not a name", false},
		{"a path", bench.Model{Asked: "/models/glm"}, serves("glm-5"), "glm-5", "not a name", false},
		{"a bare name that is not listed stays as typed", bench.Model{Asked: "glm5"}, serves("glm-5"), "glm5", "does not list", false},
		{"the list is unknown", bench.Model{Asked: "zai-org/GLM-5"}, serves(), "zai-org/GLM-5", "", false},
		{"--served-model-name wins", bench.Model{Asked: "zai-org/GLM-5", Served: "x"}, serves("glm-5"), "x", "does not list", false},
	} {
		got, notes, err := Served(tc.asked, tc.srv)
		if got != tc.want || (err != nil) != tc.fails || (len(notes) > 0) != (tc.note != "") || !strings.Contains(strings.Join(notes, " "), tc.note) {
			t.Errorf("%s: Served = %q, %q, %v; want %q, a note with %q, failure %v", tc.name, got, notes, err, tc.want, tc.note, tc.fails)
		}
	}
}

func TestCandidatesKeepTheOrder(t *testing.T) {
	snapshot := "/cache/models--zai-org--GLM-5/snapshots/" + strings.Repeat("a", 40)
	srv := &bench.Server{TokenizerPath: snapshot, ModelPath: "/data/glm",
		Models: []bench.ModelCard{{ID: "org/served", Root: "org/root"}, {ID: "other", Root: "org/wrong"}}}
	var got []string
	for _, c := range candidates(bench.Model{Asked: "org/typed"}, "org/served", srv) {
		got = append(got, string(c.source))
	}
	want := "zai-org/GLM-5@" + strings.Repeat("a", 40) + " /data/glm org/root org/typed org/served"
	if s := strings.Join(got, " "); s != want {
		t.Errorf("candidates = %s, want %s", s, want)
	}
	tuned := &bench.Server{Models: []bench.ModelCard{{ID: "sql", Root: "org/sql-lora", Parent: "glm"}, {ID: "glm", Root: "org/base"}}}
	if c := candidates(bench.Model{}, "sql", tuned); len(c) != 1 || c[0].source != "org/base" || Repo(bench.Model{}, "sql", tuned) != "org/base" {
		t.Errorf("candidates of an adapter = %v, its repository %s; want its base model's root org/base for both", c, Repo(bench.Model{}, "sql", tuned))
	}
	tuned.Models = tuned.Models[:1]
	if c := candidates(bench.Model{}, "sql", tuned); len(c) != 1 || c[0].source != "org/sql-lora" {
		t.Errorf("candidates of an adapter whose base is not listed = %v, want its own root", c)
	}
	if c := candidates(bench.Model{Asked: "glm-5"}, "glm-5", &bench.Server{}); len(c) != 0 {
		t.Errorf("candidates of a bare name = %v, want none: it never leaves the machine", c)
	}
}

func TestFindTellsWhyAndGoesOn(t *testing.T) {
	client, err := hub.New(hub.Options{CacheDir: t.TempDir(), Offline: "HF_HUB_OFFLINE"})
	if err != nil {
		t.Fatal(err)
	}
	f := &Finder{Hub: client, Say: func(s string) { t.Errorf("said %q, want nothing: offline", s) }}
	srv := &bench.Server{TokenizerPath: "/srv/models/glm", Models: []bench.ModelCard{{ID: "glm-5", Root: "org/gated"}}}
	got := f.Find(context.Background(), bench.Model{}, "glm-5", srv)
	notes := strings.Join(got.Notes, "\n")
	if got.Text != nil || !strings.Contains(notes, "not opened here") || !strings.Contains(notes, "HF_HUB_OFFLINE") {
		t.Errorf("Find = %+v, want no tokenizer and notes on the remote path and on being offline", got)
	}
	f.Server = func(context.Context) (Text, error) { return nil, errors.New("no such route") }
	if got := f.Find(context.Background(), bench.Model{}, "glm-5", srv); got.Text != nil || !strings.Contains(strings.Join(got.Notes, "\n"), "no such route") {
		t.Errorf("Find = %+v, want the route's failure in its notes", got)
	}
	srv.TokenizerPath = tokenizer.BuiltinName
	if got := f.Find(context.Background(), bench.Model{}, "glm-5", srv); got.Local == nil || got.Source != tokenizer.BuiltinName || len(got.Notes) != 0 {
		t.Errorf("Find = %+v, want the built-in one the server declares", got)
	}
}

func TestNamedTokenizerThatFailsIsAnError(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "tokenizer_config.json"), []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	f := &Finder{Say: func(string) {}}
	for source, want := range map[string]string{
		"./not-here": "no such file or folder",
		dir:          "tokenizer.json",
		"bare":       "not the name of a repository",
		"http://h:1": "the address of a server; leave --tokenizer out",
		"org/name":   "no folder for its cache",
	} {
		_, err := f.Named(context.Background(), bench.TokenizerSource(source))
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), source) {
			t.Errorf("Named(%q) = %v, want an error naming it and %q", source, err, want)
		}
	}
}

func TestSmoke(t *testing.T) {
	good := bench.NewRecord(0)
	good.Streamed, good.Sent, good.Text, good.Finish = true, 0, "Hello \x1b[31mthere", "length"
	good.Chunks = []bench.Chunk{{At: 5e6, Channel: bench.ChannelReasoning}, {At: 9e6}}
	good.Usage = bench.Usage{Prompt: bench.Counted(3), Completion: bench.Counted(2)}
	lines, err := Smoke(&good, "http://h/v1/x")
	all := strings.Join(lines, "\n")
	for _, want := range []string{`"Hello \x1b[31mthere"`, "reasoning came apart", "3 prompt + 2 completion", "TTFT 5ms", `"length"`} {
		if err != nil || !strings.Contains(all, want) {
			t.Errorf("Smoke = %q, %v; want %q in it", all, err, want)
		}
	}
	bad := bench.NewRecord(0)
	bad.Status = 404
	bad.Fail(bench.FailStatus, "The model `x` does not exist.")
	if _, err := Smoke(&bad, "http://h/v1/x"); err == nil || !strings.Contains(err.Error(), "does not exist") || !strings.Contains(err.Error(), "http://h/v1/x") {
		t.Errorf("Smoke of a refusal = %v, want the server's words and the address", err)
	}
}

// shifted is a tokenizer that differs from another in one text.
type shifted struct {
	Text
	on string
}

func (s shifted) Encode(text string, special bool) ([]uint32, error) {
	ids, err := s.Text.Encode(text, special)
	if strings.Contains(text, s.on) && len(ids) > 2 {
		ids[2]++
	}
	return ids, err
}

func TestCompareWithServer(t *testing.T) {
	tok, err := tokenizer.Builtin(tokenizer.BuiltinName)
	if err != nil {
		t.Fatal(err)
	}
	if diff, err := CompareWithServer(tok, tok); diff != "" || err != nil {
		t.Errorf("CompareWithServer of the same = %q, %v; want agreement", diff, err)
	}
	if diff, err := CompareWithServer(tok, shifted{tok, "東京"}); err != nil || !strings.Contains(diff, "part at token 2") {
		t.Errorf("CompareWithServer = %q, %v; want where they part", diff, err)
	}
}

func TestIsRepoAndIsPath(t *testing.T) {
	for s, want := range map[string][2]bool{ // path, repo
		"zai-org/GLM-5": {false, true}, "zai-org/GLM-5@v1": {false, true}, "glm-5": {false, false}, "gemma4:e4b": {false, false},
		"./x": {true, false}, "../x": {true, false}, "/x/y": {true, false}, "~/x": {true, false}, "a/tokenizer.json": {true, false}, "m.gguf": {true, false},
	} {
		if got := [2]bool{IsPath(s), IsRepo(s)}; got != want {
			t.Errorf("IsPath, IsRepo(%q) = %v, want %v", s, got, want)
		}
	}
}

func TestRepo(t *testing.T) {
	snapshot := "/c/models--zai-org--GLM-5/snapshots/" + strings.Repeat("b", 40)
	for _, tc := range []struct {
		asked bench.Model
		srv   bench.Server
		want  bench.ModelRepo
	}{
		{bench.Model{Asked: "glm-5"}, bench.Server{}, ""},
		{bench.Model{Asked: "org/typed"}, bench.Server{}, "org/typed"},
		{bench.Model{Asked: "org/typed"}, bench.Server{ModelPath: "org/declared"}, "org/declared"},
		{bench.Model{}, bench.Server{ModelPath: snapshot}, "zai-org/GLM-5@" + bench.ModelRepo(strings.Repeat("b", 40))},
		{bench.Model{}, bench.Server{ModelPath: "/data/glm", Models: []bench.ModelCard{{ID: "served", Root: "org/root"}}}, "org/root"},
	} {
		if got := Repo(tc.asked, "served", &tc.srv); got != tc.want {
			t.Errorf("Repo(%+v, %+v) = %q, want %q", tc.asked, tc.srv, got, tc.want)
		}
	}
}

// TestNoModel: who serves nothing that can be named is told apart by why.
func TestNoModel(t *testing.T) {
	for _, tt := range []struct {
		server bench.Server
		want   string
	}{
		{bench.Server{BaseURL: "http://h:1", Engine: bench.EngineVLLM, EngineFrom: "GET /version"}, "no model to ask for: http://h:1 lists none and none was named; name one with --model"},
		{bench.Server{BaseURL: "http://h:1"}, "not as an LLM server does"},
		{bench.Server{BaseURL: "http://h:1", Engine: bench.EngineVLLM, Barred: true}, "only to who has the right key"},
	} {
		if _, _, err := Served(bench.Model{}, &tt.server); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("Served(%+v) = %v, want %q", tt.server, err, tt.want)
		}
	}
}
