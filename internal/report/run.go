package report

import (
	"time"

	"github.com/servemark/servemark/internal/bench"
	"github.com/servemark/servemark/internal/stats"
)

// Run is what a report is made of.
type Run struct {
	Plan    *bench.Plan
	Server  bench.Server
	Summary bench.Summary
	// Strict, where not nil, holds the figures by the original's formulas; they stand under the original's labels and keys, and
	// Summary in the second block and under servemark's own keys.
	Strict *bench.Summary
	// VLLM holds the distributions of vLLM's client, for its block and result only.
	VLLM *stats.VLLMFigures
	// Cause says why a partial run ended, "" where nobody said.
	Cause string
	// Observed is what was seen beside the requests.
	Observed bench.Observed
	// Findings are what the server's own numbers mean beside the run's, in words.
	Findings []string
	// Started is the wall time of the run's start, Version the program's.
	Started time.Time
	Version string
	// Records and Figures (one for each record, by id) are needed for --output-details only, and asked for by both being there.
	Records []bench.Record
	Figures []bench.Figures
}

// labelled returns the Summary whose figures stand under the original's labels and keys.
func (r *Run) labelled() *bench.Summary {
	if r.Strict != nil {
		return r.Strict
	}
	return &r.Summary
}

// backend is the name of the protocol as the user knows it.
func (r *Run) backend() string {
	t := &r.Plan.Spec.Target
	if t.Backend != "" {
		return t.Backend
	}
	return string(t.API)
}
