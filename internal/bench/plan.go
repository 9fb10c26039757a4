package bench

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
)

// Prompt is what one request asks: exactly one of its fields is set.
type Prompt struct {
	Text string `json:"text,omitempty"`
	// Messages is a JSON array of chat messages, sent as it is.
	Messages json.RawMessage `json:"messages,omitempty"`
	// IDs are token ids.
	IDs []uint32 `json:"ids,omitempty"`
	// Texts are several texts of one request: the inputs of one embedding call, or a query and the documents to rank.
	Texts []string `json:"texts,omitempty"`
}

// Request is one thing to ask. It is immutable once planned; ids are dense from 0 within a Plan.
type Request struct {
	ID int `json:"id"`
	// Due is when the schedule wants it sent; Never where the load has no schedule, and for a turn that follows another.
	Due Instant `json:"due"`
	// After makes it a later turn of a conversation; nil for all others.
	After  *After `json:"after,omitempty"`
	Prompt Prompt `json:"prompt"`
	// InputTokens is the tokenizer's count of the prompt as the data set defines it (raw text, no chat template).
	InputTokens Count `json:"input_tokens"`
	// TemplatedTokens is the tokenizer's count with the chat template around it, where that is known.
	TemplatedTokens Count `json:"templated_tokens,omitzero"`
	// TextTokens is the tokenizer's count of the text alone, with the chat template around it, of a prompt that has images too: what
	// the server counts beyond it is theirs. The other counts are unknown then.
	TextTokens Count `json:"text_tokens,omitzero"`
	// OutputTokens is the limit asked of the server.
	OutputTokens int `json:"output_tokens"`
	// Adapter is the LoRA adapter asked for; "" for none.
	Adapter string `json:"adapter,omitempty"`
	// RoutingKey, where not empty, tells a router which requests belong together (the header X-SMG-Routing-Key).
	RoutingKey string `json:"routing_key,omitempty"`
	// Extra is a JSON object of this row's own body fields, or nil.
	Extra json.RawMessage `json:"extra,omitempty"`
}

// Plan is everything that will be sent. The same Spec, data and seed make the same bytes.
type Plan struct {
	Spec     Spec      `json:"spec"`
	Requests []Request `json:"requests"`
	// Source says in words where the prompts come from ("embedded corpus, exact lengths").
	Source string `json:"source"`
	// Notes are things the user must know about the plan: repaired lengths, skipped rows, a short data set.
	Notes []string `json:"notes,omitempty"`
	// Fingerprint identifies the workload; Seal computes it. It stays when prompts are stripped for the journal.
	Fingerprint string `json:"fingerprint"`
	// Repaired counts prompts whose text was mended to the asked token length.
	Repaired int `json:"repaired,omitempty"`
}

// Seal computes the fingerprint: a hash of the requests, the load and the body settings, not of the server's address, of
// deadlines or of anything else that may differ between two runs to be compared. Where time ends the run the number of prompts
// made is an estimate, so there the rule that makes them (data set and seed) stands for them.
func (p *Plan) Seal() {
	h := sha256.New()
	enc := json.NewEncoder(h)
	load, rule := p.Spec.Load, p.Spec.Dataset
	load.ConnectTimeout, load.FirstByteTimeout, load.IdleTimeout, load.RequestTimeout, load.Insecure = 0, 0, 0, 0, false
	writeAll(enc, p.Spec.Target.API, p.Spec.Target.Stream, load, p.Spec.Body, p.Spec.Strict)
	if load.Duration > 0 {
		rule.Rows, rule.Path = 0, ""
		writeAll(enc, rule, p.Spec.Seed, p.Source)
	} else {
		for i := range p.Requests {
			writeAll(enc, &p.Requests[i])
		}
	}
	p.Fingerprint = hex.EncodeToString(h.Sum(nil)[:16])
}

// WithoutPrompts returns a copy whose requests keep ids, due times and token counts only; the fingerprint stays.
func (p *Plan) WithoutPrompts() *Plan {
	q := *p
	q.Requests = make([]Request, len(p.Requests))
	for i, r := range p.Requests {
		r.Prompt, r.Extra = Prompt{}, nil
		q.Requests[i] = r
	}
	return &q
}

// writeAll encodes values into a hash; the types encoded here cannot fail to marshal except through invalid raw JSON,
// which the rooms that fill them check, so a failure is a bug.
func writeAll(enc *json.Encoder, values ...any) {
	for _, v := range values {
		if err := enc.Encode(v); err != nil {
			panic(fmt.Sprintf("bench: plan holds invalid JSON: %v", err))
		}
	}
}
