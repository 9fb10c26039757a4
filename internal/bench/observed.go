package bench

// Observed is what was seen beside the requests of a run.
type Observed struct {
	// Speculation is the server's own count for the time of the run; nil where it states none.
	Speculation *Speculation `json:"speculation,omitempty"`
	// Probes are one-token requests that were asked beside the load, outside its cap.
	Probes []Record `json:"probes,omitempty"`
	// Telemetry is what the server and its GPUs said of themselves; nil where nobody listened.
	Telemetry *Telemetry `json:"telemetry,omitempty"`
}

// Speculation is how speculative decoding went.
type Speculation struct {
	// Drafts counts verifications: each yields one token and those of its draft that were accepted.
	Drafts      int   `json:"drafts"`
	DraftTokens Count `json:"draft_tokens,omitzero"`
	Accepted    Count `json:"accepted_tokens,omitzero"`
	// AcceptLength is tokens per verification, the one that is always there among them.
	AcceptLength Measure `json:"accept_length"`
	// ByPosition is the share of drafts (0..1) whose token at that place was accepted.
	ByPosition []float64 `json:"by_position,omitempty"`
}

// Rate is accepted ÷ drafted tokens, 0..1.
func (s *Speculation) Rate() Measure {
	accepted, ok := s.Accepted.Get()
	drafted, too := s.DraftTokens.Get()
	if !ok || !too || drafted == 0 {
		return Measure{}
	}
	return Measured(float64(accepted) / float64(drafted))
}
