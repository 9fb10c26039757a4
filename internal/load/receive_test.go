package load

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"testing"
	"testing/iotest"

	"github.com/servemark/servemark/internal/bench"
)

// counting is a decoder that books one token a piece into room made before.
type counting struct{ rec *bench.Record }

func (counting) Head(int, http.Header) {}

func (c counting) Feed(_ []byte, at bench.Instant) bool {
	c.rec.Chunks = append(c.rec.Chunks, bench.Chunk{At: at})
	return false
}

func (counting) End(error) {}

// received returns a function that receives a reply of n events.
func received(tb testing.TB, n int) func() {
	e, err := New(Options{BaseURL: "http://server", Protocol: wire{}, Load: bench.LoadSpec{IdleTimeout: 1 << 40}})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(e.Close)
	events := bytes.Repeat([]byte("e"), n)
	room := make([]bench.Chunk, 0, n)
	return func() {
		rec := bench.NewRecord(0)
		rec.Chunks = room
		x := &attempt{engine: e, rec: &rec, user: context.Background()}
		x.ctx, x.cancel = context.WithCancelCause(x.user)
		res := &http.Response{StatusCode: 200, Body: io.NopCloser(iotest.OneByteReader(bytes.NewReader(events)))}
		x.receive(res, counting{&rec}, func() {})
		x.cancel(nil)
		if len(rec.Chunks) != n {
			tb.Fatalf("received %d events, want %d", len(rec.Chunks), n)
		}
	}
}

// What receiving allocates does not grow with the number of events.
func TestReceiveAllocatesNothingPerEvent(t *testing.T) {
	few, many := testing.AllocsPerRun(50, received(t, 10)), testing.AllocsPerRun(50, received(t, 2000))
	if many > few+2 || few > 40 {
		t.Errorf("receiving 10 events allocates %v objects, 2000 events %v; want the same, and at most 40", few, many)
	}
}

func BenchmarkReceive(b *testing.B) {
	receive := received(b, 1000)
	b.ReportAllocs()
	for b.Loop() {
		receive()
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1000, "ns/event")
}
