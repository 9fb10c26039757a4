package endpoint

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/servemark/servemark/internal/bench"
)

// read fills the Server from the answers, and lists what the user should see in printing order.
func (s *survey) read() {
	engine := string(s.server.Engine)
	switch {
	case s.product != "":
		engine = s.product
	case engine == "" && s.o.Engine != bench.EngineUnknown:
		engine = "unknown, asked as " + string(s.o.Engine)
	case engine == "":
		engine = "unknown, asked as OpenAI-compatible"
	}
	from := s.server.EngineFrom
	if from == "" {
		from = "no answer tells"
	}
	versionFrom := s.version()
	s.fact("engine", engine, from)
	if s.server.Version != "" {
		s.fact("version", s.server.Version, versionFrom)
	}
	s.served()
	switch s.server.Engine {
	case bench.EngineSGLang:
		s.sglang()
	case bench.EngineVLLM:
		s.vllm()
	case bench.EngineLlamaCpp:
		s.llamacpp()
	}
	s.tgi()
	if s.tokenizes(); s.server.Tokenize {
		s.fact("tokenize route", "yes", "the engine's routes")
	}
}

// fact adds a line; empty values are left out.
func (s *survey) fact(name string, value any, from string) {
	if n, ok := value.(bench.Count); ok && !n.Known() || value == nil || value == "" {
		return
	}
	s.server.Facts = append(s.server.Facts, bench.Fact{Name: name, Value: s.redact.fact(value), From: from})
}

// version finds the engine's version and returns where.
func (s *survey) version() (from string) {
	for _, v := range []struct{ route, key string }{
		{routeServerInfo, "version"}, {routeLoads, "version"}, {routeVersion, "version"}, {routeTGI, "version"}, {routeProps, "build_info"}, {routeOllama, "version"},
	} {
		if found := text(s.objects[v.route], v.key); found != "" {
			s.server.Version = s.redact.fact(found)
			return s.answers[v.route].route + " " + v.key
		}
	}
	return ""
}

// served lists the models; beyond a handful only their number.
func (s *survey) served() {
	const most = 6
	for i, m := range s.server.Models {
		if i == most {
			s.fact("serves", fmt.Sprintf("%d more", len(s.server.Models)-most), "GET /v1/models")
			break
		}
		from := fmt.Sprintf("GET /v1/models data[%d]", i)
		s.fact("serves", string(m.ID), from+".id")
		if m.Root != "" && m.Root != string(m.ID) {
			s.fact("weights", m.Root, from+".root")
		}
		if m.Parent != "" {
			s.fact("adapter of", m.Parent, from+".parent")
		}
		if !s.server.MaxLen.Known() && m.MaxLen.Known() {
			s.server.MaxLen = m.MaxLen
			s.fact("longest context", m.MaxLen, from+".max_model_len")
		}
	}
}

// sglang reads /model_info, /server_info and /v1/loads.
func (s *survey) sglang() {
	model, info, loads := s.objects[routeModelInfo], s.objects[routeServerInfo], s.objects[routeLoads]
	inModel := func(key string) string { return s.answers[routeModelInfo].route + " " + key }
	inInfo := func(key string) string { return s.answers[routeServerInfo].route + " " + key }
	s.declared(&s.server.ModelPath, "weights", model, inModel, "model_path")
	s.declared(&s.server.ModelPath, "weights", info, inInfo, "model_path")
	s.declared(&s.server.TokenizerPath, "tokenizer", model, inModel, "tokenizer_path")
	s.declared(&s.server.TokenizerPath, "tokenizer", info, inInfo, "tokenizer_path")
	if len(s.server.Models) == 0 {
		if name := text(model, "served_model_name"); name != "" {
			s.server.Models = []bench.ModelCard{{ID: bench.ServedModel(name)}}
			s.fact("serves", name, inModel("served_model_name"))
		}
	}
	for _, f := range []struct{ name, key string }{
		{"longest context", "context_length"}, {"longest prompt", "max_req_input_len"}, {"KV cache tokens", "max_total_num_tokens"},
		{"running at most", "max_running_requests"}, {"quantization", "quantization"}, {"KV cache type", "kv_cache_dtype"},
		{"chunked prefill", "chunked_prefill_size"}, {"speculative", "speculative_algorithm"}, {"stream interval", "stream_interval"},
	} {
		if f.key == "context_length" && s.server.MaxLen.Known() {
			continue
		}
		if v := plain(info[f.key]); v != "" {
			s.fact(f.name, v, inInfo(f.key))
		}
	}
	if !s.server.MaxLen.Known() {
		s.server.MaxLen = number(info, "context_length")
	}
	s.fact("parallel", parallel(info), inInfo("tp_size, pp_size, dp_size, ep_size"))
	if info["disable_radix_cache"] == true {
		s.fact("prefix cache", "off", inInfo("disable_radix_cache"))
	}
	if name := text(loads, "accelerator"); name != "" {
		if n := number(loads, "num_accelerators").Or(1); n > 1 {
			name = fmt.Sprintf("%d × %s", n, name)
		}
		s.fact("accelerator", name, "GET /v1/loads accelerator")
	}
	s.info(info)
}

// declared takes a path or name that the server declares, once.
func (s *survey) declared(to *string, name string, o map[string]any, from func(string) string, key string) {
	if v := text(o, key); v != "" && *to == "" {
		*to = s.redact.text(v)
		s.fact(name, v, from(key))
	}
}

// parallel renders SGLang's degrees of parallelism that are above 1.
func parallel(info map[string]any) string {
	var parts []string
	for _, kind := range []string{"tp", "pp", "dp", "ep"} {
		if n := number(info, kind+"_size").Or(1); n > 1 {
			parts = append(parts, fmt.Sprintf("%s%d", kind, n))
		}
	}
	return strings.Join(parts, " ")
}

// vllm reads what the metrics tell of the cache.
func (s *survey) vllm() {
	line := regexp.MustCompile(`(?m)^vllm:cache_config_info\{([^}]*)\}`).FindSubmatch(s.answers[routeMetrics].body)
	if line == nil {
		return
	}
	labels := map[string]string{}
	for _, m := range regexp.MustCompile(`(\w+)="([^"]*)"`).FindAllStringSubmatch(string(line[1]), -1) {
		labels[m[1]] = m[2]
	}
	const from = "GET /metrics vllm:cache_config_info"
	size, err1 := strconv.Atoi(labels["block_size"])
	blocks, err2 := strconv.Atoi(labels["num_gpu_blocks"])
	if err1 == nil && err2 == nil {
		s.fact("KV cache tokens", size*blocks, from+" block_size × num_gpu_blocks")
	}
	s.fact("KV cache type", labels["cache_dtype"], from+" cache_dtype")
	if on := labels["enable_prefix_caching"]; on != "" {
		s.fact("prefix cache", map[bool]string{true: "on", false: "off"}[strings.EqualFold(on, "true")], from+" enable_prefix_caching")
	}
}

// llamacpp reads /props and the card's meta.
func (s *survey) llamacpp() {
	props := s.objects[routeProps]
	in := func(key string) string { return "GET /props " + key }
	s.declared(&s.server.ModelPath, "weights", props, in, "model_path")
	data, _ := s.objects[routeModels]["data"].([]any)
	var meta map[string]any
	if len(data) > 0 {
		card, _ := data[0].(map[string]any)
		meta, _ = card["meta"].(map[string]any)
	}
	for _, c := range []struct {
		n    bench.Count
		from string
	}{
		{number(props, "default_generation_settings", "n_ctx"), in("default_generation_settings.n_ctx")},
		{number(meta, "n_ctx"), "GET /v1/models data[0].meta.n_ctx"},
		{number(meta, "n_ctx_train"), "GET /v1/models data[0].meta.n_ctx_train"},
	} {
		if c.n.Known() && !s.server.MaxLen.Known() {
			s.server.MaxLen = c.n
			s.fact("longest context", c.n, c.from)
		}
	}
	s.fact("slots", number(props, "total_slots"), in("total_slots"))
	s.fact("parameters", number(meta, "n_params"), "GET /v1/models data[0].meta.n_params")
	s.fact("quantization", text(meta, "ftype"), "GET /v1/models data[0].meta.ftype")
	s.info(props)
}

// tgi reads /info, which other servers than TGI leave alone.
func (s *survey) tgi() {
	info := s.objects[routeTGI]
	if info["max_total_tokens"] == nil {
		return
	}
	in := func(key string) string { return "GET /info " + key }
	s.declared(&s.server.ModelID, "weights", info, in, "model_id")
	s.fact("revision", text(info, "model_sha"), in("model_sha"))
	if n := number(info, "max_total_tokens"); n.Known() && !s.server.MaxLen.Known() {
		s.server.MaxLen = n
		s.fact("longest context", n, in("max_total_tokens"))
	}
	s.fact("running at most", number(info, "max_concurrent_requests"), in("max_concurrent_requests"))
	s.info(info)
}

// info keeps the engine's whole self-description, redacted.
func (s *survey) info(o map[string]any) {
	if len(o) > 0 {
		s.server.Info, _ = s.redact.value(o).(map[string]any)
	}
}

// tokenizes decides whether a tokenize route is known to exist.
func (s *survey) tokenizes() {
	switch {
	case s.server.Engine == bench.EngineVLLM, s.server.Engine == bench.EngineLlamaCpp, s.server.Engine == bench.EngineLMDeploy, s.server.ModelID != "":
		s.server.Tokenize = true
	default:
		s.server.Tokenize = s.hasRoute("/tokenize") || s.hasRoute("/v1/encode")
	}
}

// plain renders a number, word or switch for a fact; null, false and lists give "".
func plain(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case json.Number:
		return v.String()
	case bool:
		if v {
			return "yes"
		}
	}
	return ""
}
