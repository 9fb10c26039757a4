package load

import (
	"io"
	"net"
	"testing"
	"time"

	"github.com/servemark/servemark/internal/bench"
)

// slow is the wire protocol with a decoder that takes long over every piece, as a client in trouble does.
type slow struct {
	wire
	pause time.Duration
}

func (s slow) Decoder(rec *bench.Record) bench.Decoder {
	return &slowDecoder{wireDecoder{rec: rec}, s.pause}
}

type slowDecoder struct {
	wireDecoder
	pause time.Duration
}

func (d *slowDecoder) Feed(p []byte, at bench.Instant) bool {
	time.Sleep(d.pause)
	return d.wireDecoder.Feed(p, at)
}

// A reader that is late by a quarter of the gap between tokens still gives them the time at which they arrived, over plain TCP
// and over TLS.
func TestKernelStampsSurviveASlowReader(t *testing.T) {
	const pause, itl = 4 * time.Millisecond, 16 * time.Millisecond
	for name, secure := range map[string]bool{"plain": false, "TLS": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := &paced{n: 8, ttft: 2 * itl, itl: itl}
			server, o := serverOf(p, secure)
			defer server.Close()
			o.Protocol = slow{pause: pause}
			got, e := runAgainst(t, 3, o)
			h := e.Health()
			if share, _ := h.KernelShare().Get(); share < 0.9 || h.Implausible > 0 || h.ClockSteps > 0 || h.ClockError > time.Millisecond {
				t.Errorf("health %+v, want nearly all reads stamped by the kernel, no step, a small error", h)
			}
			early, late := 0, 0
			for i, r := range got {
				for k, c := range r.Chunks {
					off := c.At.Sub(e.Clock().at(p.sends[i][k]))
					if off < -h.ClockError {
						early++
					}
					if off > pause/2 {
						late++ // a busy machine may keep the server from sending right after it looked at the clock
					}
					if _, known := c.Lag.Get(); !known {
						t.Errorf("request %d, token %d has no lag", i, k)
					}
				}
			}
			if early > 0 || late > 4 {
				t.Errorf("%d tokens received before they were sent, %d of 24 more than %v after; want 0 and next to none", early, late, pause/2)
			}
		})
	}
}

// dialStamped returns the client's end of a loopback connection, read with kernel stamps, and the server's end.
func dialStamped(t testing.TB) (*stampConn, net.Conn) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	client, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	server, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	w := &wall{clock: newClock()}
	w.restart()
	c := &stampConn{Conn: client, clock: w.clock, tally: &tally{}, kernel: newKernelReader(client, w), forget: func(*stampConn) {}}
	c.lastRead.Store(int64(bench.Never))
	if c.kernel == nil {
		t.Fatal("no kernel stamps on a TCP connection")
	}
	t.Cleanup(func() { c.Close(); server.Close() })
	return c, server
}

func TestKernelReadErrors(t *testing.T) {
	c, server := dialStamped(t)
	buf := make([]byte, 16)
	c.SetReadDeadline(time.Now().Add(5 * time.Millisecond))
	if n, err := c.Read(buf); n != 0 || err == nil || !err.(net.Error).Timeout() {
		t.Errorf("Read past its deadline = %d, %v; want a timeout", n, err)
	}
	c.SetReadDeadline(time.Time{})
	if n, err := c.Read(nil); n != 0 || err != nil {
		t.Errorf("Read(nothing) = %d, %v; want 0, nil", n, err)
	}
	io.WriteString(server, "bytes")
	if n, err := c.Read(buf); string(buf[:n]) != "bytes" || err != nil {
		t.Errorf("Read = %q, %v; want what was written", buf[:n], err)
	}
	server.(*net.TCPConn).CloseWrite()
	if n, err := c.Read(buf); n != 0 || err != io.EOF {
		t.Errorf("Read after the end = %d, %v; want 0, EOF", n, err)
	}
	server.(*net.TCPConn).SetLinger(0)
	server.Close()
	time.Sleep(5 * time.Millisecond)
	c.Close()
	if _, err := c.Read(buf); err == nil {
		t.Error("Read of a closed connection = nil, want an error")
	}
}

// A read with a kernel stamp allocates nothing.
func TestReadAllocates(t *testing.T) {
	c, server := dialStamped(t)
	buf := make([]byte, 4096)
	event := []byte("data: {}\n\n")
	read := func() {
		server.Write(event)
		if _, err := c.Read(buf); err != nil {
			t.Fatal(err)
		}
	}
	if n := testing.AllocsPerRun(200, read); n != 0 {
		t.Errorf("a stamped read allocates %v objects, want none", n)
	}
}

// Stamps that cannot be are replaced by user time and counted.
func TestImplausibleStamps(t *testing.T) {
	c := &stampConn{clock: newClock(), tally: &tally{}}
	c.lastRead.Store(int64(bench.Never))
	for _, step := range []struct {
		at, now, want bench.Instant
		known         bool
	}{
		{100e6, 101e6, 100e6, true},        // 1 ms old
		{99.5e6, 102e6, 100e6, true},       // reordered a little: never before the bytes ahead
		{bench.Never, 103e6, 103e6, false}, // none given
		{90e6, 104e6, 104e6, false},        // the wall clock went back
		{200e6, 105e6, 105e6, false},       // or forth
		{106.5e6, 106e6, 106e6, true},      // within the error
		{106.1e6, 3000e6, 106.1e6, true},   // a client in trouble
	} {
		c.stamp(step.at, step.now)
		_, known := bench.Lag(c.lag.Load()).Get()
		if got := bench.Instant(c.lastRead.Load()); got != step.want || known != step.known {
			t.Errorf("stamp(%d, now %d) = %d, lag known %v; want %d, %v", step.at, step.now, got, known, step.want, step.known)
		}
	}
	if k, u, n, i := c.tally.kernel.Load(), c.tally.user.Load(), c.tally.unstamped.Load(), c.tally.implausible.Load(); k != 4 || u != 3 || n != 1 || i != 2 {
		t.Errorf("counted %d kernel, %d user, %d unstamped, %d implausible; want 4, 3, 1, 2", k, u, n, i)
	}
}

func BenchmarkStampedRead(b *testing.B) {
	c, server := dialStamped(b)
	event := make([]byte, 300)
	buf := make([]byte, 4096)
	b.ReportAllocs()
	for b.Loop() {
		server.Write(event)
		if _, err := c.Read(buf); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkUserRead(b *testing.B) {
	c, server := dialStamped(b)
	c.kernel = nil
	event := make([]byte, 300)
	buf := make([]byte, 4096)
	b.ReportAllocs()
	for b.Loop() {
		server.Write(event)
		if _, err := c.Read(buf); err != nil {
			b.Fatal(err)
		}
	}
}

// An alarm rings after its time and not long after; a machine under load may be late now and then, but not mostly.
func TestAlarmsAreExact(t *testing.T) {
	a := newAlarms()
	defer a.close()
	late := 0
	for range 50 {
		begun := time.Now()
		a.sleep(300 * time.Microsecond)
		switch d := time.Since(begun); {
		case d < 300*time.Microsecond:
			t.Fatalf("sleep(300µs) took %v", d)
		case d > 800*time.Microsecond:
			late++
		}
	}
	if late > 25 {
		t.Errorf("%d of 50 sleeps of 300µs took more than 800µs; the runtime's own timers take a millisecond", late)
	}
	a.sleep(0)
	a.sleep(-time.Second)
}
