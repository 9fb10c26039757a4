package cli

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/servemark/servemark/internal/bench"
)

func sglangLine(line ...string) (job, []string) {
	a := parse(sglangCommand().table, line)
	j := sglangJob(a, func(string) string { return "" })
	return j, faultLines(a.faults)
}

func TestSGLangBackends(t *testing.T) {
	for line, want := range map[string]bench.Target{
		"--backend vllm-chat":        {BaseURL: "http://127.0.0.1:8000", API: bench.APIChat, Engine: bench.EngineVLLM, Stream: true},
		"--backend lmdeploy-chat":    {BaseURL: "http://127.0.0.1:23333", API: bench.APIChat, Engine: bench.EngineLMDeploy, Stream: true},
		"--backend sglang-embedding": {BaseURL: "http://127.0.0.1:30000", API: bench.APIEmbeddings, Engine: bench.EngineSGLang},
		"--backend trt":              {BaseURL: "http://127.0.0.1:8000", API: bench.APITriton, Stream: true},
		"--backend truss":            {BaseURL: "http://127.0.0.1:8080", API: bench.APITruss, Stream: true},
	} {
		j, faults := sglangLine(append(strings.Fields(line), "--dataset-name", "random")...)
		want.Backend, want.ReadyTimeout = strings.Fields(line)[1], j.spec.Target.ReadyTimeout
		if diff := cmp.Diff(want, j.spec.Target); diff != "" || len(faults) > 0 {
			t.Errorf("%s: faults %q, target (-want +got):\n%s", line, faults, diff)
		}
	}
}

func TestSGLangDatasets(t *testing.T) {
	for _, tc := range []struct {
		line  string
		check func(*bench.DatasetSpec) any
		want  any
	}{
		{"generated-shared-prefix --gsp-num-groups 3 --gsp-group-distribution zipf --gsp-zipf-alpha 1.5 --gsp-ordered --gsp-num-turns 2 --gsp-send-routing-key",
			func(d *bench.DatasetSpec) any { return *d.SharedPrefix },
			bench.SharedPrefix{Groups: 3, PromptsPerGroup: 16, SystemTokens: 2048, QuestionTokens: 128, OutputTokens: 256, RangeRatio: 1, Turns: 2, RoutingKey: true, Ordered: true, ZipfAlpha: 1.5}},
		{"mooncake --dataset-path f --mooncake-slowdown-factor 0.5 --mooncake-num-rounds 3", func(d *bench.DatasetSpec) any { return *d.Mooncake }, bench.Mooncake{Slowdown: 0.5, Rounds: 3, Workload: "conversation"}},
		{"image --image-count 2 --image-resolution 64x32 --image-format PNG --image-content blank --random-image-count", func(d *bench.DatasetSpec) any { return *d.Images },
			bench.Images{Count: 2, RandomCount: true, Resolution: "64x32", Format: "png", Blank: true}},
		{"agentic-trace --dataset-path f --dataset-offset 4 --agentic-max-turns 2 --num-prompts 0", func(d *bench.DatasetSpec) any { return []int{d.Agentic.Offset, d.Agentic.MaxTurns, d.Rows} }, []int{4, 2, 0}},
		{"speed-bench --dataset-path f --speed-bench-category mixed", func(d *bench.DatasetSpec) any { return []any{d.FixedOutput, d.Category} }, []any{512, "mixed"}},
		{"longbench_v2 --sharegpt-context-len 900", func(d *bench.DatasetSpec) any { return d.ContextLimit }, 900},
	} {
		j, faults := sglangLine(append([]string{"--dataset-name"}, strings.Fields(tc.line)...)...)
		if diff := cmp.Diff(tc.want, tc.check(&j.spec.Dataset)); diff != "" || len(faults) > 0 {
			t.Errorf("%s: faults %q (-want +got):\n%s", tc.line, faults, diff)
		}
	}
}

func TestSGLangProfile(t *testing.T) {
	j, faults := sglangLine(strings.Fields("--dataset-name random --profile --profile-by-stage --profile-start-step 2 --profile-output-dir /d --profile-prefix p --pd-separated --profile-decode-url http://d:1/ d2:2")...)
	if len(faults) > 0 {
		t.Fatalf("faults: %q", faults)
	}
	var got map[string]any
	if err := json.Unmarshal(j.profile.start, &got); err != nil {
		t.Fatal(err)
	}
	if dir, _ := got["output_dir"].(string); !strings.HasPrefix(dir, "/d/") || len(dir) < 10 {
		t.Errorf("output_dir = %q, want a folder of its own under /d", dir)
	}
	delete(got, "output_dir")
	want := map[string]any{"activities": []any{"CPU", "GPU"}, "num_steps": 5.0, "profile_by_stage": true, "profile_stages": nil, "profile_prefix": "p", "start_step": 2.0}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("start body (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"http://d:1", "http://d2:2"}, j.profile.urls); diff != "" || !j.profile.endsItself {
		t.Errorf("ends itself %v, urls (-want +got):\n%s", j.profile.endsItself, diff)
	}
}

func TestSGLangFaults(t *testing.T) {
	for line, want := range map[string]string{
		"--dataset-name random --backend trt --tokenize-prompt":                                             "--tokenize-prompt: is refused with --backend trt",
		"--dataset-name sharegpt --tokenize-prompt":                                                         "--tokenize-prompt: is refused with --dataset-name sharegpt",
		"--dataset-name random --lora-name a --lora-request-distribution distinct":                          "distinct needs at least two adapters",
		"--dataset-name random --lora-name a --backend truss":                                               "--lora-name: is refused with --backend truss",
		"--dataset-name random --lora-zipf-alpha 1":                                                         "--lora-zipf-alpha: 1 is out of range",
		"--dataset-name random --profile --pd-separated --profile-prefill-url a:1 --profile-decode-url b:2": "cannot be combined with --profile-prefill-url",
		"--dataset-name image --image-format gif --image-content cats":                                      `--image-format: "gif" is not one of`,
		"--dataset-name mooncake --dataset-path f --mooncake-slowdown-factor -1":                            "--mooncake-slowdown-factor: -1 is out of range",
		"--dataset-name agentic-trace --dataset-path f --agentic-max-turns -1":                              "--agentic-max-turns: -1 is out of range",
	} {
		if _, faults := sglangLine(strings.Fields(line)...); !strings.Contains(strings.Join(faults, "\n"), want) {
			t.Errorf("%s: faults %q, want %q", line, faults, want)
		}
	}
}
