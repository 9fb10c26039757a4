package stats

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/servemark/servemark/internal/bench"
)

// ToolFigure is a figure as another tool defines it, from our records.
type ToolFigure struct {
	// Word is the definition that holds (Define), Name the figure in the tool's words, Unit its unit.
	Word, Name, Unit string
	Value            bench.Measure
	// Rule is the tool's rule in one line; Why says why there is no value.
	Rule, Why string
}

// noText is why a figure is missing that needs the text of the answers.
const noText = "n/a without saved text"

// As computes a tool's figures; ok is false for a tool that is not known.
func As(tool string, plan *bench.Plan, records []bench.Record) (figures []ToolFigure, ok bool) {
	r := gather(plan, records)
	f := &toolFigures{tool: tool, run: r}
	switch tool {
	case toolSGLang:
		f.client(strictSGLang(plan, records), true)
	case toolVLLM:
		f.client(strictVLLM(plan, records), false)
	case toolAIPerf:
		f.aiperf()
	case toolGuideLLM:
		f.guidellm()
	case toolInference:
		f.inferencePerf()
	case toolMLPerf:
		f.mlperf()
	default:
		return nil, false
	}
	return f.list, true
}

// toolFigures gathers figures.
type toolFigures struct {
	tool string
	run  *run
	list []ToolFigure
}

func (f *toolFigures) add(word, name, unit string, v bench.Measure, why string) {
	if v.Known() {
		why = ""
	} else if why == "" {
		why = "not measured"
	}
	f.list = append(f.list, ToolFigure{Word: word, Name: name, Unit: unit, Value: v, Rule: ruleOf(f.tool, word), Why: why})
}

// millis adds mean, median and p99 of a sample of seconds.
func (f *toolFigures) millis(word, name string, s *sample, why string) {
	d := s.describe()
	f.add(word, "mean "+name, "ms", ofDistribution(&d, func() float64 { return d.Mean }), why)
	for _, p := range []float64{50, 99} {
		v := bench.Measure{}
		if q, ok := d.Quantile(p); ok {
			v = bench.Measured(1000 * q.Value)
		}
		f.add(word, fmt.Sprintf("p%.0f %s", p, name), "ms", v, why)
	}
}

func ofDistribution(d *bench.Distribution, x func() float64) bench.Measure {
	if !d.Measured() {
		return bench.Measure{}
	}
	return bench.Measured(1000 * x())
}

// client adds the figures of the two clients that this program stands in for.
func (f *toolFigures) client(s bench.Summary, concurrency bool) {
	for _, x := range []struct {
		word, name string
		d          *bench.Distribution
	}{{"ttft", "TTFT", &s.TTFT}, {"tpot", "TPOT", &s.TPOT}, {"itl", "ITL", &s.ITL}, {"e2e", "E2E", &s.E2E}} {
		f.add(x.word, "mean "+x.name, "ms", ofDistribution(x.d, func() float64 { return x.d.Mean }), "")
		for _, p := range []float64{50, 99} {
			v := bench.Measure{}
			if q, ok := x.d.Quantile(p); ok {
				v = bench.Measured(1000 * q.Value)
			}
			f.add(x.word, fmt.Sprintf("p%.0f %s", p, x.name), "ms", v, "")
		}
	}
	f.add("throughput", "output token throughput", "tok/s", s.OutputRate, "")
	f.add("peak-throughput", "peak output token throughput", "tok/s", s.PeakOutputRate, "")
	if concurrency {
		f.add("concurrency", "concurrency", "requests", s.Concurrency, "")
	}
	f.add("concurrency", "peak concurrent requests", "requests", bench.Measured(float64(s.PeakConcurrency)), "")
	f.add("duration", "duration", "s", bench.Measured(s.Duration.Seconds()), "")
	tokens := func(c bench.Count) bench.Measure {
		n, known := c.Get()
		if !known {
			return bench.Measure{}
		}
		return bench.Measured(float64(n))
	}
	f.add("input-tokens", "total input tokens", "tokens", tokens(s.InputTokens), "")
	f.add("output-tokens", "total output tokens", "tokens", tokens(s.OutputTokens), "")
}

// firstOf is the first chunk that a tool takes for output.
func firstOf(rec *bench.Record, takes func(bench.Channel) bool) bench.Instant {
	for i := range rec.Chunks {
		if takes(rec.Chunks[i].Channel) {
			return rec.Chunks[i].At
		}
	}
	return bench.Never
}

func textual(c bench.Channel) bool     { return c == bench.ChannelContent || c == bench.ChannelReasoning }
func contentOnly(c bench.Channel) bool { return c == bench.ChannelContent }

// perToken is a time divided by n−1 tokens, for more than one.
func perToken(from, to bench.Instant, n bench.Count) bench.Measure {
	d, timed := bench.Elapsed(from, to)
	if k, known := n.Get(); timed && known && k > 1 {
		return bench.Measured(d.Seconds() / float64(k-1))
	}
	return bench.Measure{}
}

// rate adds tokens of all successes per second of the run; a count that is missing makes it unknown.
func (f *toolFigures) rate(count func(*bench.Record) bench.Count, why string) {
	sum := bench.Counted(0)
	for i := range f.run.replies {
		sum = sum.Plus(count(f.run.replies[i].rec))
	}
	v := bench.Measure{}
	if n, known := sum.Get(); known && f.run.duration() > 0 && len(f.run.replies) > 0 {
		v = bench.Measured(float64(n) / f.run.duration().Seconds())
	}
	f.add("throughput", "output token throughput", "tok/s", v, why)
}

func retokenized(rec *bench.Record) bench.Count { return rec.Retokenized }

func (f *toolFigures) aiperf() {
	var ttft, ttfo, itl, e2e sample
	gaps := sample{pooled: true}
	for i := range f.run.replies {
		rec := f.run.replies[i].rec
		if !rec.Streamed {
			e2e.add(seconds(rec.Sent, rec.Done))
			continue
		}
		first := firstOf(rec, textual)
		ttft.add(seconds(rec.Sent, first))
		ttfo.add(seconds(rec.Sent, firstOf(rec, contentOnly)))
		e2e.add(seconds(rec.Sent, lastToken(rec)))
		itl.add(perToken(first, lastToken(rec), rec.Retokenized))
		f.run.replies[i].eachGap(func(x float64) { gaps.addTimes(x, 1) })
	}
	f.millis("ttft", "time to first token", &ttft, "")
	f.millis("first-answer", "time to first output token", &ttfo, "")
	f.millis("itl", "inter-token latency", &itl, noText)
	f.millis("chunk-gap", "inter-chunk latency", &gaps, "")
	f.millis("e2e", "request latency", &e2e, "")
	f.rate(retokenized, noText)
}

func (f *toolFigures) guidellm() {
	var ttft, answer, tpot, itl, e2e sample
	for i := range f.run.replies {
		rep := &f.run.replies[i]
		rec := rep.rec
		e2e.add(seconds(rec.Sent, rec.Done))
		if !rec.Streamed {
			continue
		}
		first, last := firstOf(rec, textual), lastToken(rec)
		ttft.add(seconds(rec.Sent, first))
		answer.add(seconds(rec.Sent, firstOf(rec, contentOnly)))
		itl.add(perToken(first, last, rep.output))
		if d, ok := bench.Elapsed(rec.Sent, last); ok && rep.output.Or(0) > 0 {
			tpot.add(bench.Measured(d.Seconds() / float64(rep.output.Or(0))))
		}
	}
	f.millis("ttft", "TTFT", &ttft, "")
	f.millis("first-answer", "time_to_first_output_token", &answer, "")
	f.millis("tpot", "TPOT", &tpot, "")
	f.millis("itl", "ITL", &itl, "")
	f.millis("e2e", "request latency", &e2e, "")
	f.rate(outputOf, "")
}

func (f *toolFigures) inferencePerf() {
	var ttft, tpot, e2e sample
	itl := sample{pooled: true}
	for i := range f.run.replies {
		rec := f.run.replies[i].rec
		e2e.add(seconds(rec.Sent, rec.Done))
		if !rec.Streamed {
			continue
		}
		first, last := bench.Never, bench.Never
		for k := range rec.Chunks {
			if c := &rec.Chunks[k]; c.Channel == bench.ChannelContent {
				if last.Known() {
					itl.addTimes(c.At.Sub(last).Seconds(), 1)
				} else {
					first = c.At
				}
				itl.addTimes(0, int64(c.Tokens)-1)
				last = c.At
			}
		}
		ttft.add(seconds(rec.Sent, first))
		tpot.add(perToken(first, last, rec.Retokenized))
	}
	f.millis("ttft", "TTFT", &ttft, "")
	f.millis("tpot", "TPOT", &tpot, noText)
	f.millis("itl", "ITL", &itl, "")
	f.millis("e2e", "request latency", &e2e, "")
	f.rate(retokenized, noText)
}

func (f *toolFigures) mlperf() {
	var ttft, tpot, e2e []float64
	for i := range f.run.replies {
		rep := &f.run.replies[i]
		rec := rep.rec
		if x, ok := seconds(rec.Due, lastToken(rec)).Get(); ok {
			e2e = append(e2e, x)
		}
		if !rec.Streamed {
			continue
		}
		if x, ok := seconds(rec.Due, rec.FirstChunk()).Get(); ok {
			ttft = append(ttft, x)
		}
		if x, ok := rep.tpot.Get(); ok {
			tpot = append(tpot, x)
		}
	}
	for _, x := range []struct {
		word, name string
		values     []float64
	}{{"ttft", "TTFT", ttft}, {"tpot", "TPOT", tpot}, {"e2e", "latency", e2e}} {
		var s sample
		for _, v := range x.values {
			s.addTimes(v, 1)
		}
		f.millis(x.word, x.name, &s, "")
		bound, why := earlyStopping(x.values, 0.99)
		f.add("percentile", "p99 "+x.name+", early-stopping bound", "ms", bound, why)
	}
	f.rate(outputOf, "")
}

// earlyConfidence is MLPerf's.
const earlyConfidence = 0.99

// earlyStopping returns MLPerf's estimate of a percentile in milliseconds: the smallest value that is above the true
// percentile with 99 % confidence, from the number of values that may lie above it (loadgen's early stopping).
func earlyStopping(values []float64, p float64) (bench.Measure, string) {
	n := len(values)
	above := -1
	b := distuv.Binomial{N: float64(n), P: 1 - p}
	for t := 0; t < n && b.CDF(float64(t)) <= 1-earlyConfidence; t++ {
		above = t
	}
	if above < 0 {
		need := int(math.Ceil(math.Log(1-earlyConfidence) / math.Log(p)))
		return bench.Measure{}, fmt.Sprintf("%s %s too few; %d are needed", bench.Number(n, "request"), bench.Agree(n, "is", "are"), need)
	}
	return bench.Measured(1000 * kthLargest(values, above+1)), ""
}

// kthLargest returns the k-th largest value, from 1.
func kthLargest(values []float64, k int) float64 {
	sorted := slices.Clone(values)
	slices.Sort(sorted)
	return sorted[len(sorted)-k]
}
