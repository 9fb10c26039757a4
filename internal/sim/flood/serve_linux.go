package flood

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"runtime"
	"syscall"
	"time"
	"unsafe"

	"github.com/servemark/servemark/internal/sim/lateness"
)

// Serve answers on a TCP listener until ctx ends. One goroutine, bound to one thread, does everything: while it runs it
// should have a processor for itself.
func Serve(ctx context.Context, l net.Listener, c Config) error {
	if err := c.Validate(); err != nil {
		return err
	}
	tcp, ok := l.(*net.TCPListener)
	if !ok {
		return fmt.Errorf("flood: %T is no TCP listener", l)
	}
	file, err := tcp.File()
	if err != nil {
		return fmt.Errorf("flood: %w", err)
	}
	defer func() { _ = file.Close() }()
	x := &loop{c: c.withDefaults(), base: time.Now(), listen: int(file.Fd()), conns: map[int32]*conn{}}
	for k := range kinds {
		x.frames[k] = render(x.c, k)
	}
	var stop [2]int
	if err := syscall.Pipe2(stop[:], syscall.O_CLOEXEC|syscall.O_NONBLOCK); err != nil {
		return fmt.Errorf("flood: %w", err)
	}
	x.stop = stop[0]
	defer func() { _, _ = syscall.Close(stop[0]), syscall.Close(stop[1]) }()
	ended := make(chan error, 1)
	go func() { ended <- x.run() }()
	select {
	case err = <-ended:
	case <-ctx.Done():
		_, _ = syscall.Write(stop[1], []byte{1})
		err = <-ended
	}
	return errors.Join(err, l.Close())
}

// conn is one client's connection; at most one reply is under way on it.
type conn struct {
	fd      int
	in      []byte
	unsent  []byte // what a full socket held back
	busy    bool
	kind    kind
	usage   bool
	sent    int // tokens
	total   int
	prompt  int
	due     time.Duration
	blocked bool
}

// loop is the whole server.
type loop struct {
	c      Config
	base   time.Time
	listen int
	stop   int
	epoll  int
	conns  map[int32]*conn
	frames [kinds]*frames
	out    []byte

	opening queue // streams before their first token, by deadline
	flowing queue // streams after it, by deadline
	stats   Stats
	late    lateness.Log
	from    time.Duration
	last    time.Duration
}

// queue is a first-in first-out list of streams; deadlines in it only grow, because each is a constant after the last.
type queue struct {
	list []*conn
	head int
}

func (q *queue) push(c *conn) { q.list = append(q.list, c) }

// front is the stream with the nearest deadline; streams that ended meanwhile are dropped.
func (q *queue) front() *conn {
	for q.head < len(q.list) {
		if c := q.list[q.head]; c.busy && !c.blocked {
			return c
		}
		q.pop()
	}
	return nil
}

func (q *queue) pop() {
	q.list[q.head] = nil
	q.head++
	if q.head > 4096 && q.head*2 > len(q.list) {
		n := copy(q.list, q.list[q.head:])
		clear(q.list[n:])
		q.list, q.head = q.list[:n], 0
	}
}

func (x *loop) now() time.Duration { return time.Since(x.base) }

const (
	pollEvery = 128                   // emissions after which sockets are looked at in any case
	nearly    = 40 * time.Microsecond // a rest that is spun away
)

func (x *loop) run() error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var err error
	if x.epoll, err = syscall.EpollCreate1(syscall.EPOLL_CLOEXEC); err != nil {
		return fmt.Errorf("flood: epoll: %w", err)
	}
	defer x.closeAll()
	if err := syscall.SetNonblock(x.listen, true); err != nil {
		return fmt.Errorf("flood: %w", err)
	}
	for _, fd := range []int{x.listen, x.stop} {
		if err := x.watch(fd, syscall.EPOLLIN); err != nil {
			return err
		}
	}
	var events [512]syscall.EpollEvent
	for {
		wait := x.emitDue()
		n, err := epollWait(x.epoll, events[:], wait)
		if err != nil {
			return fmt.Errorf("flood: epoll: %w", err)
		}
		for i := range events[:n] {
			fd := events[i].Fd
			switch {
			case int(fd) == x.stop:
				return nil
			case int(fd) == x.listen:
				x.accept()
			default:
				x.ready(fd, events[i].Events)
			}
		}
	}
}

func (x *loop) watch(fd int, events uint32) error {
	err := syscall.EpollCtl(x.epoll, syscall.EPOLL_CTL_ADD, fd, &syscall.EpollEvent{Events: events, Fd: int32(fd)})
	if err != nil {
		return fmt.Errorf("flood: epoll: %w", err)
	}
	return nil
}

func (x *loop) closeAll() {
	for _, c := range x.conns {
		_ = syscall.Close(c.fd)
	}
	_ = syscall.Close(x.epoll)
}

// emitDue sends what is due and returns how long nothing more will be; -1 is for ever.
func (x *loop) emitDue() time.Duration {
	now := x.now()
	for range pollEvery {
		q := &x.flowing
		c := q.front()
		if o := x.opening.front(); o != nil && (c == nil || o.due < c.due) {
			q, c = &x.opening, o
		}
		if c == nil {
			return -1
		}
		if c.due > now {
			if now = x.now(); c.due > now {
				if rest := c.due - now; rest > nearly {
					return rest - nearly/2
				}
				return 0
			}
		}
		q.pop()
		x.emit(c)
		if c.busy && !c.blocked {
			x.flowing.push(c)
		}
	}
	return 0
}

// emit sends the next write of a stream and sets the deadline of the one after it.
func (x *loop) emit(c *conn) {
	f, at := x.frames[c.kind], x.now()
	out := x.out[:0]
	if c.sent == 0 {
		out = append(append(out, f.head...), f.first...)
		if x.stats.Events == 0 {
			x.from = at
		}
	}
	events := min(x.c.PerWrite, (c.total-c.sent+x.c.PerEvent-1)/x.c.PerEvent)
	fullOnes := min(events, (c.total-c.sent)/x.c.PerEvent)
	out = append(out, f.full[:fullOnes*f.event]...)
	c.sent += fullOnes * x.c.PerEvent
	if fullOnes < events { // the last event has fewer tokens
		out = chunk(out, event(c.kind, fmt.Sprintf("%q", x.c.ServedModel), words(c.total-c.sent), "null", c.total-c.sent))
		c.sent = c.total
	}
	done := c.sent >= c.total
	if done {
		out = append(out, f.finish...)
		if c.usage {
			out = chunk(out, usage(c.kind, x.c.ServedModel, c.prompt, c.total))
		}
		out = append(out, f.end...)
	}
	x.out = out
	if x.c.ITL > 0 {
		x.late.Add(at - c.due)
	}
	x.last = at
	x.stats.Events += events
	x.stats.Writes++
	if done {
		x.stats.Tokens += c.total
		x.stats.Active--
		c.busy = false
	} else {
		c.due = x.align(c.due + x.c.ITL)
	}
	x.send(c, out)
	if done && c.fd >= 0 {
		x.parse(c)
	}
}

func (x *loop) align(at time.Duration) time.Duration {
	if !x.c.Align {
		return at
	}
	return (at + x.c.ITL - 1) / x.c.ITL * x.c.ITL
}

// send writes, or keeps what the socket does not take until it is writable again.
func (x *loop) send(c *conn, p []byte) {
	if len(c.unsent) > 0 {
		c.unsent = append(c.unsent, p...)
		return
	}
	n, err := syscall.Write(c.fd, p)
	if err != nil && !errors.Is(err, syscall.EAGAIN) {
		x.drop(c)
		return
	}
	if n = max(n, 0); n < len(p) {
		x.stats.Stalls++
		c.unsent = append(c.unsent, p[n:]...)
		c.blocked = true
	}
}

func (x *loop) drop(c *conn) {
	if c.fd < 0 {
		return
	}
	_ = syscall.Close(c.fd)
	delete(x.conns, int32(c.fd))
	if c.busy {
		x.stats.Active--
	}
	c.fd, c.busy = -1, false
}

func (x *loop) accept() {
	for {
		fd, _, err := syscall.Accept4(x.listen, syscall.SOCK_NONBLOCK|syscall.SOCK_CLOEXEC)
		if err != nil {
			return
		}
		_ = syscall.SetsockoptInt(fd, syscall.IPPROTO_TCP, syscall.TCP_NODELAY, 1)
		if x.watch(fd, syscall.EPOLLIN|syscall.EPOLLOUT|epollET) != nil {
			_ = syscall.Close(fd)
			continue
		}
		x.conns[int32(fd)] = &conn{fd: fd, in: make([]byte, 0, 4096)}
	}
}

const epollET = 1 << 31

// ready reads what came and sends what was held back.
func (x *loop) ready(fd int32, events uint32) {
	c := x.conns[fd]
	if c == nil {
		return
	}
	if events&syscall.EPOLLOUT != 0 && c.blocked {
		x.resume(c)
	}
	if events&(syscall.EPOLLIN|syscall.EPOLLHUP|syscall.EPOLLERR) != 0 && c.fd >= 0 {
		x.read(c)
	}
}

func (x *loop) resume(c *conn) {
	p := c.unsent
	for len(p) > 0 {
		n, err := syscall.Write(c.fd, p)
		if errors.Is(err, syscall.EAGAIN) {
			c.unsent = append(c.unsent[:0], p...)
			return
		}
		if err != nil {
			x.drop(c)
			return
		}
		p = p[n:]
	}
	c.unsent, c.blocked = c.unsent[:0], false
	for now := x.now(); x.c.ITL > 0 && c.busy && !c.blocked && c.due <= now; {
		x.emit(c) // overdue: the queue would make it wait for streams that are not
	}
	if c.busy && !c.blocked {
		x.flowing.push(c)
	}
}

func (x *loop) read(c *conn) {
	for {
		if len(c.in) == cap(c.in) {
			c.in = append(c.in, make([]byte, len(c.in))...)[:len(c.in)]
		}
		n, err := syscall.Read(c.fd, c.in[len(c.in):cap(c.in)])
		if n > 0 {
			c.in = c.in[:len(c.in)+n]
			continue
		}
		if err != nil && errors.Is(err, syscall.EAGAIN) {
			break
		}
		x.drop(c) // end of file, or an error
		return
	}
	x.parse(c)
}

// statsNow completes the counts.
func (x *loop) statsNow() Stats {
	s := x.stats
	s.Late = x.late.Report()
	s.Busy = x.last - x.from
	return s
}

func (x *loop) reset() {
	x.stats, x.late, x.from, x.last = Stats{Active: x.stats.Active}, lateness.Log{}, 0, 0
}

func (x *loop) json(c *conn, status string, v any) {
	body, ok := v.(string)
	if !ok {
		b, err := json.Marshal(v)
		if err != nil {
			b = []byte("null")
		}
		body = string(b)
	}
	x.send(c, fmt.Appendf(nil, "HTTP/1.1 %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", status, len(body), body))
}

// epollWait waits at most that long, to the nanosecond where the kernel can (5.11 and later), else to the millisecond below.
func epollWait(ep int, events []syscall.EpollEvent, wait time.Duration) (int, error) {
	var ts *syscall.Timespec
	if wait >= 0 {
		t := syscall.NsecToTimespec(int64(wait))
		ts = &t
	}
	const epollPwait2 = 441
	n, _, e := syscall.Syscall6(epollPwait2, uintptr(ep), uintptr(unsafe.Pointer(&events[0])), uintptr(len(events)), uintptr(unsafe.Pointer(ts)), 0, 8)
	switch e {
	case 0:
		return int(n), nil
	case syscall.EINTR:
		return 0, nil
	case syscall.ENOSYS, syscall.EPERM:
		millis := -1
		if wait >= 0 {
			millis = int(wait / time.Millisecond)
		}
		n, err := syscall.EpollWait(ep, events, millis)
		if errors.Is(err, syscall.EINTR) {
			return 0, nil
		}
		return n, err
	}
	return 0, e
}
