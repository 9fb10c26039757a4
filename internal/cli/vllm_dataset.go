package cli

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/servemark/servemark/internal/bench"
)

// dataset reads what to ask. What a data set alone can judge (paths, categories) is judged there.
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
	template := !v.on("skip-chat-template")
	switch d.Name {
	case "random":
		v.random(d)
	case "random-rerank":
		v.random(d)
		d.VLLM.Pairs = !v.on("no-reranker")
	case "random-mm":
		v.random(d)
		v.buckets(d)
	case "prefix_repetition":
		d.VLLM.PrefixTokens, d.VLLM.SuffixTokens = v.least("prefix-repetition-prefix-len", 0), v.least("prefix-repetition-suffix-len", 0)
		d.VLLM.Prefixes = v.least("prefix-repetition-num-prefixes", 1)
		d.OutputTokens = v.outputLen("prefix-repetition-output-len")
	case "sharegpt":
		d.FixedOutput = v.outputLen("sharegpt-output-len")
	case "custom":
		d.ApplyTemplate = template
		v.customOutput(d)
	case "spec_bench":
		d.ApplyTemplate, d.FixedOutput, d.Category = template, v.outputLen("spec-bench-output-len"), v.text("spec-bench-category")
		if !template && v.job.spec.Strict {
			d.ApplyTemplate = true
			v.note("--skip-chat-template is ignored, as in the original: with --strict-compat it has no effect on spec_bench")
		}
	case "speed_bench":
		d.ApplyTemplate, d.FixedOutput, d.Category = template, v.least("speed-bench-output-len", 1), v.text("speed-bench-category")
		d.Subset = v.text("speed-bench-dataset-subset")
	case "timed_trace":
		v.timedTrace(d)
	}
	if v.typed("self-timed") || v.typed("no-self-timed") {
		v.selfTimed(d)
	}
	if v.typed("chat-template-kwargs") {
		v.object("chat-template-kwargs", v.text("chat-template-kwargs"))
	}
}

// customOutput reads the limit of all answers; -1 leaves each row its own.
func (v *vllmReader) customOutput(d *bench.DatasetSpec) {
	n := v.outputLen("custom-output-len")
	if n == -1 {
		return
	}
	d.FixedOutput = n
	if !v.typed("custom-output-len") && !v.typed("output-len") {
		v.note("every answer is limited to %s, whatever the rows say (--custom-output-len, as in the original; -1 takes each row's own)", bench.Number(n, "token"))
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
	d.VLLM.BatchSize = v.least("random-batch-size", 1)
	if d.VLLM.BatchSize > 1 && !v.api.Pooling() {
		v.wrong("random-batch-size", fmt.Sprintf("%d texts in one request are for embeddings and rerank only", d.VLLM.BatchSize), "leave it out")
	}
}

// buckets reads how many images a request has and how large they are.
func (v *vllmReader) buckets(d *bench.DatasetSpec) {
	b := &bench.ImageBuckets{Base: v.least("random-mm-base-items-per-request", 0), RangeRatio: v.number("random-mm-num-mm-items-range-ratio")}
	var limit map[string]int
	if err := json.Unmarshal([]byte(v.text("random-mm-limit-mm-per-prompt")), &limit); err != nil {
		v.wrong("random-mm-limit-mm-per-prompt", "is not an object of numbers", `write it as '{"image": 3, "video": 0}'`)
	}
	b.Limit = limit["image"]
	var err error
	if b.Buckets, err = parseBuckets(v.text("random-mm-bucket-config")); err != nil {
		v.wrong("random-mm-bucket-config", err.Error(), "write it as '{(256, 256, 1): 0.5, (720, 1280, 1): 0.5}': height, width, frames and share")
	}
	d.VLLM.Images = b
}

// bucket is one entry of the original's dictionary, whose keys may stand in quotes.
var bucket = regexp.MustCompile(`^["']?\(\s*(\d+)\s*,\s*(\d+)\s*,\s*(\d+)\s*\)["']?\s*:\s*([0-9.eE+-]+)$`)

// parseBuckets reads a Python dictionary of (height, width, frames) and shares.
func parseBuckets(s string) ([]bench.ImageBucket, error) {
	inner, ok := strings.CutPrefix(strings.TrimSpace(s), "{")
	inner, closed := strings.CutSuffix(inner, "}")
	if !ok || !closed {
		return nil, fmt.Errorf("%q is not a dictionary", s)
	}
	var out []bench.ImageBucket
	for _, entry := range splitOutside(inner) {
		m := bucket.FindStringSubmatch(entry)
		if m == nil {
			return nil, fmt.Errorf("%q is not (HEIGHT, WIDTH, FRAMES): SHARE", entry)
		}
		var size [3]int
		for i := range size {
			n, err := strconv.Atoi(m[i+1])
			if err != nil {
				return nil, err
			}
			size[i] = n
		}
		share, err := strconv.ParseFloat(m[4], 64)
		if err != nil {
			return nil, err
		}
		out = append(out, bench.ImageBucket{Height: size[0], Width: size[1], Frames: size[2], Share: share})
	}
	return out, nil
}

// splitOutside splits at the commas that stand outside round brackets.
func splitOutside(s string) []string {
	var out []string
	depth, start := 0, 0
	for i, r := range s + "," {
		switch {
		case r == '(':
			depth++
		case r == ')':
			depth--
		case r == ',' && depth == 0:
			if part := strings.TrimSpace(s[start:i]); part != "" {
				out = append(out, part)
			}
			start = i + 1
		}
	}
	return out
}

// timedTrace reads how the trace is written. Its prompts are token ids, for which the original has the completions backends.
func (v *vllmReader) timedTrace(d *bench.DatasetSpec) {
	if v.api != bench.APICompletions {
		v.wrong("dataset-name", "timed_trace sends token ids, which --backend "+v.text("backend")+" does not take", "give --backend vllm or openai")
	}
	d.SendIDs = true
	d.TimedTrace = &bench.TimedTrace{
		BlockTokens: v.least("timed-trace-chunk-hash-size", 1), Seconds: v.number("timed-trace-sec-multiplier"), SelfTimed: !v.on("no-self-timed"),
		Timestamp: v.text("timed-trace-label-timestamp"), InputLength: v.text("timed-trace-label-input-length"),
		OutputLength: v.text("timed-trace-label-output-length"), HashIDs: v.text("timed-trace-label-hash-ids"),
	}
	if !(d.TimedTrace.Seconds >= 0) {
		v.wrong("timed-trace-sec-multiplier", fmt.Sprintf("%v is out of range: at least 0", d.TimedTrace.Seconds), "")
	}
}

// selfTimed checks a choice that only timed_trace has.
func (v *vllmReader) selfTimed(d *bench.DatasetSpec) {
	switch {
	case d.Name != "timed_trace":
		v.wrong("self-timed", "is for --dataset-name timed_trace only, as is --no-self-timed", "leave it out")
	case v.typed("self-timed") && v.typed("no-self-timed"):
		v.wrong("self-timed", "cannot be combined with --no-self-timed", "choose one")
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
