package stats

import (
	"math"
	"time"

	"github.com/servemark/servemark/internal/bench"
)

// Strict computes the figures that the client of the plan's dialect prints (SGLang's 0.5.23, vLLM's 0.33), by its formulas,
// from our records: what --strict-compat shows under the old labels. What the original has no figure for is left unmeasured. Failures stay failures, and where the
// original prints 0 for an empty list the figure is not measured.
func Strict(plan *bench.Plan, records []bench.Record) bench.Summary {
	if plan.Spec.Dialect == bench.DialectVLLM {
		return strictVLLM(plan, records)
	}
	return strictSGLang(plan, records)
}

func strictSGLang(plan *bench.Plan, records []bench.Record) bench.Summary {
	r := gather(plan, records)
	counted := r.counts()
	s := bench.Summary{Planned: counted.Planned, Sent: counted.Sent, Completed: counted.Completed, Failed: counted.Failed,
		Cancelled: counted.Cancelled, Scheduled: r.scheduled, Duration: strictDuration(r.records)}
	s.InputTokens, s.OutputTokens, s.Retokenized = bench.Counted(0), bench.Counted(0), bench.Counted(0)
	s.InputSource, s.OutputSource = bench.TokensByTokenizer, bench.TokensByServer
	replies := strictReplies(r)
	var e2e, ttft, tpot sample
	itl := sample{pooled: true}
	judgements := make([]judged, 0, len(replies))
	for i := range replies {
		rep := &replies[i]
		raw, _ := plannedInput(rep.req)
		s.InputTokens = s.InputTokens.Plus(raw)
		s.OutputTokens = s.OutputTokens.Plus(rep.output)
		s.Retokenized = s.Retokenized.Plus(rep.rec.Retokenized)
		if !rep.rec.Usage.Completion.Known() {
			s.OutputSource = bench.TokensMixed
		}
		e2e.add(rep.e2e)
		ttft.add(rep.ttft)
		tpot.add(rep.tpot)
		for _, gap := range rep.itl {
			itl.addTimes(gap, 1)
		}
		judgements = append(judgements, judged{rep.ttft, rep.tpot, rep.e2e})
	}
	s.E2E, s.TTFT, s.TPOT, s.ITL = e2e.describe(), ttft.describe(), tpot.describe(), itl.describe()
	strictRates(&s)
	strictPeaks(&s, replies)
	s.Goodput = goodput(plan.Spec.SLOs, judgements, s.Completed+s.Failed, s.Duration)
	return s
}

// StrictPerRequest returns each request's figures by the original's formulas, in the order of request ids.
func StrictPerRequest(plan *bench.Plan, records []bench.Record) []bench.Figures {
	index := requestsByID(plan)
	out := make([]bench.Figures, 0, len(records))
	for _, rec := range byID(records) {
		f := bench.Figures{ID: rec.ID, Input: inputOf(rec, index[rec.ID]), Output: bench.Counted(0)}
		if rec.OK() {
			read := strictReply
			if plan.Spec.Dialect == bench.DialectVLLM {
				read = vllmReply
			}
			rep := read(rec, index[rec.ID], plan.Spec.Target.API)
			f.Output, f.TTFT, f.E2E, f.ITL = rep.output, rep.ttft, rep.e2e, rep.itl
		}
		out = append(out, f)
	}
	return out
}

// strictFigures are one success as the original sees it.
type strictFigures struct {
	rec             *bench.Record
	req             *bench.Request
	output          bench.Count
	ttft, e2e, tpot bench.Measure
	itl             []float64
}

func strictReplies(r *run) []strictFigures {
	out := make([]strictFigures, len(r.replies))
	for i := range r.replies {
		out[i] = strictReply(r.replies[i].rec, r.replies[i].req, r.plan.Spec.Target.API)
	}
	return out
}

// strictReply applies the original's reading of one reply: the output is the server's count or else what was asked, latency
// runs to the last line, a reply that was not streamed has its first token at its end, tool calls and refusals are not
// tokens. Its own route divides gaps by new tokens and takes the first chunk for one token; the OpenAI routes do not divide.
func strictReply(rec *bench.Record, req *bench.Request, api bench.API) strictFigures {
	f := strictFigures{rec: rec, req: req, output: rec.Usage.Completion, e2e: seconds(rec.Sent, rec.Done)}
	if !f.output.Known() && req != nil {
		f.output = bench.Counted(req.OutputTokens)
	}
	if !rec.Streamed && !api.Pooling() {
		f.ttft = f.e2e
	}
	first, last := bench.Never, bench.Never
	for i := range rec.Chunks {
		c := &rec.Chunks[i]
		native := api == bench.APIGenerate
		if !rec.Streamed || !strictToken(c, native, rec.ChunkTokens) {
			continue
		}
		if !last.Known() {
			f.ttft = seconds(rec.Sent, c.At)
			first, last = c.At, c.At
			continue
		}
		gap, n := c.At.Sub(last).Seconds(), 1
		if native && c.Tokens > 0 {
			n = int(c.Tokens)
		}
		for range n {
			f.itl = append(f.itl, gap/float64(n))
		}
		last = c.At
	}
	if d, timed := bench.Elapsed(first, rec.Done); timed {
		if n, known := f.output.Get(); known && n > 1 {
			f.tpot = bench.Measured(d.Seconds() / float64(n-1))
		}
	}
	return f
}

// strictToken reports whether the original takes a chunk for output.
func strictToken(c *bench.Chunk, native bool, from bench.ChunkTokens) bool {
	if native {
		return c.Tokens > 0 || from == bench.ChunkTokensUnknown
	}
	return c.Channel == bench.ChannelContent || c.Channel == bench.ChannelReasoning
}

// strictDuration runs from before the first request is handed out to the last end.
func strictDuration(records []*bench.Record) time.Duration {
	first, last := bench.Never, bench.Never
	for _, rec := range records {
		for _, at := range [...]bench.Instant{rec.Due, rec.Admitted, rec.Sent} {
			if at.Known() && (!first.Known() || at < first) {
				first = at
			}
		}
		last = max(last, rec.Done)
	}
	d, ok := bench.Elapsed(first, last)
	if !ok {
		return 0
	}
	return d
}

func strictRates(s *bench.Summary) {
	if s.Duration <= 0 {
		return
	}
	per := func(c bench.Count) bench.Measure {
		n, known := c.Get()
		if !known {
			return bench.Measure{}
		}
		return bench.Measured(float64(n) / s.Duration.Seconds())
	}
	s.RequestRate = per(bench.Counted(s.Completed))
	s.InputRate, s.OutputRate = per(s.InputTokens), per(s.OutputTokens)
	s.TotalRate = per(s.InputTokens.Plus(s.OutputTokens))
	s.Concurrency = concurrency(s.E2E, s.Duration)
}

// maxStrictBins bounds the histogram; a run of more seconds has no peak by this formula.
const maxStrictBins = 1_000_000

// strictPeaks fills the original's one-second bins, which begin with the first success: a token for each chunk (its own
// route: for each token after the first chunk), and every request in each bin it touches, so that requests that follow one
// another within a second count as simultaneous.
func strictPeaks(s *bench.Summary, replies []strictFigures) {
	first, last := bench.Never, bench.Never
	for i := range replies {
		if rec := replies[i].rec; rec.Sent.Known() && rec.Done.Known() && rec.Done >= rec.Sent {
			if !first.Known() || rec.Sent < first {
				first = rec.Sent
			}
			last = max(last, rec.Done)
		}
	}
	if !first.Known() {
		return
	}
	bins := int(math.Ceil(last.Sub(first).Seconds())) + 1
	if bins < 1 || bins > maxStrictBins {
		return
	}
	tokens, requests := make([]int, bins), make([]int, bins+1)
	streamed := false
	for i := range replies {
		rep := &replies[i]
		if !rep.rec.Sent.Known() || !rep.rec.Done.Known() || rep.rec.Done < rep.rec.Sent {
			continue
		}
		from := rep.rec.Sent.Sub(first).Seconds()
		if ttft, ok := rep.ttft.Get(); ok {
			streamed = true
			at := from + ttft
			addToBin(tokens, at)
			for _, gap := range rep.itl {
				at += gap
				addToBin(tokens, at)
			}
		}
		end := min(int(rep.rec.Done.Sub(first).Seconds()), bins-1)
		requests[int(from)]++
		requests[end+1]--
	}
	now, most := 0, 0
	for i := range tokens {
		now += requests[i]
		s.PeakConcurrency = max(s.PeakConcurrency, now)
		most = max(most, tokens[i])
	}
	if streamed {
		s.PeakOutputRate = bench.Measured(float64(most))
	}
}

func addToBin(bins []int, at float64) {
	if at >= 0 && int(at) < len(bins) {
		bins[int(at)]++
	}
}
