package cli

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/servemark/servemark/internal/bench"
)

// dataset reads what to ask.
func (v *vllmReader) dataset() {
	d := &v.job.spec.Dataset
	d.Name = v.text("dataset-name")
	if !slices.Contains(vllmDatasets(), d.Name) && slices.Contains(v.def("dataset-name").choices, d.Name) {
		v.wrong("dataset-name", fmt.Sprintf("%s is refused: %s; there are %s", d.Name, notYetData, strings.Join(vllmDatasets(), ", ")), "")
	}
	d.Path = v.text("dataset-path")
	if d.Path != "" && slices.Contains([]string{"random", "random-mm", "random-rerank", "prefix_repetition"}, d.Name) {
		v.wrong("dataset-path", "cannot be used with --dataset-name "+d.Name, "leave it out, or name the data set that the file is of (sharegpt, custom)")
	}
	if d.Rows, _ = v.whole("num-prompts"); d.Rows < 1 {
		v.wrong("num-prompts", fmt.Sprintf("%d is out of range: at least 1", d.Rows), "")
	}
	d.VLLM = &bench.VLLMData{KeepOrder: v.on("disable-shuffle"), NoRepeat: v.on("no-oversample")}
	if v.api == bench.APIRerank && d.Name != "random-rerank" {
		v.wrong("backend", "vllm-rerank asks with a query and documents, which only --dataset-name random-rerank makes", "")
	}
	switch d.Name {
	case "random", "random-rerank", "random-mm":
		v.random(d)
	case "prefix_repetition":
		d.VLLM.PrefixTokens, d.VLLM.SuffixTokens = v.least("prefix-repetition-prefix-len", 0), v.least("prefix-repetition-suffix-len", 0)
		d.VLLM.Prefixes = v.least("prefix-repetition-num-prefixes", 1)
		d.OutputTokens = v.outputLen("prefix-repetition-output-len")
	case "sharegpt":
		d.FixedOutput = v.outputLen("sharegpt-output-len")
	case "custom":
		d.ApplyTemplate = !v.on("skip-chat-template") && v.api != bench.APIEmbeddings
		if n := v.outputLen("custom-output-len"); n != -1 { // -1: each row's own
			d.FixedOutput = n
			if !v.typed("custom-output-len") && !v.typed("output-len") {
				v.note("every answer is limited to %d tokens, whatever the rows say (--custom-output-len, as in the original; -1 takes each row's own)", n)
			}
		}
	}
	if v.typed("chat-template-kwargs") && v.object("chat-template-kwargs", v.text("chat-template-kwargs")) != nil && d.ApplyTemplate {
		v.wrong("chat-template-kwargs", "refused: templates are rendered here without arguments of the user's", `on chat backends send --extra-body '{"chat_template_kwargs": …}' with --skip-chat-template`)
	}
}

// random reads lengths and ranges.
func (v *vllmReader) random(d *bench.DatasetSpec) {
	d.InputTokens, d.OutputTokens = v.least("random-input-len", 0), v.outputLen("random-output-len")
	if v.typed("input-len") {
		d.InputTokens = v.least("input-len", 0)
	}
	d.VLLM.PrefixTokens = v.least("random-prefix-len", 0)
	in, out, err := vllmRatio(v.text("random-range-ratio"))
	if err != nil {
		v.wrong("random-range-ratio", err.Error(), `give a number from 0 to under 1, or '{"input": 0.2, "output": 0.1}'`)
	}
	d.RangeRatio, d.VLLM.OutputRangeRatio = in, out
	if n := v.least("random-batch-size", 1); n != 1 && !(v.api.Pooling() && d.Name == "random-rerank") {
		v.wrong("random-batch-size", fmt.Sprintf("%d is refused: several texts in one request are not supported yet", n), "leave it out")
	}
}

// vllmRatio reads one ratio for both lengths, or an object with one for each.
func vllmRatio(s string) (in, out float64, err error) {
	if x, e := pyFloat(s); e == nil {
		in, out = x, x
	} else {
		var o map[string]float64
		if json.Unmarshal([]byte(s), &o) != nil {
			return 0, 0, fmt.Errorf("%q is neither a number nor an object of two", s)
		}
		_, hasIn := o["input"]
		_, hasOut := o["output"]
		if len(o) != 2 || !hasIn || !hasOut {
			return 0, 0, fmt.Errorf(`%s has not exactly "input" and "output"`, s)
		}
		in, out = o["input"], o["output"]
	}
	for _, x := range []float64{in, out} {
		if !(x >= 0 && x < 1) {
			return 0, 0, fmt.Errorf("%v is out of range", x)
		}
	}
	return in, out, nil
}

// outputLen is --output-len where it was typed, else the data set's own flag; 0 where neither has a value.
func (v *vllmReader) outputLen(own string) int {
	name := own
	if v.typed("output-len") {
		name = "output-len"
	}
	n, ok := v.whole(name)
	if !ok || n == -1 && own == "custom-output-len" {
		return n
	}
	if n < 1 && !v.api.Pooling() {
		v.wrong(name, fmt.Sprintf("%d is out of range: at least 1", n), "")
	}
	return max(n, 0)
}

// least reads a whole number with a lower bound.
func (v *vllmReader) least(name string, least int) int {
	n, _ := v.whole(name)
	if n < least {
		v.wrong(name, fmt.Sprintf("%d is out of range: at least %d", n, least), "")
	}
	return n
}

// load reads when to ask.
func (v *vllmReader) load() {
	spec := &v.job.spec
	l := &spec.Load
	if v.typed("request-rate") {
		rate, err := parseRate(v.text("request-rate"))
		if err != nil {
			v.wrong("request-rate", err.Error(), "inf or -1 means unlimited")
		}
		l.Rate = rate
	}
	switch b := v.number("burstiness"); {
	case math.IsInf(b, 1):
		l.Arrival = bench.ArrivalConstant
	case !(b > 0):
		v.wrong("burstiness", fmt.Sprintf("%v is out of range: above 0", b), "1 is Poisson's process, inf equal gaps")
	case b != 1:
		l.Arrival, l.Burstiness = bench.ArrivalGamma, b
	}
	v.rampUp(l)
	if !l.Scheduled() {
		l.Arrival, l.Burstiness = bench.ArrivalPoisson, 0
	}
	if n, ok := v.whole("max-concurrency"); ok {
		if n < 1 {
			v.wrong("max-concurrency", fmt.Sprintf("%d is out of range: at least 1", n), "leave the flag out for no cap")
		}
		l.Concurrency = max(n, 0)
	}
	v.deadlines(l)
	l.Insecure = v.on("insecure")
	seed, _ := v.whole("seed")
	if seed < 0 || seed > math.MaxUint32 {
		v.wrong("seed", fmt.Sprintf("%d is out of range: 0 to %d", seed, uint32(math.MaxUint32)), "")
	}
	spec.Seed = int64(seed)
	spec.Warmup = v.least("num-warmups", 0)
	v.job.smokeTest = spec.Warmup > 0
	spec.SLOs = parseSLOs(v.list("goodput"))
	spec.Goals = v.goals()
	spec.MaxErrorRate = v.share("max-error-rate")
	v.job.flush, v.job.flushTimeout = v.on("reset-prefix-cache"), time.Minute
	v.job.runs = v.least("num-runs", 1)
	if v.on("profile") {
		v.job.profile = &profiling{}
	}
}

// rampUp reads the rate's way from one end to the other.
func (v *vllmReader) rampUp(l *bench.LoadSpec) {
	if !v.typed("ramp-up-strategy") {
		return
	}
	if l.Rate > 0 {
		v.wrong("request-rate", "cannot be combined with --ramp-up-strategy, which says the rate", "leave it out")
		l.Rate = 0
	}
	start, ok := v.whole("ramp-up-start-rps")
	end, too := v.whole("ramp-up-end-rps")
	switch {
	case !ok || !too:
		v.wrong("ramp-up-strategy", "needs both ends of the ramp", "give --ramp-up-start-rps and --ramp-up-end-rps")
		return
	case start < 1:
		v.wrong("ramp-up-start-rps", fmt.Sprintf("%d is out of range: at least 1 (from 0 the first request would never be due)", start), "")
	case end < start:
		v.wrong("ramp-up-end-rps", fmt.Sprintf("%d is below the start of %d", end, start), "")
	}
	l.RampUp = &bench.RampUp{Exponential: v.text("ramp-up-strategy") == "exponential", Start: float64(max(start, 1)), End: float64(max(end, start, 1))}
}
