package sim

import (
	"bytes"
	"fmt"
	"net/http"
	"sort"
	"time"

	"github.com/servemark/servemark/internal/sim/engine"
)

// histogram is a Prometheus histogram whose sum is exact: nanoseconds or a count.
type histogram struct {
	bounds []float64 // upper bounds; the last bucket is open
	counts []uint64
	sumNS  int64   // of durations
	sum    float64 // of other values
	n      uint64
}

// count adds a value that is no duration.
func (h *histogram) count(v float64) {
	h.bucket(v, 1)
	h.sum += v
}

// time adds a duration.
func (h *histogram) time(d time.Duration) { h.spread(d, 1) }

// spread adds a duration in n equal parts; the sum stays exact.
func (h *histogram) spread(d time.Duration, n int) {
	h.bucket((d / time.Duration(n)).Seconds(), n)
	h.sumNS += int64(d)
}

func (h *histogram) bucket(v float64, n int) {
	if len(h.counts) == 0 {
		h.counts = make([]uint64, len(h.bounds)+1)
	}
	h.counts[sort.SearchFloat64s(h.bounds, v)] += uint64(n)
	h.n += uint64(n)
}

// sums are what /metrics adds up over finished and cut answers, the same numbers that the truth log holds one by one.
type sums struct {
	ttft, itl, tpot, e2e, queue, prefill, decode, iterations histogram

	perToken               bool // a gap in which k tokens came counts k times a k-th of it (SGLang), else once
	finished               map[string]int
	requests, aborted      int
	promptTime, decodeTime time.Duration
}

var (
	sglangTTFT = []float64{.1, .2, .4, .6, .8, 1, 2, 4, 6, 8, 10, 20, 40, 60, 80, 100, 200, 400}
	sglangITL  = []float64{.002, .004, .006, .008, .01, .015, .02, .025, .03, .035, .04, .06, .08, .1, .2, .4, .6, .8, 1, 2, 4, 6, 8}
	sglangE2E  = append(append([]float64{}, sglangTTFT...), 600, 1200, 1800, 2400)
	sglangWait = []float64{0, .001, .005, .01, .05, .1, .2, .5, 1, 2, 3, 4, 5, 10, 15, 20, 25, 30, 40, 50, 60, 120, 300, 600}
	vllmTTFT   = []float64{.001, .005, .01, .02, .04, .06, .08, .1, .25, .5, .75, 1, 2.5, 5, 7.5, 10, 20, 40, 80, 160, 640, 2560}
	vllmITL    = []float64{.01, .025, .05, .075, .1, .15, .2, .3, .4, .5, .75, 1, 2.5, 5, 7.5, 10, 20, 40, 80}
	vllmE2E    = []float64{.3, .5, .8, 1, 1.5, 2, 2.5, 5, 10, 15, 20, 30, 40, 50, 60, 120, 240, 480, 960, 1920, 7680}
	vllmTokens = []float64{1, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384}
)

func newSums(f Flavour) sums {
	s := sums{finished: map[string]int{}}
	s.perToken = f != VLLM
	if f == VLLM {
		s.ttft.bounds, s.itl.bounds, s.tpot.bounds = vllmTTFT, vllmITL, vllmITL
		s.e2e.bounds, s.queue.bounds, s.prefill.bounds, s.decode.bounds, s.iterations.bounds = vllmE2E, vllmE2E, vllmE2E, vllmE2E, vllmTokens
		return s
	}
	s.ttft.bounds, s.itl.bounds, s.tpot.bounds = sglangTTFT, sglangITL, sglangITL
	s.e2e.bounds, s.queue.bounds, s.prefill.bounds, s.decode.bounds, s.iterations.bounds = sglangE2E, sglangWait, sglangE2E, sglangE2E, vllmTokens
	return s
}

// add books one answer by the engine's planned instants.
func (s *sums) add(x *Truth, whole bool) {
	if x.Scheduled >= 0 {
		s.queue.time(x.Scheduled - x.Queued)
	}
	s.requests++
	if whole {
		s.finished[x.Finish]++
	} else {
		s.aborted++
	}
	n := len(x.Planned)
	if n == 0 {
		return
	}
	first, last := x.Planned[0], x.Planned[n-1]
	s.ttft.time(first - x.Accepted)
	s.promptTime += first - x.Scheduled
	s.decodeTime += last - first
	for i := 1; i < n; {
		k := i + 1
		for k < n && x.Planned[k] == x.Planned[i] { // tokens of one step
			k++
		}
		parts := 1
		if s.perToken {
			parts = k - i
		}
		s.itl.spread(x.Planned[i]-x.Planned[i-1], parts)
		i = k
	}
	if whole {
		s.e2e.time(last - x.Accepted)
		s.prefill.time(first - x.Scheduled)
		s.decode.time(last - first)
		if n > 1 {
			s.tpot.time((last - first) / time.Duration(n-1))
		}
	}
}

// exposition writes Prometheus text.
type exposition struct {
	bytes.Buffer
	prefix, labels string
}

func (x *exposition) family(name, kind, help string) {
	fmt.Fprintf(x, "# HELP %s%s %s\n# TYPE %s%s %s\n", x.prefix, name, help, x.prefix, name, kind)
}

func (x *exposition) value(name, kind, help string, v float64) {
	x.family(name, kind, help)
	fmt.Fprintf(x, "%s%s{%s} %s\n", x.prefix, name, x.labels, number(v))
}

func number(v float64) string {
	if v == float64(int64(v)) {
		return fmt.Sprintf("%d", int64(v))
	}
	return fmt.Sprintf("%.9g", v)
}

func (x *exposition) histogram(name, help string, h *histogram) {
	x.family(name, "histogram", help)
	var sum uint64
	for i := range h.bounds {
		if len(h.counts) > 0 {
			sum += h.counts[i]
		}
		fmt.Fprintf(x, "%s%s_bucket{%s,le=\"%g\"} %d\n", x.prefix, name, x.labels, h.bounds[i], sum)
	}
	fmt.Fprintf(x, "%s%s_bucket{%s,le=\"+Inf\"} %d\n", x.prefix, name, x.labels, h.n)
	total := number(h.sum)
	if h.sumNS != 0 {
		total = fmt.Sprintf("%d.%09d", h.sumNS/1e9, h.sumNS%1e9)
	}
	fmt.Fprintf(x, "%s%s_sum{%s} %s\n%s%s_count{%s} %d\n", x.prefix, name, x.labels, total, x.prefix, name, x.labels, h.n)
}

// metrics answers GET /metrics under the names of the flavour.
func (s *Server) metrics(w http.ResponseWriter, _ *http.Request) {
	s.truth.settled()
	x := &exposition{labels: fmt.Sprintf("model_name=%q", s.cfg.ServedModel)}
	rate := s.truth.genThroughput()
	s.driver.mu.Lock()
	c := s.driver.eng.Counts()
	s.truth.mu.Lock()
	switch s.cfg.Flavour {
	case VLLM:
		x.prefix, x.labels = "vllm:", `engine="0",`+x.labels
		s.metricsVLLM(x, &c, &s.truth.sums)
	case LlamaCpp:
		x.prefix, x.labels = "llamacpp:", ""
		s.metricsLlama(x, &c, &s.truth.sums)
	default:
		x.prefix = "sglang:"
		s.metricsSGLang(x, &c, &s.truth.sums, rate)
	}
	s.truth.mu.Unlock()
	s.driver.mu.Unlock()
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	_, _ = w.Write(x.Bytes()) // a client that went away is no news here
}

func ratio(a, b int) float64 {
	if b == 0 {
		return 0
	}
	return float64(a) / float64(b)
}

func (s *Server) metricsSGLang(x *exposition, c *engine.Counts, m *sums, rate float64) {
	used := c.PagesUsed * c.PageSize
	x.value("num_running_reqs", "gauge", "Requests that run.", float64(c.Running))
	x.value("num_queue_reqs", "gauge", "Requests that wait.", float64(c.Waiting))
	x.value("num_used_tokens", "gauge", "Tokens of KV held.", float64(used))
	x.value("token_usage", "gauge", "Share of the KV pool held.", ratio(used, s.params.KVTokens))
	x.value("max_total_num_tokens", "gauge", "KV pool in tokens.", float64(s.params.KVTokens))
	x.value("page_size", "gauge", "Tokens of a KV page.", float64(c.PageSize))
	x.value("cache_hit_rate", "gauge", "Cached share of prompt tokens.", ratio(c.CachedTokens, c.PromptTokens))
	x.value("gen_throughput", "gauge", "Output tokens per second over the last second.", rate)
	x.value("prompt_tokens_total", "counter", "Prompt tokens of requests taken up.", float64(c.PromptTokens))
	x.value("generation_tokens_total", "counter", "Tokens made.", float64(c.OutputTokens))
	x.value("cached_tokens_total", "counter", "Prompt tokens found in the prefix cache.", float64(c.CachedTokens))
	x.value("num_requests_total", "counter", "Requests that are over.", float64(m.requests))
	x.value("num_aborted_requests_total", "counter", "Requests cut short.", float64(m.aborted))
	x.value("num_retracted_requests_total", "counter", "Retractions.", float64(c.Preemptions))
	if c.Drafts > 0 {
		x.value("spec_accept_length", "gauge", "Tokens a verification yields.", 1+ratio(c.AcceptedTokens, c.Drafts))
		x.value("spec_accept_rate", "gauge", "Accepted share of draft tokens.", ratio(c.AcceptedTokens, c.DraftTokens))
		x.value("spec_verify_calls_total", "counter", "Verifications.", float64(c.Drafts))
	}
	x.histogram("time_to_first_token_seconds", "Acceptance to first token.", &m.ttft)
	x.histogram("inter_token_latency_seconds", "Time between tokens, a step's gap shared among its tokens.", &m.itl)
	x.histogram("request_time_per_output_token_seconds", "Time per token after the first, a request.", &m.tpot)
	x.histogram("e2e_request_latency_seconds", "Acceptance to last token.", &m.e2e)
	x.histogram("queue_time_seconds", "Queue to first step.", &m.queue)
}

func (s *Server) metricsVLLM(x *exposition, c *engine.Counts, m *sums) {
	x.value("num_requests_running", "gauge", "Requests that run.", float64(c.Running))
	x.value("num_requests_waiting", "gauge", "Requests that wait.", float64(c.Waiting))
	x.value("kv_cache_usage_perc", "gauge", "Share of the KV pool held, 0 to 1.", ratio(c.PagesUsed, c.PagesTotal))
	x.value("prompt_tokens_total", "counter", "Prompt tokens of requests taken up.", float64(c.PromptTokens))
	x.value("generation_tokens_total", "counter", "Tokens made.", float64(c.OutputTokens))
	x.value("prompt_tokens_cached_total", "counter", "Prompt tokens found in the prefix cache.", float64(c.CachedTokens))
	x.value("prefix_cache_queries_total", "counter", "Prompt tokens looked up.", float64(c.PromptTokens))
	x.value("prefix_cache_hits_total", "counter", "Prompt tokens found.", float64(c.CachedTokens))
	x.value("num_preemptions_total", "counter", "Preemptions.", float64(c.Preemptions))
	x.family("request_success_total", "counter", "Finished requests by reason.")
	for _, reason := range []string{"stop", "length", "tool_calls", "abort"} {
		n := m.finished[reason]
		if reason == "abort" {
			n = m.aborted
		}
		fmt.Fprintf(x, "vllm:request_success_total{%s,finished_reason=%q} %d\n", x.labels, reason, n)
	}
	x.family("cache_config_info", "gauge", "The KV cache, as labels.")
	fmt.Fprintf(x, "vllm:cache_config_info{engine=\"0\",block_size=\"%d\",num_gpu_blocks=\"%d\",cache_dtype=\"auto\",enable_prefix_caching=%q} 1\n",
		c.PageSize, c.PagesTotal, map[bool]string{true: "True", false: "False"}[s.params.PrefixCache])
	if c.Drafts > 0 {
		x.value("spec_decode_num_drafts_total", "counter", "Verifications.", float64(c.Drafts))
		x.value("spec_decode_num_draft_tokens_total", "counter", "Draft tokens.", float64(c.DraftTokens))
		x.value("spec_decode_num_accepted_tokens_total", "counter", "Draft tokens accepted.", float64(c.AcceptedTokens))
	}
	x.histogram("iteration_tokens_total", "Tokens of a step.", &m.iterations)
	x.histogram("time_to_first_token_seconds", "Acceptance to first token.", &m.ttft)
	x.histogram("inter_token_latency_seconds", "Time between outputs.", &m.itl)
	x.histogram("request_time_per_output_token_seconds", "Time per token after the first, a request.", &m.tpot)
	x.histogram("e2e_request_latency_seconds", "Acceptance to last token.", &m.e2e)
	x.histogram("request_queue_time_seconds", "Queue to first step.", &m.queue)
	x.histogram("request_prefill_time_seconds", "First step to first token.", &m.prefill)
	x.histogram("request_decode_time_seconds", "First token to last.", &m.decode)
}

func (s *Server) metricsLlama(x *exposition, c *engine.Counts, m *sums) {
	perSecond := func(n int, d time.Duration) float64 {
		if d <= 0 {
			return 0
		}
		return float64(n) / d.Seconds()
	}
	bare := func(name, kind, help string, v string) {
		x.family(name, kind, help)
		fmt.Fprintf(x, "%s%s %s\n", x.prefix, name, v)
	}
	seconds := func(d time.Duration) string { return fmt.Sprintf("%d.%09d", d/time.Second, d%time.Second) }
	bare("prompt_tokens_total", "counter", "Prompt tokens processed.", number(float64(c.PromptTokens-c.CachedTokens)))
	bare("prompt_tokens_cached_total", "counter", "Prompt tokens reused from the cache.", number(float64(c.CachedTokens)))
	bare("prompt_seconds_total", "counter", "Prompt process time.", seconds(m.promptTime))
	bare("tokens_predicted_total", "counter", "Tokens made.", number(float64(c.OutputTokens)))
	bare("tokens_predicted_seconds_total", "counter", "Time from first to last token.", seconds(m.decodeTime))
	bare("n_decode_total", "counter", "Steps.", number(float64(c.Steps)))
	bare("n_busy_slots_per_decode", "gauge", "Tokens of a step.", number(ratio(c.OutputTokens, c.Steps)))
	bare("spec_decode_num_draft_tokens_total", "counter", "Draft tokens.", number(float64(c.DraftTokens)))
	bare("spec_decode_num_accepted_tokens_total", "counter", "Draft tokens accepted.", number(float64(c.AcceptedTokens)))
	bare("spec_decode_num_drafts_total", "counter", "Verifications.", number(float64(c.Drafts)))
	bare("prompt_tokens_seconds", "gauge", "Prompt tokens per second.", number(perSecond(c.PromptTokens-c.CachedTokens, m.promptTime)))
	bare("predicted_tokens_seconds", "gauge", "Tokens made per second.", number(perSecond(c.OutputTokens, m.decodeTime)))
	bare("requests_processing", "gauge", "Requests that run.", number(float64(c.Running)))
	bare("requests_deferred", "gauge", "Requests that wait.", number(float64(c.Waiting)))
}
