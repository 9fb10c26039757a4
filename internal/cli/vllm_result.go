package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/servemark/servemark/internal/bench"
	"github.com/servemark/servemark/internal/report"
	"github.com/servemark/servemark/internal/stats"
)

// vllmOutput says where a result of vLLM's dialect goes.
type vllmOutput struct {
	save, append, details bool
	dir, file             string
}

// detailed reports whether texts and lists of single requests are wanted; a nil output wants nothing.
func (o *vllmOutput) detailed() bool { return o != nil && o.details && (o.save || o.append) }

// vllmMetrics are the distributions that can be chosen.
var vllmMetrics = []string{"ttft", "tpot", "itl", "e2el", "client_queue_time", "e2el_including_client_queue"}

// results reads what is shown and saved.
func (v *vllmReader) results() {
	o := v.job.vllm
	o.save, o.append, o.details = v.on("save-result"), v.on("append-result"), v.on("save-detailed")
	o.dir, o.file = v.text("result-dir"), v.text("result-filename")
	show := &bench.VLLMReport{Label: v.text("label"), Detailed: o.details, ProbeRate: v.number("probe-request-rate"), NoTokenizer: v.job.noTokenizer}
	v.job.spec.VLLM = show
	show.Metrics = []string{"ttft", "tpot", "itl"}
	if v.api.Pooling() {
		show.Metrics = []string{"e2el"}
	}
	if v.typed("percentile-metrics") {
		show.Metrics = splitList(v.text("percentile-metrics"))
		for _, m := range show.Metrics {
			if !slices.Contains(vllmMetrics, m) {
				v.wrong("percentile-metrics", fmt.Sprintf("%q is not one of %s", m, strings.Join(vllmMetrics, ", ")), "")
			}
		}
	}
	for _, s := range splitList(v.text("metric-percentiles")) {
		p, err := pyFloat(s)
		if err != nil || !(p >= 0 && p <= 100) {
			v.wrong("metric-percentiles", fmt.Sprintf("%q is not a number from 0 to 100", s), "separate them by commas: 50,90,99.9")
			continue
		}
		show.Percentiles = append(show.Percentiles, p)
	}
	for i, entry := range v.list("metadata") {
		key, value, ok := strings.Cut(entry, "=")
		if key = strings.TrimSpace(key); !ok || key == "" {
			v.wrong("metadata", fmt.Sprintf("entry %d is not KEY=VALUE", i+1), "write it as --metadata version=1 tp=8")
			continue
		}
		show.Metadata = append(show.Metadata, [2]string{key, strings.TrimSpace(value)})
	}
	if rate := show.ProbeRate; !(rate >= 0 && rate <= 1000) {
		v.wrong("probe-request-rate", fmt.Sprintf("%v is out of range: 0 (no probes) to 1000", rate), "")
		show.ProbeRate = 0
	} else if rate > 0 && v.api.Pooling() {
		v.wrong("probe-request-rate", "probes ask for one token, which --backend "+v.text("backend")+" cannot give", "leave it out")
	}
	if v.getenv("SAVE_TO_PYTORCH_BENCHMARK_FORMAT") != "" {
		v.note("SAVE_TO_PYTORCH_BENCHMARK_FORMAT is set and no .pytorch.json is written: the result has the same figures")
	}
}

// splitList splits at commas and drops blanks.
func splitList(s string) []string {
	var out []string
	for _, part := range strings.Split(s, ",") {
		if part = strings.TrimSpace(part); part != "" {
			out = append(out, part)
		}
	}
	return out
}

// screen reads what concerns this process only.
func (v *vllmReader) screen() {
	j := &v.job
	j.dryRun = v.on("dry-run")
	j.spec.KeepText = v.on("save-text")
	j.spec.KeepPrompts = j.spec.KeepText
	j.journal, j.requireValid = v.text("journal"), v.on("require-valid")
	j.progress = !v.on("disable-tqdm")
	if !v.typed("temperature") && !v.api.Pooling() {
		j.notes = append(j.notes, "no temperature is sent, as in the original: the server decides; --temperature 0 asks for greedy answers")
	}
}

// checkPlace reports whether a result can be written where it will go, before the run; it makes the folder.
func (o *vllmOutput) checkPlace() error {
	if o == nil || !o.save && !o.append {
		return nil
	}
	if o.dir != "" {
		if err := os.MkdirAll(o.dir, 0o755); err != nil {
			return fmt.Errorf("--result-dir: %w", err)
		}
	}
	name := o.file
	if name == "" {
		name = ".servemark-try"
	}
	return report.CheckAppend(filepath.Join(o.dir, name))
}

// path is where a result goes.
func (o *vllmOutput) path(spec *bench.Spec) string {
	name := o.file
	if name == "" {
		name = report.VLLMFileName(spec, time.Now())
	}
	return filepath.Join(o.dir, name)
}

// completeVLLM adds what the block and the result of vLLM's client need.
func completeVLLM(run *report.Run, records []bench.Record) {
	figures := stats.VLLM(run.Plan, records)
	run.VLLM = &figures
	run.Records, run.Figures = records, stats.PerRequest(run.Plan, records)
	if run.Plan.Spec.Strict {
		run.Figures = stats.StrictPerRequest(run.Plan, records)
	}
}

// publishVLLM prints the report and saves the result where that was asked. A result that cannot be written is printed.
func (s *session) publishVLLM(run report.Run) int {
	code := exitOK
	if err := report.Text(s.out, &run); err != nil {
		s.warn("warning: %s", err)
	}
	if o := s.job.vllm; o.save || o.append {
		path := o.path(s.spec)
		line, err := report.VLLMResult(&run)
		if err == nil && o.append {
			err = report.AppendLine(path, line)
		} else if err == nil {
			err = os.WriteFile(path, append(line, '\n'), 0o600)
		}
		if err != nil {
			s.warn("servemark %s: the result could not be written to %s: %s; here it is:\n%s", s.command, safe(path), safe(err.Error()), line)
			code = exitFailed
		} else {
			s.say("result saved to %s", safe(path))
		}
	}
	s.sayJournal()
	return code
}
