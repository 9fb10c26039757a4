package sim

import "net/http"

// routes are the paths of a flavour; any other is its 404.
func (s *Server) routes() *http.ServeMux {
	m := http.NewServeMux()
	plain := func(h http.HandlerFunc, patterns ...string) {
		for _, p := range patterns {
			m.HandleFunc(p, h)
		}
	}
	gen := func(h func(http.ResponseWriter, *http.Request, *Fault), patterns ...string) {
		plain(func(w http.ResponseWriter, q *http.Request) {
			f := s.nextFault()
			if !s.stopEarly(w, q, f) {
				h(w, q, f)
			}
		}, patterns...)
	}
	gen(s.chat, "POST /v1/chat/completions")
	gen(s.completions, "POST /v1/completions")
	gen(s.embeddings, "POST /v1/embeddings")
	plain(s.models, "GET /v1/models")
	plain(s.health, "GET /health")
	switch s.cfg.Flavour {
	case SGLang, VLLM, LlamaCpp: // the others' names are not imitated: better none than another server's
		plain(s.metrics, "GET /metrics")
	}
	plain(s.showTruth, "GET /sim/truth")
	plain(s.showSteps, "GET /sim/steps")
	plain(s.resetTruth, "POST /sim/reset")
	switch s.cfg.Flavour {
	case VLLM:
		gen(s.responses, "POST /v1/responses")
		gen(s.rerank, "POST /v1/rerank", "POST /rerank", "POST /v2/rerank")
		gen(s.score, "POST /v1/score", "POST /score")
		plain(s.version, "GET /version")
		plain(s.health, "GET /ping")
		plain(s.load, "GET /load")
		plain(s.tokenize, "POST /tokenize")
		plain(s.detokenize, "POST /detokenize")
		plain(s.flushCache, "POST /reset_prefix_cache")
		plain(s.profile, "POST /start_profile", "POST /stop_profile")
	case LlamaCpp:
		plain(s.props, "GET /props")
		plain(s.slots, "GET /slots")
		plain(s.health, "GET /v1/health")
		plain(s.tokenize, "POST /tokenize")
		plain(s.detokenize, "POST /detokenize")
		gen(s.llamaCompletion, "POST /completion")
		gen(s.rerank, "POST /v1/rerank", "POST /rerank", "POST /v1/reranking", "POST /reranking")
	case LMDeploy:
		plain(s.encode, "POST /v1/encode")
	case TRT:
		plain(s.version, "GET /version")
		plain(s.health, "GET /{$}", "GET /v2/health/ready", "GET /v2/health/live")
		gen(s.triton, "POST /v2/models/{model}/generate_stream", "POST /v2/models/{model}/generate")
	case TGI:
		plain(s.info, "GET /info")
		plain(s.health, "GET /ping")
		plain(s.tokenizeTGI, "POST /tokenize")
		gen(s.tgiGenerate, "POST /generate", "POST /generate_stream")
	case Truss:
		plain(s.health, "GET /{$}")
		gen(s.completions, "POST /v1/models/model:predict")
	default:
		gen(s.generate, "POST /generate")
		gen(s.responses, "POST /v1/responses")
		gen(s.rerank, "POST /v1/rerank", "PUT /v1/rerank")
		gen(s.scoreLabels, "POST /v1/score")
		plain(s.health, "GET /ready", "GET /ping", "GET /health_generate")
		plain(s.modelInfo, "GET /model_info", "GET /get_model_info")
		plain(s.serverInfo, "GET /server_info", "GET /get_server_info")
		plain(s.loads, "GET /v1/loads")
		plain(s.flushCache, "GET /flush_cache", "POST /flush_cache")
		plain(s.tokenize, "POST /tokenize", "POST /v1/tokenize")
		plain(s.detokenize, "POST /detokenize")
		plain(s.profile, "POST /start_profile", "POST /stop_profile", "GET /start_profile", "GET /stop_profile")
	}
	return m
}
