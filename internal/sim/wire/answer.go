// Package wire writes simulated answers in the protocols of real servers: their frames, their usage, their errors, with the
// differences that a client can trip over. It decides nothing about time.
package wire

import (
	"time"

	"github.com/servemark/servemark/internal/sim/prose"
)

// Answer is one choice: what it will say is known from the start, the engine decides when.
type Answer struct {
	Index int
	// Prompt are the prompt's tokens, Extra counts those without ids (images).
	Prompt []int
	Extra  int
	Pieces []prose.Piece
	// Think is where the reasoning ends: tokens before it are reasoning.
	Think int
	Tool  *ToolCall
	// Finish is "stop", "length" or "tool_calls"; Matched the stop text that ended the answer.
	Finish  string
	Matched string

	// Cached, Preemptions and Scheduled are what the engine says of it, Steps how many steps made tokens of it so far,
	// Planned when each token so far was due to leave.
	Cached      int
	Preemptions int
	Scheduled   time.Duration
	Steps       int
	Planned     []time.Duration
}

// ToolCall is a call the answer makes instead of speaking; its arguments are the answer's tokens.
type ToolCall struct{ ID, Name string }

// PromptTokens counts the prompt.
func (a *Answer) PromptTokens() int { return len(a.Prompt) + a.Extra }

// Text is the text of the tokens [from, to).
func (a *Answer) Text(from, to int) string {
	n := 0
	for _, p := range a.Pieces[from:to] {
		n += len(p.Text)
	}
	b := make([]byte, 0, n)
	for _, p := range a.Pieces[from:to] {
		b = append(b, p.Text...)
	}
	return string(b)
}

// IDs are the ids of the answer's tokens.
func (a *Answer) IDs() []int {
	out := make([]int, len(a.Pieces))
	for i, p := range a.Pieces {
		out[i] = p.ID
	}
	return out
}

// Reply is one HTTP request being answered: one answer, or several for a batch of prompts.
type Reply struct {
	ID      string
	Created int64 // Unix seconds
	Model   string
	Answers []*Answer
	// Usage asks for a usage-only chunk at the end, Continuous for usage in every chunk, ReportCache for cached tokens in both.
	Usage       bool
	Continuous  bool
	ReportCache bool
	// TokenIDs asks for ids in every chunk; RoleSent says that the role chunk left before the first token.
	TokenIDs bool
	RoleSent bool
	// Batch says that the client sent a list, and gets one even for a single prompt.
	Batch bool
	// Speculative says that several tokens may come of one step.
	Speculative bool
	// Elapsed is the time since the request was accepted.
	Elapsed func() time.Duration
}

func (r *Reply) totals() (prompt, completion, cached, reasoning int) {
	for _, a := range r.Answers {
		prompt += a.PromptTokens()
		completion += len(a.Pieces)
		cached += a.Cached
		reasoning += a.Think
	}
	return prompt, completion, cached, reasoning
}

// Dialect writes answers in one protocol.
type Dialect interface {
	// Begin is called just before the first token of an answer.
	Begin(b *SSE, r *Reply, a *Answer)
	// Tokens writes the tokens [from, to) of an answer; to is len(a.Pieces) at its end.
	Tokens(b *SSE, r *Reply, a *Answer, from, to int)
	// Finish is called just after the last token of an answer.
	Finish(b *SSE, r *Reply, a *Answer)
	// End is called when all answers are finished.
	End(b *SSE, r *Reply)
	// Whole is the JSON body of a reply that is not streamed.
	Whole(r *Reply) []byte
	// Fail writes an error in mid-stream, and what then ends the stream.
	Fail(b *SSE, words string)
}

// unframed are the parts of a dialect that has frames for tokens alone.
type unframed struct{}

func (unframed) Begin(*SSE, *Reply, *Answer)  {}
func (unframed) Finish(*SSE, *Reply, *Answer) {}
func (unframed) End(*SSE, *Reply)             {}

// Opener is a dialect that writes something as soon as a request is accepted, before any token.
type Opener interface {
	Open(b *SSE, r *Reply)
}

// RoleWriter is a dialect with a first chunk that carries no token.
type RoleWriter interface {
	Role(b *SSE, r *Reply, a *Answer)
}
