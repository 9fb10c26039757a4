package load

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/servemark/servemark/internal/bench"
)

// stated is a protocol for a truth server that states in each event, as "ts", what the monotonic clock read before its send.
type stated struct {
	mu     sync.Mutex
	stamps map[int][]int64
}

func (*stated) Encode(r *bench.Request) (bench.Message, error) {
	body := fmt.Sprintf(`{"model":"mock","messages":[{"role":"user","content":%q}],"max_tokens":128,"stream":true}`, r.Prompt.Text)
	return bench.Message{Path: "/v1/chat/completions", Header: http.Header{"Content-Type": {"application/json"}}, Body: []byte(body)}, nil
}

func (*stated) Amend(m bench.Message, _ int, _ []byte) (bench.Message, bool) { return m, false }

func (s *stated) Decoder(rec *bench.Record) bench.Decoder { return &statedDecoder{all: s, rec: rec} }

type statedDecoder struct {
	all    *stated
	rec    *bench.Record
	stamps []int64
}

func (*statedDecoder) Head(int, http.Header) {}

// Feed relies on events coming whole, as this server sends them.
func (d *statedDecoder) Feed(p []byte, at bench.Instant) bool {
	for key := []byte(`"ts":`); ; {
		i := bytes.Index(p, key)
		if i < 0 {
			return bytes.Contains(p, []byte("[DONE]"))
		}
		p = p[i+len(key):]
		end := bytes.IndexAny(p, "},")
		if end < 0 {
			return false
		}
		ts, err := strconv.ParseInt(string(p[:end]), 10, 64)
		if err == nil {
			d.stamps = append(d.stamps, ts)
			d.rec.Chunks = append(d.rec.Chunks, bench.Chunk{At: at})
		}
	}
}

func (d *statedDecoder) End(cause error) {
	if cause != nil {
		d.rec.Fail(bench.FailReset, cause.Error())
	}
	d.all.mu.Lock()
	defer d.all.mu.Unlock()
	d.all.stamps[d.rec.ID] = d.stamps
}

// Receive error and lag against a truth server (docs/benchmarks.md says what it must answer) at 256 streams, TTFT 100 ms, ITL
// 20 ms; the limits hold for one core of a machine with idle cores.
func TestReceiveErrorAgainstTruth(t *testing.T) {
	url := os.Getenv("SERVEMARK_TRUTH")
	if url == "" {
		t.Skip("needs a truth server: set SERVEMARK_TRUTH to its URL")
	}
	s := &stated{stamps: map[int][]int64{}}
	e, err := New(Options{BaseURL: url, Protocol: s})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	var records []bench.Record
	plan := planOf(bench.LoadSpec{Concurrency: 256}, never(512)...)
	if err := e.Run(t.Context(), plan, func(r bench.Record) error { records = append(records, r); return nil }); err != nil {
		t.Fatal(err)
	}
	var now unix.Timespec
	before := e.Clock().Now()
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &now); err != nil {
		t.Fatal(err)
	}
	start := now.Nano() - int64(before+e.Clock().Now())/2 // what the monotonic clock read when the run's read 0
	var errs, lags []time.Duration
	for _, r := range records {
		if !r.OK() {
			t.Fatalf("request %d failed: %+v", r.ID, r.Failure)
		}
		for k, c := range r.Chunks {
			errs = append(errs, time.Duration(int64(c.At)+start-s.stamps[r.ID][k]))
			if lag, ok := c.Lag.Get(); ok {
				lags = append(lags, lag)
			}
		}
	}
	slices.Sort(errs)
	slices.Sort(lags)
	at := func(d []time.Duration, p float64) time.Duration { return d[int(p*float64(len(d)-1))] }
	t.Logf("%d events: receive error p50 %v, p99 %v, p99.9 %v; receive lag p50 %v, p99 %v, p99.9 %v; health %+v",
		len(errs), at(errs, 0.5), at(errs, 0.99), at(errs, 0.999), at(lags, 0.5), at(lags, 0.99), at(lags, 0.999), e.Health())
	for p, limit := range map[float64]time.Duration{0.5: 8 * time.Microsecond, 0.99: 40 * time.Microsecond, 0.999: 80 * time.Microsecond} {
		if got := at(errs, p); got > limit || got < -limit {
			t.Errorf("receive error p%v = %v, want at most %v", 100*p, got, limit)
		}
	}
	if got := at(lags, 0.99); got > 500*time.Microsecond {
		t.Errorf("receive lag p99 = %v, want at most 0.5 ms", got)
	}
}
