package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"strings"
	"syscall"

	"github.com/servemark/servemark/internal/sim"
	"github.com/servemark/servemark/internal/sim/flood"
)

// simCommand serves the simulated engine.
func simCommand() command {
	return command{
		name: "sim", operands: "[flags]", short: "Serve a simulated engine whose timing is known exactly",
		long: "Without --preset every stream has its own fixed --ttft and --itl. With one, a whole deployment is simulated: batches, KV pool,\n" +
			"queueing. Flags typed beside a preset win over its values. GET /sim/truth tells what happened to each request, /sim/steps each step.\n" +
			"An API key is asked for when SERVEMARK_SIM_KEY is set. docs/sim.md has the model and its limits.",
		table: simTable,
		act:   func(ctx context.Context, c *console, a *arguments) int { return c.simulate(ctx, a) },
	}
}

// simulate picks what `sim` does: list presets, flood, or serve.
func (c *console) simulate(ctx context.Context, a *arguments) int {
	if len(a.rest) > 0 {
		a.faults = append(a.faults, fault{what: fmt.Sprintf("%q stands without a flag", strings.Join(a.rest, " "))})
	}
	if a.text("preset") == "list" {
		for name := range a.values {
			if name != "preset" {
				a.wrong(name, "has no effect with --preset list", "leave it out")
			}
		}
		if len(a.faults) > 0 {
			return c.refuse("sim", exitUsage, faultLines(a.faults))
		}
		return c.listPresets()
	}
	address := simAddress(a)
	if a.on("flood") {
		return c.serveFlood(ctx, a, address)
	}
	cfg := simConfig(a, c.getenv)
	if len(a.faults) > 0 {
		return c.refuse("sim", exitUsage, faultLines(a.faults))
	}
	if path := a.text("log-bodies"); path != "" {
		f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			return c.refuse("sim", exitRefused, []string{"--log-bodies " + unusable(path, err, "name a file in a folder of yours").Error()})
		}
		defer f.Close()
		cfg.LogBodies = f
	}
	server, err := sim.New(cfg)
	if err != nil {
		return c.refuse("sim", exitUsage, strings.Split(err.Error(), "\n"))
	}
	code := c.serveOn(ctx, address, fmt.Sprintf("simulated %s engine serves %q", cfg.Flavour, cfg.ServedModel), server.Serve)
	if h := server.Health(); h.Overloaded {
		c.warn("the simulated engine was late itself: %s", h.Why)
	}
	return code
}

// serveOn listens, says so, and serves until the user ends it.
func (c *console) serveOn(ctx context.Context, address, what string, serve func(context.Context, net.Listener) error) int {
	l, err := net.Listen("tcp", address)
	if err != nil {
		cure := "choose another --port"
		if !errors.Is(err, syscall.EADDRINUSE) && !errors.Is(err, fs.ErrPermission) {
			cure = "choose an address of this machine with --host (127.0.0.1, or 0.0.0.0 for all)"
		}
		return c.refuse("sim", exitRefused, []string{fmt.Sprintf("cannot listen on %s: %v; %s", address, err, cure)})
	}
	c.say("%s on http://%s (Ctrl-C ends it)", safe(what), l.Addr())
	err = serve(ctx, l)
	switch {
	case errors.Is(err, sim.ErrCrashed):
		c.warn("the simulated server crashed, as --fault asked")
		return exitFailed
	case err != nil && ctx.Err() == nil:
		return c.refuse("sim", exitFailed, []string{err.Error()})
	}
	return exitOK
}

func (c *console) listPresets() int {
	list, err := sim.Presets()
	if err != nil {
		return c.refuse("sim", exitFailed, []string{err.Error()})
	}
	for _, p := range list {
		c.say("%s\n    %s", p.Name, p.About)
		for _, s := range p.Sources {
			c.say("    source: %s", s)
		}
	}
	return exitOK
}

// serveFlood serves pre-rendered events as fast or as evenly as the machine can.
func (c *console) serveFlood(ctx context.Context, a *arguments, address string) int {
	for name := range a.values {
		if !floodFlags[name] {
			a.wrong(name, "has no effect with --flood", "leave it out")
		}
	}
	cfg := flood.Config{ServedModel: a.text("served-model-name"), Align: a.on("align")}
	cfg.TTFT, _ = parseDuration(a.text("ttft"))
	cfg.ITL, _ = parseDuration(a.text("itl"))
	a.needUnits("ttft", "itl")
	cfg.Tokens, _ = a.whole("answer-tokens")
	cfg.PerEvent, _ = a.whole("tokens-per-chunk")
	cfg.PerWrite, _ = a.whole("events-per-write")
	a.faultsOf(cfg.Validate())
	if len(a.faults) > 0 {
		return c.refuse("sim", exitUsage, faultLines(a.faults))
	}
	return c.serveOn(ctx, address, fmt.Sprintf("flood of %q", cfg.ServedModel), func(ctx context.Context, l net.Listener) error { return flood.Serve(ctx, l, cfg) })
}
