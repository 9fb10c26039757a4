// Package stats turns a Plan and its Records into a Summary: definitions, percentiles with intervals, failures grouped by
// cause, goodput, goals and the verdict.
//
// Summarize gives the numbers as servemark defines them (docs/metrics.md); Strict gives the same shape by the formulas of
// SGLang's client, for --strict-compat. PerRequest and StrictPerRequest give the single requests behind them. All four are
// pure: the same plan and records give the same answer, in whatever order the records come.
package stats
