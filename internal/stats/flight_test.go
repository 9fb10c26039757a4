package stats

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/servemark/servemark/internal/bench"
)

// naivePeak counts, at the start of each stay, the stays that hold that instant.
func naivePeak(in []stay) int {
	peak := 0
	for _, s := range in {
		n := 0
		for _, other := range in {
			if other.from <= s.from && s.from < other.to {
				n++
			}
		}
		peak = max(peak, n)
	}
	return peak
}

// naiveWindow sums, from each arrival on, the arrivals of the next second.
func naiveWindow(in []arrival) (most int64) {
	for _, a := range in {
		var n int64
		for _, b := range in {
			if b.at >= a.at && b.at < a.at+bench.At(peakWindow) {
				n += b.tokens
			}
		}
		most = max(most, n)
	}
	return most
}

func TestSweepsAgainstNaiveOnes(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	for round := range 300 {
		p, records := randomRun(rng, rng.IntN(60))
		if round%3 == 0 { // many ties
			for i := range records {
				if r := &records[i]; r.Sent.Known() {
					r.Sent = r.Sent / bench.At(time.Second) * bench.At(time.Second)
				}
			}
		}
		r := gather(p, records)
		in := stays(r.records)
		if got, want := peakConcurrency(edges(in)), naivePeak(in); got != want {
			t.Fatalf("peakConcurrency(%v) = %d, want %d", in, got, want)
		}
		seen, ok := arrivals(r.replies)
		if !ok {
			continue
		}
		want := bench.Measure{}
		if len(seen) > 0 {
			want = bench.Measured(float64(naiveWindow(seen)))
		}
		if got := peakOutputRate(seen, time.Hour); got != want {
			t.Fatalf("peakOutputRate(%v) = %v, want %v", seen, got, want)
		}
	}
}

func TestPeaks(t *testing.T) {
	// Back to back: never two at once, though the original's bins see both in one second.
	records := []bench.Record{success(0, 0, 4, 100, 200, 300, 400), success(1, 400*msec, 4, 100, 200, 300, 400)}
	s, strict := Summarize(planOf(2, 4), records, Options{}), Strict(planOf(2, 4), records)
	if s.PeakConcurrency != 1 || strict.PeakConcurrency != 2 {
		t.Errorf("peak concurrency = %d, strict %d, want 1 and the overcount 2", s.PeakConcurrency, strict.PeakConcurrency)
	}
	// 8 tokens in 0.8 s: a window of a second is longer than the run.
	wantMeasure(t, "peak output rate of a short run", s.PeakOutputRate, 10)
	wantMeasure(t, "strict peak output rate", strict.PeakOutputRate, 8)
	wantMeasure(t, "concurrency", s.Concurrency, 1)

	// Two tokens a chunk: the window weighs tokens, the original counts chunks.
	double := success(0, 0, 8, 0, 400, 800, 1200)
	s, strict = Summarize(planOf(1, 8), []bench.Record{double}, Options{}), Strict(planOf(1, 8), []bench.Record{double})
	wantMeasure(t, "weighted peak", s.PeakOutputRate, 6)
	wantMeasure(t, "strict peak", strict.PeakOutputRate, 3)

	whole := success(1, 0, 8)
	whole.Streamed, whole.Done = false, 900*msec
	s = Summarize(planOf(2, 8), []bench.Record{double, whole}, Options{})
	if s.PeakOutputRate.Known() {
		t.Errorf("peak output rate = %v with a reply that was not streamed, want not measured", s.PeakOutputRate)
	}
}

func TestSteady(t *testing.T) {
	// Two streams side by side from 1 s to 9 s, alone before and after; a token every 500 ms each.
	long := func(id int, from bench.Instant) bench.Record {
		var chunks []int
		for ms := 500; ms <= 9000; ms += 500 {
			chunks = append(chunks, ms)
		}
		return success(id, from, len(chunks), chunks...)
	}
	s := Summarize(planOf(2, 18), []bench.Record{long(0, 0), long(1, 1000*msec)}, Options{})
	if s.Steady == nil || s.Steady.From != 1000*msec || s.Steady.To != 9000*msec || s.Steady.AtLeast != 2 {
		t.Fatalf("steady = %+v, want from 1 s to 9 s with 2", s.Steady)
	}
	wantMeasure(t, "steady output", s.Steady.OutputRate, 4)
	if s.Steady.RequestRate.Known() {
		t.Errorf("steady requests = %v from one end among two places, want not measured", s.Steady.RequestRate)
	}
	turnover := []bench.Record{long(0, 0), long(1, 1000*msec), long(2, 9000*msec)} // 0 ends as 2 begins, 1 a second later
	s = Summarize(planOf(3, 18), turnover, Options{})
	wantMeasure(t, "steady requests with a turnover", s.Steady.RequestRate, 2.0/9)
	if s := Summarize(planOf(1, 18), []bench.Record{long(0, 0)}, Options{}); s.Steady != nil {
		t.Errorf("steady of one stream = %+v, want none", s.Steady)
	}
}
