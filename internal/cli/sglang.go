package cli

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/servemark/servemark/internal/bench"
	"github.com/servemark/servemark/internal/dataset"
)

// sglangBackend is what a --backend of sglang.bench_serving means.
type sglangBackend struct {
	engine bench.Engine
	api    bench.API
	port   int // the engine's own default
	why    string
}

var sglangBackends = map[string]sglangBackend{
	"sglang":           {engine: bench.EngineSGLang, api: bench.APIGenerate, port: 30000},
	"sglang-native":    {engine: bench.EngineSGLang, api: bench.APIGenerate, port: 30000},
	"sglang-oai":       {engine: bench.EngineSGLang, api: bench.APICompletions, port: 30000},
	"sglang-oai-chat":  {engine: bench.EngineSGLang, api: bench.APIChat, port: 30000},
	"vllm":             {engine: bench.EngineVLLM, api: bench.APICompletions, port: 8000},
	"vllm-chat":        {engine: bench.EngineVLLM, api: bench.APIChat, port: 8000},
	"lmdeploy":         {engine: bench.EngineLMDeploy, api: bench.APICompletions, port: 23333},
	"lmdeploy-chat":    {engine: bench.EngineLMDeploy, api: bench.APIChat, port: 23333},
	"sglang-embedding": {engine: bench.EngineSGLang, api: bench.APIEmbeddings, port: 30000},
	"vllm-embedding":   {engine: bench.EngineVLLM, api: bench.APIEmbeddings, port: 8000},
	"trt":              {api: bench.APITriton, port: 8000},
	"truss":            {api: bench.APITruss, port: 8080},
	"gserver":          {why: "the original only raises NotImplementedError for it"},
}

// sglangDatasets names what is supported.
func sglangDatasets() []string { return dataset.Names(bench.DialectSGLang) }

// sglangJob turns a parsed command line of the SGLang dialect into a job; all faults go to a.
func sglangJob(a *arguments, getenv func(string) string) job {
	s := &sglangReader{&dialectReader{arguments: a, getenv: getenv}}
	s.job.spec.Dialect = bench.DialectSGLang
	s.refusals(sglangFlags, sglangRustFlags)
	if s.text("protocol") != "http" {
		s.wrong("protocol", s.text("protocol")+" is refused: requests go over HTTP", "")
	}
	s.job.noCounting = s.on("disable-retokenize")
	s.target()
	s.readModel()
	s.dataset()
	s.load()
	s.body()
	s.adapters()
	s.profile()
	s.outputs()
	s.inert(sglangFlags)
	s.strays()
	return s.job
}

// sglangReader builds the job part by part.
type sglangReader struct {
	*dialectReader
}

func (s *sglangReader) target() {
	t := &s.job.spec.Target
	t.Backend = s.text("backend")
	b := sglangBackends[t.Backend]
	if b.why != "" {
		s.wrong("backend", fmt.Sprintf("%s is refused: %s", t.Backend, b.why), "")
	}
	t.Engine, t.API, s.api = b.engine, b.api, b.api
	t.Stream = !s.on("disable-stream") && !b.api.Pooling()
	s.readAddress(t, b.port)
	s.readReadyTimeout(t)
	s.readAuth(t, &s.job, s.getenv)
}

func (s *sglangReader) load() {
	l := &s.job.spec.Load
	if s.typed("request-rate") {
		rate, err := parseRate(s.text("request-rate"))
		switch {
		case err != nil:
			s.wrong("request-rate", err.Error(), "inf or -1 means unlimited")
		case rate == 0 && !strings.Contains(strings.ToLower(s.text("request-rate")), "inf"):
			s.note("--request-rate %s is read as unlimited", strings.TrimSpace(s.text("request-rate")))
		}
		l.Rate = rate
	}
	if n, ok := s.whole("max-concurrency"); ok {
		switch {
		case n < -1:
			s.wrong("max-concurrency", fmt.Sprintf("%d is out of range: at least 1", n), "0 or -1 means unlimited")
		case n < 1:
			s.note("--max-concurrency %d is read as unlimited", n)
		default:
			l.Concurrency = n
		}
	}
	s.deadlines(l)
	l.Insecure = s.on("insecure")
	spec := &s.job.spec
	seed, _ := s.whole("seed")
	if seed < 0 || seed > math.MaxUint32 {
		s.wrong("seed", fmt.Sprintf("%d is out of range: 0 to %d", seed, uint32(math.MaxUint32)), "")
	}
	spec.Seed = int64(seed)
	if n, _ := s.whole("warmup-requests"); n > 0 {
		spec.Warmup = n
	}
	spec.SLOs = parseSLOs(s.list("goodput"))
	spec.Goals = s.goals()
	spec.MaxErrorRate = s.share("max-error-rate")
	s.job.flush = s.on("flush-cache")
	if v := strings.ToLower(s.getenv("SGLANG_IS_IN_CI")); !s.job.flush && (v == "true" || v == "1") {
		s.job.flush = true
		s.note("the prefix cache is flushed because SGLANG_IS_IN_CI is set, as in the original")
	}
	s.job.flushTimeout = time.Duration(s.number("flush-cache-timeout") * float64(time.Second))
}

func (a *arguments) deadlines(l *bench.LoadSpec) {
	for name, to := range map[string]*time.Duration{"connect-timeout": &l.ConnectTimeout, "first-byte-timeout": &l.FirstByteTimeout,
		"idle-timeout": &l.IdleTimeout, "request-timeout": &l.RequestTimeout} {
		*to, _ = parseDuration(a.text(name))
	}
}

// share reads a number from 0 to 1.
func (a *arguments) share(name string) float64 {
	v := a.number(name)
	if !(v >= 0 && v <= 1) {
		a.wrong(name, fmt.Sprintf("%v is out of range: 0 to 1", v), "")
	}
	return v
}

func (s *sglangReader) body() {
	b := &s.job.spec.Body
	s.job.spec.Strict = s.on("strict-compat")
	b.Temperature, b.TopP = s.number("temperature"), s.number("top-p")
	if !(b.Temperature >= 0) || math.IsInf(b.Temperature, 0) {
		s.wrong("temperature", fmt.Sprintf("%v is out of range: at least 0", b.Temperature), "")
	}
	if !(b.TopP > 0 && b.TopP <= 1) {
		s.wrong("top-p", fmt.Sprintf("%v is out of range: above 0, at most 1", b.TopP), "")
	}
	b.IgnoreEOS = !s.on("disable-ignore-eos") && !s.api.Pooling()
	b.Logprobs, b.RoutedExperts = s.on("return-logprob"), s.on("return-routed-experts")
	b.TopLogprobs = max(0, s.atLeast("top-logprobs-num", 0))
	for _, v := range s.list("token-ids-logprob") {
		n, _ := pyInt(v)
		b.TokenIDLogprobs = append(b.TokenIDLogprobs, n)
	}
	b.LogprobStart, _ = s.whole("logprob-start-len")
	b.FakePrefill = s.on("fake-prefill")
	s.job.spec.CacheReport = s.on("cache-report")
	b.CacheDetails = s.job.spec.CacheReport && s.job.spec.Target.Engine == bench.EngineSGLang
	if raw := s.text("extra-request-body"); s.typed("extra-request-body") {
		b.Extra = s.object("extra-request-body", raw)
	}
	if s.api == bench.APIGenerate {
		s.noteSamplingParams(b.Extra)
	}
}

// object reads a JSON object.
func (a *arguments) object(name, raw string) json.RawMessage {
	var m map[string]json.RawMessage
	if err := json.Unmarshal([]byte(raw), &m); err != nil || m == nil {
		a.wrong(name, "is not a JSON object", `write it as '{"key": value}', in single quotes`)
		return nil
	}
	return json.RawMessage(raw)
}

// noteSamplingParams tells two traps of /generate: sampling parameters at the top level of its body have no effect, and a
// "sampling_params" of the user's replaces the whole object, lengths included.
func (s *sglangReader) noteSamplingParams(extra json.RawMessage) {
	var m map[string]json.RawMessage
	if json.Unmarshal(extra, &m) != nil {
		return
	}
	if own, ok := m["sampling_params"]; ok {
		var set map[string]json.RawMessage
		if json.Unmarshal(own, &set) == nil && set["max_new_tokens"] == nil {
			s.note("--extra-request-body: its \"sampling_params\" replaces the whole object, as in the original, and sets no max_new_tokens: answers end when the server likes; " +
				"write all of it, for example {\"sampling_params\": {\"max_new_tokens\": 128, \"ignore_eos\": true, \"temperature\": 0, …}}")
		}
		return
	}
	for _, k := range []string{"temperature", "top_p", "top_k", "max_new_tokens", "ignore_eos", "min_p"} {
		if _, ok := m[k]; ok {
			s.note("--extra-request-body: %q stands at the top of the body, where /generate does not read it; for temperature and top_p there are flags, "+
				"for the rest give a whole \"sampling_params\" object, with max_new_tokens and ignore_eos in it", k)
		}
	}
}

func (s *sglangReader) outputs() {
	j := &s.job
	j.output, j.details = s.text("output-file"), s.on("output-details")
	j.spec.KeepText = s.on("save-text")
	j.spec.KeepPrompts = j.spec.KeepText
	j.journal, j.requireValid = s.text("journal"), s.on("require-valid")
	j.progress, j.printRequests, j.plot = !s.on("disable-tqdm"), s.on("print-requests"), s.on("plot-throughput")
	j.dryRun = s.on("dry-run")
	j.spec.Tag = s.text("tag")
}
