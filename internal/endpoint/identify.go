package endpoint

import (
	"strings"

	"github.com/servemark/servemark/internal/bench"
)

// recognize records what the server is and which answer gave it away.
func (s *survey) recognize(e bench.Engine, product, from string) {
	s.server.Engine, s.product, s.server.EngineFrom = e, product, from
}

// identify decides what the server is, by what it says and never by what the user called it. Proxies and wrappers come
// first, since they look like what stands behind them; SGLang comes before Ollama, whose routes it answers too.
func (s *survey) identify() {
	owner, ownerFrom := s.owner()
	metrics := ""
	if a := s.answers[routeMetrics]; a.ok() {
		metrics = string(a.body)
	}
	props, info := s.objects[routeProps], s.objects[routeTGI]
	version := text(s.objects[routeVersion], "version")
	models := s.answers[routeModels]
	switch {
	case litellm(models) != "":
		s.recognize(bench.EngineUnknown, "LiteLLM proxy", "GET /v1/models header "+litellm(models))
	case strings.Contains(metrics, "dynamo_frontend_"):
		s.recognize(bench.EngineUnknown, "NVIDIA Dynamo", "GET /metrics dynamo_frontend_…")
	case text(s.objects[routeModelInfo], "model_path") != "":
		s.recognize(bench.EngineSGLang, "", "GET /model_info model_path")
	case owner == "sglang":
		s.recognize(bench.EngineSGLang, "", ownerFrom)
	case owner == "vllm":
		s.recognize(bench.EngineVLLM, "", ownerFrom)
	case version != "" && strings.Contains(metrics, "\nvllm:"):
		s.recognize(bench.EngineVLLM, "", "GET /version, GET /metrics vllm:…")
	case text(props, "build_info") != "":
		s.recognize(bench.EngineLlamaCpp, "", "GET /props build_info")
	case owner == "llamacpp":
		s.recognize(bench.EngineLlamaCpp, "", ownerFrom)
	case owner == "lmdeploy":
		s.recognize(bench.EngineLMDeploy, "", ownerFrom)
	case owner == "tensorrt_llm" || version != "" && s.hasRoute("/perf_metrics"):
		s.recognize(bench.EngineUnknown, "TensorRT-LLM", "GET /version, /v1/models")
	case text(info, "model_id") != "" && info["max_total_tokens"] != nil:
		s.recognize(bench.EngineUnknown, "TGI (text-generation-inference)", "GET /info model_id")
	}
	if s.server.Engine == bench.EngineSGLang && strings.Contains(metrics, "\nvllm:") {
		s.note("GET /metrics shows vllm: metrics behind a server that says it is SGLang: a router or a simulator")
	}
	if h := litellm(models); h != "" {
		s.note("GET /v1/models carries the header %s: a LiteLLM proxy stands in between, and its time is in every latency", h)
	}
	if named := s.o.Engine; named != bench.EngineUnknown && s.server.Engine != bench.EngineUnknown && s.server.Engine != named {
		s.note("the backend named is for %s, but this is %s (%s); it is asked all the same", named, s.server.Engine, s.server.EngineFrom)
	}
}

// owner returns the owned_by of the first model that has one.
func (s *survey) owner() (owner, from string) {
	for _, m := range s.server.Models {
		if m.OwnedBy != "" {
			return m.OwnedBy, `GET /v1/models owned_by "` + m.OwnedBy + `"`
		}
	}
	return "", ""
}

// hasRoute reports whether the server's own description lists a route.
func (s *survey) hasRoute(path string) bool {
	paths, _ := at(s.objects[routeOpenAPI], "paths").(map[string]any)
	_, ok := paths[path]
	return ok
}

// litellm returns the name of a header that only LiteLLM sets, or "".
func litellm(a answer) string {
	for name := range a.header {
		if strings.HasPrefix(strings.ToLower(name), "x-litellm-") {
			return strings.ToLower(name)
		}
	}
	return ""
}
