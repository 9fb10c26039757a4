package cli

import (
	"fmt"
	"math"
	"net/url"
	"strings"
	"time"

	"github.com/servemark/servemark/internal/bench"
	"github.com/servemark/servemark/internal/endpoint"
	"github.com/servemark/servemark/internal/load"
	"github.com/servemark/servemark/internal/report"
)

// runTable holds the flags of `servemark run`.
var runTable = append([]flagDef{
	{name: "help", arity: arityHelp, help: "this text"},
	{name: "model", help: "name to ask for (default: what the server serves)"},
	{name: "tokenizer", help: "file, folder or org/name (default: what the server declares, else its usage counts)"},
	{name: "api", preset: []string{"chat"}, choices: []string{"chat", "completions", "generate"}, help: "protocol: chat, completions, or SGLang's own generate"},
	{name: "concurrency", kind: kindInt, help: "requests in flight (default 8 without --rate)"},
	{name: "rate", kind: kindRate, help: "mean arrivals per second, Poisson; inf or -1 is unlimited"},
	{name: "arrival", preset: []string{"poisson"}, choices: []string{"poisson", "gamma", "constant"}, help: "how gaps are spread around the rate"},
	{name: "burstiness", kind: kindPositive, help: "with --arrival gamma: its shape; under 1 is burstier than Poisson, over 1 more even"},
	{name: "ramp", arity: arityMany, help: "instead of --rate: from one rate to another over the requests, FROM TO [linear|exponential]"},
	{name: "stages", arity: arityMany, help: "instead of --rate and --duration: one rate after another, each RATExTIME (10x30s 50x1m), Poisson"},
	{name: "requests", kind: kindInt, help: "how many requests (default 64; of agentic-trace conversations, by default all)"},
	{name: "duration", kind: kindDuration, help: "stop sending after this time instead (30s, 2m)"},
	{name: "input-tokens", kind: kindInt, preset: []string{"256"}, help: "prompt length"},
	{name: "output-tokens", kind: kindInt, preset: []string{"128"}, help: "length of answers; agentic-trace has 220 a turn where it is not given"},
	{name: "range-ratio", kind: kindFloat, preset: []string{"1"}, help: "draw lengths from ratio × length to length; 1 is exact"},
	{name: "dataset", preset: []string{"random"}, choices: []string{"random", "random-ids", "sharegpt", "custom", "openai", "agentic-trace"}, help: "what to ask"},
	{name: "dataset-path", help: "its file"},
	{name: "think-time", arity: arityMany, help: "of conversations (agentic-trace): pause from the end of an answer to the next turn; TIME, TIME exponential (a mean), or FROM TO (uniform)"},
	{name: "runs", kind: kindInt, preset: []string{"1"}, help: "repeat the run, each with prompts of its own (seed, seed+1, …), and show the spread between runs"},
	{name: "runs-format", preset: []string{"text"}, choices: report.Forms(), help: "how the spread between --runs is printed"},
	{name: "warmup", kind: kindInt, preset: []string{"1"}, help: "requests before the clock starts; the first is the smoke test"},
	{name: "flush-cache", arity: aritySwitch, help: "empty the server's prefix cache before the load"},
	{name: "no-stream", arity: aritySwitch, help: "ask for whole replies; TTFT, TPOT and ITL are then n/a"},
	{name: "no-ignore-eos", arity: aritySwitch, help: "let answers end by themselves"},
	{name: "extra-request-body", help: "JSON object merged last into every request"},
	{name: "header", arity: arityMany, repeat: true, help: "extra header KEY=VALUE"},
	{name: "seed", kind: kindInt, preset: []string{"42"}, help: "same seed, same prompts and arrivals"},
	{name: "slo", kind: kindSLO, arity: arityMany, repeat: true, help: "limits a request must keep to count as good: ttft, tpot, e2el in ms"},
	{name: "metrics", preset: []string{"auto"}, help: "the server's own numbers, read once a second during the load: auto (its /metrics, else SGLang's /v1/loads), off, or the address of another page"},
	{name: "gpu-metrics", help: "address of a dcgm-exporter's page, for power and tokens per joule: http://HOST:9400/metrics"},
	{name: "output", help: "append the result as one JSON line to this file"},
	{name: "journal", help: "where the journal goes (default: servemark-TIME.journal here); - for none"},
	{name: "save-text", arity: aritySwitch, help: "keep prompts and answers in the journal"},
	{name: "ready-timeout", kind: kindDuration, preset: []string{"60s"}, help: "how long to wait for the server; 0 does not wait"},
	{name: "max-error-rate", kind: kindFloat, preset: []string{"0.01"}, help: "share of failed requests above which the exit code is 1"},
	{name: "require-valid", arity: aritySwitch, help: "exit with 5 when the verdict is INVALID"},
	{name: "no-progress", arity: aritySwitch, help: "say nothing while the load runs"},
	dryRunFlag,
	{name: "insecure", arity: aritySwitch, help: "accept any TLS certificate"},
	{name: "ca-cert", help: "PEM file of certificates to trust beside the system's (SSL_CERT_FILE replaces those)"},
	{name: "http2", arity: aritySwitch, help: "ask with HTTP/2 (in clear text for http://); its token times are not the kernel's"},
	{name: "connect-timeout", kind: kindDuration, preset: []string{"10s"}, help: "limit for reaching the server"},
	{name: "first-byte-timeout", kind: kindDuration, preset: []string{"1h"}, help: "limit from sending to the first response byte"},
	{name: "idle-timeout", kind: kindDuration, preset: []string{"10m"}, help: "limit between two reads of a reply"},
	{name: "request-timeout", kind: kindDuration, preset: []string{"6h"}, help: "limit for a whole reply"},
}, goalFlags...)

// Defaults of `run` where neither the rate nor the number of requests is given.
const (
	runConcurrency = 8
	runRequests    = 64
)

// runJob turns the command line of `run` into a job; all faults go to a. A flag without effect is a fault here.
func runJob(a *arguments, getenv func(string) string) job {
	r := &runReader{arguments: a}
	r.job.spec.Dialect = bench.DialectNative
	r.job.native = true
	r.target(getenv)
	r.load()
	r.dataset()
	r.listening()
	r.screen()
	return r.job
}

type runReader struct {
	*arguments
	job job
}

func (r *runReader) target(getenv func(string) string) {
	t := &r.job.spec.Target
	if len(r.rest) == 0 {
		r.faults = append(r.faults, fault{what: "no server named", cure: "give its address, such as http://localhost:8000"})
	}
	for i, address := range r.rest {
		base, user, notes, err := endpoint.NormalizeBase(address)
		if err != nil {
			r.faults = append(r.faults, fault{what: err.Error()})
		}
		r.job.notes = append(r.job.notes, notes...)
		if user != nil {
			r.job.user = user
		}
		if i == 0 {
			t.BaseURL = base
		} else {
			t.Replicas = append(t.Replicas, base)
		}
	}
	if n := len(t.Replicas); n > 0 {
		r.job.notes = append(r.job.notes, fmt.Sprintf("requests go to %d servers in turn; model, tokenizer and limits are taken from the first one", n+1))
	}
	t.API = map[string]bench.API{"chat": bench.APIChat, "completions": bench.APICompletions, "generate": bench.APIGenerate}[r.text("api")]
	if t.API == bench.APIGenerate {
		t.Engine = bench.EngineSGLang
	}
	t.Stream = !r.on("no-stream")
	t.ReadyTimeout, _ = parseDuration(r.text("ready-timeout"))
	r.readAuth(t, &r.job, getenv)
	m := &r.job.spec.Model
	m.Asked, m.Tokenizer = r.text("model"), bench.TokenizerSource(r.text("tokenizer"))
	for _, f := range []struct{ name, cure string }{{"model", "name one, or leave the flag out to have it found"}, {"tokenizer", "name one, or leave the flag out to have it found"},
		{"dataset-path", "name a file"}, {"output", "name a file, or leave the flag out"}, {"journal", "name a file, - for none, or leave the flag out"},
		{"metrics", "give an address, auto or off"}, {"gpu-metrics", "give an address, or leave the flag out"}, {"ca-cert", "name a PEM file"}, {"goals", "name a file of goals"}} {
		if r.typed(f.name) && strings.TrimSpace(r.text(f.name)) == "" {
			r.wrong(f.name, "is empty", f.cure)
			r.refused[f.name] = true // what follows from it is no fault of its own
		}
	}
}

func (r *runReader) load() {
	s := &r.job.spec
	if r.typed("rate") {
		rate, err := parseRate(r.text("rate"))
		if err != nil {
			r.wrong("rate", err.Error(), "inf or -1 means unlimited")
		}
		s.Load.Rate = rate
	}
	r.arrivals(&s.Load)
	if r.typed("concurrency") {
		n, _ := r.whole("concurrency")
		if n < 1 {
			r.wrong("concurrency", fmt.Sprintf("%d is out of range: at least 1", n), "--rate inf without --concurrency sends everything at once")
		}
		s.Load.Concurrency = n
	} else if !r.typed("rate") && !s.Load.Scheduled() {
		s.Load.Concurrency = runConcurrency
	}
	if r.typed("duration") {
		s.Load.Duration, _ = parseDuration(r.text("duration"))
	}
	if r.typed("duration") && s.Load.Duration < time.Second {
		r.wrong("duration", fmt.Sprintf("%s is too short to measure anything", s.Load.Duration), "take at least 1s")
	}
	r.deadlines(&s.Load)
	s.Load.Insecure, s.Load.HTTP2 = r.on("insecure"), r.on("http2")
	if s.Load.HTTP2 {
		r.job.notes = append(r.job.notes, "HTTP/2: tokens have the time at which this program saw them, not the kernel's; how exact that is has not been measured")
	}
	if r.typed("ca-cert") {
		roots, err := load.RootCAs(r.text("ca-cert"))
		if err != nil {
			r.wrong("ca-cert", err.Error(), "name a PEM file")
		}
		r.job.roots = roots
	}
	seed, _ := r.whole("seed")
	if seed < 0 || seed > math.MaxUint32 {
		r.wrong("seed", fmt.Sprintf("%d is out of range: 0 to %d", seed, uint32(math.MaxUint32)), "")
	}
	s.Seed = int64(seed)
	if s.Warmup, _ = r.whole("warmup"); s.Warmup < 0 {
		r.wrong("warmup", fmt.Sprintf("%d is out of range: at least 0", s.Warmup), "")
	}
	s.SLOs = parseSLOs(r.list("slo"))
	s.Goals = r.goals()
	if r.job.runs, _ = r.whole("runs"); r.job.runs < 1 {
		r.wrong("runs", fmt.Sprintf("%d is out of range: at least 1", r.job.runs), "")
	}
	if r.job.form = report.Form(r.text("runs-format")); r.typed("runs-format") && r.job.runs < 2 && !r.refused["runs"] {
		r.wrong("runs-format", "has no effect without --runs above 1", "leave it out")
	}
	s.MaxErrorRate = r.share("max-error-rate")
}

func (r *runReader) dataset() {
	d := &r.job.spec.Dataset
	d.Name, d.Path = r.text("dataset"), r.text("dataset-path")
	random := d.Name == "random" || d.Name == "random-ids"
	d.Rows = runRequests
	if r.typed("requests") {
		if d.Rows, _ = r.whole("requests"); d.Rows < 1 {
			r.wrong("requests", fmt.Sprintf("%d is out of range: at least 1", d.Rows), "")
		}
		if r.typed("duration") {
			r.wrong("requests", "has no effect beside --duration", "give one of the two")
		}
	}
	if d.Name == "agentic-trace" && !r.typed("requests") {
		d.Rows = 0 // all
	}
	r.thinkTime(d)
	if d.Name == "random-ids" && r.typed("dataset-path") {
		r.wrong("dataset-path", "has no effect with --dataset random-ids", "leave it out")
	}
	if !random {
		for _, name := range []string{"input-tokens", "range-ratio"} {
			if r.typed(name) {
				r.wrong(name, "has no effect with --dataset "+d.Name, "leave it out")
			}
		}
		if r.typed("output-tokens") {
			d.FixedOutput = r.positive("output-tokens")
		}
		return
	}
	d.InputTokens, d.OutputTokens = r.positive("input-tokens"), r.positive("output-tokens")
	d.RangeRatio = r.number("range-ratio")
	if !(d.RangeRatio >= 0 && d.RangeRatio <= 1) {
		r.wrong("range-ratio", fmt.Sprintf("%v is out of range: 0 to 1", d.RangeRatio), "")
	}
}

func (r *runReader) positive(name string) int {
	n, _ := r.whole(name)
	if n < 1 {
		r.wrong(name, fmt.Sprintf("%d is out of range: at least 1", n), "")
	}
	return n
}

// listening reads where the server's own numbers are.
func (r *runReader) listening() {
	l := &r.job.listening
	l.serverOff, l.metrics, l.gpus = r.text("metrics") == "off", r.text("metrics"), r.text("gpu-metrics")
	if l.metrics == "auto" || l.metrics == "off" {
		l.metrics = ""
	}
	for name, address := range map[string]string{"metrics": l.metrics, "gpu-metrics": l.gpus} {
		if u, err := url.Parse(address); address != "" && (err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "") {
			r.wrong(name, fmt.Sprintf("%q is no address of a page", address), "write it as http://HOST:PORT/metrics")
		}
	}
	l.on = !l.serverOff || l.gpus != ""
}

// screen reads the body settings and what concerns files and screen.
func (r *runReader) screen() {
	s := &r.job.spec
	s.Body = bench.BodySpec{TopP: 1, IgnoreEOS: !r.on("no-ignore-eos"), LogprobStart: -1}
	if r.typed("extra-request-body") {
		s.Body.Extra = r.object("extra-request-body", r.text("extra-request-body"))
	}
	r.job.flush, r.job.flushTimeout = r.on("flush-cache"), time.Minute
	r.job.output, r.job.journal = r.text("output"), r.text("journal")
	r.job.progress, r.job.requireValid = !r.on("no-progress"), r.on("require-valid")
	r.job.dryRun = r.on("dry-run")
	s.KeepText = r.on("save-text")
	s.KeepPrompts = s.KeepText
}
