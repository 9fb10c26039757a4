// Package sim is a simulated LLM server: it speaks the routes and frames of real engines over HTTP while an engine model
// (package engine) decides when every token leaves, on absolute deadlines, so each number a client measures is known beforehand.
// It shares no code with the clients it is used to check.
package sim

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/servemark/servemark/internal/sim/engine"
	"github.com/servemark/servemark/internal/sim/prose"
	"github.com/servemark/servemark/internal/sim/wire"
)

// Flavour is the server whose routes, field names, frames and words of error are spoken.
type Flavour = wire.Flavour

// The flavours a server can take; the zero value means SGLang.
const (
	SGLang   = wire.SGLang
	VLLM     = wire.VLLM
	LlamaCpp = wire.LlamaCpp
	LMDeploy = wire.LMDeploy
	TRT      = wire.TRT
	TGI      = wire.TGI
	Truss    = wire.Truss
)

// Flavours lists every flavour.
func Flavours() []Flavour { return slices.Clone(wire.Flavours) }

// UsageMode says when streams carry usage.
type UsageMode string

// The usage modes: when asked for (the zero value), never, always in a last chunk, or always in every chunk.
const (
	UsageAsked      UsageMode = ""
	UsageNever      UsageMode = "never"
	UsageAlways     UsageMode = "always"
	UsageEveryChunk UsageMode = "every-chunk"
)

// Defaults of Config where zero cannot be meant literally.
const (
	DefaultServedModel  = "sim"
	DefaultModel        = prose.Name
	DefaultMaxModelLen  = 131072
	DefaultAnswerTokens = 128
	// DefaultTruthRequests bounds the memory of the truth log: about 16 bytes a token.
	DefaultTruthRequests = 20000
)

// Config describes one simulated server. The zero value answers at once as an SGLang server that serves "sim".
type Config struct {
	// ServedModel is the id the server answers to; Model is the repository or path it declares its weights come from.
	ServedModel string
	Model       string
	// Adapters are LoRA adapters that are served too, by name; sglang and vllm only.
	Adapters []Adapter
	// Flavour is the server imitated; empty is SGLang.
	Flavour Flavour
	// APIKey, when set, is asked for where the imitated server asks for it.
	APIKey string
	// TTFT is the time from acceptance to the first token, ITL from each token to the next, on absolute deadlines.
	// They apply while Engine is nil or has the Independent schedule.
	TTFT time.Duration
	ITL  time.Duration
	// AnswerTokens is the mean length of an answer that may end by itself (no ignore_eos); 0 is DefaultAnswerTokens.
	AnswerTokens int
	// ReasoningShare (0..1) of a chat answer's tokens, or exactly ReasoningTokens of them, come as reasoning; set at most one.
	ReasoningShare  float64
	ReasoningTokens int
	// Seed varies texts, natural lengths, noise and faults.
	Seed uint64
	// MaxModelLen is the context length in tokens; 0 is DefaultMaxModelLen.
	MaxModelLen int
	// MaxSeqs is the most requests that run at once; 0 leaves it to the engine model (no limit with plain TTFT and ITL).
	MaxSeqs int
	// Engine is the step model and scheduler; nil is the Independent timeline of TTFT and ITL.
	Engine *engine.Params
	// LogBodies, when set, receives every request as one JSON line {"path":…,"body":…}; it is written from one goroutine at a time.
	LogBodies io.Writer
	// Faults are shown to some requests; see Fault.
	Faults []Fault
	// Usage says when streams carry usage.
	Usage UsageMode
	// TokensPerChunk gathers that many tokens in a frame (the last may have fewer); 0 and 1 send each step's tokens at once.
	TokensPerChunk int
	// KeepAlive sends a comment line whenever a stream was silent for that long; 0 sends none.
	KeepAlive time.Duration
	// CRLF ends lines with \r\n, NoSpace leaves out the space after "data:"; both are legal in server-sent events.
	CRLF    bool
	NoSpace bool
	// EarlyRole sends the role chunk when the request is accepted instead of with the first token.
	EarlyRole bool
	// TruthRequests is how many of the latest requests /sim/truth keeps; 0 is DefaultTruthRequests.
	TruthRequests int
}

func (c Config) withDefaults() Config {
	if c.ServedModel == "" {
		c.ServedModel = DefaultServedModel
	}
	if c.Model == "" {
		c.Model = DefaultModel
	}
	if c.Flavour == "" {
		c.Flavour = SGLang
	}
	if c.AnswerTokens == 0 {
		c.AnswerTokens = DefaultAnswerTokens
	}
	if c.TruthRequests == 0 {
		c.TruthRequests = DefaultTruthRequests
	}
	if c.MaxModelLen == 0 {
		c.MaxModelLen = DefaultMaxModelLen
	}
	return c
}

// engineParams is the engine model in force.
func (c Config) engineParams() engine.Params {
	var p engine.Params
	if c.Engine != nil {
		p = *c.Engine
	}
	if c.TTFT != 0 || c.ITL != 0 {
		p.TTFT, p.ITL = c.TTFT, c.ITL
	}
	if c.MaxSeqs != 0 {
		p.MaxSeqs = c.MaxSeqs
	}
	if c.Seed != 0 {
		p.Seed = c.Seed
	}
	return p
}

// Validate reports every fault at once.
func (c Config) Validate() error {
	var errs []error
	bad := func(ok bool, format string, args ...any) {
		if !ok {
			errs = append(errs, fmt.Errorf(format, args...))
		}
	}
	bad(c.Flavour == "" || slices.Contains(wire.Flavours, c.Flavour), "flavour %q is unknown; take one of %v", c.Flavour, wire.Flavours)
	bad(slices.Contains([]UsageMode{UsageAsked, UsageNever, UsageAlways, UsageEveryChunk}, c.Usage), "usage mode %q is unknown; take never, always or every-chunk", c.Usage)
	bad(c.TokensPerChunk >= 0, "tokens per chunk %d are negative; take 1 or more", c.TokensPerChunk)
	bad(c.KeepAlive >= 0, "keep-alive %v is negative; take 0 or more", c.KeepAlive)
	bad(c.TruthRequests >= 0, "truth requests %d are negative; take 1 or more", c.TruthRequests)
	if err := c.checkAdapters(); err != nil {
		errs = append(errs, err)
	}
	for _, f := range c.Faults {
		if err := f.validate(); err != nil {
			errs = append(errs, err)
		}
	}
	bad(c.TTFT >= 0, "TTFT %v is negative; take 0 or more", c.TTFT)
	bad(c.ITL >= 0, "ITL %v is negative; take 0 or more", c.ITL)
	if c.Engine != nil && c.Engine.Schedule != "" && c.Engine.Schedule != engine.Independent {
		bad(c.TTFT == 0 && c.ITL == 0, "TTFT %v and ITL %v are fixed while the %s schedule derives both from its step model; leave one of the two out",
			c.TTFT, c.ITL, c.Engine.Schedule)
	}
	bad(c.AnswerTokens >= 0, "answer length %d is negative; take 1 token or more", c.AnswerTokens)
	bad(c.ReasoningShare >= 0 && c.ReasoningShare <= 1, "reasoning share %v lies outside 0..1", c.ReasoningShare)
	bad(c.ReasoningTokens >= 0, "reasoning tokens %d are negative; take 0 or more", c.ReasoningTokens)
	bad(c.ReasoningShare == 0 || c.ReasoningTokens == 0, "reasoning is given as a share (%v) and as tokens (%d); take one", c.ReasoningShare, c.ReasoningTokens)
	bad(c.MaxModelLen >= 0, "context length %d is negative; take 1 token or more", c.MaxModelLen)
	bad(c.MaxSeqs >= 0, "running requests %d are negative; take 1 or more", c.MaxSeqs)
	if p := c.engineParams(); p.TTFT >= 0 && p.ITL >= 0 && p.MaxSeqs >= 0 {
		if _, err := engine.New(p); err != nil {
			errs = append(errs, fmt.Errorf("engine model: %w", err))
		}
	}
	return errors.Join(errs...)
}
