package report

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/servemark/servemark/internal/bench"
)

// SGLangBlock prints the result block of SGLang's client (labels, order and widths of 0.5.23, which scripts search for), then
// the block of what it leaves out.
func SGLangBlock(w io.Writer, r *Run) error {
	t := &table{w: w}
	s := r.labelled()
	spec := &r.Plan.Spec
	t.printf("\n")
	t.title(" Serving Benchmark Result ", "=")
	t.row("Backend:", r.backend())
	t.row("Traffic request rate:", trafficWord(spec.Load))
	t.row("Max request concurrency:", capWord(spec.Load.Concurrency))
	t.int("Successful requests:", s.Completed)
	t.float("Benchmark duration (s):", bench.Measured(s.Duration.Seconds()))
	t.count("Total input tokens:", s.InputTokens)
	t.count("Total input text tokens:", s.InputTokens)
	generates := !spec.Target.API.Pooling()
	if generates {
		t.count("Total generated tokens:", s.OutputTokens)
		t.count("Total generated tokens (retokenized):", s.Retokenized)
	}
	t.float("Request throughput (req/s):", s.RequestRate)
	t.float("Input token throughput (tok/s):", s.InputRate)
	if generates {
		t.float("Output token throughput (tok/s):", s.OutputRate)
		t.float("Peak output token throughput (tok/s):", s.PeakOutputRate)
	}
	t.int("Peak concurrent requests:", s.PeakConcurrency)
	if generates {
		t.float("Total token throughput (tok/s):", s.TotalRate)
	}
	t.float("Concurrency:", s.Concurrency)
	if n := acceptLength(r); n.Known() {
		t.float("Accept length:", n)
	}
	t.goodput(spec.SLOs, s.Goodput)
	t.sections(s, generates)
	if spec.CacheReport {
		t.cache(cacheOf(&r.Summary))
	}
	t.printf("%s\n", strings.Repeat("=", titleWidth))
	t.beside(r)
	return t.err
}

// sections prints the distributions; a reply without text has its whole latency only.
func (t *table) sections(s *bench.Summary, generates bool) {
	for _, section := range []struct {
		title, unit string
		d           *bench.Distribution
	}{
		{"End-to-End Latency", "E2E Latency", &s.E2E},
		{"Time to First Token", "TTFT", &s.TTFT},
		{"Time per Output Token (excl. 1st token)", "TPOT", &s.TPOT},
		{"Inter-Token Latency", "ITL", &s.ITL},
	} {
		if !generates && section.d != &s.E2E {
			continue
		}
		t.title(section.title, "-")
		t.millis("Mean "+section.unit+" (ms):", mean(section.d))
		t.millis("Median "+section.unit+" (ms):", percentile(section.d, 50))
		for _, p := range []float64{90, 95, 99} {
			t.millis(fmt.Sprintf("P%.0f %s (ms):", p, section.unit), percentile(section.d, p))
		}
	}
	if generates {
		t.millis("Max ITL (ms):", high(&s.ITL))
	}
}

// acceptLength is tokens per verification of this run: by the answers' own counts, else by the server's counters.
func acceptLength(r *Run) bench.Measure {
	if r.Summary.AcceptLength.Known() || r.Observed.Speculation == nil {
		return r.Summary.AcceptLength
	}
	return r.Observed.Speculation.AcceptLength
}

// trafficWord is where arrivals come from, as the original prints it.
func trafficWord(l bench.LoadSpec) string {
	if l.Trace {
		return "trace"
	}
	if r := l.RampUp; r != nil {
		return pythonFloat(r.Start) + " to " + pythonFloat(r.End)
	}
	if len(l.Stages) > 0 {
		var words []string
		for _, st := range l.Stages {
			words = append(words, pythonFloat(st.Rate))
		}
		return strings.Join(words, ", then ")
	}
	return rateWord(l.Rate)
}

// rateWord is a request rate as the original prints it.
func rateWord(rate float64) string {
	if rate <= 0 {
		return "inf"
	}
	return pythonFloat(rate)
}

func capWord(n int) string {
	if n <= 0 {
		return "not set"
	}
	return strconv.Itoa(n)
}

// goodput prints the original's goodput section where SLOs are set.
func (t *table) goodput(slos []bench.SLO, g *bench.Goodput) {
	if g == nil {
		return
	}
	limits := make([]string, len(slos))
	for i, slo := range slos {
		limits[i] = slo.Metric + ":" + strconv.FormatFloat(slo.Max.Seconds()*1000, 'g', 6, 64)
	}
	t.title("Goodput", "-")
	t.row("SLOs (ms):", strings.Join(limits, " "))
	t.float("Request goodput (req/s):", g.Rate)
	t.row("SLO attainment (%):", decimals(g.Attainment, 100))
	for _, slo := range slos {
		t.row(strings.ToUpper(slo.Metric)+" SLO attainment (%):", decimals(g.ByMetric[slo.Metric], 100))
	}
}

// cacheReport is what a Summary knows of the prefix cache.
type cacheReport struct {
	prompt, cached bench.Count
	// rate is cached ÷ prompt, 0 to 1.
	rate   bench.Measure
	levels []cacheLevel
	// told is true where at least one answer tells levels.
	told bool
}

// cacheLevel is one of the places in which cached tokens lay.
type cacheLevel struct {
	label  string
	tokens bench.Count
}

func cacheOf(s *bench.Summary) cacheReport {
	c := cacheReport{prompt: s.InputTokens, cached: s.CachedTokens, told: s.CachedBy.Sum().Known()}
	n, known := c.prompt.Get()
	k, stated := c.cached.Get()
	if known && stated && n > 0 {
		c.rate = bench.Measured(float64(k) / float64(n))
	}
	if !c.told || c.cached.Or(0) == 0 {
		return c
	}
	c.levels = []cacheLevel{{"  Device:", bench.Counted(s.CachedBy.Device.Or(0))}, {"  Host:", bench.Counted(s.CachedBy.Host.Or(0))}}
	if s.CachedBy.Storage.Or(0) > 0 {
		label := "  Storage:"
		if s.CachedBy.Backend != "" {
			label = fmt.Sprintf("  Storage (%s):", Escape(s.CachedBy.Backend))
		}
		c.levels = append(c.levels, cacheLevel{label, s.CachedBy.Storage})
	}
	return c
}

// cache prints the original's cache section: totals, then shares, by level where answers tell.
func (t *table) cache(c cacheReport) {
	t.title("Cache Hit Details", "-")
	t.count("Total prompt tokens:", c.prompt)
	t.count("Total cached tokens:", c.cached)
	for _, l := range c.levels {
		t.count(l.label, l.tokens)
	}
	t.share("Cache hit rate:", c.rate)
	for _, l := range c.levels {
		t.share(l.label, bench.Measured(float64(l.tokens.Or(0))/float64(c.cached.Or(1))))
	}
}

// share prints a part of 1 as a percentage with one decimal.
func (t *table) share(label string, part bench.Measure) {
	value := unmeasured
	if x, ok := part.Get(); ok {
		value = strconv.FormatFloat(100*x, 'f', 1, 64) + "%"
	}
	t.printf("%-*s %s\n", labelWidth, label, value)
}
