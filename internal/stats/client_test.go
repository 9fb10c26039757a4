package stats

import (
	"strings"
	"testing"
	"time"

	"github.com/servemark/servemark/internal/bench"
)

// streams is a run of n streams side by side, each of tokens events that come together by the write, one write every gap, and are
// read lag after they came.
func streams(n, tokens, write int, gap, lag time.Duration) (*bench.Plan, []bench.Record) {
	p := planOf(n, tokens)
	p.Spec.Load.Concurrency = n
	var records []bench.Record
	for i := range n {
		r := success(i, 0, tokens)
		r.Chunks = nil
		for k := range tokens {
			r.Chunks = append(r.Chunks, bench.Chunk{At: bench.At(time.Duration(5+k/write) * gap), Lag: bench.LagOf(lag)})
		}
		r.Done, r.Usage.Prompt = r.LastChunk(), bench.Counted(10)
		records = append(records, r)
	}
	return p, records
}

// merge lets the reader miss an event of every nth pair: both have the time of the second, and lag is how long that waited.
func mergeEvents(records []bench.Record, nth int, lag time.Duration) {
	for i := range records {
		c := records[i].Chunks
		for k := 1; k+1 < len(c); k += nth {
			c[k].At = c[k+1].At
			c[k].Lag, c[k+1].Lag = bench.LagOf(lag), bench.LagOf(lag)
		}
	}
}

func TestVerdictOnTheReader(t *testing.T) {
	const ms = time.Millisecond
	for _, row := range []struct {
		name   string
		write  int
		gap    time.Duration
		lag    time.Duration
		change func(p *bench.Plan, records []bench.Record)
		level  bench.VerdictLevel
		cause  string
	}{
		{"prompt", 1, 20 * ms, 50 * time.Microsecond, nil, bench.Valid, ""},
		{"steps of an engine read one after another", 1, 40 * ms, 8 * ms, nil, bench.Valid, ""},
		{"lag beyond half the gap", 1, 20 * ms, 13 * ms, nil, bench.Valid, ""},
		{"lag beyond two thirds of the gap", 1, 20 * ms, 14500 * time.Microsecond, nil, bench.Suspect, "client at its limit"},
		{"lag near the gap", 1, 20 * ms, 18 * ms, nil, bench.Invalid, "client at its limit"},
		{"the server writes two at once", 2, 40 * ms, 50 * time.Microsecond, nil, bench.Valid, ""},
		{"the server writes two at once, some are read late", 2, 40 * ms, 50 * time.Microsecond, func(_ *bench.Plan, records []bench.Record) {
			for i := 0; i < len(records); i += 3 {
				for k := range records[i].Chunks {
					records[i].Chunks[k].Lag = bench.LagOf(7 * ms)
				}
			}
		}, bench.Valid, ""},
		{"one pair in 300 ran together", 1, 20 * ms, 50 * time.Microsecond, func(_ *bench.Plan, records []bench.Record) {
			mergeEvents(records[:1], 3, 15*ms)
		}, bench.Suspect, "client overloaded: 0.66 %"},
		{"a tenth ran together", 1, 20 * ms, 50 * time.Microsecond, func(_ *bench.Plan, records []bench.Record) {
			mergeEvents(records, 20, 15*ms)
		}, bench.Invalid, "have the time of a later one"},
		{"some first events ran into the second", 1, 20 * ms, 50 * time.Microsecond, func(_ *bench.Plan, records []bench.Record) {
			for i := range 3 {
				c := records[i].Chunks
				c[0].At, c[0].Lag, c[1].Lag = c[1].At, bench.LagOf(15*ms), bench.LagOf(15*ms)
			}
		}, bench.Invalid, "the first one of 3.0 % of the replies"},
		{"a stall a little longer than the gap", 1, 20 * ms, 50 * time.Microsecond, func(_ *bench.Plan, records []bench.Record) {
			for i := range records { // some had just got their first event, others their second
				c := records[i].Chunks
				if c[0].Lag = bench.LagOf(21 * ms); i < 20 {
					c[0].At = c[1].At
					c[0].Lag, c[1].Lag = bench.LagOf(ms), bench.LagOf(ms)
				}
			}
		}, bench.Invalid, "the first one of 20.0 % of the replies"},
		{"user time", 1, 20 * ms, 0, func(_ *bench.Plan, records []bench.Record) {
			for i := range records {
				for k := range records[i].Chunks {
					records[i].Chunks[k].Lag = 0
				}
			}
		}, bench.Valid, ""},
		{"requests that leave late", 1, 20 * ms, 50 * time.Microsecond, func(_ *bench.Plan, records []bench.Record) {
			for i := range records {
				records[i].Admitted = records[i].Sent.Add(-100 * ms)
				records[i].Due = records[i].Admitted
			}
		}, bench.Suspect, "requests left 100 ms after"},
		{"short replies whose end is seen late", 1, 4 * ms, 50 * time.Microsecond, func(_ *bench.Plan, records []bench.Record) {
			for i := range records {
				records[i].Chunks = records[i].Chunks[:3]
				records[i].Chunks[2].Lag = bench.LagOf(3 * ms)
				records[i].Done = records[i].LastChunk()
			}
		}, bench.Invalid, "less was in flight than asked"},
	} {
		p, records := streams(100, 100, row.write, row.gap, row.lag)
		if row.change != nil {
			row.change(p, records)
		}
		s := Summarize(p, records, Options{})
		if got := s.Verdict; got.Level != row.level || !strings.Contains(strings.Join(got.Causes, "; "), row.cause) || row.cause == "" && len(got.Causes) > 0 {
			t.Errorf("%s: verdict = %s %q, want %s with %q", row.name, got.Level, got.Causes, row.level, row.cause)
		}
	}
}

func TestVerdictOnTheClocks(t *testing.T) {
	p, records := streams(10, 10, 1, 20*time.Millisecond, 50*time.Microsecond)
	for _, row := range []struct {
		health *bench.Health
		level  bench.VerdictLevel
	}{{nil, bench.Valid}, {&bench.Health{KernelReads: 5}, bench.Valid}, {&bench.Health{ClockSteps: 1}, bench.Suspect}, {&bench.Health{Implausible: 2}, bench.Suspect}} {
		if got := Summarize(p, records, Options{Health: row.health}).Verdict; got.Level != row.level {
			t.Errorf("health %+v: verdict %+v, want %s", row.health, got, row.level)
		}
	}
}

// A busy client is suspect at a lag that an idle one may have.
func TestVerdictOnABusyClient(t *testing.T) {
	p, records := streams(100, 100, 1, 20*time.Millisecond, 9*time.Millisecond)
	for cpu, want := range map[time.Duration]bench.VerdictLevel{7 * time.Second: bench.Valid, 19 * time.Second: bench.Suspect} {
		h := &bench.Health{Wall: 10 * time.Second, CPU: cpu, Cores: 2}
		if got := Summarize(p, records, Options{Health: h}).Verdict; got.Level != want {
			t.Errorf("%v of processor time in 10 s on 2 cores: verdict %+v, want %s", cpu, got, want)
		}
	}
}

// The words of a cause say what the client had to work with.
func TestRemedyNamesTheShortage(t *testing.T) {
	p, records := streams(100, 100, 1, 20*time.Millisecond, 15*time.Millisecond)
	h := &bench.Health{Wall: 10 * time.Second, CPU: 9 * time.Second, CPUWait: 5 * time.Second, Cores: 1}
	got := Summarize(p, records, Options{Health: h}).Verdict
	if want := "it used 90 % of one core and its threads waited 5.0 s for a processor"; len(got.Causes) == 0 || !strings.Contains(got.Causes[0], want) {
		t.Errorf("causes = %q, want %q in the first", got.Causes, want)
	}
}
