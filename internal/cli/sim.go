package cli

import (
	"context"
	"fmt"
	"net"
	"os"
	"strings"

	"github.com/servemark/servemark/internal/sim"
)

// simTable holds the flags of `servemark sim`.
var simTable = []flagDef{
	{name: "help", arity: arityHelp, help: "this text"},
	{name: "host", preset: []string{"127.0.0.1"}, help: "address to listen on"},
	{name: "port", kind: kindInt, preset: []string{"30000"}, help: "port to listen on; 0 takes a free one"},
	{name: "served-model-name", preset: []string{sim.DefaultServedModel}, help: "name it answers to"},
	{name: "model", preset: []string{sim.DefaultModel}, help: "repository or path it declares"},
	{name: "flavour", preset: []string{"sglang"}, choices: []string{"sglang", "vllm", "llamacpp"}, help: "server it imitates"},
	{name: "ttft", kind: kindDuration, preset: []string{"100ms"}, help: "time from a request to its first token"},
	{name: "itl", kind: kindDuration, preset: []string{"10ms"}, help: "time from token to token"},
	{name: "reasoning", kind: kindFloat, preset: []string{"0"}, help: "share of a chat answer's tokens that come as reasoning (0 to 1)"},
	{name: "answer-tokens", kind: kindInt, help: "mean length of answers that end by themselves"},
	{name: "max-model-len", kind: kindInt, help: "context length in tokens"},
	{name: "max-seqs", kind: kindInt, help: "most requests that run at once"},
	{name: "seed", kind: kindInt, preset: []string{"0"}, help: "varies texts and lengths"},
	{name: "log-bodies", help: "append every request body to this file, one JSON object a line"},
}

// simCommand serves the simulated engine.
func simCommand() command {
	return command{
		name: "sim", operands: "[flags]", short: "Serve a simulated engine whose timing is known exactly",
		long:  "Speaks the OpenAI routes and those of SGLang, vLLM or llama.cpp. An API key is asked for when SERVEMARK_SIM_KEY is set.",
		table: simTable,
		act:   func(ctx context.Context, c *console, a *arguments) int { return c.serveSim(ctx, a) },
	}
}

// simConfig turns the command line into a configuration; all faults go to a.
func simConfig(a *arguments, getenv func(string) string) (sim.Config, string) {
	cfg := sim.Config{
		ServedModel: a.text("served-model-name"), Model: a.text("model"), Flavour: sim.Flavour(a.text("flavour")),
		APIKey: getenv("SERVEMARK_SIM_KEY"), ReasoningShare: a.number("reasoning"),
	}
	cfg.TTFT, _ = parseDuration(a.text("ttft"))
	cfg.ITL, _ = parseDuration(a.text("itl"))
	cfg.AnswerTokens, _ = a.whole("answer-tokens")
	cfg.MaxModelLen, _ = a.whole("max-model-len")
	cfg.MaxSeqs, _ = a.whole("max-seqs")
	seed, _ := a.whole("seed")
	cfg.Seed = uint64(max(seed, 0))
	if seed < 0 {
		a.wrong("seed", fmt.Sprintf("%d is out of range: at least 0", seed), "")
	}
	port, _ := a.whole("port")
	if port < 0 || port > 65535 {
		a.wrong("port", fmt.Sprintf("%d is out of range: 0 to 65535", port), "")
	}
	if err := cfg.Validate(); err != nil {
		for _, line := range strings.Split(err.Error(), "\n") {
			a.faults = append(a.faults, fault{what: line})
		}
	}
	if len(a.rest) > 0 {
		a.faults = append(a.faults, fault{what: fmt.Sprintf("%q stands without a flag", strings.Join(a.rest, " "))})
	}
	return cfg, net.JoinHostPort(strings.Trim(a.text("host"), "[]"), fmt.Sprint(port))
}

func (c *console) serveSim(ctx context.Context, a *arguments) int {
	cfg, address := simConfig(a, c.getenv)
	if len(a.faults) > 0 {
		return c.refuse("sim", exitUsage, faultLines(a.faults))
	}
	if path := a.text("log-bodies"); path != "" {
		f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			return c.refuse("sim", exitRefused, []string{"--log-bodies: " + err.Error()})
		}
		defer f.Close()
		cfg.LogBodies = f
	}
	server, err := sim.New(cfg)
	if err != nil {
		return c.refuse("sim", exitUsage, []string{err.Error()})
	}
	l, err := net.Listen("tcp", address)
	if err != nil {
		return c.refuse("sim", exitRefused, []string{fmt.Sprintf("cannot listen on %s: %v; choose another --port", address, err)})
	}
	c.say("simulated %s engine serves %q on http://%s (Ctrl-C ends it)", a.text("flavour"), cfg.ServedModel, l.Addr())
	if err := server.Serve(ctx, l); err != nil && ctx.Err() == nil {
		return c.refuse("sim", exitFailed, []string{err.Error()})
	}
	return exitOK
}
