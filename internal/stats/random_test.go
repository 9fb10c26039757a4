package stats

import (
	"math/rand/v2"

	"github.com/servemark/servemark/internal/bench"
)

// randomRun makes a plan and records that break no law of a Record: every kind of end, some with a schedule and a cap.
func randomRun(rng *rand.Rand, n int) (*bench.Plan, []bench.Record) {
	p := planOf(n, 1+rng.IntN(20))
	scheduled := rng.IntN(2) == 0
	p.Spec.Load.Concurrency = rng.IntN(4)
	p.Spec.Target.API = []bench.API{bench.APIChat, bench.APICompletions, bench.APIGenerate}[rng.IntN(3)]
	p.Spec.SLOs = []bench.SLO{{Metric: "ttft", Max: 1e8}, {Metric: "e2el", Max: 3e9}, {Metric: "tpot", Max: 1e7}}
	var records []bench.Record
	for i := range p.Requests {
		at := bench.Instant(rng.IntN(8000)) * msec
		if scheduled {
			p.Requests[i].Due = at
		}
		records = append(records, randomRecord(rng, i, at, scheduled))
	}
	return p, records
}

func randomRecord(rng *rand.Rand, id int, at bench.Instant, scheduled bool) bench.Record {
	later := func(most int) bench.Instant { at += bench.Instant(rng.IntN(most)) * msec; return at }
	r := bench.NewRecord(id)
	if scheduled {
		r.Due = at
	}
	r.Admitted = later(50)
	if rng.IntN(3) == 0 {
		r.Connection.DialStart, r.Connection.Connected = at, later(30)
	}
	r.Sent = later(3)
	r.Written, r.Header, r.Status, r.Streamed = at, at, 200, rng.IntN(8) > 0
	m := rng.IntN(30)
	for range m {
		r.Chunks = append(r.Chunks, bench.Chunk{At: later(120), Tokens: uint16(rng.IntN(4)), Channel: bench.Channel(rng.IntN(5))})
	}
	r.Done = later(40)
	r.ChunkTokens = []bench.ChunkTokens{bench.ChunkTokensUnknown, bench.ChunkTokensUsage, bench.ChunkTokensIDs}[rng.IntN(3)]
	if rng.IntN(4) > 0 {
		r.Usage = bench.Usage{Prompt: bench.Counted(rng.IntN(40)), Completion: bench.Counted(m + rng.IntN(3)), Cached: bench.Counted(rng.IntN(9))}
	}
	if rng.IntN(2) == 0 {
		r.Retokenized = bench.Counted(m)
	}
	switch rng.IntN(12) {
	case 0:
		r.Fail(bench.FailStatus, "busy")
	case 1:
		r.Cancelled = true
	}
	return r
}
