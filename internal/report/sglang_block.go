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
	t.row("Traffic request rate:", rateWord(spec.Load.Rate))
	t.row("Max request concurrency:", capWord(spec.Load.Concurrency))
	t.int("Successful requests:", s.Completed)
	t.float("Benchmark duration (s):", bench.Measured(s.Duration.Seconds()))
	t.count("Total input tokens:", s.InputTokens)
	t.count("Total input text tokens:", s.InputTokens)
	t.count("Total generated tokens:", s.OutputTokens)
	t.count("Total generated tokens (retokenized):", s.Retokenized)
	t.float("Request throughput (req/s):", s.RequestRate)
	t.float("Input token throughput (tok/s):", s.InputRate)
	t.float("Output token throughput (tok/s):", s.OutputRate)
	t.float("Peak output token throughput (tok/s):", s.PeakOutputRate)
	t.int("Peak concurrent requests:", s.PeakConcurrency)
	t.float("Total token throughput (tok/s):", s.TotalRate)
	t.float("Concurrency:", s.Concurrency)
	t.goodput(spec.SLOs, s.Goodput)
	for _, section := range []struct {
		title, unit string
		d           *bench.Distribution
	}{
		{"End-to-End Latency", "E2E Latency", &s.E2E},
		{"Time to First Token", "TTFT", &s.TTFT},
		{"Time per Output Token (excl. 1st token)", "TPOT", &s.TPOT},
		{"Inter-Token Latency", "ITL", &s.ITL},
	} {
		t.title(section.title, "-")
		t.millis("Mean "+section.unit+" (ms):", mean(section.d))
		t.millis("Median "+section.unit+" (ms):", percentile(section.d, 50))
		for _, p := range []float64{90, 95, 99} {
			t.millis(fmt.Sprintf("P%.0f %s (ms):", p, section.unit), percentile(section.d, p))
		}
	}
	t.millis("Max ITL (ms):", high(&s.ITL))
	if spec.CacheReport {
		t.cache(cacheOf(&r.Summary))
	}
	t.printf("%s\n", strings.Repeat("=", titleWidth))
	t.beside(r)
	return t.err
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
	rate bench.Measure
}

func cacheOf(s *bench.Summary) cacheReport {
	c := cacheReport{prompt: s.InputTokens, cached: s.CachedTokens}
	n, known := c.prompt.Get()
	k, stated := c.cached.Get()
	if known && stated && n > 0 {
		c.rate = bench.Measured(float64(k) / float64(n))
	}
	return c
}

// cache prints the original's cache section, of the whole cache: by levels nothing is recorded.
func (t *table) cache(c cacheReport) {
	t.title("Cache Hit Details", "-")
	t.count("Total prompt tokens:", c.prompt)
	t.count("Total cached tokens:", c.cached)
	hit := unmeasured
	if x, ok := c.rate.Get(); ok {
		hit = strconv.FormatFloat(100*x, 'f', 1, 64) + "%"
	}
	t.printf("%-*s %s\n", labelWidth, "Cache hit rate:", hit)
}
