package report

import (
	"io"
	"time"
)

// JSON writes the native report for programs: one object with the Spec, what the server said of itself, the Summary and,
// under strict_compat, the figures by the original's formulas.
func JSON(w io.Writer, r *Run) error {
	var o object
	o.put("servemark_version", r.Version)
	o.put("started", r.Started.UTC().Format(time.RFC3339Nano))
	o.put("spec", r.Plan.Spec)
	o.put("source", r.Plan.Source)
	o.put("fingerprint", r.Plan.Fingerprint)
	o.put("plan_notes", orEmpty(r.Plan.Notes))
	o.put("server", r.Server)
	o.put("summary", r.Summary)
	if r.Cause != "" {
		o.put("ended_because", r.Cause)
	}
	o.put("findings", orEmpty(r.Findings))
	o.put("telemetry", r.Observed.Telemetry)
	if r.Strict != nil {
		o.put("strict_summary", r.Strict)
	}
	b, err := o.bytes()
	if err != nil {
		return err
	}
	_, err = w.Write(append(b, '\n'))
	return err
}
