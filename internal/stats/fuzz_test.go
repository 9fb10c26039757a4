package stats

import (
	"encoding/binary"
	"encoding/json"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/servemark/servemark/internal/bench"
)

// wildRun makes records of any content from bytes: instants in any order and of any size, counts beyond belief.
func wildRun(data []byte) (*bench.Plan, []bench.Record) {
	next := func() uint64 {
		var b [8]byte
		data = data[copy(b[:], data):]
		return binary.LittleEndian.Uint64(b[:])
	}
	instant := func() bench.Instant {
		x := next()
		switch x % 8 {
		case 0:
			return bench.Never
		case 1:
			return bench.Instant(x)
		}
		return bench.Instant(x % 20_000_000_000)
	}
	count := func() bench.Count {
		x := next()
		switch x % 4 {
		case 0:
			return bench.Unknown
		case 1:
			return bench.Counted(int(x >> 2))
		}
		return bench.Counted(int(x % 300))
	}
	p := planOf(int(next()%4), int(next()%100))
	p.Spec.Load.Concurrency = int(next()%5) - 1
	p.Spec.SLOs = []bench.SLO{{Metric: "tpot", Max: 1e6}, {Metric: "e2el", Max: 1e9}}
	p.Spec.Dataset.Name, p.Spec.Body.IgnoreEOS = "random", true
	p.Spec.Target.API = []bench.API{bench.APIChat, bench.APIGenerate}[next()%2]
	for i := range p.Requests {
		p.Requests[i].Due, p.Requests[i].InputTokens = instant(), count()
	}
	var records []bench.Record
	for len(data) > 0 && len(records) < 40 {
		r := bench.NewRecord(int(next()%5) - 1)
		r.Due, r.Admitted, r.Sent, r.Written, r.Header, r.Done = instant(), instant(), instant(), instant(), instant(), instant()
		r.Connection.DialStart, r.Connection.Connected, r.Connection.TLSDone = instant(), instant(), instant()
		for range next() % 6 {
			x := next()
			r.Chunks = append(r.Chunks, bench.Chunk{At: instant(), Tokens: uint16(x), Channel: bench.Channel(x >> 16 % 7)})
		}
		r.Usage = bench.Usage{Prompt: count(), Completion: count(), Reasoning: count(), Cached: count()}
		r.Retokenized = count()
		x := next()
		r.Streamed, r.Cancelled, r.Resent, r.Malformed = x&1 == 0, x&14 == 2, x&48 == 16, int(x>>8&3)
		r.ChunkTokens = []bench.ChunkTokens{"", bench.ChunkTokensUsage, bench.ChunkTokensIDs, "novel"}[x>>10&3]
		if x>>12&7 == 0 {
			r.Fail(bench.FailServer, string(data[:min(len(data), 20)]))
		}
		records = append(records, r)
	}
	return p, records
}

func FuzzSummarize(f *testing.F) {
	rng := rand.New(rand.NewPCG(9, 10))
	for n := range 12 {
		seed := make([]byte, n*200)
		for i := range seed {
			seed[i] = byte(rng.Uint32())
		}
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		p, records := wildRun(data)
		backwards := slices.Clone(records)
		slices.Reverse(backwards)
		for name, of := range map[string]func([]bench.Record) bench.Summary{
			"Summarize": func(r []bench.Record) bench.Summary { return Summarize(p, r, Options{}) },
			"Strict":    func(r []bench.Record) bench.Summary { return Strict(p, r) },
		} {
			s := of(records)
			if _, err := json.Marshal(s); err != nil {
				t.Fatalf("%s gives no legal JSON: %v", name, err)
			}
			if s.Completed+s.Failed+s.Cancelled != len(records) {
				t.Fatalf("%s: %d + %d + %d records, want %d", name, s.Completed, s.Failed, s.Cancelled, len(records))
			}
			if diff := cmp.Diff(s, of(backwards), cmp.AllowUnexported(bench.Count{}, bench.Measure{})); diff != "" {
				t.Fatalf("%s depends on the order of records:\n%s", name, diff)
			}
		}
		PerRequest(p, records)
		StrictPerRequest(p, records)
	})
}
