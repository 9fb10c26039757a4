package cli

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/servemark/servemark/internal/bench"
	"github.com/servemark/servemark/internal/report"
	"github.com/servemark/servemark/internal/stats"
)

// repeat does the same run several times, each with prompts of its own, and shows how far the runs lie apart. The exit code is
// the worst of theirs, but for goals: those are held against the mean of the runs.
func (c *console) repeat(ctx context.Context, name string, j *job) int {
	var summaries []bench.Summary
	code := exitOK
	for i := range j.runs {
		each := *j
		each.spec.Seed += int64(i)
		if j.journal != "" && j.journal != "-" {
			ext := filepath.Ext(j.journal)
			each.journal = fmt.Sprintf("%s-%d%s", strings.TrimSuffix(j.journal, ext), i+1, ext)
		}
		s := newSession(c, name, &each)
		if j.dryRun { // only plans go to the output
			c.warn("run %d of %d, seed %d", i+1, j.runs, each.spec.Seed)
			if got := s.run(ctx); got != exitOK || i == j.runs-1 {
				return got
			}
			continue
		}
		c.say("\n#### Run %d of %d, seed %d", i+1, j.runs, each.spec.Seed)
		s.aloneStage()
		got := s.run(ctx)
		if s.result == nil || got == exitInterrupted {
			return got // refused before the load, or ended by the user
		}
		if got != exitGoal {
			code = worse(code, got)
		}
		summaries = append(summaries, s.result.Summary)
	}
	spread := stats.BetweenRuns(summaries, j.spec.Goals)
	if err := report.Spread(c.out, &spread, j.form); err != nil {
		c.warn("warning: %s", err)
	}
	for i := range spread.Goals {
		if !spread.Goals[i].Met && code == exitOK {
			code = exitGoal
		}
	}
	return code
}
