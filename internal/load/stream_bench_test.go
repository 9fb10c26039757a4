package load_test

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"runtime"
	"testing"

	"github.com/servemark/servemark/internal/bench"
	"github.com/servemark/servemark/internal/endpoint"
	"github.com/servemark/servemark/internal/load"
)

// BenchmarkStream receives chat streams of 1,000 events from a server in this process, over loopback, through the whole path
// from socket to Record: one event a write, and sixteen. Server and client share the processors given (GOMAXPROCS=1: one core).
func BenchmarkStream(b *testing.B) {
	for _, per := range []struct {
		name   string
		events int
	}{{"1PerWrite", 1}, {"16PerWrite", 16}} {
		b.Run(per.name, func(b *testing.B) { stream(b, per.events) })
	}
}

const streamed = 1000 // events of one reply

func stream(b *testing.B, perWrite int) {
	event := []byte(`data: {"id":"c1","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"content":" the"},"finish_reason":null}]}` + "\n\n")
	end := []byte(`data: {"id":"c1","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{},"finish_reason":"length"}]}` + "\n\ndata: [DONE]\n\n")
	write := bytes.Repeat(event, perWrite)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		for n := 0; n < streamed; n += perWrite {
			w.Write(write)
			w.(http.Flusher).Flush()
		}
		w.Write(end)
	})}
	go server.Serve(l)
	defer server.Close()
	base := "http://" + l.Addr().String()
	protocol, err := endpoint.New(endpoint.Options{API: bench.APIChat, Served: "m", BaseURL: base, Stream: true})
	if err != nil {
		b.Fatal(err)
	}
	engine, err := load.New(load.Options{BaseURL: base, Protocol: protocol})
	if err != nil {
		b.Fatal(err)
	}
	defer engine.Close()
	plan := &bench.Plan{Spec: bench.Spec{Load: bench.LoadSpec{Concurrency: 4}}}
	for i := range 4 {
		plan.Requests = append(plan.Requests, bench.Request{ID: i, Due: bench.Never, Prompt: bench.Prompt{Text: "q"}, OutputTokens: streamed})
	}
	events := 0
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for b.Loop() {
		err := engine.Run(context.Background(), plan, func(r bench.Record) error {
			if !r.OK() {
				b.Fatalf("request %d: %+v", r.ID, r.Failure)
			}
			events += len(r.Chunks)
			return nil
		})
		if err != nil {
			b.Fatal(err)
		}
	}
	runtime.ReadMemStats(&after)
	b.ReportMetric(float64(events)/b.Elapsed().Seconds(), "events/s")
	b.ReportMetric(float64(after.Mallocs-before.Mallocs)/float64(events), "allocs/event")
	b.ReportMetric(0, "ns/op")
}
