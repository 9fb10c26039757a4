package dataset

import (
	"bufio"
	"bytes"
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/servemark/servemark/internal/bench"
)

// vllmReference is one run of vLLM's data set code, and the gamma gaps drawn after it from NumPy's global stream.
type vllmReference struct {
	reference
	Gamma1    []float64 `json:"gamma_gaps_rate10_b1"`
	GammaHalf []float64 `json:"gamma_gaps_rate10_b0_5"`
}

func setVLLMArgument(t *testing.T, s *bench.Spec, flag, value, corpus string) {
	t.Helper()
	d := &s.Dataset
	number := func() int {
		n := 0
		for _, c := range value {
			n = 10*n + int(c-'0')
		}
		return n
	}
	switch flag {
	case "--random-range-ratio":
		setArgument(t, s, flag, value, corpus)
		d.VLLM.OutputRangeRatio = d.RangeRatio
	case "--dataset-path":
		if d.Path = corpus; strings.HasSuffix(value, ".jsonl") {
			d.Path = "testdata/seed_parity/" + value
			d.FixedOutput = 256 // --custom-output-len where it is not given
		}
	case "--random-prefix-len", "--prefix-repetition-prefix-len":
		d.VLLM.PrefixTokens = number()
	case "--prefix-repetition-suffix-len":
		d.VLLM.SuffixTokens = number()
	case "--prefix-repetition-num-prefixes":
		d.VLLM.Prefixes = number()
	case "--prefix-repetition-output-len":
		d.OutputTokens = number()
	case "--skip-chat-template":
		d.ApplyTemplate = false
	default:
		setArgument(t, s, flag, value, corpus)
	}
}

// TestSameSeedSameWorkAsVLLM: rows and the gaps drawn after them equal those of vLLM 0.33.
func TestSameSeedSameWorkAsVLLM(t *testing.T) {
	corpus := file(t, "sharegpt_small.json", string(unzip(t, "testdata/seed_parity/sharegpt_small.json.gz")))
	toks := tokenizers(t, "gpt2", "smollm2", "qwen3")
	lines := bufio.NewScanner(bytes.NewReader(unzip(t, "testdata/seed_parity/vllm_0_33.jsonl.gz")))
	lines.Buffer(nil, 1<<24)
	compared := map[string]int{}
	for lines.Scan() {
		var ref vllmReference
		if err := json.Unmarshal(lines.Bytes(), &ref); err != nil {
			t.Fatal(err)
		}
		s := &bench.Spec{Dialect: bench.DialectVLLM, Strict: true, Seed: ref.Seed, Target: bench.Target{API: bench.APICompletions}}
		s.Dataset.VLLM = &bench.VLLMData{}
		for i := 0; i < len(ref.Args); i++ {
			flag, value := ref.Args[i], ""
			if i+1 < len(ref.Args) && !strings.HasPrefix(ref.Args[i+1], "--") {
				i++
				value = ref.Args[i]
			}
			setVLLMArgument(t, s, flag, value, corpus)
		}
		// The reference's tokenizers were read without a configuration; transformers names <|endoftext|> of gpt2 by itself.
		in := Inputs{Tokenizer: toks[ref.Tokenizer], SpecialIDs: []uint32{}}
		if ref.Tokenizer == "gpt2" {
			in.SpecialIDs = []uint32{50256}
		}
		for shape, gaps := range map[float64][]float64{1: ref.Gamma1, 0.5: ref.GammaHalf} {
			rnd := ref.compare(t, s, in)
			for i, want := range gaps {
				if got := rnd.NumPy.Gamma(shape, 1/(10*shape)); math.Abs(got/want-1) > 1e-12 {
					t.Errorf("%s: gap %d at burstiness %v = %v, want %v", ref.Args, i, shape, got, want)
				}
			}
		}
		compared[s.Dataset.Name]++
	}
	for name, n := range map[string]int{"random": 18, "sharegpt": 12, "custom": 6, "prefix_repetition": 6} {
		if compared[name] != n || !slices.Contains(Names(bench.DialectVLLM), name) {
			t.Errorf("%d runs of %s compared, want %d", compared[name], name, n)
		}
	}
}
