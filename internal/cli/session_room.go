package cli

import (
	"errors"
	"fmt"
	"strings"

	"github.com/servemark/servemark/internal/bench"
	"github.com/servemark/servemark/internal/doctor"
	"github.com/servemark/servemark/internal/report"
)

// Whether there is room for the load: open files, memory, the server's context.

// roomForConnections raises the limit of open files. How many requests a schedule without a cap has in flight is not known
// beforehand, so there a low limit is only told.
func (s *session) roomForConnections() error {
	load := &s.spec.Load
	rows := s.spec.Dataset.Rows
	if load.Scheduled() && load.Duration > 0 {
		n, _ := load.Expected()
		rows = int(min(max(n, load.Rate*load.Duration.Seconds()), mostRows)) + 1
	}
	need := max(rows, 1)
	if c := load.Concurrency; c > 0 && (c < need || load.Duration > 0) {
		need = c
	}
	err := doctor.OpenFiles(need)
	if err != nil && load.Scheduled() && load.Concurrency == 0 {
		s.say("note: %s; that many are open only if replies take that long", err)
		return nil
	}
	return err
}

// sayLeftOut tells of rows that no plan tells of, as there is none.
func (s *session) sayLeftOut() {
	if s.leftOut != "" {
		s.say("note: %s", report.Sentence(s.leftOut))
	}
}

// roomForPrompts refuses lengths and numbers that cannot be held in memory.
func (s *session) roomForPrompts() error {
	d := &s.spec.Dataset
	each := float64(bytesPerRequest)
	if strings.HasPrefix(d.Name, "random") {
		each += bytesPerToken * float64(d.InputTokens)
	}
	free, known := doctor.FreeMemory()
	if !known {
		free = mostBytes
	}
	if need := each * float64(max(d.Rows, 1)); need > free {
		return fmt.Errorf("%d prompts of up to %d tokens need about %.1f GB of memory to be made before the run, of %.1f GB there may be; ask for fewer or shorter ones", d.Rows, d.InputTokens, need/1e9, free/1e9)
	}
	return nil
}

// Memory of a plan, measured roughly: text and request with its encoded body. mostBytes stands in where free memory is not known.
const (
	bytesPerRequest = 4 << 10
	bytesPerToken   = 16
	mostBytes       = 12e9
)

// fitsServer refuses exact lengths that the server's context cannot hold before any prompt is made.
func (s *session) fitsServer() error {
	d := &s.spec.Dataset
	most, ok := s.server.MaxLen.Get()
	if !ok || !s.job.native || !strings.HasPrefix(d.Name, "random") || d.RangeRatio != 1 || d.InputTokens+d.OutputTokens <= most {
		return nil
	}
	return refused(fmt.Errorf("requests of %d + %d tokens (prompt and answer) were asked for and the server's context holds %d: ask for less with --input-tokens or --output-tokens",
		d.InputTokens, d.OutputTokens, most))
}

// fits refuses, in servemark's own commands, requests that the server's context cannot hold; in a dialect it is said.
func (s *session) fits() error {
	most, ok := s.server.MaxLen.Get()
	if !ok {
		return nil
	}
	over, longest := 0, 0
	for i := range s.plan.Requests {
		r := &s.plan.Requests[i]
		n := r.TemplatedTokens.Or(r.InputTokens.Or(0)) + r.OutputTokens
		longest = max(longest, n)
		if n > most {
			over++
		}
	}
	if over == 0 {
		return nil
	}
	what := fmt.Sprintf("%s %s up to %d tokens (prompt and answer) and the server's context holds %d", bench.Part(over, len(s.plan.Requests), "request"), bench.Agree(over, "needs", "need"), longest, most)
	if s.job.native {
		return refused(errors.New(what + ": ask for less with --input-tokens or --output-tokens"))
	}
	s.say("note: %s; it will refuse them", what)
	return nil
}
