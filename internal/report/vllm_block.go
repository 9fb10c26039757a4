package report

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/servemark/servemark/internal/bench"
	"github.com/servemark/servemark/internal/stats"
)

// VLLMBlock prints the result block of vLLM's client (labels, order and widths of 0.33, which scripts search for), then the
// block of what it leaves out. The Run must hold VLLM.
func VLLMBlock(w io.Writer, r *Run) error {
	t := &table{w: w}
	s, spec := r.labelled(), &r.Plan.Spec
	pooling, tokens := spec.Target.API.Pooling(), showsTokens(spec)
	t.title(" Serving Benchmark Result ", "=")
	t.int("Successful requests:", s.Completed)
	t.int("Failed requests:", s.Failed)
	if n := spec.Load.Concurrency; n > 0 {
		t.int("Maximum request concurrency:", n)
	}
	if rate := spec.Load.Rate; rate > 0 {
		t.float("Request rate configured (RPS):", bench.Measured(rate))
	}
	t.float("Benchmark duration (s):", bench.Measured(s.Duration.Seconds()))
	t.count("Total input tokens:", s.InputTokens)
	if !pooling && tokens {
		t.count("Total generated tokens:", s.OutputTokens)
	}
	t.float("Request throughput (req/s):", s.RequestRate)
	if pooling {
		t.float("Input throughput (inputs/s):", inputRate(r))
	} else {
		if s.Goodput != nil {
			t.float("Request goodput (req/s):", s.Goodput.Rate)
		}
		if tokens {
			t.float("Output token throughput (tok/s):", s.OutputRate)
			t.float("Peak output token throughput (tok/s):", s.PeakOutputRate)
		}
		t.float("Peak concurrent requests:", bench.Measured(float64(s.PeakConcurrency)))
	}
	if tokens {
		t.float("Total token throughput (tok/s):", totalRate(r))
	}
	t.probes(r.Observed.Probes)
	for _, section := range vllmSections(r) {
		t.title(section.title, "-")
		t.millis("Mean "+section.label+" (ms):", mean(section.d))
		t.millis("Median "+section.label+" (ms):", section.median)
		for _, p := range spec.VLLM.Percentiles {
			t.millis(fmt.Sprintf("P%s %s (ms):", percentWord(p), section.label), percentile(section.d, p))
		}
	}
	t.speculation(r.Observed.Speculation)
	t.printf("%s\n", strings.Repeat("=", titleWidth))
	t.beside(r)
	return t.err
}

// showsTokens reports whether token figures are shown: by the original's rules not where it has no tokenizer.
func showsTokens(spec *bench.Spec) bool {
	return !spec.Strict || spec.VLLM == nil || !spec.VLLM.NoTokenizer
}

// inputRate is texts per second, for requests that hold several.
func inputRate(r *Run) bench.Measure {
	d := r.labelled().Duration.Seconds()
	if r.VLLM == nil || d <= 0 {
		return bench.Measure{}
	}
	return bench.Measured(float64(r.VLLM.Inputs) / d)
}

// totalRate is the rate of all tokens; a reply without text has those of its prompt only.
func totalRate(r *Run) bench.Measure {
	if r.Plan.Spec.Target.API.Pooling() {
		return r.labelled().InputRate
	}
	return r.labelled().TotalRate
}

// vllmSection is one distribution with its words.
type vllmSection struct {
	key, label, title string
	d                 *bench.Distribution
	median            bench.Measure
}

// vllmSections lists the distributions that were asked for, in the original's order.
func vllmSections(r *Run) []vllmSection {
	v, spec := r.VLLM, &r.Plan.Spec
	wanted := map[string]bool{}
	for _, m := range spec.VLLM.Metrics {
		wanted[m] = true
	}
	pieces := !spec.Target.API.Pooling() && showsTokens(spec)
	var out []vllmSection
	for _, x := range []struct {
		vllmSection
		there bool
	}{
		{vllmSection{key: "ttft", label: "TTFT", title: "Time to First Token", d: &v.TTFT}, pieces},
		{vllmSection{key: "tpot", label: "TPOT", title: "Time per Output Token (excl. 1st token)", d: &v.TPOT}, pieces},
		{vllmSection{key: "itl", label: "ITL", title: "Inter-token Latency", d: &v.ITL}, pieces},
		{vllmSection{key: "e2el", label: "E2EL", title: "End-to-end Latency", d: &v.E2E}, true},
		{vllmSection{key: "client_queue_time", label: "Client Queue Time", title: "Client-side Queueing", d: &v.Queue}, spec.Load.Concurrency > 0},
		{vllmSection{key: "e2el_including_client_queue", label: "E2EL incl. Client Queue", title: "Queue-inclusive End-to-end Latency", d: &v.WithQueue},
			spec.Load.Concurrency > 0 && spec.Load.Rate > 0},
	} {
		if x.there && wanted[x.key] {
			x.median = v.Medians[x.key]
			out = append(out, x.vllmSection)
		}
	}
	return out
}

// percentWord writes a percentile as the original does: 99, 99.9.
func percentWord(p float64) string { return strconv.FormatFloat(p, 'f', -1, 64) }

// probes prints the requests that were asked beside the load.
func (t *table) probes(records []bench.Record) {
	if len(records) == 0 {
		return
	}
	p := stats.Probes(records)
	t.title("Probe Requests", "-")
	t.int("Probe requests completed:", p.Completed)
	t.int("Probe requests failed:", p.Failed)
	t.millis("Median probe E2EL (ms):", percentile(&p.E2E, 50))
	t.millis("P99 probe E2EL (ms):", percentile(&p.E2E, 99))
	t.millis("Max probe E2EL (ms):", high(&p.E2E))
}

// speculation prints how speculative decoding went, where the server tells.
func (t *table) speculation(s *bench.Speculation) {
	if s == nil {
		return
	}
	t.title("Speculative Decoding", "-")
	t.row("Acceptance rate (%):", decimals(s.Rate(), 100))
	t.float("Acceptance length:", s.AcceptLength)
	t.int("Drafts:", s.Drafts)
	t.count("Draft tokens:", s.DraftTokens)
	t.count("Accepted tokens:", s.Accepted)
	if len(s.ByPosition) > 0 {
		t.printf("Per-position acceptance (%%):\n")
		for i, share := range s.ByPosition {
			t.row(fmt.Sprintf("  Position %d:", i), decimals(bench.Measured(share), 100))
		}
	}
}
