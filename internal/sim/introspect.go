package sim

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/servemark/servemark/internal/sim/prose"
	"github.com/servemark/servemark/internal/sim/wire"
)

func (s *Server) models(w http.ResponseWriter, _ *http.Request) {
	card := map[string]any{"id": s.cfg.ServedModel, "object": "model", "created": s.created.Unix()}
	card["owned_by"] = s.manners.OwnedBy
	switch s.cfg.Flavour {
	case VLLM:
		card["root"], card["parent"], card["max_model_len"], card["permission"] = s.cfg.Model, nil, s.contextLen(), []any{}
	case LlamaCpp:
		card["meta"] = map[string]any{"vocab_type": 2, "n_vocab": s.vocab, "n_ctx": s.contextLen(), "n_ctx_train": s.cfg.MaxModelLen, "n_embd": 1024, "n_params": 1_000_000_000, "size": 2_000_000_000}
	case LMDeploy:
		card["root"], card["parent"] = s.cfg.ServedModel, nil
	case SGLang:
		card["root"], card["parent"], card["max_model_len"] = s.cfg.ServedModel, nil, s.contextLen()
	}
	writeJSON(w, http.StatusOK, map[string]any{"object": "list", "data": append([]any{card}, s.adapterCards()...)})
}

func (s *Server) modelInfo(w http.ResponseWriter, _ *http.Request) {
	var parser any
	if s.cfg.ReasoningShare > 0 || s.cfg.ReasoningTokens > 0 {
		parser = "sim"
	}
	writeJSON(w, http.StatusOK, map[string]any{
		"model_path": s.cfg.Model, "served_model_name": s.cfg.ServedModel, "tokenizer_path": prose.Name, "is_generation": true,
		"preferred_sampling_params": nil, "weight_version": "default", "load_format": "dummy", "reasoning_parser": parser, "tool_call_parser": "sim",
		"disaggregation_mode": "null", "has_image_understanding": true, "has_audio_understanding": false, "model_type": "sim",
		"architectures": []string{"SimForCausalLM"},
	})
}

func (s *Server) serverInfo(w http.ResponseWriter, _ *http.Request) {
	p := s.params
	var key any
	launch := fmt.Sprintf("servemark sim --model %s --served-model-name %s", s.cfg.Model, s.cfg.ServedModel)
	if s.cfg.APIKey != "" { // the real server dumps its key too: clients must redact it
		key = s.cfg.APIKey
		launch += " --api-key " + s.cfg.APIKey
	}
	info := map[string]any{
		"model_path": s.cfg.Model, "tokenizer_path": prose.Name, "served_model_name": s.cfg.ServedModel, "api_key": key, "admin_api_key": nil,
		"launch_command": launch, "version": wire.SGLangVersion, "frontend": "servemark-sim", "context_length": s.contextLen(),
		"quantization": nil, "kv_cache_dtype": "auto", "dtype": "auto", "tp_size": 1, "pp_size": 1, "dp_size": 1, "ep_size": 1,
		"page_size": p.PageSize, "chunked_prefill_size": p.TokenBudget, "max_running_requests": nullZero(p.MaxSeqs),
		"enable_mixed_chunk": p.MixedChunk, "schedule_policy": map[bool]string{false: "fcfs", true: "lpm"}[p.LongestPrefix],
		"schedule_conservativeness": p.Conservativeness, "disable_radix_cache": !p.PrefixCache, "stream_interval": 1,
		"incremental_streaming_output": false, "enable_cache_report": s.reportsCache(), "enable_metrics": true, "random_seed": s.cfg.Seed,
		"max_total_num_tokens": p.KVTokens, "max_req_input_len": s.contextLen() - 1, "speculative_num_draft_tokens": nullZero(p.SpecDepth),
		"enable_lora": len(s.cfg.Adapters) > 0,
	}
	if p.SpecDepth > 0 {
		info["speculative_algorithm"], info["speculative_num_steps"], info["speculative_eagle_topk"] = "EAGLE", p.SpecDepth, 1
	}
	c := s.driver.counts()
	state := map[string]any{
		"memory_usage":                          map[string]any{"token_capacity": p.KVTokens},
		"effective_max_running_requests_per_dp": nullZero(p.MaxSeqs),
	}
	if c.Drafts > 0 {
		state["avg_spec_accept_length"] = 1 + float64(c.AcceptedTokens)/float64(c.Drafts)
	}
	info["internal_states"] = []any{state}
	writeJSON(w, http.StatusOK, info)
}

func nullZero(n int) any {
	if n == 0 {
		return nil
	}
	return n
}

func (s *Server) version(w http.ResponseWriter, _ *http.Request) {
	v := wire.VLLMVersion
	if s.cfg.Flavour == TRT {
		v = wire.TRTVersion
	}
	writeJSON(w, http.StatusOK, map[string]any{"version": v})
}

func (s *Server) health(w http.ResponseWriter, _ *http.Request) {
	if s.cfg.Flavour == LlamaCpp {
		writeJSON(w, http.StatusOK, map[string]any{"status": "ok"})
		return
	}
	w.WriteHeader(http.StatusOK)
}

func (s *Server) props(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusOK, map[string]any{
		"default_generation_settings": map[string]any{"n_ctx": s.contextLen(), "params": map[string]any{"seed": s.cfg.Seed, "n_predict": -1}},
		"total_slots":                 max(s.params.MaxSeqs, 1), "model_path": s.cfg.Model, "model_alias": s.cfg.ServedModel,
		"chat_template": chatTemplate, "modalities": map[string]bool{"vision": true, "audio": false},
		"build_info": wire.LlamaBuild, "is_sleeping": false,
	})
}

// chatTemplate is the template that render applies, as /props shows it.
const chatTemplate = "{% for message in messages %}<|{{ message.role }}|>\n{{ message.content }}\n{% endfor %}<|assistant|>\n"

// tokenize answers in the shape of the flavour: a text, with SGLang a list of texts too, or messages put through the template.
func (s *Server) tokenize(w http.ResponseWriter, q *http.Request) {
	var body struct {
		Model    string          `json:"model"`
		Prompt   json.RawMessage `json:"prompt"`
		Content  *string         `json:"content"`
		Messages []message       `json:"messages"`
		Pieces   bool            `json:"with_pieces"`
	}
	if e := s.readBody(q, &body); e != nil {
		s.refuse(w, q, e)
		return
	}
	if body.Model != "" {
		if e := s.summon(&sampling{}, body.Model); e != nil {
			s.refuse(w, q, e)
			return
		}
	}
	if s.cfg.Flavour == LlamaCpp {
		s.tokenizeLlama(w, q, body.Content, body.Pieces)
		return
	}
	if len(body.Messages) > 0 {
		text, _, err := render(body.Messages)
		if err != nil {
			s.refuse(w, q, badRequest("%v", err))
			return
		}
		s.tokenized(w, s.tok.Encode(text))
		return
	}
	list, batch, err := s.prompts(body.Prompt)
	switch {
	case err != nil:
		s.refuse(w, q, badRequest("%v", err))
	case s.cfg.Flavour == VLLM && body.Prompt[0] != '"': // its prompt is one text
		s.refuse(w, q, badRequest("prompt: Input should be a valid string"))
	case !batch:
		s.tokenized(w, list[0])
	default:
		counts := make([]int, len(list))
		for i, ids := range list {
			counts[i] = len(ids)
		}
		writeJSON(w, http.StatusOK, map[string]any{"tokens": list, "count": counts, "max_model_len": s.contextLen()})
	}
}

func (s *Server) tokenized(w http.ResponseWriter, ids []int) {
	out := map[string]any{"tokens": notNil(ids), "count": len(ids), "max_model_len": s.contextLen()}
	if s.cfg.Flavour == VLLM {
		out["token_strs"] = nil
	}
	writeJSON(w, http.StatusOK, out)
}

func (s *Server) tokenizeLlama(w http.ResponseWriter, q *http.Request, content *string, pieces bool) {
	if content == nil {
		s.refuse(w, q, badRequest("\"content\" must be a text"))
		return
	}
	ids := s.tok.Encode(*content)
	if !pieces {
		writeJSON(w, http.StatusOK, map[string]any{"tokens": notNil(ids)})
		return
	}
	list := make([]map[string]any, len(ids))
	for i, id := range ids {
		list[i] = map[string]any{"id": id, "piece": s.tok.Decode([]int{id})}
	}
	writeJSON(w, http.StatusOK, map[string]any{"tokens": list})
}

func notNil(ids []int) []int {
	if ids == nil {
		return []int{}
	}
	return ids
}

// detokenize takes a list of ids and, with SGLang, lists of them.
func (s *Server) detokenize(w http.ResponseWriter, q *http.Request) {
	var body struct {
		Tokens json.RawMessage `json:"tokens"`
	}
	if e := s.readBody(q, &body); e != nil {
		s.refuse(w, q, e)
		return
	}
	var one []int
	var many [][]int
	list := json.Unmarshal(orNull(body.Tokens), &one) != nil
	if list && (s.cfg.Flavour != SGLang || json.Unmarshal(body.Tokens, &many) != nil) {
		s.refuse(w, q, badRequest("tokens must be a list of integers"))
		return
	}
	if !list {
		many = [][]int{one}
	}
	texts := make([]string, len(many))
	for i, ids := range many {
		if err := s.checkIDs(ids); err != nil {
			s.refuse(w, q, badRequest("%v", err))
			return
		}
		texts[i] = s.tok.Decode(ids)
	}
	if list {
		writeJSON(w, http.StatusOK, map[string]any{"text": texts})
		return
	}
	member := map[Flavour]string{SGLang: "text", VLLM: "prompt", LlamaCpp: "content"}[s.cfg.Flavour]
	writeJSON(w, http.StatusOK, map[string]any{member: texts[0]})
}

// flushCache drops the prefix cache; SGLang refuses while requests run.
func (s *Server) flushCache(w http.ResponseWriter, _ *http.Request) {
	if live := s.driver.flush(); live > 0 {
		http.Error(w, fmt.Sprintf("Failed to flush cache: %d requests are running or waiting.", live), http.StatusBadRequest)
		return
	}
	w.WriteHeader(http.StatusOK)
	_, _ = fmt.Fprintln(w, "Cache flushed.")
}

// authorised applies the rule of the flavour: which paths need the key, and in which header it may stand.
func (s *Server) authorised(q *http.Request) bool {
	if s.cfg.APIKey == "" || q.Method == http.MethodOptions {
		return true
	}
	path := q.URL.Path
	switch s.cfg.Flavour {
	case VLLM:
		if !strings.HasPrefix(path, "/v1") {
			return true
		}
	case LlamaCpp:
		if path == "/health" || path == "/v1/health" || q.Header.Get("X-Api-Key") == s.cfg.APIKey {
			return true
		}
	default:
		if strings.HasPrefix(path, "/health") || strings.HasPrefix(path, "/ready") || strings.HasPrefix(path, "/metrics") {
			return true
		}
	}
	return strings.HasPrefix(path, "/sim/") || q.Header.Get("Authorization") == "Bearer "+s.cfg.APIKey
}
