package experiment

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/servemark/servemark/internal/bench"
)

// Result is one run as a comparison needs it, from whatever file it comes.
type Result struct {
	// Tool wrote it: "servemark", "sglang", "vllm".
	Tool    string
	Summary bench.Summary
	// Fingerprint identifies the requests; "" where the file does not say.
	Fingerprint string
	Seed        bench.Measure
	// Workload is what was asked, in words that files of different tools share: only what the file states is there.
	Workload map[string]string
	// Spec is everything that was asked, of runs that have a journal; else nil.
	Spec map[string]string
}

// ReadResults reads the result files of other tools, and servemark's own result lines: JSON objects, one a line (sglang) or one
// or several in a file in whatever layout (vLLM), or a list of them. Infinity and NaN, which sglang writes and JSON does not have,
// are read.
func ReadResults(from io.Reader) ([]Result, error) {
	text, err := io.ReadAll(from)
	if err != nil {
		return nil, err
	}
	dec := json.NewDecoder(bytes.NewReader(legalJSON(text)))
	var out []Result
	for {
		var value json.RawMessage
		if err := dec.Decode(&value); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, fmt.Errorf("result %d cannot be read: %w", len(out)+1, err)
		}
		objects := []json.RawMessage{value}
		if len(value) > 0 && value[0] == '[' {
			if err := json.Unmarshal(value, &objects); err != nil {
				return nil, err
			}
		}
		for _, o := range objects {
			r, err := readResult(o)
			if err != nil {
				return nil, fmt.Errorf("result %d: %w", len(out)+1, err)
			}
			out = append(out, r)
		}
	}
	if len(out) == 0 {
		return nil, errors.New("holds no result")
	}
	return out, nil
}

// legalJSON writes Infinity as the text "inf" and NaN as null, outside of strings.
func legalJSON(text []byte) []byte {
	var out bytes.Buffer
	for i := 0; i < len(text); {
		switch rest := text[i:]; {
		case text[i] == '"':
			n := stringLength(rest)
			out.Write(rest[:n])
			i += n
		case bytes.HasPrefix(rest, []byte("-Infinity")):
			out.WriteString("null")
			i += len("-Infinity")
		case bytes.HasPrefix(rest, []byte("Infinity")):
			out.WriteString(`"inf"`)
			i += len("Infinity")
		case bytes.HasPrefix(rest, []byte("NaN")):
			out.WriteString("null")
			i += len("NaN")
		default:
			out.WriteByte(text[i])
			i++
		}
	}
	return out.Bytes()
}

// stringLength is how long the JSON string is that text begins with, quotes included.
func stringLength(text []byte) int {
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(text)
}

// readResult reads one object.
func readResult(raw json.RawMessage) (Result, error) {
	var o map[string]any
	if err := json.Unmarshal(raw, &o); err != nil || o == nil {
		return Result{}, errors.New("is no JSON object; compare reads journals and the result files of sglang.bench_serving, vllm bench serve and servemark")
	}
	if _, ok := o["output_throughput"]; !ok {
		if _, ok := o["request_throughput"]; !ok {
			return Result{}, errors.New("has neither output_throughput nor request_throughput: it is no result of a serving benchmark")
		}
	}
	r := Result{Tool: "sglang", Workload: map[string]string{}}
	if _, ok := o["total_token_throughput"]; ok {
		r.Tool = "vllm"
	}
	if _, ok := o["servemark_version"]; ok {
		r.Tool = "servemark"
	}
	r.Fingerprint, _ = o["fingerprint"].(string)
	r.Seed = measure(o, "seed")
	r.Summary = summaryOf(o)
	for key, name := range map[string]string{"dataset_name": "data set", "request_rate": "request rate", "max_concurrency": "max concurrency",
		"random_input_len": "input tokens", "random_output_len": "output tokens", "random_range_ratio": "range ratio",
		"sharegpt_output_len": "fixed output tokens", "num_prompts": "requests", "burstiness": "burstiness"} {
		if v, ok := o[key]; ok {
			r.Workload[name] = word(v)
		}
	}
	if _, ok := r.Workload["requests"]; !ok && r.Summary.Completed > 0 {
		r.Workload["requests"] = strconv.Itoa(r.Summary.Completed + r.Summary.Failed)
	}
	return r, nil
}

// word writes a setting so that tools which write it differently agree.
func word(v any) string {
	switch x := v.(type) {
	case nil:
		return "none"
	case float64:
		return strconv.FormatFloat(x, 'f', -1, 64)
	case string:
		return strings.ToLower(x)
	}
	return fmt.Sprint(v)
}

func measure(o map[string]any, key string) bench.Measure {
	if x, ok := o[key].(float64); ok {
		return bench.Measured(x)
	}
	return bench.Measure{}
}

func whole(o map[string]any, key string) int {
	x, _ := o[key].(float64)
	return int(math.Round(x))
}

// summaryOf takes what such a file states; all else stays not measured.
func summaryOf(o map[string]any) bench.Summary {
	s := bench.Summary{Completed: whole(o, "completed"), Failed: whole(o, "failed"), RequestRate: measure(o, "request_throughput"),
		InputRate: measure(o, "input_throughput"), OutputRate: measure(o, "output_throughput"), TotalRate: measure(o, "total_throughput"),
		Concurrency: measure(o, "concurrency"), PeakOutputRate: measure(o, "max_output_tokens_per_s"),
		PeakConcurrency: whole(o, "max_concurrent_requests")}
	s.Sent, s.Planned = s.Completed+s.Failed, s.Completed+s.Failed
	if !s.TotalRate.Known() {
		s.TotalRate = measure(o, "total_token_throughput")
	}
	if d, ok := measure(o, "duration").Get(); ok {
		s.Duration = time.Duration(d * float64(time.Second))
	}
	for key, c := range map[string]*bench.Count{"total_input_tokens": &s.InputTokens, "total_output_tokens": &s.OutputTokens, "total_cached_tokens": &s.CachedTokens} {
		if x, ok := measure(o, key).Get(); ok {
			*c = bench.Counted(int(x))
		}
	}
	s.TTFT, s.TPOT, s.ITL = spreadOf(o, s.Completed, "ttft"), spreadOf(o, s.Completed, "tpot"), spreadOf(o, s.Completed, "itl")
	s.E2E = spreadOf(o, s.Completed, "e2e_latency", "e2el")
	s.TTFTFromDue, s.E2EFromDue = spreadOf(o, s.Completed, "ttft_from_due"), spreadOf(o, s.Completed, "e2e_latency_from_due")
	s.Scheduled = s.TTFTFromDue.Measured() || s.E2EFromDue.Measured()
	if v, ok := o["verdict"].(string); ok {
		s.Verdict.Level = bench.VerdictLevel(v)
	}
	return s
}

// spreadOf reads a distribution in milliseconds under one of its names.
func spreadOf(o map[string]any, n int, names ...string) bench.Distribution {
	for _, name := range names {
		mean, ok := measure(o, "mean_"+name+"_ms").Get()
		if !ok {
			continue
		}
		d := bench.Distribution{N: max(n, 1), Mean: mean / 1000, Std: math.NaN(), Min: math.NaN(), Max: math.NaN()}
		for _, q := range []struct {
			p   float64
			key string
		}{{50, "median_"}, {90, "p90_"}, {95, "p95_"}, {99, "p99_"}} {
			if x, ok := measure(o, q.key+name+"_ms").Get(); ok {
				d.Quantiles = append(d.Quantiles, bench.Quantile{P: q.p, Value: x / 1000})
			}
		}
		return d
	}
	return bench.Distribution{}
}

// WorkloadOf describes what a plan asks, in the words that all files share, and everything in it.
func WorkloadOf(p *bench.Plan) (shared, all map[string]string) {
	s := &p.Spec
	shared = map[string]string{"data set": s.Dataset.Name, "request rate": "inf", "max concurrency": "none", "requests": strconv.Itoa(len(p.Requests))}
	if s.Load.Rate > 0 {
		shared["request rate"] = word(s.Load.Rate)
	}
	if s.Load.Concurrency > 0 {
		shared["max concurrency"] = strconv.Itoa(s.Load.Concurrency)
	}
	if s.Dataset.InputTokens > 0 {
		shared["input tokens"], shared["output tokens"] = strconv.Itoa(s.Dataset.InputTokens), strconv.Itoa(s.Dataset.OutputTokens)
		shared["range ratio"] = word(s.Dataset.RangeRatio)
	}
	if s.Dataset.FixedOutput > 0 {
		shared["fixed output tokens"] = strconv.Itoa(s.Dataset.FixedOutput)
	}
	all = map[string]string{}
	flatten(all, "api", string(s.Target.API))
	flatten(all, "stream", s.Target.Stream)
	flatten(all, "dataset", s.Dataset)
	flatten(all, "load", s.Load)
	flatten(all, "body", s.Body)
	flatten(all, "strict", s.Strict)
	if s.Dataset.Path != "" {
		all["dataset.path"] = filepath.Base(s.Dataset.Path)
	}
	for name := range all { // how long the client has patience is no part of the work
		if strings.Contains(name, "timeout") || name == "load.insecure" {
			delete(all, name)
		}
	}
	if s.Load.Duration > 0 { // time ended the run: how many requests were drawn ahead or sent says nothing of what was asked
		delete(all, "dataset.rows")
		delete(shared, "requests")
	}
	return shared, all
}

// flatten writes a value's JSON as dotted names and words.
func flatten(into map[string]string, name string, value any) {
	b, err := json.Marshal(value)
	if err != nil {
		into[name] = "unreadable"
		return
	}
	var v any
	_ = json.Unmarshal(b, &v) // of what Marshal wrote
	flattenValue(into, name, v)
}

func flattenValue(into map[string]string, name string, v any) {
	if o, ok := v.(map[string]any); ok {
		for k, x := range o {
			flattenValue(into, name+"."+k, x)
		}
		return
	}
	into[name] = word(v)
}

// Mismatch lists in words how the workloads of two runs differ. Runs with one fingerprint never differ; others differ where a
// setting that both state does, or where the settings and the seed are the same and the requests are not. unchecked are settings
// that only one of them states.
func Mismatch(a, b *Result) (differ, unchecked []string) {
	if a.Fingerprint != "" && a.Fingerprint == b.Fingerprint {
		return nil, nil
	}
	x, y := a.Workload, b.Workload
	if a.Spec != nil && b.Spec != nil {
		x, y = a.Spec, b.Spec
	}
	for _, name := range sortedKeys(x, y) {
		v, ok := x[name]
		w, too := y[name]
		switch {
		case ok && too && v != w:
			differ = append(differ, fmt.Sprintf("%s: %s and %s", name, v, w))
		case ok != too && a.Spec != nil && b.Spec != nil:
			differ = append(differ, fmt.Sprintf("%s: %s and %s", name, orUnset(v, ok), orUnset(w, too)))
		case ok != too:
			unchecked = append(unchecked, name)
		}
	}
	p, known := a.Seed.Get()
	q, too := b.Seed.Get()
	if len(differ) == 0 && a.Fingerprint != "" && b.Fingerprint != "" && known && too && p == q {
		differ = append(differ, "the requests themselves, though settings and seed are the same: another tokenizer, data set file or version made them")
	}
	return differ, unchecked
}

func sortedKeys(maps ...map[string]string) []string {
	var out []string
	for _, m := range maps {
		for k := range m {
			out = append(out, k)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func orUnset(v string, ok bool) string {
	if !ok {
		return "not set"
	}
	return v
}
