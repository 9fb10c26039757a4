package cli

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/servemark/servemark/internal/bench"
	"github.com/servemark/servemark/internal/dataset"
	"github.com/servemark/servemark/internal/endpoint"
)

// vllmBackend is what a --backend of vllm bench serve means.
type vllmBackend struct {
	engine bench.Engine
	api    bench.API
	// suffix is how the route must end, as the original checks it.
	suffix string
	why    string
}

var vllmBackends = map[string]vllmBackend{
	"vllm":              {engine: bench.EngineVLLM, api: bench.APICompletions, suffix: "completions"},
	"openai":            {api: bench.APICompletions, suffix: "completions"},
	"openai-chat":       {api: bench.APIChat, suffix: "chat/completions"},
	"openai-responses":  {api: bench.APIResponses, suffix: "responses"},
	"openai-embeddings": {api: bench.APIEmbeddings, suffix: "embeddings"},
	"vllm-rerank":       {engine: bench.EngineVLLM, api: bench.APIRerank, suffix: "rerank"},

	"openai-audio":              {why: notYetAudio},
	"openai-embeddings-chat":    {why: notYetPooling},
	"openai-embeddings-clip":    {why: notYetPooling},
	"openai-embeddings-vlm2vec": {why: notYetPooling},
	"infinity-embeddings":       {why: notYetPooling},
	"infinity-embeddings-clip":  {why: notYetPooling},
	"vllm-pooling":              {why: notYetPooling},
}

const (
	notYetAudio   = "audio is not supported yet"
	notYetPooling = "of the pooling backends openai-embeddings and vllm-rerank are supported so far"
)

// vllmJob turns a parsed command line of the vLLM dialect into a job; all faults go to a.
func vllmJob(a *arguments, getenv func(string) string) job {
	v := &vllmReader{&dialectReader{arguments: a, getenv: getenv}}
	v.job.spec.Dialect, v.job.spec.Strict = bench.DialectVLLM, v.on("strict-compat")
	v.job.vllm = &vllmOutput{}
	v.refusals(vllmFlags, vllmRustFlags)
	v.target()
	v.model()
	v.dataset()
	v.load()
	v.body()
	v.results()
	v.screen()
	v.inert(vllmFlags)
	v.strays()
	return v.job
}

// vllmReader builds the job part by part.
type vllmReader struct {
	*dialectReader
}

func (v *vllmReader) target() {
	t := &v.job.spec.Target
	t.Backend = v.text("backend")
	b := vllmBackends[t.Backend]
	if b.why != "" {
		v.wrong("backend", fmt.Sprintf("%s is refused: %s", t.Backend, b.why), "")
	}
	t.Engine, t.API, v.api = b.engine, b.api, b.api
	t.Stream = !b.api.Pooling()
	v.readAddress(t, 8000)
	v.route(t, b)
	v.readReadyTimeout(t)
	v.readAuth(t, &v.job, v.getenv)
	t.RequestIDPrefix = v.text("request-id-prefix")
	if !v.typed("request-id-prefix") {
		var random [4]byte
		rand.Read(random[:]) // never fails
		t.RequestIDPrefix = "bench-" + hex.EncodeToString(random[:]) + "-"
	}
	if strings.ContainsAny(t.RequestIDPrefix, "\r\n\x00") {
		v.wrong("request-id-prefix", "holds a line break", "")
	}
}

// route takes --endpoint, or the backend's own route where the original would only say that its default does not fit.
func (v *vllmReader) route(t *bench.Target, b vllmBackend) {
	if b.why != "" {
		return
	}
	path := v.text("endpoint")
	if !v.typed("endpoint") {
		if path = endpoint.Path(b.api); path != "/v1/completions" {
			v.note("--endpoint is taken as %s, the route of --backend %s", path, t.Backend)
		}
	}
	if !strings.HasPrefix(path, "/") {
		v.wrong("endpoint", fmt.Sprintf("%q does not start with /", path), "")
		return
	}
	if strings.HasSuffix(path, "chat/completions") && b.suffix == "completions" {
		v.wrong("endpoint", fmt.Sprintf("%s is a chat route, and --backend %s asks with a prompt instead of messages", path, t.Backend), "choose --backend openai-chat")
		return
	}
	if !strings.HasSuffix(path, b.suffix) {
		v.wrong("endpoint", fmt.Sprintf("%s does not end with %s, as --backend %s wants", path, b.suffix, t.Backend), "leave it out to take "+endpoint.Path(b.api))
		return
	}
	// The base URL is kept without /v1; who typed it there and not here means it once.
	if strings.HasSuffix(strings.TrimRight(v.text("base-url"), "/"), "/v1") && !strings.HasPrefix(path, "/v1/") {
		path = "/v1" + path
	}
	if path != endpoint.Path(b.api) {
		t.Path = path
	}
}

func (v *vllmReader) model() {
	v.readModel()
	v.job.noTokenizer = v.on("skip-tokenizer-init")
	if v.job.noTokenizer {
		v.job.spec.Model.Tokenizer = ""
	}
	if mode := v.text("tokenizer-mode"); mode != "auto" && mode != "hf" {
		v.wrong("tokenizer-mode", fmt.Sprintf("%s is refused: tokenizers are read from their files in one way", mode), "leave it out, or give auto or hf")
	}
}

// sampling collects the parameters of sampling and --extra-body, which wins, into one object.
func (v *vllmReader) sampling() json.RawMessage {
	var members []string
	add := func(key, value string) { members = append(members, fmt.Sprintf("%q: %s", key, value)) }
	limits := map[string]struct {
		words string
		holds func(float64) bool
	}{
		"top-p":              {"above 0, at most 1", func(x float64) bool { return x > 0 && x <= 1 }},
		"min-p":              {"0 to 1", func(x float64) bool { return x >= 0 && x <= 1 }},
		"temperature":        {"at least 0", func(x float64) bool { return x >= 0 }},
		"repetition-penalty": {"above 0", func(x float64) bool { return x > 0 }},
	}
	for _, name := range []string{"top-p", "top-k", "min-p", "temperature", "frequency-penalty", "presence-penalty", "repetition-penalty"} {
		if !v.typed(name) {
			continue
		}
		x := v.number(name)
		limit, limited := limits[name]
		if !limited {
			limit.words = "any finite number"
		}
		if math.IsNaN(x) || math.IsInf(x, 0) || limited && !limit.holds(x) {
			v.wrong(name, v.text(name)+" is out of range: "+limit.words, "")
			continue
		}
		if v.api.Pooling() {
			continue // inert there, and said
		}
		value := pythonNumber(x)
		if name == "top-k" {
			n, _ := v.whole(name)
			value = fmt.Sprint(n)
		}
		add(strings.ReplaceAll(name, "-", "_"), value)
	}
	if raw := v.text("extra-body"); v.typed("extra-body") {
		if o := v.object("extra-body", raw); o != nil {
			if inner := strings.TrimSpace(strings.Trim(strings.TrimSpace(string(o)), "{}")); inner != "" {
				members = append(members, strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(string(o)), "{"), "}"))
			}
		}
	}
	if len(members) == 0 {
		return nil
	}
	return json.RawMessage("{" + strings.Join(members, ", ") + "}")
}

// pythonNumber writes a float as Python's json does.
func pythonNumber(x float64) string {
	s := fmt.Sprintf("%v", x)
	if !strings.ContainsAny(s, ".e") {
		s += ".0"
	}
	return s
}

func (v *vllmReader) body() {
	b := &v.job.spec.Body
	b.TopP, b.LogprobStart = 1, -1
	b.Extra = v.sampling()
	b.IgnoreEOS = !v.api.Pooling() && (v.on("ignore-eos") || slices.Contains([]string{"random", "random-mm", "timed_trace"}, v.text("dataset-name")))
	if n, ok := v.whole("logprobs"); ok {
		if n < 0 {
			v.wrong("logprobs", fmt.Sprintf("%d is out of range: at least 0", n), "")
		}
		b.Logprobs, b.TopLogprobs = v.api == bench.APICompletions, n
	}
	if v.typed("lora-modules") {
		mix := bench.LoRAUniform
		if v.text("lora-assignment") == "round-robin" {
			mix = bench.LoRARoundRobin
		}
		v.job.spec.LoRA = &bench.LoRA{Names: v.list("lora-modules"), Mix: mix}
	}
}

// vllmDatasets names what is supported, for messages.
func vllmDatasets() []string { return dataset.Names(bench.DialectVLLM) }
