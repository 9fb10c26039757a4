package cli

import (
	"context"
	"slices"

	"github.com/servemark/servemark/internal/plan"
)

// runCommand is the native front door.
func runCommand() command {
	return command{
		name: "run", operands: "URL [flags]", short: "Benchmark a server: discover, smoke-test, measure, report",
		long: "URL may be http://host:port, with or without /v1, or host:port. `servemark URL` is the same.\n" +
			"An API key is taken from OPENAI_API_KEY (as a bearer token) or API_KEY (as it is).",
		table: runTable,
		act: func(ctx context.Context, c *console, a *arguments) int {
			return c.benchmark(ctx, "run", a, runJob(a, c.getenv))
		},
	}
}

// sglangCommand is the drop-in for sglang.bench_serving.
func sglangCommand() command {
	return command{
		name: "bench_serving", operands: "[flags]", short: "Drop-in for python -m sglang.bench_serving: same flags, same labels, right numbers",
		long: "Takes the flags of sglang.bench_serving 0.5.23 and their unique prefixes; docs/compat.md says what becomes of each.\n" +
			"The last ones below are servemark's own.",
		table: slices.Concat(sglangTable, sglangOwn, sglangRustTable),
		act: func(ctx context.Context, c *console, a *arguments) int {
			return c.benchmark(ctx, "bench_serving", a, sglangJob(a, c.getenv))
		},
	}
}

// benchServe runs `bench serve`; other words than serve are vLLM's for what is not done here.
func benchServe(ctx context.Context, c *console, a *arguments) int {
	if len(a.rest) == 0 || a.rest[0] != "serve" {
		return c.refuse("bench", exitUsage, []string{"of vLLM's benchmarks there is `bench serve`; type servemark bench serve --help"})
	}
	a.rest = a.rest[1:]
	return c.benchmark(ctx, "bench serve", a, vllmJob(a, c.getenv))
}

// benchmark refuses a faulty line or runs the job.
func (c *console) benchmark(ctx context.Context, name string, a *arguments, j job) int {
	if len(a.faults) == 0 {
		for _, err := range plan.Check(j.spec) {
			a.faults = append(a.faults, fault{what: err.Error()})
		}
	}
	if len(a.faults) > 0 {
		return c.refuse(name, exitUsage, faultLines(a.faults))
	}
	if j.runs > 1 {
		return c.repeat(ctx, name, &j)
	}
	s := newSession(c, name, &j)
	s.aloneStage()
	return s.run(ctx)
}
