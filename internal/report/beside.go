package report

import (
	"fmt"
	"math"
	"strings"

	"github.com/servemark/servemark/internal/bench"
)

// besideTitle heads the second block. No label of it contains one of the original's, so that scripts which search for those
// find one line.
const besideTitle = " What the Block Above Leaves Out "

// beside prints the second block.
func (t *table) beside(r *Run) {
	s := &r.Summary
	t.title(besideTitle, "=")
	t.verdict(s)
	t.requests(r)
	t.tokens(s)
	t.moreLatency(s)
	if s.Scheduled {
		t.fromDue(r)
	}
	t.steadyState(s)
	t.client(s)
	t.intervals(s)
	t.notes(r)
	t.printf("%s\n", strings.Repeat("=", titleWidth))
}

func (t *table) verdict(s *bench.Summary) {
	t.row("Verdict:", string(s.Verdict.Level))
	for _, cause := range s.Verdict.Causes {
		t.printf("  - %s\n", Sentence(cause))
	}
	if s.Partial {
		t.row("Partial:", fmt.Sprintf("yes, %s", unfinished(s)))
	}
}

// requests prints what became of the requests, with the server's own words for those that failed.
func (t *table) requests(r *Run) {
	s := &r.Summary
	t.title("Requests", "-")
	t.int("Planned requests:", s.Planned)
	turns := 0
	for i := range r.Plan.Requests {
		if r.Plan.Requests[i].After != nil {
			turns++
		}
	}
	if turns > 0 {
		t.row("Turns that follow an answer:", fmt.Sprintf("%d, %s", turns, ThinkWords(&r.Plan.Spec.Dataset)))
	}
	t.int("Sent requests:", s.Sent)
	t.int("Failed requests:", s.Failed)
	for _, g := range s.Failures {
		t.printf("  %d x %s: %s\n", g.Count, failureName(g), Escape(g.Message))
	}
	for _, extra := range []struct {
		label string
		n     int
	}{
		{"Cancelled requests:", s.Cancelled}, {"Empty answers:", s.Empty},
		{"Sent again without a refused field:", s.Resent}, {"Dead connections replaced:", s.Replaced},
		{"Malformed events:", s.MalformedCount},
	} {
		if extra.n > 0 {
			t.int(extra.label, extra.n)
		}
	}
}

// failureName is a group's kind, with the status where that is what failed.
func failureName(g bench.FailureGroup) string {
	if g.Kind == bench.FailStatus {
		return fmt.Sprintf("%s %d", g.Kind, g.Status)
	}
	return string(g.Kind)
}

func (t *table) tokens(s *bench.Summary) {
	t.title("Tokens", "-")
	t.row("Input tokens counted by:", string(s.InputSource))
	t.count("Input tokens by our tokenizer:", s.InputByTokenizer)
	if s.InputTemplated.Known() {
		t.count("  with the chat template:", s.InputTemplated)
	}
	t.row("Output tokens counted by:", string(s.OutputSource))
	if n := s.ReasoningTokens.Or(0); n > 0 {
		t.int("Reasoning tokens:", n)
	}
	if s.CachedTokens.Known() {
		t.row("Cached input tokens:", fmt.Sprintf("%s (stated by %s)", s.CachedTokens, bench.Part(s.CachedStated, s.Completed, "answer")))
	}
	if s.ChunkTokens != "" {
		t.row("Tokens of single chunks:", s.ChunkTokens)
	}
}

// moreLatency prints the figures that the original does not have.
func (t *table) moreLatency(s *bench.Summary) {
	t.title("More Latencies", "-")
	t.millis("Time to First Answer, mean (ms):", mean(&s.FirstAnswer))
	t.millis("Time to First Answer, median (ms):", percentile(&s.FirstAnswer, 50))
	t.millis("Time to First Answer, p99 (ms):", percentile(&s.FirstAnswer, 99))
	t.millis("Chunk Gap, median (ms):", percentile(&s.ChunkGap, 50))
	t.millis("Chunk Gap, p99 (ms):", percentile(&s.ChunkGap, 99))
	t.millis("Chunk Gap, max (ms):", high(&s.ChunkGap))
	t.float("Speed per User, mean (tok/s):", mean(&s.PerUser))
	t.float("Speed per User, median (tok/s):", percentile(&s.PerUser, 50))
	t.float("Speed per User, slowest (tok/s):", low(&s.PerUser))
	if w := s.Steady; w != nil {
		t.row("Steady Stretch:", fmt.Sprintf("%.2f s with at least %s in flight", w.To.Sub(w.From).Seconds(), bench.Number(w.AtLeast, "request")))
		t.float("  Requests in it (req/s):", w.RequestRate)
		t.float("  Output in it (tok/s):", w.OutputRate)
	}
}

// fromDue prints latency as a user sees it who is there when the schedule says, and what became of the schedule.
func (t *table) fromDue(r *Run) {
	s := &r.Summary
	t.title("From When Requests Were Due", "-")
	t.float("Asked rate of this schedule (req/s):", s.AskedRate)
	t.float("Achieved rate (req/s):", s.AchievedRate)
	for _, row := range []struct {
		name string
		d    *bench.Distribution
	}{{"TTFT from Due", &s.TTFTFromDue}, {"First Answer from Due", &s.AnswerFromDue}, {"E2E from Due", &s.E2EFromDue}} {
		t.millis(row.name+", mean (ms):", mean(row.d))
		t.millis(row.name+", median (ms):", percentile(row.d, 50))
		t.millis(row.name+", p99 (ms):", percentile(row.d, 99))
	}
	if r.Plan.Spec.Load.Concurrency > 0 {
		t.millis("Client Queue, median (ms):", percentile(&s.ClientQueue, 50))
		t.millis("Client Queue, p99 (ms):", percentile(&s.ClientQueue, 99))
	} else {
		t.row("Client Queue:", "none, concurrency has no cap")
	}
	if most := dueDiffers(s); most > dueTold {
		t.printf("From due and from sent differ by up to %.0f %%: users wait longer than the latencies above say.\n", 100*most)
	}
}

// dueTold is from which difference on the two clocks are told apart in words.
const dueTold = 0.05

// dueDiffers is the largest relative difference between latency from due and from sent, over mean, median and p99.
func dueDiffers(s *bench.Summary) float64 {
	most := 0.0
	for _, pair := range [][2]*bench.Distribution{{&s.TTFT, &s.TTFTFromDue}, {&s.E2E, &s.E2EFromDue}} {
		for _, of := range []func(*bench.Distribution) bench.Measure{mean,
			func(d *bench.Distribution) bench.Measure { return percentile(d, 50) },
			func(d *bench.Distribution) bench.Measure { return percentile(d, 99) }} {
			sent, ok := of(pair[0]).Get()
			due, too := of(pair[1]).Get()
			if ok && too && sent > 0 {
				most = math.Max(most, math.Abs(due/sent-1))
			}
		}
	}
	return most
}

// intervals prints the 95 % interval of each p99 of single requests. Token times hang together within a request, so theirs
// has none.
func (t *table) intervals(s *bench.Summary) {
	t.title("95 % Intervals", "-")
	open := false
	for _, row := range []struct {
		label string
		d     *bench.Distribution
	}{
		{"E2E, p99 (ms):", &s.E2E}, {"TTFT, p99 (ms):", &s.TTFT}, {"TPOT, p99 (ms):", &s.TPOT},
		{"First Answer, p99 (ms):", &s.FirstAnswer},
	} {
		q, ok := row.d.Quantile(99)
		if !ok {
			t.row(row.label, unmeasured)
			continue
		}
		open = open || !q.High.Known()
		t.row(row.label, interval(q, 1000)+fmt.Sprintf(" (n %d)", row.d.N))
	}
	if open {
		t.printf("An open end: so few requests cannot bound a p99 from above; from 368 on they can.\n")
	}
}

// interval writes the interval of a quantile; an end that the sample cannot bound is "open".
func interval(q bench.Quantile, scale float64) string {
	end := func(m bench.Measure) string {
		if !m.Known() {
			return "open"
		}
		return decimals(m, scale)
	}
	return fmt.Sprintf("%s to %s", end(q.Low), end(q.High))
}

func (t *table) notes(r *Run) {
	notes := append(append([]string{}, r.Plan.Notes...), r.Summary.Notes...)
	if r.Plan.Repaired > 0 {
		notes = append(notes, fmt.Sprintf("%s %s mended to have exactly the asked number of tokens", bench.Number(r.Plan.Repaired, "prompt"), bench.Agree(r.Plan.Repaired, "was", "were")))
	}
	if r.Summary.Goodput != nil && r.Summary.Goodput.FromDue {
		notes = append(notes, "goodput counts latency from when requests were due")
	}
	if len(notes) == 0 && r.Plan.Source == "" {
		return
	}
	t.title("Notes", "-")
	if r.Plan.Source != "" {
		t.printf("prompts: %s\n", Sentence(r.Plan.Source))
	}
	for _, n := range notes {
		t.printf("- %s\n", Sentence(n))
	}
}
