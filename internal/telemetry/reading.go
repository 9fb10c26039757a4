package telemetry

import (
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/servemark/servemark/internal/bench"
)

// reading is one scrape.
type reading struct {
	counters bench.Counters
	gauges   bench.Gauges
	source   string
}

// names are a family of servers' names for the same numbers, behind its prefix. Counters carry _total, which some versions leave
// out; both are looked for.
type names struct {
	prefix                                       string
	running, waiting, kv, prompt, output, cached string
	preempted, drafts, accepted, length          string
	ttft, queue, prefill                         string
	percent                                      bool // kv is from 0 to 100
}

// families are those that are known: SGLang, vLLM, TensorRT-LLM, LMDeploy, llama.cpp.
var families = []names{
	{prefix: "sglang:", running: "num_running_reqs", waiting: "num_queue_reqs", kv: "token_usage", prompt: "prompt_tokens", output: "generation_tokens",
		cached: "cached_tokens", preempted: "num_retracted_requests", length: "spec_accept_length", ttft: "time_to_first_token_seconds", queue: "queue_time_seconds"},
	{prefix: "vllm:", running: "num_requests_running", waiting: "num_requests_waiting", kv: "kv_cache_usage_perc", prompt: "prompt_tokens", output: "generation_tokens",
		cached: "prefix_cache_hits", preempted: "num_preemptions", drafts: "spec_decode_num_drafts", accepted: "spec_decode_num_accepted_tokens",
		ttft: "time_to_first_token_seconds", queue: "request_queue_time_seconds", prefill: "request_prefill_time_seconds"},
	{prefix: "trtllm_", running: "num_requests_running", waiting: "num_requests_waiting", kv: "kv_cache_utilization", prompt: "prompt_tokens", output: "generation_tokens",
		cached: "prompt_cached_tokens", length: "spec_decode_acceptance_length", ttft: "time_to_first_token_seconds", queue: "request_queue_time_seconds", prefill: "request_prefill_time_seconds"},
	{prefix: "lmdeploy:", running: "num_requests_running", waiting: "num_requests_waiting", kv: "gpu_cache_usage_perc", prompt: "prompt_tokens", output: "generation_tokens",
		cached: "cached_tokens", length: "spec_decode_mean_accept_length", ttft: "time_to_first_token_seconds", queue: "request_queue_time_seconds", prefill: "request_prefill_time_seconds"},
	{prefix: "llamacpp:", running: "requests_processing", waiting: "requests_deferred", prompt: "prompt_tokens", output: "tokens_predicted",
		drafts: "spec_decode_num_drafts", accepted: "spec_decode_num_accepted_tokens"},
}

// read makes a reading of a /metrics page; ok is false where no family is on it. Several engines or ranks behind one page add up:
// counters, running and waiting requests are summed, KV use is the mean.
func read(page string) (reading, bool) {
	list := parse(page)
	for _, f := range families {
		known := slices.ContainsFunc(list, func(s series) bool { return strings.HasPrefix(s.name, f.prefix) })
		if !known {
			continue
		}
		p := pageOf{list: list, prefix: f.prefix}
		return reading{
			counters: bench.Counters{PromptTokens: p.sum(f.prompt), OutputTokens: p.sum(f.output), CachedTokens: p.sum(f.cached), Preemptions: p.sum(f.preempted),
				Drafts: p.sum(f.drafts), Accepted: p.sum(f.accepted), TTFT: p.total(f.ttft), Queue: p.total(f.queue), Prefill: p.total(f.prefill)},
			gauges: bench.Gauges{Running: p.sum(f.running), Waiting: p.sum(f.waiting), KVUse: p.mean(f.kv), Preemptions: p.sum(f.preempted), AcceptLength: p.mean(f.length)},
			source: "GET /metrics, " + strings.TrimRight(f.prefix, ":_"),
		}, true
	}
	return reading{}, false
}

// pageOf is a page with the prefix of its family.
type pageOf struct {
	list   []series
	prefix string
}

// values are those of all series of a name, with and without _total.
func (p pageOf) values(name string) []float64 {
	if name == "" {
		return nil
	}
	var out []float64
	for _, s := range p.list {
		if (s.name == p.prefix+name || s.name == p.prefix+name+"_total") && !math.IsNaN(s.value) {
			out = append(out, s.value)
		}
	}
	return out
}

func (p pageOf) sum(name string) bench.Measure {
	values := p.values(name)
	if len(values) == 0 {
		return bench.Measure{}
	}
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return bench.Measured(sum)
}

func (p pageOf) mean(name string) bench.Measure {
	n := len(p.values(name))
	sum, ok := p.sum(name).Get()
	if !ok {
		return bench.Measure{}
	}
	return bench.Measured(sum / float64(n))
}

// total reads a histogram, all its series added up.
func (p pageOf) total(name string) bench.Total {
	if name == "" {
		return bench.Total{}
	}
	t := bench.Total{Sum: p.sum(name + "_sum"), Count: p.sum(name + "_count")}
	bounds := map[float64]float64{}
	for _, s := range p.list {
		if s.name != p.prefix+name+"_bucket" {
			continue
		}
		if le, err := strconv.ParseFloat(s.labels["le"], 64); err == nil && !math.IsInf(le, 0) {
			bounds[le] += s.value
		}
	}
	for le, n := range bounds {
		t.Buckets = append(t.Buckets, bench.Bucket{Bound: le, Count: n})
	}
	slices.SortFunc(t.Buckets, func(a, b bench.Bucket) int {
		switch {
		case a.Bound < b.Bound:
			return -1
		case a.Bound > b.Bound:
			return 1
		}
		return 0
	})
	return t
}

// readLoads makes a reading of SGLang's GET /v1/loads, which is there without --enable-metrics. Its ranks add up.
func readLoads(body []byte) (reading, bool) {
	var page struct {
		Loads []struct {
			Running     *float64 `json:"num_running_reqs"`
			Waiting     *float64 `json:"num_waiting_reqs"`
			TokenUsage  *float64 `json:"token_usage"`
			Speculative *struct {
				AcceptLength *float64 `json:"accept_length"`
			} `json:"speculative"`
			Queues *struct {
				Retracted *float64 `json:"retracted"`
			} `json:"queues"`
		} `json:"loads"`
	}
	if json.Unmarshal(body, &page) != nil || len(page.Loads) == 0 {
		return reading{}, false
	}
	r := reading{source: "GET /v1/loads"}
	add := func(m *bench.Measure, x *float64, scale float64) {
		if x != nil {
			old, _ := m.Get()
			*m = bench.Measured(old + *x*scale)
		}
	}
	each := 1 / float64(len(page.Loads))
	for _, l := range page.Loads {
		add(&r.gauges.Running, l.Running, 1)
		add(&r.gauges.Waiting, l.Waiting, 1)
		add(&r.gauges.KVUse, l.TokenUsage, each)
		if l.Speculative != nil {
			add(&r.gauges.AcceptLength, l.Speculative.AcceptLength, each)
		}
		if l.Queues != nil {
			add(&r.gauges.Preemptions, l.Queues.Retracted, 1)
		}
	}
	r.counters.Preemptions = r.gauges.Preemptions
	return r, true
}

// readGPUs makes a reading of a dcgm-exporter's page: power in watts and energy, which it counts in millijoules; all GPUs add up.
func readGPUs(page string) (power, joules bench.Measure) {
	p := pageOf{list: parse(page)}
	power = p.sum("DCGM_FI_DEV_POWER_USAGE")
	if mj, ok := p.sum("DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION").Get(); ok {
		joules = bench.Measured(mj / 1000)
	}
	return power, joules
}
