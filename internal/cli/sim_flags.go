package cli

import (
	"fmt"
	"net"
	"os"
	"slices"
	"strings"

	"github.com/servemark/servemark/internal/sim"
	"github.com/servemark/servemark/internal/sim/engine"
)

// simTable holds the flags of `servemark sim`.
var simTable = []flagDef{
	{name: "help", arity: arityHelp, help: "this text"},
	{name: "host", preset: []string{"127.0.0.1"}, help: "address to listen on"},
	{name: "port", kind: kindInt, preset: []string{"30000"}, help: "port to listen on; 0 takes a free one"},
	{name: "served-model-name", preset: []string{sim.DefaultServedModel}, help: "name it answers to"},
	{name: "model", preset: []string{sim.DefaultModel}, help: "repository or path it declares"},
	{name: "lora-modules", arity: arityMany, help: "LoRA adapters it serves too, as NAME or NAME=PATH (sglang and vllm)"},
	{name: "flavour", preset: []string{"sglang"}, choices: flavours(), help: "server it imitates"},
	{name: "preset", help: "a whole deployment: a name, a JSON file, or list to see the names"},
	{name: "ttft", kind: kindDuration, preset: []string{"100ms"}, help: "time from a request to its first token, where no step model decides"},
	{name: "itl", kind: kindDuration, preset: []string{"10ms"}, help: "time from token to token, where no step model decides"},
	{name: "schedule", choices: []string{"independent", "vllm", "sglang", "slots"}, help: "how requests share the engine"},
	{name: "max-seqs", kind: kindInt, help: "most requests that run at once"},
	{name: "token-budget", kind: kindInt, help: "most tokens computed in one step"},
	{name: "kv-tokens", kind: kindInt, help: "tokens the KV pool holds"},
	{name: "page-size", kind: kindInt, help: "tokens of a KV page"},
	{name: "prefix-cache", arity: aritySwitch, help: "let requests share the KV pages of equal beginnings"},
	{name: "spec-depth", kind: kindInt, help: "draft tokens verified in a step"},
	{name: "spec-accept", kind: kindFloat, help: "chance that a draft token is accepted (0 to 1)"},
	{name: "max-model-len", kind: kindInt, help: "context length in tokens"},
	{name: "answer-tokens", kind: kindInt, help: "mean length of answers that end by themselves"},
	{name: "reasoning", kind: kindFloat, help: "share of a chat answer's tokens that come as reasoning (0 to 1)"},
	{name: "reasoning-tokens", kind: kindInt, help: "or exactly so many of them"},
	{name: "usage", choices: []string{"never", "always", "every-chunk"}, help: "when streams carry usage, if not when asked"},
	{name: "tokens-per-chunk", kind: kindInt, help: "tokens gathered in one frame"},
	{name: "keep-alive", kind: kindDuration, help: "send a comment after so long a silence"},
	{name: "crlf", arity: aritySwitch, help: `end lines with \r\n`},
	{name: "no-space", arity: aritySwitch, help: `write "data:" without the blank`},
	{name: "early-role", arity: aritySwitch, help: "send the role chunk at once, before the first token"},
	{name: "fault", arity: arityMany, help: "what goes wrong: KIND:rate=0.1 or KIND:at=3+7, with after=N tokens, delay=TIME, retry-after=TIME; kinds refuse, 429, 503, slow-start, error-frame, eof, reset, stall, slow-bytes, split-utf8, garbage, crash"},
	{name: "seed", kind: kindInt, help: "varies texts, lengths, noise and faults"},
	{name: "log-bodies", help: "append every request body to this file, one JSON object a line"},
	{name: "flood", arity: aritySwitch, help: "pre-rendered events from one loop, to find the limits of clients (Linux)"},
	{name: "events-per-write", kind: kindInt, help: "events that leave in one write (with --flood)"},
	{name: "align", arity: aritySwitch, help: "let all streams speak at the same instants (with --flood)"},
}

// floodFlags are the flags that --flood reads.
var floodFlags = map[string]bool{"flood": true, "host": true, "port": true, "served-model-name": true, "ttft": true, "itl": true, "answer-tokens": true,
	"tokens-per-chunk": true, "events-per-write": true, "align": true}

func flavours() []string {
	var out []string
	for _, f := range sim.Flavours() {
		out = append(out, string(f))
	}
	return out
}

func simAddress(a *arguments) string {
	port, _ := a.whole("port")
	if port < 0 || port > 65535 {
		a.wrong("port", fmt.Sprintf("%d is out of range: 0 to 65535", port), "")
	}
	return net.JoinHostPort(strings.Trim(a.text("host"), "[]"), fmt.Sprint(port))
}

// faultsOf adds the lines of a joined error as faults.
func (a *arguments) faultsOf(err error) {
	if err == nil {
		return
	}
	for _, line := range strings.Split(err.Error(), "\n") {
		a.faults = append(a.faults, fault{what: line})
	}
}

// simConfig turns the command line into a configuration, typed flags over the preset's values; all faults go to a.
func simConfig(a *arguments, getenv func(string) string) sim.Config {
	cfg := simBase(a)
	for name, to := range map[string]*string{"served-model-name": &cfg.ServedModel, "model": &cfg.Model, "flavour": (*string)(&cfg.Flavour), "usage": (*string)(&cfg.Usage)} {
		if a.typed(name) || *to == "" {
			*to = a.text(name)
		}
		if strings.TrimSpace(*to) == "" && (name == "served-model-name" || name == "model") {
			a.wrong(name, "is empty", "name one, or leave the flag out")
		}
	}
	for name, to := range map[string]*int{"answer-tokens": &cfg.AnswerTokens, "reasoning-tokens": &cfg.ReasoningTokens, "max-model-len": &cfg.MaxModelLen,
		"max-seqs": &cfg.MaxSeqs, "tokens-per-chunk": &cfg.TokensPerChunk} {
		a.setWhole(name, to)
	}
	if a.typed("reasoning") {
		cfg.ReasoningShare = a.number("reasoning")
	}
	if a.typed("seed") {
		n, _ := a.whole("seed")
		if n < 0 {
			a.wrong("seed", fmt.Sprintf("%d is out of range: at least 0", n), "")
		}
		cfg.Seed = uint64(max(n, 0))
	}
	cfg.APIKey = getenv("SERVEMARK_SIM_KEY")
	if cfg.KeepAlive, _ = parseDuration(a.text("keep-alive")); a.typed("keep-alive") && cfg.KeepAlive <= 0 {
		a.wrong("keep-alive", "is out of range: above 0", "leave it out for none")
	}
	a.needUnits("ttft", "itl", "keep-alive")
	cfg.CRLF, cfg.NoSpace, cfg.EarlyRole = a.on("crlf"), a.on("no-space"), a.on("early-role")
	a.engineFlags(&cfg)
	if a.typed("lora-modules") {
		cfg.Adapters = nil
	}
	for _, text := range a.list("lora-modules") {
		one, err := sim.ParseAdapter(text)
		if a.faultsOf(err); err == nil {
			cfg.Adapters = append(cfg.Adapters, one)
		}
	}
	for _, text := range a.list("fault") {
		f, err := sim.ParseFault(text)
		if a.faultsOf(err); err == nil {
			cfg.Faults = append(cfg.Faults, f)
		}
	}
	for _, name := range []string{"align", "events-per-write"} {
		if a.typed(name) {
			a.wrong(name, "has no effect without --flood", "leave it out")
		}
	}
	if !a.refused["preset"] {
		a.faultsOf(cfg.Validate())
	}
	return cfg
}

// simBase is the preset, or a plain engine of fixed times.
func simBase(a *arguments) sim.Config {
	name := a.text("preset")
	if name == "" {
		return sim.Config{}
	}
	p, err := sim.PresetNamed(name)
	if f, openErr := os.Open(name); openErr == nil && (err != nil || strings.HasSuffix(name, ".json")) {
		defer f.Close()
		p, err = sim.ReadPreset(f)
	}
	if err != nil {
		if exists(name) {
			a.wrong("preset", name+": "+whyNot(err), "a preset's file is JSON; docs/sim.md has one")
		} else {
			a.wrong("preset", err.Error(), "")
		}
		a.refused["preset"] = true // what would be missing from it is no fault of its own
		return sim.Config{}
	}
	return p.Config()
}

// engineFlags sets the engine model. Fixed times hold where no schedule with a step model was chosen.
func (a *arguments) engineFlags(cfg *sim.Config) {
	names := []string{"schedule", "token-budget", "kv-tokens", "page-size", "prefix-cache", "spec-depth", "spec-accept"}
	if cfg.Engine == nil && slices.ContainsFunc(names, a.typed) {
		cfg.Engine = &engine.Params{}
	}
	e := cfg.Engine
	if e != nil {
		if a.typed("schedule") {
			e.Schedule = engine.Schedule(a.text("schedule"))
		}
		a.setWhole("token-budget", &e.TokenBudget)
		a.setWhole("kv-tokens", &e.KVTokens)
		a.setWhole("page-size", &e.PageSize)
		a.setWhole("spec-depth", &e.SpecDepth)
		if a.typed("spec-accept") {
			e.SpecAccept = a.number("spec-accept")
		}
		e.PrefixCache = e.PrefixCache || a.on("prefix-cache")
	}
	stepped := e != nil && e.Schedule != "" && e.Schedule != engine.Independent
	if !stepped {
		for _, name := range names[1:] {
			if a.typed(name) {
				a.wrong(name, "has no effect on streams with fixed times of their own", "choose a --schedule or a --preset, or leave it out")
			}
		}
	}
	if !stepped || a.typed("ttft") {
		cfg.TTFT, _ = parseDuration(a.text("ttft"))
	}
	if !stepped || a.typed("itl") {
		cfg.ITL, _ = parseDuration(a.text("itl"))
	}
}

// setWhole stores a typed whole number above 0.
func (a *arguments) setWhole(name string, to *int) {
	if !a.typed(name) {
		return
	}
	n, _ := a.whole(name)
	if n < 1 {
		a.wrong(name, fmt.Sprintf("%d is out of range: at least 1", n), "leave it out for the default")
		return
	}
	*to = n
}

// needUnits refuses bare numbers for times that are milliseconds as a rule: 50 would be 50 seconds.
func (a *arguments) needUnits(names ...string) {
	for _, name := range names {
		if v, err := pyFloat(a.text(name)); a.typed(name) && err == nil && v != 0 {
			a.wrong(name, fmt.Sprintf("%s has no unit", a.text(name)), fmt.Sprintf("write %sms or %ss", a.text(name), a.text(name)))
		}
	}
}
