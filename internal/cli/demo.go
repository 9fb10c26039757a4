package cli

import (
	"context"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/servemark/servemark/internal/bench"
	"github.com/servemark/servemark/internal/sim"
)

var demoTable = []flagDef{
	{name: "help", arity: arityHelp, help: "this text"},
	{name: "journal", preset: []string{"-"}, help: "keep the run's journal in this file; - for none"},
	{name: "no-progress", arity: aritySwitch, help: "say nothing while the load runs"},
}

// The demo's engine and load: the story's model name and goals.
const (
	demoModel    = "glm-5"
	demoRequests = 32
	demoInput    = 256
	demoOutput   = 128
	demoAlone    = 3 // requests of the single-stream stage
)

// demoCommand tells the whole story without a server.
func demoCommand() command {
	return command{
		name: "demo", operands: "", short: "The whole story on the embedded engine: no server, no network, no flags",
		long:  "Starts a simulated engine that serves glm-5 on this machine, checks that it answers, benchmarks it and says whether two\ngoals are met: 1,000 output tok/s in all and 100 tok/s for a single stream. Goals are shown; the exit code is 0.",
		table: demoTable,
		act:   func(ctx context.Context, c *console, a *arguments) int { return c.demo(ctx, a) },
	}
}

func (c *console) demo(ctx context.Context, a *arguments) int {
	if len(a.rest) > 0 {
		a.faults = append(a.faults, fault{what: fmt.Sprintf("%q: the demo takes no server", strings.Join(a.rest, " ")), cure: "to benchmark one type servemark run URL"})
	}
	if len(a.faults) > 0 {
		return c.refuse("demo", exitUsage, faultLines(a.faults))
	}
	server, err := sim.New(sim.Config{ServedModel: demoModel, TTFT: 80 * time.Millisecond, ITL: 9 * time.Millisecond})
	if err != nil {
		return c.refuse("demo", exitFailed, []string{err.Error()})
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return c.refuse("demo", exitRefused, []string{fmt.Sprintf("the embedded engine cannot listen on 127.0.0.1: %v", err)})
	}
	serving, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(serving, l) }()
	defer func() { stop(); <-ended }()

	c.say("The embedded engine serves %s on http://%s: first token after 80 ms, then one every 9 ms for each stream.", demoModel, l.Addr())
	c.say("On a server of your own: servemark run http://HOST:PORT\n")
	j := demoJob("http://"+l.Addr().String(), a)
	s := newSession(c, "demo", &j)
	s.before = func(ctx context.Context) error { return s.singleStream(ctx, demoAlone) }
	return s.run(ctx)
}

// demoJob is the story's command line: 32 prompts of 256 tokens at once, 128 tokens out.
func demoJob(base string, a *arguments) job {
	return job{
		spec: bench.Spec{
			Dialect: bench.DialectNative,
			Target:  bench.Target{BaseURL: base, API: bench.APIChat, Stream: true, ReadyTimeout: 10 * time.Second},
			Dataset: bench.DatasetSpec{Name: "random", Rows: demoRequests, InputTokens: demoInput, OutputTokens: demoOutput, RangeRatio: 1},
			Body:    bench.BodySpec{TopP: 1, IgnoreEOS: true, LogprobStart: -1},
			Warmup:  1, Seed: 42, MaxErrorRate: 0.01,
			Goals: []bench.Goal{
				{Name: "output tokens in all", Metric: "output_throughput", Op: bench.AtLeast, Bound: 1000, Unit: "tok/s"},
				{Name: "single stream", Metric: "single_stream", Op: bench.AtLeast, Bound: 100, Unit: "tok/s"},
			},
		},
		journal: a.text("journal"), progress: !a.on("no-progress"), native: true, forgiving: true,
	}
}
