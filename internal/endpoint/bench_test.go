package endpoint

import (
	"strings"
	"testing"

	"github.com/servemark/servemark/internal/bench"
)

// chatFrame is one event of a chat as vLLM sends it.
const chatFrame = `data: {"id":"chatcmpl-4c1b8a3e2f0d49b7a6f1","object":"chat.completion.chunk","created":1796067217,"model":"glm-5","choices":[{"index":0,"delta":{"content":" token"},"logprobs":null,"finish_reason":null}]}` + "\n\n"

const (
	chatTail = `data: {"id":"c","object":"chat.completion.chunk","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}` + "\n\n" +
		`data: {"id":"c","choices":[],"usage":{"prompt_tokens":9,"completion_tokens":1000}}` + "\n\n"
	eventsPerReply = 1000
)

// decode reads a reply of eventsPerReply events in pieces of n bytes.
func decode(e *Endpoint, rec *bench.Record, body []byte, n int) {
	*rec = bench.NewRecord(0)
	d := e.Decoder(rec)
	d.Head(200, eventStream)
	for i := 0; i < len(body); i += n {
		d.Feed(body[i:min(i+n, len(body))], bench.Instant(i))
	}
	d.End(nil)
}

func benchmarkDecoder(b *testing.B, api bench.API, text bool, body string, n int) {
	e, err := New(Options{API: api, Served: "m", Stream: true, KeepText: text})
	if err != nil {
		b.Fatal(err)
	}
	var rec bench.Record
	raw := []byte(body)
	b.SetBytes(int64(len(raw)))
	b.ReportAllocs()
	for b.Loop() {
		decode(e, &rec, raw, n)
	}
	if !rec.OK() || len(rec.Chunks) != eventsPerReply {
		b.Fatalf("failure %+v, %d chunks", rec.Failure, len(rec.Chunks))
	}
	events := float64(b.N) * eventsPerReply
	b.ReportMetric(events/b.Elapsed().Seconds(), "events/s")
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/events, "ns/event")
}

func BenchmarkDecoderChat(b *testing.B) {
	body := strings.Repeat(chatFrame, eventsPerReply) + chatTail
	b.Run("one event a read", func(b *testing.B) { benchmarkDecoder(b, bench.APIChat, false, body, len(chatFrame)) })
	b.Run("16 KiB a read", func(b *testing.B) { benchmarkDecoder(b, bench.APIChat, false, body, 16<<10) })
	b.Run("100 bytes a read", func(b *testing.B) { benchmarkDecoder(b, bench.APIChat, false, body, 100) })
	b.Run("text kept", func(b *testing.B) { benchmarkDecoder(b, bench.APIChat, true, body, 16<<10) })
}

func BenchmarkDecoderGenerate(b *testing.B) {
	var body strings.Builder
	for i := range eventsPerReply {
		body.WriteString(sse("\n", `{"text":"`+strings.Repeat(" tok", i+1)+`","meta_info":{"finish_reason":null,"prompt_tokens":9,"completion_tokens":`+itoa(i+1)+`}}`))
	}
	body.WriteString(sse("\n", `{"text":"`+strings.Repeat(" tok", eventsPerReply)+`","meta_info":{"finish_reason":{"type":"length"},"prompt_tokens":9,"completion_tokens":`+itoa(eventsPerReply)+`}}`))
	benchmarkDecoder(b, bench.APIGenerate, false, body.String(), 16<<10)
}

func BenchmarkReferenceEvent(b *testing.B) {
	data := []byte(strings.TrimSpace(strings.TrimPrefix(chatFrame, "data: ")))
	var f frame
	b.ReportAllocs()
	for b.Loop() {
		f.reset()
		if f.reference(data, false, false) != nil {
			b.Fatal("not read")
		}
	}
}

func itoa(n int) string { return string(jsonInts([]int{n})[1 : len(jsonInts([]int{n}))-1]) }

// The hot path allocates per reply, not per event.
func TestDecoderAllocations(t *testing.T) {
	e := endpointFor(t, bench.APIChat)
	e.o.KeepText = false
	body := []byte(strings.Repeat(chatFrame, eventsPerReply) + chatTail)
	var rec bench.Record
	allocs := testing.AllocsPerRun(20, func() { decode(e, &rec, body, 16<<10) })
	const most = 60 // the record's chunks grow some 15 times; the rest is the decoder and lines cut by a read
	if allocs > most {
		t.Errorf("%v allocations for %d events, want at most %d", allocs, eventsPerReply, most)
	}
}
