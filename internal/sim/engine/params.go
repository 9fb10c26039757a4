package engine

import (
	"errors"
	"fmt"
	"time"
)

// Schedule names how requests share the engine.
type Schedule string

// The schedules: Independent gives each request its own timeline (fixed TTFT and ITL); VLLM mixes decodes and prompt chunks in
// every step; SGLang runs prompt batches first and decodes when none is admissible; Slots has fixed places with a context each.
const (
	Independent Schedule = "independent"
	VLLM        Schedule = "vllm"
	SGLang      Schedule = "sglang"
	Slots       Schedule = "slots"
)

// Params describe a simulated deployment. The zero value is an Independent engine that answers at once.
type Params struct {
	Schedule Schedule `json:"schedule,omitempty"`
	// TTFT and ITL are the timeline of an Independent engine.
	TTFT time.Duration `json:"-"`
	ITL  time.Duration `json:"-"`
	// Step is the duration of one iteration, Host what the server's processes add around it.
	Step StepModel `json:"step"`
	Host Host      `json:"host"`
	// MaxSeqs is the most requests that run at once; 0 is no limit for Independent and 256 otherwise (8 slots for Slots).
	MaxSeqs int `json:"max_seqs,omitempty"`
	// TokenBudget is the most tokens computed in one step (vLLM's max_num_batched_tokens, SGLang's chunked_prefill_size,
	// llama.cpp's batch); 0 is 8192 (2048 for Slots).
	TokenBudget int `json:"token_budget,omitempty"`
	// PageSize is tokens per KV page (0 is 16) and KVTokens the pool's capacity in tokens (0 is 1,000,000).
	PageSize int `json:"page_size,omitempty"`
	KVTokens int `json:"kv_tokens,omitempty"`
	// PrefixCache lets requests reuse full pages that others computed.
	PrefixCache bool `json:"prefix_cache,omitempty"`
	// LongestPrefix orders SGLang's queue by the length of the cached prefix while fewer than 128 wait; else first come.
	LongestPrefix bool `json:"longest_prefix,omitempty"`
	// MixedChunk lets SGLang's prompt batches carry the running decodes along.
	MixedChunk bool `json:"mixed_chunk,omitempty"`
	// Conservativeness scales how much of the running requests' remaining output SGLang reserves before it admits another; 0 is 1.
	Conservativeness float64 `json:"conservativeness,omitempty"`
	// SpecDepth draft tokens are verified a step (0 is off), each accepted with probability SpecAccept while those before were.
	SpecDepth  int     `json:"spec_depth,omitempty"`
	SpecAccept float64 `json:"spec_accept,omitempty"`
	// Seed fixes the step noise and the speculative draws.
	Seed uint64 `json:"seed,omitempty"`
}

// StepModel is the time of one step, in milliseconds (§4.4 of the simulator's specification names the symbols in brackets):
//
//	t = Base + max(mem, cmp) + Overlap·min(mem, cmp) + Draft·SpecDepth, times a log-normal factor of mean 1
//	mem = PerSeq·B + PerContext·K + Experts·(1 − (1 − ActiveExperts/NumExperts)^(v+P))
//	cmp = PerToken·(P + v) + PerArea·A
//
// B requests decode, K is their summed context, v = B·(1+SpecDepth) the tokens verified for them, P the prompt tokens of the
// step and A their attention area Σ(s·x + x²/2) for a chunk of x tokens at offset s.
type StepModel struct {
	Base          float64 `json:"base_ms"`                  // a
	PerSeq        float64 `json:"per_seq_ms"`               // c
	PerContext    float64 `json:"per_context_token_ms"`     // d
	Experts       float64 `json:"experts_ms"`               // e, 0 for a dense model
	NumExperts    int     `json:"num_experts,omitempty"`    // E
	ActiveExperts int     `json:"active_experts,omitempty"` // k
	PerToken      float64 `json:"per_token_ms"`             // p1
	PerArea       float64 `json:"per_area_ms"`              // p2
	Overlap       float64 `json:"overlap"`                  // λ: 0 the smaller part hides wholly, 1 not at all
	Noise         float64 `json:"noise"`                    // σ of the log-normal factor
	Draft         float64 `json:"draft_ms,omitempty"`       // h, per draft token
}

// Host is what the server's own processes cost around the steps, in milliseconds.
type Host struct {
	Ingest         float64 `json:"ingest_ms"`           // α_in: arrival to queue
	IngestPerToken float64 `json:"ingest_per_token_ms"` // α_in1: tokenisation, per prompt token
	Out            float64 `json:"out_ms"`              // α_out: detokenised to first byte
	PerToken       float64 `json:"per_token_ms"`        // α_tok: one serial detokeniser, per token
}

func ms(x float64) time.Duration { return time.Duration(x*1e6 + 0.5) }

func (h Host) ingest(prompt int) time.Duration {
	return ms(h.Ingest + h.IngestPerToken*float64(prompt))
}
func (h Host) perToken(n int) time.Duration { return ms(h.PerToken * float64(n)) }
func (h Host) out() time.Duration           { return ms(h.Out) }

func (p Params) withDefaults() Params {
	if p.Schedule == "" {
		p.Schedule = Independent
	}
	slots := p.Schedule == Slots
	if p.MaxSeqs == 0 && p.Schedule != Independent {
		p.MaxSeqs = pick(slots, 8, 256)
	}
	if p.TokenBudget == 0 {
		p.TokenBudget = pick(slots, 2048, 8192)
	}
	if p.PageSize == 0 {
		p.PageSize = 16
	}
	if p.KVTokens == 0 {
		p.KVTokens = 1_000_000
	}
	if p.Conservativeness == 0 {
		p.Conservativeness = 1
	}
	return p
}

func pick(cond bool, a, b int) int {
	if cond {
		return a
	}
	return b
}

// pages is the size of the KV pool.
func (p Params) pages() int { return p.KVTokens / p.PageSize }

// roomPerRequest is the most tokens one request can ever hold.
func (p Params) roomPerRequest() int {
	switch p.Schedule {
	case Independent:
		return int(^uint(0) >> 1)
	case Slots:
		return p.pages() / p.MaxSeqs * p.PageSize
	}
	return p.pages() * p.PageSize
}

// Validate reports every value that makes no sense, each with its range; it expects defaults to be filled in by New.
func (p Params) Validate() error {
	var errs []error
	bad := func(ok bool, format string, args ...any) {
		if !ok {
			errs = append(errs, fmt.Errorf(format, args...))
		}
	}
	switch p.Schedule {
	case "", Independent, VLLM, SGLang, Slots:
	default:
		bad(false, "schedule %q is unknown; take independent, vllm, sglang or slots", p.Schedule)
	}
	bad(p.TTFT >= 0, "TTFT %v is negative", p.TTFT)
	bad(p.ITL >= 0, "ITL %v is negative", p.ITL)
	s, h := p.Step, p.Host
	for _, v := range []struct {
		name  string
		value float64
	}{
		{"base_ms", s.Base}, {"per_seq_ms", s.PerSeq}, {"per_context_token_ms", s.PerContext}, {"experts_ms", s.Experts},
		{"per_token_ms", s.PerToken}, {"per_area_ms", s.PerArea}, {"noise", s.Noise}, {"draft_ms", s.Draft},
		{"ingest_ms", h.Ingest}, {"ingest_per_token_ms", h.IngestPerToken}, {"out_ms", h.Out}, {"host per_token_ms", h.PerToken},
		{"conservativeness", p.Conservativeness},
	} {
		bad(v.value >= 0 && v.value < 1e9, "%s is %v; it must be 0 or more", v.name, v.value)
	}
	bad(s.Overlap >= 0 && s.Overlap <= 1, "overlap is %v; it must lie in 0..1", s.Overlap)
	bad(s.Noise <= 1, "noise is %v; it must lie in 0..1", s.Noise)
	if s.Experts > 0 {
		bad(s.NumExperts > 0 && s.ActiveExperts > 0 && s.ActiveExperts <= s.NumExperts,
			"experts_ms needs num_experts and active_experts with 1 ≤ active ≤ num, got %d and %d", s.ActiveExperts, s.NumExperts)
	}
	bad(p.MaxSeqs >= 0, "max_seqs is %d; it must be 1 or more", p.MaxSeqs)
	bad(p.TokenBudget >= 0, "token_budget is %d; it must be 1 or more", p.TokenBudget)
	bad(p.PageSize >= 0, "page_size is %d; it must be 1 or more", p.PageSize)
	bad(p.KVTokens >= p.PageSize, "kv_tokens is %d; it must hold at least one page of %d", p.KVTokens, p.PageSize)
	bad(p.SpecDepth >= 0 && p.SpecDepth <= 64, "spec_depth is %d; it must lie in 0..64", p.SpecDepth)
	bad(p.SpecAccept >= 0 && p.SpecAccept <= 1, "spec_accept is %v; it must lie in 0..1", p.SpecAccept)
	return errors.Join(errs...)
}
