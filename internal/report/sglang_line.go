package report

import (
	"fmt"
	"time"

	"github.com/servemark/servemark/internal/bench"
)

// SGLangLine returns the JSON object that SGLang's client appends to its result file, without a line end: its keys in its
// order, then servemark's own, then the arrays of --output-details where the Run holds Figures. It is legal JSON: unlimited
// is "inf", what was not measured is null.
func SGLangLine(r *Run) ([]byte, error) {
	if len(r.Figures) > 0 && len(r.Figures) != len(r.Records) {
		return nil, fmt.Errorf("report: %d figures for %d records", len(r.Figures), len(r.Records))
	}
	var o object
	putArguments(&o, r)
	putResults(&o, r.labelled(), acceptLength(r))
	putGoodput(&o, r.Plan.Spec.SLOs, r.labelled().Goodput)
	if r.Plan.Spec.CacheReport {
		o.put("cache_report", cacheObject(&r.Summary))
	}
	putOwn(&o, r)
	if len(r.Figures) > 0 {
		if err := putDetails(&o, r); err != nil {
			return nil, err
		}
	}
	return o.bytes()
}

// putArguments puts what the original repeats of its command line.
func putArguments(o *object, r *Run) {
	spec := &r.Plan.Spec
	data := &spec.Dataset
	o.put("tag", orNull(spec.Tag))
	o.put("backend", r.backend())
	o.put("dataset_name", data.Name)
	if spec.Load.Trace || spec.Load.RampUp != nil || len(spec.Load.Stages) > 0 {
		o.put("request_rate", trafficWord(spec.Load))
	} else {
		o.put("request_rate", rateOrInf(spec.Load.Rate))
	}
	o.put("max_concurrency", positiveOrNull(spec.Load.Concurrency))
	if data.Name == "speed-bench" { // whose length is of another flag
		o.put("sharegpt_output_len", nil)
	} else {
		o.put("sharegpt_output_len", positiveOrNull(data.FixedOutput))
	}
	o.put("random_input_len", positiveOrNull(data.InputTokens))
	o.put("random_output_len", positiveOrNull(data.OutputTokens))
	o.put("random_range_ratio", data.RangeRatio)
	if r.Server.Info != nil {
		o.put("server_info", r.Server.Info)
	} else {
		o.put("server_info", nil)
	}
}

// putResults puts the original's figures.
func putResults(o *object, s *bench.Summary, accepted bench.Measure) {
	o.put("duration", s.Duration.Seconds())
	o.put("completed", s.Completed)
	o.put("total_input_tokens", s.InputTokens)
	o.put("total_input_text_tokens", s.InputTokens)
	o.put("total_input_vision_tokens", 0) // no data set here has images
	o.put("total_output_tokens", s.OutputTokens)
	o.put("total_output_tokens_retokenized", s.Retokenized)
	o.put("request_throughput", s.RequestRate)
	o.put("input_throughput", s.InputRate)
	o.put("output_throughput", s.OutputRate)
	o.put("total_throughput", s.TotalRate)
	putMillis(o, "e2e_latency", &s.E2E)
	putMillis(o, "ttft", &s.TTFT)
	putMillis(o, "tpot", &s.TPOT)
	putMillis(o, "itl", &s.ITL)
	o.put("concurrency", s.Concurrency)
	o.put("accept_length", accepted) // of this run; the original takes the average over the server's lifetime
	o.put("max_output_tokens_per_s", s.PeakOutputRate)
	o.put("max_concurrent_requests", s.PeakConcurrency)
}

// putMillis puts the six figures of a distribution of seconds under the original's names, in milliseconds.
func putMillis(o *object, name string, d *bench.Distribution) {
	o.put("mean_"+name+"_ms", scaled(mean(d)))
	o.put("median_"+name+"_ms", scaled(percentile(d, 50)))
	o.put("std_"+name+"_ms", scaled(std(d)))
	for _, p := range []float64{90, 95, 99} {
		o.put(fmt.Sprintf("p%.0f_%s_ms", p, name), scaled(percentile(d, p)))
	}
}

func scaled(m bench.Measure) bench.Measure {
	x, ok := m.Get()
	if !ok {
		return m
	}
	return bench.Measured(1000 * x)
}

func cacheObject(s *bench.Summary) *object {
	c, by := cacheOf(s), s.CachedBy
	var o object
	o.put("total_prompt_tokens", c.prompt)
	o.put("total_cached_tokens", c.cached)
	rate := c.rate
	if x, ok := rate.Get(); ok {
		rate = bench.Measured(100 * x)
	}
	o.put("cache_hit_rate_pct", rate)
	for i, key := range []string{"device_cached_tokens", "host_cached_tokens"} {
		if c.told {
			o.put(key, []int{by.Device.Or(0), by.Host.Or(0)}[i])
		} else {
			o.put(key, nil)
		}
	}
	o.put("storage_cached_tokens", positiveOrNull(by.Storage.Or(0)))
	o.put("storage_backend", orNull(by.Backend))
	return &o
}

// putGoodput puts the original's four keys where SLOs are set.
func putGoodput(o *object, slos []bench.SLO, g *bench.Goodput) {
	if g == nil {
		return
	}
	limits, byMetric := object{}, object{}
	for _, slo := range slos {
		limits.put(slo.Metric, slo.Max.Seconds()*1000)
		byMetric.put(slo.Metric, g.ByMetric[slo.Metric])
	}
	o.put("goodput_slos_ms", &limits)
	o.put("request_goodput", g.Rate)
	o.put("slo_attainment", g.Attainment)
	o.put("slo_attainment_by_metric", &byMetric)
}

// putOwn puts what the original's line lacks.
func putOwn(o *object, r *Run) {
	s, spec := &r.Summary, &r.Plan.Spec
	o.put("servemark_version", r.Version)
	o.put("date", r.Started.UTC().Format(time.RFC3339Nano))
	o.put("model", orNull(string(spec.Model.Served)))
	o.put("tokenizer", orNull(string(spec.Model.Tokenizer)))
	o.put("base_url", spec.Target.BaseURL)
	o.put("engine", orNull(string(r.Server.Engine)))
	o.put("engine_version", orNull(r.Server.Version))
	o.put("seed", spec.Seed)
	o.put("num_prompts", spec.Dataset.Rows)
	o.put("strict_compat", spec.Strict)
	o.put("fingerprint", r.Plan.Fingerprint)
	o.put("verdict", s.Verdict.Level)
	o.put("verdict_causes", orEmpty(s.Verdict.Causes))
	o.put("partial", s.Partial)
	o.put("planned", s.Planned)
	o.put("sent", s.Sent)
	o.put("failed", s.Failed)
	o.put("cancelled", s.Cancelled)
	o.put("empty", s.Empty)
	o.put("resent", s.Resent)
	o.put("connections_replaced", s.Replaced)
	o.put("malformed_events", s.MalformedCount)
	o.put("failures", orEmpty(s.Failures))
	o.put("input_tokens_by", s.InputSource)
	o.put("output_tokens_by", s.OutputSource)
	o.put("total_input_tokens_by_tokenizer", s.InputByTokenizer)
	o.put("total_input_tokens_templated", s.InputTemplated)
	o.put("total_reasoning_tokens", s.ReasoningTokens)
	o.put("total_cached_tokens", s.CachedTokens)
	o.put("chunk_tokens_by", orNull(s.ChunkTokens))
	putMillis(o, "first_answer", &s.FirstAnswer)
	putMillis(o, "chunk_gap", &s.ChunkGap)
	o.put("max_itl_ms", scaled(high(&r.labelled().ITL)))
	o.put("per_user_tokens_per_s", s.PerUser)
	o.put("asked_rate", s.AskedRate)
	o.put("achieved_rate", s.AchievedRate)
	putMillis(o, "ttft_from_due", &s.TTFTFromDue)
	putMillis(o, "first_answer_from_due", &s.AnswerFromDue)
	putMillis(o, "e2e_latency_from_due", &s.E2EFromDue)
	putMillis(o, "client_queue", &s.ClientQueue)
	putMillis(o, "lateness", &s.Lateness)
	putMillis(o, "connect", &s.Connect)
	putClient(o, s)
	o.put("p99_intervals_ms", intervalsObject(s))
	o.put("notes", orEmpty(append(append([]string{}, r.Plan.Notes...), s.Notes...)))
}

// intervalsObject holds [low, high] in milliseconds for each p99 of single requests; null is an open end.
func intervalsObject(s *bench.Summary) *object {
	var o object
	for _, row := range []struct {
		name string
		d    *bench.Distribution
	}{{"e2e_latency", &s.E2E}, {"ttft", &s.TTFT}, {"tpot", &s.TPOT}, {"first_answer", &s.FirstAnswer}} {
		if q, ok := row.d.Quantile(99); ok {
			o.put(row.name, [2]bench.Measure{scaled(q.Low), scaled(q.High)})
		} else {
			o.put(row.name, nil)
		}
	}
	return &o
}

// putDetails puts the original's arrays, in the order of request ids, and servemark's: ids, start times and latencies.
func putDetails(o *object, r *Run) error {
	c, err := columnsOf(r)
	if err != nil {
		return err
	}
	o.put("input_lens", c.inputs)
	o.put("output_lens", c.outputs)
	o.put("ttfts", c.ttfts)
	o.put("itls", c.itls)
	o.put("generated_texts", c.texts)
	o.put("errors", c.errors)
	if r.Plan.Spec.CacheReport {
		o.put("cached_tokens", c.cached)
		o.put("cached_tokens_details", c.levels)
	}
	o.put("request_ids", c.ids)
	o.put("start_times", c.starts)
	o.put("latencies", c.latencies)
	return nil
}

func rateOrInf(rate float64) any {
	if rate <= 0 {
		return "inf"
	}
	return rate
}

func orNull(s string) any {
	if s == "" {
		return nil
	}
	return s
}

func positiveOrNull(n int) any {
	if n <= 0 {
		return nil
	}
	return n
}

// orEmpty makes a missing list an empty one in JSON.
func orEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}
