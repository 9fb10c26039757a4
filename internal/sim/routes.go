package sim

import (
	"net/http"

	"github.com/servemark/servemark/internal/sim/wire"
)

// paths fills the table of a flavour's routes; any path that is not in it is the flavour's 404.
type paths struct {
	s   *Server
	mux *http.ServeMux
}

// plain adds a route under each of its names.
func (p paths) plain(h http.HandlerFunc, patterns ...string) {
	for _, pattern := range patterns {
		p.mux.HandleFunc(pattern, h)
	}
}

// generation answers a request that goes through the engine, or returns why it is refused.
type generation func(http.ResponseWriter, *http.Request, *Fault) *wire.Error

// refusing gives a route's refusals a form of their own.
func (h generation) refusing(form wire.Form) generation {
	return func(w http.ResponseWriter, q *http.Request, f *Fault) *wire.Error {
		e := h(w, q, f)
		if e != nil {
			e.Form = form
		}
		return e
	}
}

// gen adds a route that asks the engine, and to which faults happen.
func (p paths) gen(h generation, patterns ...string) {
	p.plain(func(w http.ResponseWriter, q *http.Request) {
		f := p.s.nextFault()
		if p.s.stopEarly(w, q, f) {
			return
		}
		if e := h(w, q, f); e != nil {
			p.s.refuse(w, q, e)
		}
	}, patterns...)
}

// routes are the paths of the flavour.
func (s *Server) routes() *http.ServeMux {
	p := paths{s, http.NewServeMux()}
	p.gen(s.chat, "POST /v1/chat/completions")
	p.gen(s.completions, "POST /v1/completions")
	p.gen(s.embeddings, "POST /v1/embeddings")
	p.plain(s.models, "GET /v1/models")
	p.plain(s.health, "GET /health")
	p.plain(s.showTruth, "GET /sim/truth")
	p.plain(s.showSteps, "GET /sim/steps")
	p.plain(s.resetTruth, "POST /sim/reset")
	switch s.cfg.Flavour { // /metrics is there for three of them: better none than another server's names
	case VLLM:
		p.vllm()
	case LlamaCpp:
		p.llamaCpp()
	case LMDeploy:
		p.plain(s.encode, "POST /v1/encode")
	case TRT:
		p.plain(s.version, "GET /version")
		p.plain(s.health, "GET /{$}", "GET /v2/health/ready", "GET /v2/health/live")
		p.gen(generation(s.triton).refusing(wire.FormBare), "POST /v2/models/{model}/generate_stream", "POST /v2/models/{model}/generate")
	case TGI:
		p.plain(s.info, "GET /info")
		p.plain(s.health, "GET /ping")
		p.plain(s.tokenizeTGI, "POST /tokenize")
		p.gen(generation(s.tgiGenerate).refusing(wire.FormBare), "POST /generate", "POST /generate_stream")
	case Truss:
		p.plain(s.health, "GET /{$}")
		p.gen(s.completions, "POST /v1/models/model:predict")
	default:
		p.sglang()
	}
	return p.mux
}

func (p paths) vllm() {
	s := p.s
	p.gen(generation(s.responses).refusing(wire.FormNested), "POST /v1/responses")
	p.gen(s.rerank, "POST /v1/rerank", "POST /rerank", "POST /v2/rerank")
	p.gen(s.score, "POST /v1/score", "POST /score")
	p.plain(s.metrics, "GET /metrics")
	p.plain(s.version, "GET /version")
	p.plain(s.health, "GET /ping")
	p.plain(s.load, "GET /load")
	p.plain(s.tokenize, "POST /tokenize")
	p.plain(s.detokenize, "POST /detokenize")
	p.plain(s.flushCache, "POST /reset_prefix_cache")
	p.plain(s.profile, "POST /start_profile", "POST /stop_profile")
}

func (p paths) llamaCpp() {
	s := p.s
	p.gen(s.llamaCompletion, "POST /completion")
	p.gen(s.rerank, "POST /v1/rerank", "POST /rerank", "POST /v1/reranking", "POST /reranking")
	p.plain(s.metrics, "GET /metrics")
	p.plain(s.props, "GET /props")
	p.plain(s.slots, "GET /slots")
	p.plain(s.health, "GET /v1/health")
	p.plain(s.tokenize, "POST /tokenize")
	p.plain(s.detokenize, "POST /detokenize")
}

func (p paths) sglang() {
	s := p.s
	p.gen(s.generate, "POST /generate")
	p.gen(generation(s.responses).refusing(wire.FormNested), "POST /v1/responses")
	p.gen(s.rerank, "POST /v1/rerank", "PUT /v1/rerank")
	p.gen(s.scoreLabels, "POST /v1/score")
	p.plain(s.metrics, "GET /metrics")
	p.plain(s.health, "GET /ready", "GET /ping", "GET /health_generate")
	p.plain(s.modelInfo, "GET /model_info", "GET /get_model_info")
	p.plain(s.serverInfo, "GET /server_info", "GET /get_server_info")
	p.plain(s.loads, "GET /v1/loads")
	p.plain(s.flushCache, "GET /flush_cache", "POST /flush_cache")
	p.plain(s.tokenize, "POST /tokenize", "POST /v1/tokenize")
	p.plain(s.detokenize, "POST /detokenize")
	p.plain(s.profile, "POST /start_profile", "POST /stop_profile", "GET /start_profile", "GET /stop_profile")
}
