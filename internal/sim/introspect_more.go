package sim

import (
	"encoding/json"
	"net/http"
	"time"

	"github.com/servemark/servemark/internal/sim/wire"
)

// info is TGI's description of itself.
func (s *Server) info(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusOK, map[string]any{
		"model_id": s.cfg.Model, "model_sha": nil, "model_pipeline_tag": "text-generation", "max_concurrent_requests": 128, "max_best_of": 1,
		"max_stop_sequences": 4, "max_input_tokens": s.contextLen() - 1, "max_total_tokens": s.contextLen(), "validation_workers": 2,
		"max_client_batch_size": 4, "router": "text-generation-router", "version": wire.TGIVersion, "sha": nil, "docker_label": nil,
	})
}

// tokenizeTGI answers TGI's /tokenize: a list of tokens with their place in the text.
func (s *Server) tokenizeTGI(w http.ResponseWriter, q *http.Request) {
	var body struct {
		Inputs string `json:"inputs"`
	}
	if e := s.readBody(q, &body); e != nil {
		s.refuse(w, q, e)
		return
	}
	list, from := []map[string]any{}, 0
	for _, id := range s.tok.Encode(body.Inputs) {
		text := s.tok.Decode([]int{id})
		list = append(list, map[string]any{"id": id, "text": text, "start": from, "stop": from + len(text)})
		from += len(text)
	}
	writeJSON(w, http.StatusOK, list)
}

// encode answers LMDeploy's /v1/encode for one text or a list, which may have one text too.
func (s *Server) encode(w http.ResponseWriter, q *http.Request) {
	var body struct {
		Input json.RawMessage `json:"input"`
	}
	if e := s.readBody(q, &body); e != nil {
		s.refuse(w, q, e)
		return
	}
	var texts stringOrList
	if err := texts.UnmarshalJSON(orNull(body.Input)); err != nil || texts == nil {
		s.refuse(w, q, badRequest("input must be a text or a list of texts"))
		return
	}
	ids, lengths := [][]int{}, []int{}
	for _, text := range texts {
		one := s.tok.Encode(text)
		ids, lengths = append(ids, notNil(one)), append(lengths, len(one))
	}
	if body.Input[0] == '"' {
		writeJSON(w, http.StatusOK, map[string]any{"input_ids": ids[0], "length": lengths[0]})
		return
	}
	writeJSON(w, http.StatusOK, map[string]any{"input_ids": ids, "length": lengths})
}

// orNull stands in for a member that is not there.
func orNull(raw json.RawMessage) json.RawMessage {
	if raw == nil {
		return json.RawMessage("null")
	}
	return raw
}

// slots is llama.cpp's list of places.
func (s *Server) slots(w http.ResponseWriter, _ *http.Request) {
	c := s.driver.counts()
	list := make([]map[string]any, max(s.params.MaxSeqs, 1))
	for i := range list {
		list[i] = map[string]any{"id": i, "n_ctx": s.contextLen(), "speculative": s.params.SpecDepth > 0, "is_processing": i < c.Running}
	}
	writeJSON(w, http.StatusOK, list)
}

// load is vLLM's number of requests inside.
func (s *Server) load(w http.ResponseWriter, _ *http.Request) {
	c := s.driver.counts()
	writeJSON(w, http.StatusOK, map[string]any{"server_load": c.Running + c.Waiting})
}

// profile accepts the start and stop of a profiler, of which a simulated engine has none to run.
func (s *Server) profile(w http.ResponseWriter, q *http.Request) {
	word := map[bool]string{true: "Start", false: "Stop"}[q.URL.Path == "/start_profile"]
	w.WriteHeader(http.StatusOK)
	_, _ = w.Write([]byte(word + " profiling: nothing is recorded by a simulated engine.\n"))
}

// loads is SGLang's /v1/loads: present load, and the sums from which step time and prefill speed can be computed.
func (s *Server) loads(w http.ResponseWriter, _ *http.Request) {
	s.driver.mu.Lock()
	c, m := s.driver.eng.Counts(), s.driver.eng.DecodeMoments()
	s.driver.mu.Unlock()
	used := c.PagesUsed * c.PageSize
	hit := 0.0
	if c.PromptTokens > 0 {
		hit = float64(c.CachedTokens) / float64(c.PromptTokens)
	}
	one := map[string]any{
		"dp_rank": 0, "num_running_reqs": c.Running, "num_waiting_reqs": c.Waiting, "num_used_tokens": used, "num_total_tokens": used,
		"num_active_tokens": used, "max_total_num_tokens": s.params.KVTokens, "max_running_requests": nullZero(s.params.MaxSeqs),
		"token_usage": float64(used) / float64(s.params.KVTokens), "gen_throughput": s.truth.genThroughput(), "cache_hit_rate": hit,
		"utilization": float64(c.Running) / float64(max(s.params.MaxSeqs, c.Running, 1)), "total_prefill_uncached_tokens": c.ComputedPromptTokens,
		"total_prefill_busy_us": c.PrefillBusy.Microseconds(), "decode_moments": []float64{m.N, m.B, m.MicrosT, m.B2, m.BMicrosT, m.Generated},
		"memory": map[string]any{"token_capacity": s.params.KVTokens}, "queues": map[string]any{"waiting": c.Waiting, "retracted": c.Preemptions},
	}
	if c.Drafts > 0 {
		one["speculative"] = map[string]any{"accept_length": 1 + float64(c.AcceptedTokens)/float64(c.Drafts),
			"accept_rate": float64(c.AcceptedTokens) / float64(c.DraftTokens)}
	}
	writeJSON(w, http.StatusOK, map[string]any{"timestamp": time.Now().UTC().Format(time.RFC3339), "version": wire.SGLangVersion,
		"accelerator": "simulated", "num_accelerators": 1, "loads": []any{one}})
}
