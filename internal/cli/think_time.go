package cli

import (
	"fmt"
	"strings"

	"github.com/servemark/servemark/internal/bench"
	"github.com/servemark/servemark/internal/dataset"
)

// thinkTime reads how long the user of a conversation thinks between an answer and the next turn: TIME, TIME exponential, or
// FROM TO.
func (r *runReader) thinkTime(d *bench.DatasetSpec) {
	words := r.list("think-time")
	if len(words) == 0 {
		return
	}
	if !dataset.MultiTurn(&r.job.spec) {
		r.wrong("think-time", fmt.Sprintf("has no effect with --dataset %s, which asks no second turn", d.Name), "leave it out, or take --dataset agentic-trace")
		return
	}
	const forms = "write it as --think-time 2s, --think-time 2s exponential, or --think-time 1s 5s"
	from, err := parseDuration(words[0])
	if err != nil || len(words) > 2 {
		r.wrong("think-time", fmt.Sprintf("%q is not TIME, TIME exponential, or FROM TO", strings.Join(words, " ")), forms)
		return
	}
	d.ThinkTime = from
	switch {
	case len(words) == 1:
	case words[1] == string(bench.ThinkExponential):
		if d.ThinkSpread = bench.ThinkExponential; from == 0 {
			r.wrong("think-time", "a mean of 0 draws no times", "give a mean above 0")
		}
	default:
		to, err := parseDuration(words[1])
		d.ThinkSpread, d.ThinkMost = bench.ThinkUniform, to
		if err != nil || to < from {
			r.wrong("think-time", fmt.Sprintf("%q is not TIME, TIME exponential, or FROM TO", strings.Join(words, " ")), forms)
		}
	}
}
