package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/servemark/servemark/internal/journal"
	"github.com/servemark/servemark/internal/report"
	"github.com/servemark/servemark/internal/stats"
	"github.com/servemark/servemark/internal/telemetry"
)

var reportTable = append([]flagDef{
	{name: "help", arity: arityHelp, help: "this text"},
	{name: "json", arity: aritySwitch, help: "the summary as JSON"},
	{name: "format", choices: report.Forms(), help: "text, one table of all figures in Markdown or CSV, or JSON"},
	{name: "line", arity: aritySwitch, help: "the result line of sglang.bench_serving, or the result of vllm bench serve for a run of that dialect"},
	{name: "as", choices: stats.Tools(), help: "another tool's figures by its own rules, each rule in one line"},
}, goalFlags...)

// reportCommand prints journals again.
func reportCommand() command {
	return command{
		name: "report", operands: "JOURNAL [flags]", short: "Print the report of a journal again, also of a run that was cut short",
		table: reportTable,
		act:   func(_ context.Context, c *console, a *arguments) int { return c.report(a) },
	}
}

func (c *console) report(a *arguments) int {
	if len(a.rest) != 1 {
		a.faults = append(a.faults, fault{what: fmt.Sprintf("takes one journal, got %d", len(a.rest)), cure: "type servemark report FILE.journal"})
	}
	forms := 0
	for _, form := range []string{"json", "format", "line", "as"} {
		if a.typed(form) {
			forms++
		}
	}
	if forms > 1 {
		a.faults = append(a.faults, fault{what: "--json, --format, --line and --as exclude each other", cure: "choose one form"})
	}
	goals := a.goals()
	if len(a.faults) > 0 {
		return c.refuse("report", exitUsage, faultLines(a.faults))
	}
	j, err := journal.Open(a.rest[0])
	var file *fs.PathError
	if errors.As(err, &file) {
		err = unusable(a.rest[0], err, "name the journal of a run (servemark-….journal)")
	}
	if err != nil {
		return c.refuse("report", exitRefused, []string{err.Error()})
	}
	if j.Torn {
		c.warn("warning: the last line is torn: the writer was killed in the middle of it; all before it is here")
	}
	for _, f := range j.Faults {
		c.warn("warning: line %d is left out: %s", f.Line, safe(f.Cause))
	}
	recorded := len(j.Plan.Spec.Goals)
	j.Plan.Spec.Goals = append(j.Plan.Spec.Goals, goals...)
	run := runOf(j)
	if err := c.showRun(a, j, &run); err != nil {
		return c.unwritten("report", err)
	}
	for _, g := range run.Summary.Goals[recorded:] {
		if !g.Met {
			return exitGoal
		}
	}
	return exitOK
}

// runOf computes a journal's figures anew.
func runOf(j *journal.Run) report.Run {
	run := report.Run{Plan: j.Plan, Server: j.Server, Started: j.Started, Version: j.Version,
		Summary: stats.Summarize(j.Plan, j.Records, stats.Options{Unfinished: j.Unfinished(), Figures: j.Figures, Health: j.Health})}
	if j.End != nil {
		run.Observed, run.Cause = j.End.Observed, j.End.Cause
		run.Findings = telemetry.Findings(run.Observed.Telemetry, &run.Summary)
	}
	if j.Plan.Spec.Strict {
		strict := stats.Strict(j.Plan, j.Records)
		run.Strict = &strict
	}
	if j.Plan.Spec.VLLM != nil {
		completeVLLM(&run, j.Records)
	}
	return run
}

// showRun prints a run in the form that was asked for.
func (c *console) showRun(a *arguments, j *journal.Run, run *report.Run) error {
	switch {
	case a.typed("as"):
		figures, _ := stats.As(a.text("as"), j.Plan, j.Records) // the table has the known tools only
		return report.ToolFigures(c.out, a.text("as"), figures)
	case a.on("json"):
		return report.JSON(c.out, run)
	case a.typed("format"):
		return report.Figures(c.out, run, report.Form(a.text("format")))
	case !a.on("line"):
		return report.Text(c.out, run)
	}
	write := report.SGLangLine
	if run.VLLM != nil {
		write = report.VLLMResult
	}
	line, err := write(run)
	if err == nil {
		c.say("%s", line)
	}
	return err
}
