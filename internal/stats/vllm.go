package stats

import (
	"math"
	"time"

	"github.com/servemark/servemark/internal/bench"
)

// VLLMFigures are the distributions that vLLM's client shows, each with the percentiles that were asked for.
type VLLMFigures struct {
	TTFT, TPOT, ITL, E2E bench.Distribution
	// Queue is the wait for the user's own cap, WithQueue E2E from before it. The two are not measured where there is no cap or
	// nothing says when a request was to be sent.
	Queue, WithQueue bench.Distribution
	// Medians are always there, under the original's names for the distributions.
	Medians map[string]bench.Measure
	// Inputs counts the texts of all successes, for APIs that take several in one request.
	Inputs int
}

// VLLM computes what stands under the labels of vLLM's client, by servemark's definitions, or by the original's where the
// plan asks for those.
func VLLM(plan *bench.Plan, records []bench.Record) VLLMFigures {
	r := gather(plan, records)
	at := []float64{99}
	if v := plan.Spec.VLLM; v != nil && len(v.Percentiles) > 0 {
		at = v.Percentiles
	}
	var ttft, tpot, e2e, queue, with sample
	itl := sample{pooled: true}
	begin := runStart(r.records)
	out := VLLMFigures{}
	for i := range r.replies {
		rep := &r.replies[i]
		out.Inputs += inputsOf(rep.req, plan.Spec.Target.API)
		arrival, latency := rep.rec.Due, rep.e2e
		if plan.Spec.Strict {
			f := vllmReply(rep.rec, rep.req, plan.Spec.Target.API)
			ttft.add(f.ttft)
			tpot.add(f.tpot)
			e2e.add(f.e2e)
			latency = f.e2e
			for _, gap := range f.itl {
				itl.addTimes(gap, 1)
			}
			if !r.scheduled {
				arrival = begin // its tasks are all made at the start
			}
		} else {
			ttft.add(rep.ttft)
			tpot.add(rep.tpot)
			e2e.add(rep.e2e)
			rep.eachITL(itl.addTimes)
		}
		if plan.Spec.Load.Concurrency > 0 && (r.scheduled || plan.Spec.Strict) {
			addQueue(&queue, &with, rep.rec, arrival, latency, plan.Spec.Strict)
		}
	}
	if !r.scheduled {
		with.points = nil
	}
	out.Medians = map[string]bench.Measure{}
	for _, x := range []struct {
		name string
		from *sample
		to   *bench.Distribution
	}{{"ttft", &ttft, &out.TTFT}, {"tpot", &tpot, &out.TPOT}, {"itl", &itl, &out.ITL}, {"e2el", &e2e, &out.E2E},
		{"client_queue_time", &queue, &out.Queue}, {"e2el_including_client_queue", &with, &out.WithQueue}} {
		out.Medians[x.name] = x.from.split(at, x.to)
	}
	return out
}

// split describes a sample at the given percentiles and returns its median beside them.
func (s *sample) split(at []float64, to *bench.Distribution) bench.Measure {
	s.only = append([]float64{50}, at...)
	d := s.describe()
	if !d.Measured() {
		*to = d
		return bench.Measure{}
	}
	median := bench.Measured(d.Quantiles[0].Value)
	d.Quantiles = d.Quantiles[1:]
	*to = d
	return median
}

// addQueue adds one request's wait for a slot; the original's ends when the request is sent, ours when the slot is there.
func addQueue(queue, with *sample, rec *bench.Record, arrival bench.Instant, latency bench.Measure, strict bool) {
	end := rec.Admitted
	if strict {
		end = rec.Sent
	}
	wait := seconds(arrival, end)
	queue.add(wait)
	w, ok := wait.Get()
	x, too := latency.Get()
	if ok && too {
		with.add(bench.Measured(w + x))
	}
}

// inputsOf is how many texts a request holds; the query of a reranker is none of them.
func inputsOf(req *bench.Request, api bench.API) int {
	if req == nil || len(req.Prompt.Texts) == 0 {
		return 1
	}
	if api == bench.APIRerank {
		return len(req.Prompt.Texts) - 1
	}
	return len(req.Prompt.Texts)
}

// runStart is the first instant at which any request was handed out.
func runStart(records []*bench.Record) bench.Instant {
	first := bench.Never
	for _, rec := range records {
		for _, at := range [...]bench.Instant{rec.Due, rec.Admitted, rec.Sent} {
			if at.Known() && (!first.Known() || at < first) {
				first = at
			}
		}
	}
	return first
}

// strictVLLM computes the figures of vLLM's client (0.33) by its formulas from our records: latency ends with the last token
// chunk, every chunk is a token of ITL, the prompt's length is the server's.
func strictVLLM(plan *bench.Plan, records []bench.Record) bench.Summary {
	r := gather(plan, records)
	counted := r.counts()
	s := bench.Summary{Planned: counted.Planned, Sent: counted.Sent, Completed: counted.Completed, Failed: counted.Failed,
		Cancelled: counted.Cancelled, Scheduled: r.scheduled, Duration: strictDuration(r.records)}
	s.InputTokens, s.OutputTokens, s.Retokenized = bench.Counted(0), bench.Counted(0), bench.Counted(0)
	s.InputSource, s.OutputSource = bench.TokensByServer, bench.TokensByServer
	var e2e, ttft, tpot sample
	itl := sample{pooled: true}
	judgements := make([]judged, 0, len(r.replies))
	for i := range r.replies {
		rep := &r.replies[i]
		f := vllmReply(rep.rec, rep.req, plan.Spec.Target.API)
		s.InputTokens = s.InputTokens.Plus(inputOf(rep.rec, rep.req))
		s.OutputTokens = s.OutputTokens.Plus(f.output)
		s.Retokenized = s.Retokenized.Plus(rep.rec.Retokenized)
		if !rep.rec.Usage.Completion.Known() {
			s.OutputSource = bench.TokensMixed
		}
		e2e.add(f.e2e)
		ttft.add(f.ttft)
		tpot.add(f.tpot)
		for _, gap := range f.itl {
			itl.addTimes(gap, 1)
		}
		judgements = append(judgements, judged{f.ttft, f.tpot, f.e2e})
	}
	s.E2E, s.TTFT, s.TPOT, s.ITL = e2e.describe(), ttft.describe(), tpot.describe(), itl.describe()
	strictRates(&s)
	vllmPeaks(&s, r, plan.Spec.Target.API)
	s.Goodput = goodput(plan.Spec.SLOs, judgements, s.Completed+s.Failed, s.Duration)
	return s
}

// vllmReply applies the reading of vLLM's client to one success.
func vllmReply(rec *bench.Record, req *bench.Request, api bench.API) strictFigures {
	f := strictFigures{rec: rec, req: req, output: rec.Usage.Completion}
	if f.output.Or(0) == 0 && !api.Pooling() { // its client counts again where usage is missing or 0, and without a tokenizer takes 1
		if f.output = rec.Retokenized; !f.output.Known() {
			f.output = bench.Counted(1)
		}
	}
	if api.Pooling() || !rec.Streamed {
		f.e2e = seconds(rec.Sent, rec.Done)
		f.ttft = f.e2e
		return f
	}
	first, last := bench.Never, bench.Never
	for i := range rec.Chunks {
		c := &rec.Chunks[i]
		if !vllmToken(c, api) {
			continue
		}
		if last.Known() {
			f.itl = append(f.itl, c.At.Sub(last).Seconds())
		} else {
			first = c.At
		}
		last = c.At
	}
	f.ttft, f.e2e = seconds(rec.Sent, first), seconds(rec.Sent, last)
	if d, timed := bench.Elapsed(first, last); timed {
		if n, known := f.output.Get(); known && n > 1 {
			f.tpot = bench.Measured(d.Seconds() / float64(n-1))
		}
	}
	return f
}

// vllmToken reports whether vLLM's client takes a chunk for output: anything on completions, text and thought on responses,
// and on chat tool calls too, but no refusal.
func vllmToken(c *bench.Chunk, api bench.API) bool {
	switch api {
	case bench.APIChat:
		return c.Channel == bench.ChannelContent || c.Channel == bench.ChannelReasoning || c.Channel == bench.ChannelTool
	case bench.APIResponses:
		return c.Channel == bench.ChannelContent || c.Channel == bench.ChannelReasoning
	}
	return true
}

// vllmPeaks fills its one-second bins: a token a chunk, and every request in each bin it touches.
func vllmPeaks(s *bench.Summary, r *run, api bench.API) {
	first, last := bench.Never, bench.Never
	for i := range r.replies {
		rec := r.replies[i].rec
		end := vllmEnd(rec, api)
		if !rec.Sent.Known() || !end.Known() {
			continue
		}
		if !first.Known() || rec.Sent < first {
			first = rec.Sent
		}
		last = max(last, end)
	}
	if !first.Known() {
		return
	}
	bins := int(math.Ceil(last.Sub(first).Seconds())) + 1
	if bins < 1 || bins > maxStrictBins {
		return
	}
	tokens, edges := make([]int, bins), make([]int, bins+1)
	for i := range r.replies {
		rec := r.replies[i].rec
		end := vllmEnd(rec, api)
		if !rec.Sent.Known() || !end.Known() {
			continue
		}
		for k := range rec.Chunks {
			if vllmToken(&rec.Chunks[k], api) {
				addToBin(tokens, rec.Chunks[k].At.Sub(first).Seconds())
			}
		}
		edges[int(rec.Sent.Sub(first)/time.Second)]++
		edges[min(int(end.Sub(first)/time.Second), bins-1)+1]--
	}
	now, most := 0, 0
	for i := range tokens {
		now += edges[i]
		s.PeakConcurrency, most = max(s.PeakConcurrency, now), max(most, tokens[i])
	}
	s.PeakOutputRate = bench.Measured(float64(most))
}

// vllmEnd is where the latency of vLLM's client ends.
func vllmEnd(rec *bench.Record, api bench.API) bench.Instant {
	if !rec.Streamed || api.Pooling() {
		return rec.Done
	}
	for i := len(rec.Chunks) - 1; i >= 0; i-- {
		if vllmToken(&rec.Chunks[i], api) {
			return rec.Chunks[i].At
		}
	}
	return bench.Never
}
