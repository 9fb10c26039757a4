package report

import (
	"errors"
	"fmt"
	"math"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/servemark/servemark/internal/bench"
	"github.com/servemark/servemark/internal/stats"
)

// VLLMResult returns the JSON object that vLLM's client saves, without a line end: its keys in its order, servemark's own
// under "servemark". The Run must hold VLLM, Records and Figures. What was not measured is null; unlimited is "inf".
func VLLMResult(r *Run) ([]byte, error) {
	if r.VLLM == nil || len(r.Figures) != len(r.Records) {
		return nil, errors.New("report: the result of vLLM's client needs its figures and one for each record")
	}
	var o object
	s, spec := r.labelled(), &r.Plan.Spec
	putVLLMArguments(&o, r)
	o.put("duration", s.Duration.Seconds())
	o.put("completed", s.Completed)
	if spec.Target.API.Pooling() {
		o.put("total_input_tokens", s.InputTokens)
		o.put("total_input_sequences", r.VLLM.Inputs)
		o.put("request_throughput", s.RequestRate)
		o.put("input_sequence_throughput", inputRate(r))
		o.put("total_token_throughput", totalRate(r))
	} else {
		putVLLMTokens(&o, s)
	}
	if err := putVLLMDetails(&o, r); err != nil {
		return nil, err
	}
	if !spec.Target.API.Pooling() {
		o.put("max_output_tokens_per_s", s.PeakOutputRate)
		o.put("max_concurrent_requests", s.PeakConcurrency)
		o.put("rtfx", 0.0) // no data set here is audio
	}
	putVLLMObserved(&o, r)
	for _, section := range vllmSections(r) {
		o.put("mean_"+section.key+"_ms", scaled(mean(section.d)))
		o.put("median_"+section.key+"_ms", scaled(section.median))
		o.put("std_"+section.key+"_ms", scaled(std(section.d)))
		for _, p := range spec.VLLM.Percentiles {
			o.put(fmt.Sprintf("p%s_%s_ms", percentWord(p), section.key), scaled(percentile(section.d, p)))
		}
	}
	var own object
	putOwn(&own, r)
	o.put("servemark", &own)
	return o.bytes()
}

// putVLLMArguments puts what the original repeats of its command line; metadata may replace what stands before them, as there.
func putVLLMArguments(o *object, r *Run) {
	spec := &r.Plan.Spec
	var head []pair
	put := func(key string, value any) { head = setPair(head, key, value) }
	put("date", r.Started.Format("20060102-150405"))
	put("endpoint_type", spec.Target.Backend)
	put("backend", spec.Target.Backend)
	put("label", orNull(spec.VLLM.Label))
	put("model_id", orNull(modelID(spec)))
	put("tokenizer_id", orNull(string(spec.Model.Tokenizer)))
	put("num_prompts", spec.Dataset.Rows)
	for _, m := range spec.VLLM.Metadata {
		put(m[0], m[1])
	}
	put("request_rate", rateOrInf(spec.Load.Rate))
	put("burstiness", burstiness(spec.Load))
	put("max_concurrency", positiveOrNull(spec.Load.Concurrency))
	if ramp := spec.Load.RampUp; ramp != nil {
		put("ramp_up_strategy", rampWord(ramp))
		put("ramp_up_start_rps", ramp.Start)
		put("ramp_up_end_rps", ramp.End)
	}
	for _, p := range head {
		o.put(p.key, p.value)
	}
}

// pair is a member of an object whose value may still be replaced.
type pair struct {
	key   string
	value any
}

func setPair(list []pair, key string, value any) []pair {
	for i := range list {
		if list[i].key == key {
			list[i].value = value
			return list
		}
	}
	return append(list, pair{key, value})
}

// modelID is the model as the user named it, else as it is served.
func modelID(spec *bench.Spec) string {
	if spec.Model.Asked != "" {
		return spec.Model.Asked
	}
	return string(spec.Model.Served)
}

// burstiness is the shape of the gaps; equal gaps have an infinite one, which JSON has no number for.
func burstiness(l bench.LoadSpec) any {
	switch {
	case l.Arrival == bench.ArrivalConstant:
		return "inf"
	case l.Arrival == bench.ArrivalGamma:
		return l.Burstiness
	}
	return 1.0
}

func rampWord(r *bench.RampUp) string {
	if r.Exponential {
		return "exponential"
	}
	return "linear"
}

func putVLLMTokens(o *object, s *bench.Summary) {
	o.put("failed", s.Failed)
	o.put("total_input_tokens", s.InputTokens)
	o.put("total_output_tokens", s.OutputTokens)
	o.put("request_throughput", s.RequestRate)
	if s.Goodput != nil {
		o.put("request_goodput", s.Goodput.Rate)
	} else {
		o.put("request_goodput", nil)
	}
	o.put("output_throughput", s.OutputRate)
	o.put("total_token_throughput", s.TotalRate)
}

// putVLLMDetails puts the lists with a value for each request; latencies and waits are always there.
func putVLLMDetails(o *object, r *Run) error {
	c, err := columnsOf(r)
	if err != nil {
		return err
	}
	all, pooling := r.Plan.Spec.VLLM.Detailed, r.Plan.Spec.Target.API.Pooling()
	if all {
		o.put("input_lens", c.inputs)
	}
	if all && !pooling {
		o.put("output_lens", c.outputs)
		o.put("ttfts", c.ttfts)
		o.put("itls", c.itls)
	}
	o.put("latencies", c.latencies)
	if all && !pooling {
		o.put("start_times", c.starts)
	}
	o.put("queue_times", c.queues)
	if all && !pooling {
		o.put("generated_texts", c.texts)
	}
	if all {
		o.put("errors", c.errors)
	}
	return nil
}

// putVLLMObserved puts probes, steps of a ramp and speculation where there were any.
func putVLLMObserved(o *object, r *Run) {
	if probes := r.Observed.Probes; len(probes) > 0 {
		p := stats.Probes(probes)
		o.put("probe_completed", p.Completed)
		o.put("probe_failed", p.Failed)
		o.put("probe_median_e2el_ms", scaled(percentile(&p.E2E, 50)))
		o.put("probe_p99_e2el_ms", scaled(percentile(&p.E2E, 99)))
		o.put("probe_max_e2el_ms", scaled(high(&p.E2E)))
	}
	if r.Plan.Spec.Load.RampUp != nil {
		o.put("rps_change_events", rampEvents(r))
	}
	s := r.Observed.Speculation
	if s == nil {
		return
	}
	rate := bench.Measure{}
	if x, ok := s.Rate().Get(); ok {
		rate = bench.Measured(100 * x)
	}
	o.put("spec_decode_acceptance_rate", rate)
	o.put("spec_decode_acceptance_length", s.AcceptLength)
	o.put("spec_decode_num_drafts", s.Drafts)
	o.put("spec_decode_draft_tokens", s.DraftTokens)
	o.put("spec_decode_accepted_tokens", s.Accepted)
	o.put("spec_decode_per_position_acceptance_rates", orEmpty(s.ByPosition))
}

// rampEvent is when a ramp reached a whole rate.
type rampEvent struct {
	RPS       int    `json:"rps"`
	Timestamp string `json:"timestamp"`
}

// rampEvents tells when the schedule reached each whole rate.
func rampEvents(r *Run) []rampEvent {
	ramp, n := r.Plan.Spec.Load.RampUp, len(r.Plan.Requests)
	stamp := func(d time.Duration) string { return r.Started.Add(d).Format("2006-01-02T15:04:05.000000") }
	at := int(ramp.Start)
	out := []rampEvent{{at, stamp(0)}}
	for i := range r.Plan.Requests {
		done := float64(i) / float64(max(n-1, 1))
		rate := ramp.Start + (ramp.End-ramp.Start)*done
		if ramp.Exponential {
			rate = ramp.Start * math.Pow(ramp.End/ramp.Start, done)
		}
		due := r.Plan.Requests[i].Due
		for at < int(rate) && due.Known() {
			at++
			out = append(out, rampEvent{at, stamp(time.Duration(due))})
		}
	}
	return out
}

// VLLMFileName is what vLLM's client calls its result where it is not told: label, rate, cap, model and time.
func VLLMFileName(spec *bench.Spec, now time.Time) string {
	label := spec.VLLM.Label
	if label == "" {
		label = spec.Target.Backend
	}
	name := label
	if ramp := spec.Load.RampUp; ramp != nil {
		name += fmt.Sprintf("-ramp-up-%s-%gqps-%gqps", rampWord(ramp), ramp.Start, ramp.End)
	} else {
		name += "-" + rateWord(spec.Load.Rate) + "qps"
	}
	if n := spec.Load.Concurrency; n > 0 {
		name += "-concurrency" + strconv.Itoa(n)
	}
	model := path.Base(strings.TrimRight(modelID(spec), "/"))
	return name + "-" + model + "-" + now.Format("20060102-150405") + ".json"
}
