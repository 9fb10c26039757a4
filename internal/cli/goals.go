package cli

import (
	"context"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/servemark/servemark/internal/bench"
	"github.com/servemark/servemark/internal/plan"
	"github.com/servemark/servemark/internal/stats"
)

// goalFlags are of every command that has goals.
var goalFlags = []flagDef{
	{name: "goal", kind: kindGoal, own: true, repeat: true, help: "what the run must reach, else exit with 3: 'output_throughput >= 1000', 'p99 ttft < 500ms'; may be given again"},
	{name: "goals", own: true, help: "file of goals, one a line; # begins a remark"},
}

// goalForm is the cure for a goal that cannot be read.
const goalForm = "write it as 'p99 ttft < 500ms', 'output_throughput >= 1000' or 'error_rate <= 1%'"

// goals reads --goal and --goals; every fault of both goes to a.
func (a *arguments) goals() []bench.Goal {
	var out []bench.Goal
	for _, text := range a.list("goal") {
		if g, err := parseGoal(text); err == nil { // else the parser has told it
			out = append(out, g)
		}
	}
	path := a.text("goals")
	if path == "" {
		return out
	}
	b, err := os.ReadFile(path)
	if err != nil {
		a.wrong("goals", path+": "+whyNot(err), "name a text file with one goal a line")
		return out
	}
	if !utf8.Valid(b) {
		a.wrong("goals", path+" is no text", goalForm)
		return out
	}
	n, found := 0, 0
	for line := range strings.Lines(string(b)) {
		n++
		text, _, _ := strings.Cut(line, "#")
		if text = strings.TrimSpace(text); text == "" {
			continue
		}
		found++
		g, err := parseGoal(text)
		if err != nil {
			a.wrong("goals", fmt.Sprintf("%s line %d: %v", path, n, err), "")
			continue
		}
		out = append(out, g)
	}
	if found == 0 {
		a.wrong("goals", path+" holds no goal", goalForm)
	}
	return out
}

// parseGoal reads "[STATISTIC] METRIC COMPARISON VALUE[UNIT]"; the statistic may stand behind the metric too.
func parseGoal(text string) (bench.Goal, error) {
	g := bench.Goal{Name: strings.Join(strings.Fields(text), " ")}
	i := strings.IndexAny(text, "<>=≤≥")
	if i < 0 {
		return g, fmt.Errorf("%q compares nothing: it needs <, <=, > or >=; %s", text, goalForm)
	}
	words, rest := strings.Fields(strings.ToLower(text[:i])), text[i:]
	for _, op := range []struct {
		sign string
		op   bench.Comparison
	}{{"<=", bench.AtMost}, {">=", bench.AtLeast}, {"≤", bench.AtMost}, {"≥", bench.AtLeast}, {"<", bench.LessThan}, {">", bench.MoreThan}} {
		if tail, ok := strings.CutPrefix(rest, op.sign); ok {
			g.Op, rest = op.op, strings.TrimSpace(tail)
			break
		}
	}
	if g.Op == "" {
		return g, fmt.Errorf("%q: = is no comparison a measurement can be held to; take <= or >=", text)
	}
	m, err := goalMetric(&g, words)
	if err != nil {
		return g, fmt.Errorf("%q: %w", text, err)
	}
	if g.Bound, g.Unit, err = parseBound(rest, m.Dimension); err != nil {
		return g, fmt.Errorf("%q: %w", text, err)
	}
	return g, nil
}

// goalMetric finds metric and statistic in the words before the comparison.
func goalMetric(g *bench.Goal, words []string) (stats.Metric, error) {
	if len(words) == 0 || len(words) > 2 {
		return stats.Metric{}, fmt.Errorf("before the comparison stands a metric, or a statistic and a metric; %s", goalForm)
	}
	name := words[len(words)-1]
	if len(words) == 2 {
		g.Statistic = words[0]
		if _, ok := statistic(name); ok { // "ttft p99"
			name, g.Statistic = words[0], name
		}
	}
	m, ok := stats.MetricNamed(name)
	if !ok {
		return m, fmt.Errorf("%q is no metric; there are %s", name, metricNames())
	}
	g.Metric = m.Name
	s, ok := statistic(g.Statistic)
	switch {
	case m.Spread && g.Statistic == "":
		return m, fmt.Errorf("%s has a value for each request: say which one is meant (p50, p99, mean, max)", name)
	case !m.Spread && g.Statistic != "":
		return m, fmt.Errorf("%s is one number and has no %s", name, g.Statistic)
	case m.Spread && !ok:
		return m, fmt.Errorf("%q is no statistic; take mean, median, min, max or a percentile such as p99", g.Statistic)
	}
	g.Statistic = s
	return m, nil
}

// statistic reads mean, median, min, max or a percentile.
func statistic(s string) (string, bool) {
	switch s {
	case "mean", "min", "max":
		return s, true
	case "median":
		return "p50", true
	}
	_, ok := stats.Percentile(s)
	return s, ok
}

// parseBound reads a goal's bound in the units of its dimension, and returns it in the dimension's own.
func parseBound(s string, dim stats.Dimension) (bound float64, unit string, err error) {
	end := strings.LastIndexAny(s, "0123456789.") + 1
	number, word := s[:end], strings.TrimSpace(s[end:])
	bound, err = strconv.ParseFloat(strings.ReplaceAll(strings.TrimSpace(number), ",", ""), 64)
	if err != nil || math.IsInf(bound, 0) || math.IsNaN(bound) || bound < 0 {
		return 0, "", fmt.Errorf("%q is not a number of at least 0 with its unit", s)
	}
	scale, unit, cure := 0.0, word, ""
	switch dim {
	case stats.Times:
		scale = map[string]float64{"s": 1, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "m": 60, "min": 60}[word]
		switch {
		case unit == "µs":
			unit = "us"
		case scale == 60:
			unit = "s"
		}
		cure = "500ms or 0.5s"
	case stats.Shares:
		scale = map[string]float64{"": 1, "%": 0.01}[word]
		cure = "1% or 0.01"
		unit = "%"
	case stats.Tokens:
		scale = map[string]float64{"": 1, "tok/s": 1, "tokens/s": 1}[word]
		unit, cure = "tok/s", "1000 or 1000tok/s"
	case stats.Rates:
		scale = map[string]float64{"": 1, "req/s": 1, "requests/s": 1}[word]
		unit, cure = "req/s", "10 or 10req/s"
	default:
		if word == "" {
			scale = 1
		}
		cure = "a bare number"
	}
	if scale == 0 {
		if word == "" {
			return 0, "", fmt.Errorf("%q has no unit; write %s", s, cure)
		}
		return 0, "", fmt.Errorf("the unit %q does not fit; write %s", word, cure)
	}
	return bound * scale, unit, nil
}

func metricNames() string {
	var names []string
	for _, m := range stats.Metrics() {
		names = append(names, m.Name)
	}
	return strings.Join(names, ", ")
}

// aloneRequests is how many requests the stage of a single_stream goal sends one after another: the fewest, and one more for
// luck, with which the median's 95 % interval has two ends.
const aloneRequests = 7

// aloneStage measures a goal's single stream in a stage of its own, unless the run itself is one.
func (s *session) aloneStage() {
	wanted := slices.ContainsFunc(s.spec.Goals, func(g bench.Goal) bool { return g.Metric == "single_stream" })
	if !wanted || s.before != nil || s.spec.Load.Concurrency == 1 && !s.spec.Load.Scheduled() {
		return
	}
	s.before = func(ctx context.Context) error { return s.singleStream(ctx, aloneRequests) }
}

// singleStream measures what one user alone gets, in a stage of its own before the load, with prompts of its own.
func (s *session) singleStream(ctx context.Context, requests int) error {
	spec := *s.spec
	spec.Load.Rate, spec.Load.RampUp, spec.Load.Stages, spec.Load.Concurrency, spec.Load.Duration = 0, nil, nil, 1, 0
	spec.Dataset.Rows, spec.Seed = requests, s.spec.Seed+1
	p, err := plan.Build(spec, s.inputs(ctx))
	if err != nil {
		return refused(err)
	}
	p.Requests = p.Requests[:min(requests, len(p.Requests))] // a trace or file may hold more
	for i := range p.Requests {
		p.Requests[i].Due = bench.Never
	}
	p.Spec.Load.Trace = false
	var records []bench.Record
	if err := s.engine.Run(ctx, p, func(r bench.Record) error { records = append(records, r); return nil }); err != nil {
		return err
	}
	alone := stats.Summarize(p, records, stats.Options{})
	s.figures = stats.AloneFigures(&alone)
	if v, ok := s.figures["single_stream"].Get(); ok {
		s.say("single stream: %.1f tok/s (%s one after another)", v, bench.Number(len(records), "request"))
	} else {
		s.say("single stream: not measured, none of %s one after another succeeded or nobody counted their tokens", bench.Number(len(records), "request"))
	}
	return nil
}
