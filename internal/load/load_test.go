package load

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/servemark/servemark/internal/bench"
)

// wire is a protocol for tests: the body is the prompt, every body piece that holds a "t" is one token, "END" ends the reply.
type wire struct{}

func (wire) Encode(r *bench.Request) (bench.Message, error) {
	if r.Prompt.Text == "unspeakable" {
		return bench.Message{}, errors.New("cannot be asked")
	}
	return bench.Message{Path: "/ask", Header: http.Header{}, Body: []byte(r.Prompt.Text)}, nil
}

func (wire) Decoder(rec *bench.Record) bench.Decoder { return &wireDecoder{rec: rec} }

func (wire) Amend(m bench.Message, status int, body []byte) (bench.Message, bool) {
	if status != 400 || !bytes.Contains(body, []byte("refused: x")) {
		return m, false
	}
	m.Body = bytes.ReplaceAll(m.Body, []byte("x"), nil)
	return m, true
}

type wireDecoder struct {
	rec  *bench.Record
	all  []byte
	head bool
}

func (d *wireDecoder) Head(status int, _ http.Header) { d.head = true }

func (d *wireDecoder) Feed(p []byte, at bench.Instant) bool {
	for range bytes.Count(p, []byte("t")) {
		d.rec.Chunks = append(d.rec.Chunks, bench.Chunk{At: at, Bytes: uint32(len(p))})
	}
	d.all = append(d.all, p...)
	return bytes.Contains(d.all, []byte("END"))
}

func (d *wireDecoder) End(cause error) {
	d.rec.Text = string(d.all)
	if cause != nil && !bytes.Contains(d.all, []byte("FINISH")) {
		d.rec.Fail(bench.FailReset, cause.Error())
	}
}

// piped runs a handler for each connection inside the bubble and returns a dial function that reaches it.
type piped struct {
	mu    sync.Mutex
	conns int
	serve func(conn net.Conn, nth int)
}

func (p *piped) dial(context.Context, string, string) (net.Conn, error) {
	client, server := net.Pipe()
	p.mu.Lock()
	p.conns++
	nth := p.conns
	p.mu.Unlock()
	go func() { defer server.Close(); p.serve(server, nth) }()
	return client, nil
}

// answer reads requests off one connection and hands each body to reply, which writes chunks through w.
func answer(conn net.Conn, reply func(body string, nth int, w *chunks) bool) {
	in := bufio.NewReader(conn)
	for nth := 1; ; nth++ {
		req, err := http.ReadRequest(in)
		if err != nil {
			return
		}
		body, _ := io.ReadAll(req.Body)
		if !reply(string(body), nth, &chunks{conn: conn}) {
			return
		}
	}
}

type chunks struct {
	conn   net.Conn
	headed bool
}

func (w *chunks) send(s string) {
	out := ""
	if !w.headed {
		w.headed = true
		out = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
	}
	io.WriteString(w.conn, out+fmt.Sprintf("%x\r\n%s\r\n", len(s), s))
}

func (w *chunks) end() { io.WriteString(w.conn, "0\r\n\r\n") }

// tokens answers after ttft and then every itl, n tokens in all.
func tokens(n int, ttft, itl time.Duration) func(string, int, *chunks) bool {
	return func(_ string, _ int, w *chunks) bool {
		time.Sleep(ttft)
		for i := range n {
			if i > 0 {
				time.Sleep(itl)
			}
			w.send("t")
		}
		w.send("END")
		w.end()
		return true
	}
}

func planOf(load bench.LoadSpec, dues ...bench.Instant) *bench.Plan {
	p := &bench.Plan{Spec: bench.Spec{Load: load}}
	for i, due := range dues {
		p.Requests = append(p.Requests, bench.Request{ID: i, Due: due, Prompt: bench.Prompt{Text: "q"}})
	}
	return p
}

func never(n int) []bench.Instant { return slices.Repeat([]bench.Instant{bench.Never}, n) }

// runIn runs a plan against serve inside a bubble and returns the records by id.
func runIn(t *testing.T, plan *bench.Plan, serve func(net.Conn, int), change func(*Options)) ([]bench.Record, *piped) {
	t.Helper()
	p := &piped{serve: serve}
	o := Options{BaseURL: "http://server", Protocol: wire{}, Dial: p.dial, Load: plan.Spec.Load}
	if change != nil {
		change(&o)
	}
	e, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	e.fine = nil // the bubble's clock stands still in the kernel's sleep
	var got []bench.Record
	if err := e.Run(t.Context(), plan, func(r bench.Record) error { got = append(got, r); return nil }); err != nil {
		t.Fatal(err)
	}
	synctest.Wait()
	slices.SortFunc(got, func(a, b bench.Record) int { return a.ID - b.ID })
	return got, p
}

func ms(n int) bench.Instant { return bench.At(time.Duration(n) * time.Millisecond) }

func TestScheduleIsAbsolute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var dues []bench.Instant
		for i := range 5000 { // more than an hour of schedule
			dues = append(dues, ms(i*733))
		}
		plan := planOf(bench.LoadSpec{Rate: 1}, dues...)
		serve := func(c net.Conn, _ int) { answer(c, tokens(3, 100*time.Millisecond, 20*time.Millisecond)) }
		got, _ := runIn(t, plan, serve, nil)
		if len(got) != len(dues) {
			t.Fatalf("Run emitted %d records, want %d", len(got), len(dues))
		}
		for i, r := range got {
			want := []bench.Instant{dues[i], dues[i], dues[i], dues[i], dues[i].Add(100 * time.Millisecond), dues[i].Add(140 * time.Millisecond)}
			have := []bench.Instant{r.Due, r.Admitted, r.Sent, r.Written, r.FirstChunk(), r.LastChunk()}
			if !slices.Equal(have, want) {
				t.Fatalf("request %d: due, admitted, sent, written, first, last = %v, want %v", i, have, want)
			}
		}
	})
}

func TestConcurrencyIsAWindowNotWaves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		plan := planOf(bench.LoadSpec{Concurrency: 2}, never(8)...)
		serve := func(c net.Conn, nth int) {
			answer(c, func(body string, _ int, w *chunks) bool {
				d := 10 * time.Millisecond
				if body == "slow" {
					d = 1500 * time.Millisecond
				}
				return tokens(1, d, 0)(body, 0, w)
			})
		}
		for i := range plan.Requests {
			plan.Requests[i].Prompt.Text = []string{"slow", "fast"}[i%2]
		}
		got, _ := runIn(t, plan, serve, nil)
		var last bench.Instant
		for _, r := range got {
			if r.Due != r.Admitted {
				t.Errorf("request %d: due %d, admitted %d; want equal without a schedule", r.ID, r.Due, r.Admitted)
			}
			last = max(last, r.Done)
		}
		if want := ms(3020); last > want {
			t.Errorf("last reply done at %v, want at most %v: slots are refilled at once", time.Duration(last), time.Duration(want))
		}
	})
}

func TestQueueingIsTheUsersCapNotLateness(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		plan := planOf(bench.LoadSpec{Rate: 10, Concurrency: 1}, ms(0), ms(100), ms(200))
		serve := func(c net.Conn, _ int) { answer(c, tokens(1, time.Second, 0)) }
		got, p := runIn(t, plan, serve, nil)
		for i, r := range got {
			if want := ms(i * 1000); r.Due != ms(i*100) || r.Admitted != want || r.Sent != want {
				t.Errorf("request %d: due %d, admitted %d, sent %d; want %d, %d, %d", i, r.Due, r.Admitted, r.Sent, ms(i*100), want, want)
			}
		}
		if p.conns > 2 {
			t.Errorf("%d connections for one request at a time, want keep-alive", p.conns)
		}
	})
}

func TestSlotIsFreeAtTheTerminalEvent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		plan := planOf(bench.LoadSpec{Concurrency: 1}, never(2)...)
		serve := func(c net.Conn, _ int) {
			answer(c, func(_ string, _ int, w *chunks) bool {
				w.send("tEND")
				time.Sleep(700 * time.Millisecond) // the body is still open
				w.end()
				return true
			})
		}
		got, _ := runIn(t, plan, serve, nil)
		if limit := bench.At(reuseGrace); got[0].Done != 0 || got[1].Admitted > limit {
			t.Errorf("done %d, next admitted %d; want 0 and at most %d: the terminal event frees the slot", got[0].Done, got[1].Admitted, limit)
		}
	})
}

func TestDeadReusedConnectionIsReplacedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		plan := planOf(bench.LoadSpec{Concurrency: 1}, never(3)...)
		serve := func(c net.Conn, _ int) {
			answer(c, func(b string, nth int, w *chunks) bool {
				if nth > 1 {
					return false // dies unanswered
				}
				return tokens(1, time.Second, 0)(b, nth, w)
			})
		}
		got, _ := runIn(t, plan, serve, nil)
		for _, r := range got {
			if !r.OK() || len(r.Chunks) != 1 {
				t.Errorf("request %d: failure %+v, %d chunks; want a success", r.ID, r.Failure, len(r.Chunks))
			}
			if want := r.ID == 1; r.Connection.Replaced != want {
				t.Errorf("request %d: replaced = %v, want %v", r.ID, r.Connection.Replaced, want)
			}
		}
	})
}

func TestFreshConnectionIsNeverRetried(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked := 0
		serve := func(c net.Conn, _ int) {
			answer(c, func(string, int, *chunks) bool { asked++; return false })
		}
		got, _ := runIn(t, planOf(bench.LoadSpec{}, bench.Never), serve, nil)
		if asked != 1 || got[0].OK() || got[0].Connection.Replaced {
			t.Errorf("asked %d times, failure %+v, replaced %v; want 1, a failure, false", asked, got[0].Failure, got[0].Connection.Replaced)
		}
	})
}

func TestRefusedFieldIsDroppedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		plan := planOf(bench.LoadSpec{}, bench.Never)
		plan.Requests[0].Prompt.Text = "qx"
		var bodies []string
		serve := func(c net.Conn, _ int) {
			answer(c, func(b string, nth int, w *chunks) bool {
				bodies = append(bodies, b)
				if strings.Contains(b, "x") {
					time.Sleep(time.Second)
					const words = "refused: x"
					fmt.Fprintf(c, "HTTP/1.1 400 Bad Request\r\nContent-Length: %d\r\n\r\n%s", len(words), words)
					return true
				}
				return tokens(1, time.Second, 0)(b, nth, w)
			})
		}
		got, _ := runIn(t, plan, serve, nil)
		r := got[0]
		if !slices.Equal(bodies, []string{"qx", "q"}) || !r.Resent || !r.OK() || r.Status != 200 {
			t.Errorf("bodies %q, resent %v, status %d, failure %+v; want qx then q, a success", bodies, r.Resent, r.Status, r.Failure)
		}
		if d := r.FirstChunk().Sub(r.Sent); d != time.Second {
			t.Errorf("first chunk %v after sent, want 1s: the refusal's time is not the reply's", d)
		}
	})
}

func TestDeadlines(t *testing.T) {
	for name, tc := range map[string]struct {
		load bench.LoadSpec
		want error
		at   bench.Instant
	}{
		"first byte": {bench.LoadSpec{FirstByteTimeout: 3 * time.Second}, errFirstByte, ms(3000)},
		"idle":       {bench.LoadSpec{FirstByteTimeout: time.Minute, IdleTimeout: 2 * time.Second}, errIdle, ms(7000)},
		"total":      {bench.LoadSpec{RequestTimeout: 6 * time.Second}, errTotal, ms(6000)},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				serve := func(c net.Conn, _ int) {
					answer(c, func(_ string, _ int, w *chunks) bool {
						time.Sleep(5 * time.Second)
						w.send("t")
						time.Sleep(time.Hour)
						return false
					})
				}
				got, _ := runIn(t, planOf(tc.load, bench.Never), serve, nil)
				time.Sleep(2 * time.Hour) // the server gives up
				f := got[0].Failure
				if f == nil || f.Kind != bench.FailTimeout || f.Message != tc.want.Error() || got[0].Done != tc.at {
					t.Errorf("failure %+v at %d, want %q at %d", f, got[0].Done, tc.want, tc.at)
				}
			})
		})
	}
}

func TestDurationStopsAdmittingAndWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		plan := planOf(bench.LoadSpec{Concurrency: 1, Duration: 2500 * time.Millisecond}, never(10)...)
		serve := func(c net.Conn, _ int) { answer(c, tokens(1, time.Second, 0)) }
		got, _ := runIn(t, plan, serve, nil)
		if len(got) != 3 || !got[2].OK() || got[2].Done != ms(3000) {
			t.Errorf("%d records, last done %v; want 3, the last one finished at 3s", len(got), time.Duration(got[len(got)-1].Done))
		}
	})
}

func TestInterruptKeepsWhatIsThere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		defer time.Sleep(time.Minute) // the server's side ends too
		ctx, cancel := context.WithCancel(t.Context())
		p := &piped{serve: func(c net.Conn, _ int) { answer(c, tokens(1, time.Second, 0)) }}
		plan := planOf(bench.LoadSpec{Concurrency: 2}, never(20)...)
		e, err := New(Options{BaseURL: "http://server", Protocol: wire{}, Dial: p.dial})
		if err != nil {
			t.Fatal(err)
		}
		e.fine = nil
		time.AfterFunc(2500*time.Millisecond, cancel)
		ok, cancelled := 0, 0
		if err := e.Run(ctx, plan, func(r bench.Record) error {
			switch {
			case r.OK():
				ok++
			case r.Cancelled && r.Failure == nil:
				cancelled++
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		if ok != 4 || cancelled != 2 {
			t.Errorf("%d succeeded, %d cancelled; want 4 and the 2 in flight", ok, cancelled)
		}
	})
}

func TestNothingIsSentWhenOneRequestCannotBeAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &piped{serve: func(c net.Conn, _ int) { answer(c, tokens(1, 0, 0)) }}
		plan := planOf(bench.LoadSpec{}, never(2)...)
		plan.Requests[1].Prompt.Text = "unspeakable"
		e, err := New(Options{BaseURL: "http://server", Protocol: wire{}, Dial: p.dial})
		if err != nil {
			t.Fatal(err)
		}
		err = e.Run(t.Context(), plan, func(bench.Record) error { return nil })
		if err == nil || !strings.Contains(err.Error(), "request 1") || p.conns != 0 {
			t.Errorf("Run = %v after %d connections, want an error naming request 1 and none", err, p.conns)
		}
	})
}

func TestEmitErrorEndsTheRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		defer time.Sleep(time.Minute) // the server's side ends too
		p := &piped{serve: func(c net.Conn, _ int) { answer(c, tokens(1, time.Second, 0)) }}
		e, err := New(Options{BaseURL: "http://server", Protocol: wire{}, Dial: p.dial})
		if err != nil {
			t.Fatal(err)
		}
		e.fine = nil
		full := errors.New("disk full")
		calls := 0
		err = e.Run(t.Context(), planOf(bench.LoadSpec{Concurrency: 1}, never(5)...), func(bench.Record) error { calls++; return full })
		if !errors.Is(err, full) || calls != 1 {
			t.Errorf("Run = %v after %d calls of emit, want %v after 1", err, calls, full)
		}
	})
}

func TestBrokenReplyIsTheDecodersToJudge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		plan := planOf(bench.LoadSpec{Concurrency: 1}, never(2)...)
		plan.Requests[0].Prompt.Text = "FINISH"
		serve := func(c net.Conn, _ int) {
			answer(c, func(body string, _ int, w *chunks) bool {
				w.send("t" + body)
				return false // the connection breaks before the body's end
			})
		}
		got, _ := runIn(t, plan, serve, nil)
		if !got[0].OK() || got[1].OK() {
			t.Errorf("failures %+v, %+v; want none after the announced end, one without", got[0].Failure, got[1].Failure)
		}
	})
}
