package experiment

import (
	"context"

	"github.com/servemark/servemark/internal/bench"
	"github.com/servemark/servemark/internal/stats"
)

// looks is how often in the course of a trial in virtual time is asked whether it is hopeless.
const looks = 100

// Observe runs a plan and returns its records. Where the outlook, if there is one, calls the run hopeless, run's context ends, upon
// which run is to emit what is in flight as cancelled. The instants of run's records are its time: run waits for none.
func Observe(ctx context.Context, plan *bench.Plan, o *stats.Outlook, run func(context.Context, *bench.Plan, func(bench.Record) error) error) ([]bench.Record, error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	if o != nil {
		o.Begin(plan)
	}
	every := max(len(plan.Requests)/looks, 1)
	records := make([]bench.Record, 0, len(plan.Requests))
	err := run(ctx, plan, func(r bench.Record) error {
		records = append(records, r)
		if o == nil || ctx.Err() != nil {
			return nil
		}
		o.Add(r)
		if len(records)%every == 0 && o.Hopeless(r.Done, nil) {
			stop()
		}
		return nil
	})
	return records, err
}
