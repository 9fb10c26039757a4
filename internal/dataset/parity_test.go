package dataset

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/servemark/servemark/internal/bench"
	"github.com/servemark/servemark/tokenizer"
)

// reference is one run of the original's data set code (testdata/seed_parity): its arguments, the rows it made, and what it
// drew next from the same stream.
type reference struct {
	Args      []string
	Tokenizer string
	Seed      int64
	Rows      []struct {
		Prompt    json.RawMessage
		PromptLen int `json:"prompt_len"`
		OutputLen int `json:"output_len"`
	}
	Gaps []float64 `json:"poisson_gaps_s_rate10"`
}

func unzip(t *testing.T, path string) []byte {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	b, err := io.ReadAll(z)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return b
}

// tokenizers opens the named tokenizers: from the tokenizer package's testdata, or where their licence keeps them out of
// there from the folder SERVEMARK_TOKENIZERS.
func tokenizers(t *testing.T, names ...string) map[string]*tokenizer.Tokenizer {
	t.Helper()
	found := map[string]*tokenizer.Tokenizer{}
	for _, name := range names {
		var data []byte
		if p := "../../tokenizer/testdata/vendor/" + name + ".json.gz"; fileExists(p) {
			data = unzip(t, p)
		} else if p := filepath.Join(os.Getenv("SERVEMARK_TOKENIZERS"), name+".json"); fileExists(p) {
			var err error
			if data, err = os.ReadFile(p); err != nil {
				t.Fatal(err)
			}
		} else {
			t.Logf("%s.json is not in SERVEMARK_TOKENIZERS: its reference runs are left out", name)
			continue
		}
		tok, err := tokenizer.FromJSON(data)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		found[name] = tok
	}
	return found
}

func fileExists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// setArgument takes one argument of the original's command line into a Spec.
func setArgument(t *testing.T, s *bench.Spec, flag, value, corpus string) {
	t.Helper()
	d := &s.Dataset
	number := func() int {
		n, err := strconv.Atoi(value)
		if err != nil {
			t.Fatalf("%s %s: %v", flag, value, err)
		}
		return n
	}
	float := func() float64 {
		f, err := strconv.ParseFloat(value, 64)
		if err != nil {
			t.Fatalf("%s %s: %v", flag, value, err)
		}
		return f
	}
	switch flag {
	case "--backend", "--model", "--tokenizer", "--seed":
	case "--num-prompts":
		d.Rows = number()
	case "--dataset-name":
		d.Name = value
	case "--dataset-path":
		d.Path = corpus
	case "--random-input-len":
		d.InputTokens = number()
	case "--random-output-len":
		d.OutputTokens = number()
	case "--random-range-ratio":
		d.RangeRatio = float()
	case "--tokenize-prompt":
		d.SendIDs = true
	case "--sharegpt-output-len":
		d.FixedOutput = number()
	case "--sharegpt-context-len":
		d.ContextLimit = number()
	case "--gsp-num-groups":
		d.SharedPrefix = &bench.SharedPrefix{Groups: number(), RangeRatio: 1}
	case "--gsp-prompts-per-group":
		d.SharedPrefix.PromptsPerGroup = number()
	case "--gsp-system-prompt-len":
		d.SharedPrefix.SystemTokens = number()
	case "--gsp-question-len":
		d.SharedPrefix.QuestionTokens = number()
	case "--gsp-output-len":
		d.SharedPrefix.OutputTokens = number()
	case "--gsp-range-ratio":
		d.SharedPrefix.RangeRatio = float()
	case "--gsp-ordered":
		d.SharedPrefix.Ordered = true
	case "--gsp-group-distribution":
	case "--gsp-zipf-alpha":
		d.SharedPrefix.ZipfAlpha = float()
	default:
		t.Fatalf("the reference has a flag %s that this test does not know", flag)
	}
}

func (r *reference) spec(t *testing.T, corpus string) *bench.Spec {
	t.Helper()
	s := &bench.Spec{Dialect: bench.DialectSGLang, Strict: true, Seed: r.Seed, Target: bench.Target{API: bench.APIGenerate}}
	for i := 0; i < len(r.Args); i++ {
		flag, value := r.Args[i], ""
		if i+1 < len(r.Args) && !strings.HasPrefix(r.Args[i+1], "--") {
			i++
			value = r.Args[i]
		}
		setArgument(t, s, flag, value, corpus)
	}
	return s
}

// TestSameSeedSameWorkAsSGLang: rows and the gaps drawn after them equal those of sglang 0.5.23.
func TestSameSeedSameWorkAsSGLang(t *testing.T) {
	corpus := file(t, "sharegpt_small.json", string(unzip(t, "testdata/seed_parity/sharegpt_small.json.gz")))
	toks := tokenizers(t, "gpt2", "smollm2", "qwen3", "llama3_1")
	lines := bufio.NewScanner(bytes.NewReader(unzip(t, "testdata/seed_parity/sglang_0_5_23.jsonl.gz")))
	lines.Buffer(nil, 1<<24)
	compared := map[string]int{}
	for lines.Scan() {
		var ref reference
		if err := json.Unmarshal(lines.Bytes(), &ref); err != nil {
			t.Fatal(err)
		}
		name := ref.Args[slices.Index(ref.Args, "--dataset-name")+1]
		tok := toks[ref.Tokenizer]
		if tok == nil || !slices.Contains(Names(bench.DialectSGLang), name) {
			continue
		}
		compared[name]++
		ref.compare(t, ref.spec(t, corpus), Inputs{Tokenizer: tok})
	}
	t.Logf("compared runs: %v", compared)
	for _, name := range []string{"random", "random-ids", "sharegpt", "generated-shared-prefix"} {
		if compared[name] < 18 {
			t.Errorf("%d runs of %s compared, want at least the 18 of three tokenizers", compared[name], name)
		}
	}
}

func (r *reference) compare(t *testing.T, s *bench.Spec, in Inputs) Streams {
	t.Helper()
	what := strings.Join(r.Args, " ")
	rnd, err := NewStreams(s.Seed)
	if err != nil {
		t.Fatal(err)
	}
	set, err := Load(s, &in, rnd)
	if err != nil {
		t.Errorf("%s: %v", what, err)
		return rnd
	}
	if len(set.Requests) != len(r.Rows) {
		t.Errorf("%s: %d rows, want %d", what, len(set.Requests), len(r.Rows))
		return rnd
	}
	for i, want := range r.Rows {
		got := set.Requests[i]
		if got.InputTokens.Or(-1) != want.PromptLen || got.OutputTokens != want.OutputLen {
			t.Errorf("%s: row %d has lengths %v, %d; want %d, %d", what, i, got.InputTokens, got.OutputTokens, want.PromptLen, want.OutputLen)
		}
		if !samePrompt(t, got.Prompt, want.Prompt) {
			t.Errorf("%s: row %d\ngot  %.300v\nwant %.300s", what, i, got.Prompt, want.Prompt)
		}
	}
	for i, want := range r.Gaps {
		if got := rnd.NumPy.Exponential(0.1); math.Abs(got/want-1) > 1e-12 {
			t.Errorf("%s: gap %d = %v, want %v", what, i, got, want)
		}
	}
	return rnd
}

func samePrompt(t *testing.T, got bench.Prompt, want json.RawMessage) bool {
	t.Helper()
	if want[0] == '[' {
		var ids []uint32
		if err := json.Unmarshal(want, &ids); err != nil {
			t.Fatal(err)
		}
		return slices.Equal(got.IDs, ids) && got.Text == ""
	}
	var text string
	if err := json.Unmarshal(want, &text); err != nil {
		t.Fatal(err)
	}
	return got.Text == text && got.IDs == nil
}
