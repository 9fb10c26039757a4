package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/servemark/servemark/internal/bench"
)

// Text writes the native report: whether the server works and how well, in a few sentences; the goals; then the two blocks
// of the run's dialect.
func Text(w io.Writer, r *Run) error {
	t := &table{w: w}
	t.answer(r)
	t.goals(r.Summary.Goals)
	t.findings(r)
	if t.err != nil {
		return t.err
	}
	if r.VLLM != nil {
		return VLLMBlock(w, r)
	}
	return SGLangBlock(w, r)
}

// answer is what a reader wants to know first.
func (t *table) answer(r *Run) {
	s := &r.Summary
	model := string(r.Plan.Spec.Model.Served)
	if model == "" {
		model = "the server"
	}
	t.printf("\n%s at %s: %s\n", Escape(model), Escape(r.Plan.Spec.Target.BaseURL), works(s))
	for _, g := range s.Failures {
		t.printf("  %d x %s: %s\n", g.Count, failureName(g), Escape(g.Message))
	}
	if s.Completed > 0 {
		t.printf("  Output: %s tokens/s in all, %s tokens/s to each user (median); %s requests/s.\n",
			decimals(s.OutputRate, 1), decimals(percentile(&s.PerUser, 50), 1), decimals(s.RequestRate, 1))
		ttft, e2e, from := &s.TTFT, &s.E2E, "sent"
		if s.Scheduled {
			ttft, e2e, from = &s.TTFTFromDue, &s.E2EFromDue, "due"
		}
		t.printf("  First token after  %s.\n  Whole answer after %s, both from when requests were %s.\n", spanWords(ttft), spanWords(e2e), from)
	}
	t.printf("  Verdict: %s", s.Verdict.Level)
	if len(s.Verdict.Causes) > 0 {
		t.printf(": %s", Sentence(strings.Join(s.Verdict.Causes, "; ")))
	}
	t.printf(".\n")
	if s.Partial {
		t.printf("  Partial: the run %s", unfinished(s))
		if r.Cause != "" {
			t.printf(": %s", Sentence(r.Cause))
		}
		t.printf(".\n")
	}
}

// unfinished says of a partial run that it ended early.
func unfinished(s *bench.Summary) string {
	if s.Planned == 1 {
		return "ended before its request was done"
	}
	return fmt.Sprintf("ended before all %d requests were done", s.Planned)
}

// works says how many requests succeeded.
func works(s *bench.Summary) string {
	cancelled := ""
	if s.Cancelled > 0 {
		cancelled = fmt.Sprintf("; %d %s cancelled", s.Cancelled, bench.Agree(s.Cancelled, "was", "were"))
	}
	switch {
	case s.Sent == 0:
		return "no request was sent."
	case s.Completed == 0:
		return fmt.Sprintf("does not work, none of %s succeeded%s.", bench.Number(s.Sent, "request"), cancelled)
	case s.Failed == 0:
		return fmt.Sprintf("works, %s succeeded%s.", bench.Part(s.Completed, s.Sent, "request"), cancelled)
	}
	return fmt.Sprintf("works in part, %s succeeded%s.", bench.Part(s.Completed, s.Sent, "request"), cancelled)
}

// spanWords gives the median and p99 of a distribution of seconds.
func spanWords(d *bench.Distribution) string {
	if d.N == 0 {
		return unmeasured
	}
	p99, _ := d.Quantile(99)
	mark := ""
	if !p99.High.Known() {
		mark = fmt.Sprintf(", of %s only", bench.Number(d.N, "request"))
	}
	return fmt.Sprintf("%s ms (median; p99 %s ms%s)", decimals(percentile(d, 50), 1000), decimals(bench.Measured(p99.Value), 1000), mark)
}
