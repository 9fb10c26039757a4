package cli

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/servemark/servemark/internal/bench"
)

// vllmLine parses a command line as `bench serve` does.
func vllmLine(line ...string) (job, []string) {
	a := parse(vllmCommand().table, dashed(line))
	j := vllmJob(a, func(string) string { return "" })
	return j, faultLines(a.faults)
}

func TestVLLMDefaults(t *testing.T) {
	j, faults := vllmLine()
	if len(faults) > 0 {
		t.Fatalf("an empty line has faults: %q", faults)
	}
	s := &j.spec
	if s.Target.API != bench.APICompletions || s.Target.BaseURL != "http://127.0.0.1:8000" || s.Target.Path != "" || !s.Target.Stream {
		t.Errorf("target = %+v, want completions on 127.0.0.1:8000", s.Target)
	}
	if d := s.Dataset; d.Name != "random" || d.Rows != 1000 || d.InputTokens != 1024 || d.OutputTokens != 128 || d.RangeRatio != 0 {
		t.Errorf("data set = %+v, want 1000 rows of random, 1024 in, 128 out, exactly", d)
	}
	if s.Warmup != 0 || s.Load.Scheduled() || s.Load.Concurrency != 0 || s.Seed != 0 || !s.Body.IgnoreEOS || s.Body.Extra != nil {
		t.Errorf("spec = %+v, want no warm-up, no schedule, no cap, seed 0, the end of text ignored", s)
	}
	if diff := cmp.Diff(&bench.VLLMReport{Metrics: []string{"ttft", "tpot", "itl"}, Percentiles: []float64{99}}, s.VLLM); diff != "" {
		t.Errorf("report (-want +got):\n%s", diff)
	}
	if !strings.HasPrefix(s.Target.RequestIDPrefix, "bench-") || len(s.Target.RequestIDPrefix) != len("bench-12345678-") {
		t.Errorf("request id prefix = %q, want bench-, eight digits and -", s.Target.RequestIDPrefix)
	}
}

func TestVLLMLine(t *testing.T) {
	for _, tc := range []struct {
		line  string
		check func(*bench.Spec) any
		want  any
	}{
		{"--backend openai-chat", func(s *bench.Spec) any { return string(s.Target.API) + s.Target.Path }, "chat"},
		{"--base-url http://h/v1 --endpoint /completions", func(s *bench.Spec) any { return s.Target.BaseURL + "|" + s.Target.Path }, "http://h|"},
		{"--base-url http://h/x/v1 --endpoint /my/completions", func(s *bench.Spec) any { return s.Target.BaseURL + "|" + s.Target.Path }, "http://h/x|/v1/my/completions"},
		{"--base_url h:9 --request_rate 4 --burstiness 0.5", func(s *bench.Spec) any { return s.Load }, nil},
		{"--top-p 0.9 --temperature 0 --top-k 5 --extra-body {\"top_p\":0.5,\"stop\":[\"}\"]}", func(s *bench.Spec) any { return string(s.Body.Extra) },
			`{"top_p": 0.9, "top_k": 5, "temperature": 0.0, "top_p":0.5,"stop":["}"]}`},
		{"--extra-body {}", func(s *bench.Spec) any { return s.Body.Extra == nil }, true},
		{"--random-range-ratio {\"input\":0.25,\"output\":0.5}", func(s *bench.Spec) any { return [2]float64{s.Dataset.RangeRatio, s.Dataset.VLLM.OutputRangeRatio} }, [2]float64{0.25, 0.5}},
		{"--burstiness inf --request-rate 3", func(s *bench.Spec) any { return s.Load.Arrival }, bench.ArrivalConstant},
		{"--burstiness 0.5", func(s *bench.Spec) any { return s.Load.Arrival }, bench.ArrivalPoisson},
		{"--burstiness 2 --request-rate 3", func(s *bench.Spec) any { return s.Load.Burstiness }, 2.0},
		{"--ramp-up-strategy exponential --ramp-up-start-rps 2 --ramp-up-end-rps 9", func(s *bench.Spec) any { return *s.Load.RampUp }, bench.RampUp{Exponential: true, Start: 2, End: 9}},
		{"--dataset-name custom --dataset-path f", func(s *bench.Spec) any { return [2]any{s.Dataset.FixedOutput, s.Dataset.ApplyTemplate} }, [2]any{256, true}},
		{"--dataset-name custom --dataset-path f --custom-output-len -1 --skip-chat-template", func(s *bench.Spec) any { return [2]any{s.Dataset.FixedOutput, s.Dataset.ApplyTemplate} }, [2]any{0, false}},
		{"--dataset-name custom --dataset-path f --output-len 9", func(s *bench.Spec) any { return s.Dataset.FixedOutput }, 9},
		{"--logprobs 0", func(s *bench.Spec) any { return [2]any{s.Body.Logprobs, s.Body.TopLogprobs} }, [2]any{true, 0}},
		{"--lora-modules a b", func(s *bench.Spec) any { return *s.LoRA }, bench.LoRA{Names: []string{"a", "b"}, Mix: bench.LoRAUniform}},
		{"--num-p 7 --random-out 5", func(s *bench.Spec) any { return [2]int{s.Dataset.Rows, s.Dataset.OutputTokens} }, [2]int{7, 5}},
		{"--dataset-name timed_trace --dataset-path f --no-self-timed", func(s *bench.Spec) any { return [2]bool{s.Dataset.TimedTrace.SelfTimed, s.Dataset.SendIDs} }, [2]bool{false, true}},
	} {
		j, faults := vllmLine(strings.Fields(tc.line)...)
		if len(faults) > 0 {
			t.Errorf("%s: faults %q", tc.line, faults)
			continue
		}
		if tc.want == nil {
			continue
		}
		if diff := cmp.Diff(tc.want, tc.check(&j.spec)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.line, diff)
		}
	}
}

func TestParseBuckets(t *testing.T) {
	for _, tc := range []struct {
		in   string
		want []bench.ImageBucket
	}{
		{"{(256, 256, 1): 0.5, (720,1280,16): 0.0}", []bench.ImageBucket{{Height: 256, Width: 256, Frames: 1, Share: 0.5}, {Height: 720, Width: 1280, Frames: 16}}},
		{`{"(16, 8, 1)": 1e-1}`, []bench.ImageBucket{{Height: 16, Width: 8, Frames: 1, Share: 0.1}}},
		{"{}", nil},
		{"(1,2,3): 1", nil}, {"{(1,2): 1}", nil}, {"{(1,2,3)}", nil}, {"{(a,2,3): 1}", nil}, {"{(1,2,3): 1 (4,5,6): 2}", nil},
		{"{(99999999999999999999,2,3): 1}", nil}, {"{(1,2,3): 1-2}", nil},
	} {
		got, err := parseBuckets(tc.in)
		if diff := cmp.Diff(tc.want, got); diff != "" || (err == nil) != (tc.want != nil || tc.in == "{}") {
			t.Errorf("parseBuckets(%s) = %v, %v; want %v", tc.in, got, err, tc.want)
		}
	}
}

func TestVLLMRatio(t *testing.T) {
	for in, want := range map[string][2]float64{"0.0": {0, 0}, "0.5": {0.5, 0.5}, `{"input": 0.1, "output": 0.9}`: {0.1, 0.9}} {
		if a, b, err := vllmRatio(in); err != nil || a != want[0] || b != want[1] {
			t.Errorf("vllmRatio(%s) = %v, %v, %v; want %v", in, a, b, err, want)
		}
	}
	for _, in := range []string{"1", "-0.1", "nan", "x", `{"input": 0.1}`, `{"input": 0.1, "output": 0.2, "x": 0}`, `{"input": 1, "output": 0}`, "[]"} {
		if a, b, err := vllmRatio(in); err == nil {
			t.Errorf("vllmRatio(%s) = %v, %v; want an error", in, a, b)
		}
	}
}

func TestDashed(t *testing.T) {
	in := []string{"serve", "--num_prompts", "a_b", "--extra_body={\"a_b\":1}", "-x_y"}
	want := []string{"serve", "--num-prompts", "a_b", "--extra-body={\"a_b\":1}", "-x_y"}
	if diff := cmp.Diff(want, dashed(in)); diff != "" {
		t.Errorf("dashed (-want +got):\n%s", diff)
	}
}
