package journal

import (
	"time"

	"github.com/servemark/servemark/internal/bench"
)

// Format is the version of the file format that this package writes; it reads this one and older ones.
const Format = 1

// Header is the first line of a journal.
type Header struct {
	// Format is filled in by Create.
	Format int `json:"servemark_journal"`
	// Version is the version of the program that ran.
	Version string `json:"version"`
	// Started is the wall time at which the run's clock read 0.
	Started time.Time `json:"started"`
	// Plan is stored without prompts unless its Spec says KeepPrompts.
	Plan   *bench.Plan  `json:"plan"`
	Server bench.Server `json:"server"`
	// Smoke is the request that was asked before the load, where there was one. Its text is stored as that of any other.
	Smoke *bench.Record `json:"smoke,omitempty"`
	// Figures were measured before the load and are named by goals ("single_stream"); a later report needs them as the first did.
	Figures map[string]bench.Measure `json:"figures,omitempty"`
}

// End is the last line of a journal whose writer came to its end.
type End struct {
	At time.Time `json:"at"`
	// Interrupted is true where the user ended the run, or anything else did before the plan was done.
	Interrupted bool `json:"interrupted"`
	// Cause says in words why the run ended early.
	Cause string `json:"cause,omitempty"`
	// Observed is what was seen beside the requests.
	Observed bench.Observed `json:"observed,omitzero"`
	// Health is what the load engine knew of itself; it has a line of its own before the end's.
	Health *bench.Health `json:"-"`
}
