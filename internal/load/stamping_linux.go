package load

import (
	"errors"
	"math"
	"net"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// stamping keeps the kernel's receive stamps turned on: the kernel does that from a work queue when the first socket asks, so
// that the first packets of a run would have none. It is an idle UDP socket that asks and stays.
type stamping struct {
	conn *net.UDPConn
	own  net.Addr
}

// newStamping opens the socket, or returns nil where that is not possible.
func newStamping() *stamping {
	c, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		return nil
	}
	raw, err := c.SyscallConn()
	if err == nil {
		err = raw.Control(func(fd uintptr) { _ = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_TIMESTAMPNS, 1) })
	}
	if err != nil {
		c.Close()
		return nil
	}
	return &stamping{conn: c, own: c.LocalAddr()}
}

// await sends packets to itself until one arrives with a stamp, for limit at most.
func (s *stamping) await(limit time.Duration) (on bool) {
	if s == nil {
		return false
	}
	end := time.Now().Add(limit)
	var packet [1]byte
	var control [64]byte
	for time.Now().Before(end) {
		if _, err := s.conn.WriteTo(packet[:], s.own); err != nil {
			return false
		}
		_ = s.conn.SetReadDeadline(end)
		_, n, _, _, err := s.conn.ReadMsgUDP(packet[:], control[:])
		if err != nil {
			return false
		}
		if n > 0 {
			return true
		}
		time.Sleep(time.Millisecond)
	}
	return false
}

func (s *stamping) close() {
	if s != nil {
		s.conn.Close()
	}
}

// clockSteps yields when the wall clock is set, until close is called; the channel is nil where the kernel does not tell.
func clockSteps() (stepped <-chan struct{}, closeIt func()) {
	fd, err := unix.TimerfdCreate(unix.CLOCK_REALTIME, unix.TFD_NONBLOCK|unix.TFD_CLOEXEC)
	if err != nil {
		return nil, func() {}
	}
	f := os.NewFile(uintptr(fd), "timerfd")
	arm := func() error { // fires in the far future, and is cancelled by a step
		return unix.TimerfdSettime(fd, unix.TFD_TIMER_ABSTIME|unix.TFD_TIMER_CANCEL_ON_SET,
			&unix.ItimerSpec{Value: unix.Timespec{Sec: math.MaxInt32}}, nil)
	}
	if arm() != nil {
		f.Close()
		return nil, func() {}
	}
	out := make(chan struct{}, 1)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		var b [8]byte
		for {
			if _, err := f.Read(b[:]); !errors.Is(err, unix.ECANCELED) || arm() != nil {
				return
			}
			select {
			case out <- struct{}{}:
			default:
			}
		}
	}()
	return out, func() { f.Close(); <-ended }
}
