package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/servemark/servemark/internal/bench"
	"github.com/servemark/servemark/internal/experiment"
	"github.com/servemark/servemark/internal/journal"
	"github.com/servemark/servemark/internal/report"
	"github.com/servemark/servemark/internal/stats"
)

var compareTable = []flagDef{
	{name: "help", arity: arityHelp, help: "this text"},
	{name: "metric", help: "the one number that decides: 'p99 ttft', output_throughput, 'mean e2e' … (default: output_throughput, or 'mean e2e' of runs with a schedule)"},
	{name: "paired", arity: aritySwitch, help: "run i of each side was made beside run i of the first (interleaved): their ratios are compared"},
	{name: "other-workload", arity: aritySwitch, help: "compare although the sides were not asked the same; the answer says so"},
	{name: "gate", arity: aritySwitch, help: "exit with 3 where a side is worse by the number that decides"},
	{name: "format", preset: []string{"text"}, choices: report.Forms(), help: "how the answer is printed"},
}

// compareCommand holds runs against each other.
func compareCommand() command {
	return command{
		name: "compare", operands: "A B [C …] [flags]", short: "Compare runs: what changed, how sure that is, and how small a change would have been seen",
		long: "A side is a journal, a result file (of sglang.bench_serving, vllm bench serve or servemark; each line is a run), a folder of them, or\n" +
			"several separated by commas; NAME=SIDE names it. The first side is the base. Runs are the units: with five or more on each\n" +
			"side there is a verdict, below that the answer is indicative only. Sides that were not asked the same are refused.",
		table: compareTable,
		act:   func(_ context.Context, c *console, a *arguments) int { return c.compare(a) },
	}
}

// side is one side with its runs.
type side struct {
	name  string
	files []string
	runs  []experiment.Result
}

func (c *console) compare(a *arguments) int {
	metric, statistic := compareMetric(a)
	if len(a.rest) < 2 {
		a.faults = append(a.faults, fault{what: fmt.Sprintf("takes two sides or more, got %d", len(a.rest)), cure: "type servemark compare before.journal after.journal"})
	}
	if len(a.faults) > 0 {
		return c.refuse("compare", exitUsage, faultLines(a.faults))
	}
	var sides []side
	var faults []string
	for _, operand := range a.rest {
		s, err := readSide(operand)
		if err != nil {
			faults = append(faults, err.Error())
		}
		sides = append(sides, s)
	}
	if len(faults) > 0 {
		return c.refuse("compare", exitRefused, faults)
	}
	workload, faults := sameWorkload(sides)
	if len(faults) > 0 && !a.on("other-workload") {
		return c.refuse("compare", exitRefused, append(faults, "sides that were asked different things cannot be compared; --other-workload does it all the same and says so"))
	}
	out := report.Comparison{Paired: a.on("paired"), Workload: workload}
	if len(faults) > 0 {
		out.Workload = "DIFFERENT: " + strings.Join(faults, "; ")
	}
	summaries := c.summaries(sides, &out)
	if a.on("paired") {
		for _, list := range summaries {
			if len(list) != len(summaries[0]) {
				return c.refuse("compare", exitRefused, []string{fmt.Sprintf("--paired needs as many runs on each side, got %d and %d", len(summaries[0]), len(list))})
			}
		}
	}
	if metric == "" {
		metric, statistic = stats.Headline(summaries[0])
	}
	out.Against = stats.Compare(summaries[0], summaries[1:], metric, statistic, out.Paired)
	if err := out.Write(c.out, report.Form(a.text("format"))); err != nil {
		return c.unwritten("compare", err)
	}
	if a.on("gate") && slices.ContainsFunc(out.Against, func(x stats.Comparison) bool { return x.Headline.Says == stats.Worse }) {
		return exitGoal
	}
	return exitOK
}

// compareMetric reads --metric: a figure, or a statistic and a metric.
func compareMetric(a *arguments) (metric, statistic string) {
	words := strings.Fields(strings.ToLower(a.text("metric")))
	if len(words) == 0 {
		return "", ""
	}
	var g bench.Goal
	m, err := goalMetric(&g, words)
	if err == nil && m.Spread && !slices.Contains([]string{"mean", "min", "max", "p50", "p90", "p95", "p99"}, g.Statistic) {
		err = fmt.Errorf("%s is not kept in every file; take mean, p50, p90, p95 or p99", g.Statistic)
	}
	if err != nil {
		a.wrong("metric", err.Error(), "")
	}
	return m.Name, g.Statistic
}

// readSide reads the runs of one operand.
func readSide(operand string) (side, error) {
	s := side{name: operand}
	if name, list, ok := strings.Cut(operand, "="); ok && !exists(operand) {
		s.name, operand = name, list
	} else if !strings.Contains(operand, ",") {
		s.name = strings.TrimSuffix(filepath.Base(operand), filepath.Ext(operand))
	}
	var errs []error
	for _, path := range strings.Split(operand, ",") {
		files := []string{path}
		if info, err := os.Stat(path); err == nil && info.IsDir() {
			files = nil
			for _, pattern := range []string{"*.journal", "*.jsonl", "*.json"} {
				found, _ := filepath.Glob(filepath.Join(path, pattern))
				files = append(files, slices.DeleteFunc(found, func(f string) bool { return filepath.Base(f) == "sweep.jsonl" })...)
			}
			if len(files) == 0 {
				errs = append(errs, fmt.Errorf("%s: the folder holds no *.journal, *.jsonl or *.json", path))
			}
		}
		for _, file := range files {
			runs, err := readRuns(file)
			if err != nil {
				errs = append(errs, err)
			}
			s.runs = append(s.runs, runs...)
			s.files = append(s.files, file)
		}
	}
	return s, errors.Join(errs...)
}

// readRuns reads a journal or a result file.
func readRuns(file string) ([]experiment.Result, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, unusable(file, err, "name a journal, a result file, or a folder of them")
	}
	if !bytes.HasPrefix(bytes.TrimSpace(text), []byte(`{"servemark_journal"`)) {
		runs, err := experiment.ReadResults(bytes.NewReader(text))
		if err != nil {
			return nil, fmt.Errorf("%s: %w; name a journal, or a result file of sglang.bench_serving, vllm bench serve or servemark", file, err)
		}
		return runs, nil
	}
	j, err := journal.Read(bytes.NewReader(text))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	if j.Unfinished() {
		return nil, fmt.Errorf("%s: the run was cut short; it cannot stand for a whole one", file)
	}
	r := experiment.Result{Tool: "servemark", Fingerprint: j.Plan.Fingerprint, Seed: bench.Measured(float64(j.Plan.Spec.Seed)),
		Summary: stats.Summarize(j.Plan, j.Records, stats.Options{Figures: j.Figures})}
	r.Workload, r.Spec = experiment.WorkloadOf(j.Plan)
	return []experiment.Result{r}, nil
}

// sameWorkload says in words how it is known that all runs were asked the same, or in which ways they were not.
func sameWorkload(sides []side) (words string, faults []string) {
	base := &sides[0].runs[0]
	oneFingerprint, whole := true, true
	var unchecked []string
	for i := range sides {
		for k := range sides[i].runs {
			r := &sides[i].runs[k]
			oneFingerprint = oneFingerprint && r.Fingerprint != "" && r.Fingerprint == base.Fingerprint
			whole = whole && r.Spec != nil
			differ, open := experiment.Mismatch(base, r)
			for _, d := range differ {
				f := fmt.Sprintf("%s and %s were not asked the same: %s", sides[0].name, sides[i].name, d)
				if i == 0 {
					f = fmt.Sprintf("the runs of %s were not all asked the same: %s", sides[0].name, d)
				}
				if !slices.Contains(faults, f) {
					faults = append(faults, f)
				}
			}
			for _, name := range open {
				if !slices.Contains(unchecked, name) {
					unchecked = append(unchecked, name)
				}
			}
		}
	}
	switch {
	case oneFingerprint:
		return "the same requests (fingerprint " + base.Fingerprint + ")", faults
	case whole:
		return "the same settings, other draws", faults
	}
	words = "the settings that both sides state agree"
	if len(unchecked) > 0 {
		slices.Sort(unchecked)
		words += "; not stated by both, so not checked: " + strings.Join(unchecked, ", ")
	}
	return words, faults
}

// summaries returns the sides' runs, latencies counted by one clock, and describes the sides.
func (c *console) summaries(sides []side, out *report.Comparison) [][]bench.Summary {
	scheduled, not := false, false
	lists := make([][]bench.Summary, len(sides))
	for i, s := range sides {
		shown := report.Side{Name: s.name, Runs: len(s.runs), Files: s.files}
		for _, r := range s.runs {
			scheduled, not = scheduled || r.Summary.Scheduled, not || !r.Summary.Scheduled
			if v := r.Summary.Verdict.Level; v != "" && v != bench.Valid {
				shown.Doubtful++
			}
			lists[i] = append(lists[i], r.Summary)
		}
		out.Sides = append(out.Sides, shown)
	}
	if scheduled && not {
		out.Notes = append(out.Notes, "latencies count from sent: not every file has them from due")
		for _, list := range lists {
			for i := range list {
				list[i].Scheduled = false
			}
		}
	}
	return lists
}
