package report

// findings prints what the server's own numbers mean.
func (t *table) findings(r *Run) {
	if len(r.Findings) == 0 {
		return
	}
	from := "from this run's records"
	if o := r.Observed.Telemetry; o != nil && o.Source != "" {
		from = o.Source
	}
	t.printf("  Findings (%s):\n", Escape(from))
	for _, f := range r.Findings {
		t.printf("    - %s\n", Sentence(f))
	}
}
