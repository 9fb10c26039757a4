package load

import (
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// alarms sleep exactly: the runtime's own timers round to whole milliseconds while the program is idle, and a thread that sleeps
// in the kernel keeps a processor from those who read. An alarm is a timer descriptor that the poller waits for, as for a socket.
type alarms struct {
	idle chan *alarm
}

type alarm struct {
	fd   int
	file *os.File
}

// idleAlarms is how many descriptors are kept for the next sleepers.
const idleAlarms = 64

func newAlarms() *alarms { return &alarms{idle: make(chan *alarm, idleAlarms)} }

// sleep returns d later; a little late where the system lacks timer descriptors.
func (a *alarms) sleep(d time.Duration) {
	if d <= 0 {
		return
	}
	if al := a.take(); al != nil {
		value := unix.NsecToTimespec(int64(d))
		var b [8]byte
		if unix.TimerfdSettime(al.fd, 0, &unix.ItimerSpec{Value: value}, nil) == nil {
			if _, err := al.file.Read(b[:]); err == nil {
				a.put(al)
				return
			}
		}
		al.file.Close()
	}
	time.Sleep(d)
}

// take returns an alarm that nobody uses, or nil.
func (a *alarms) take() *alarm {
	select {
	case al := <-a.idle:
		return al
	default:
	}
	fd, err := unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_NONBLOCK|unix.TFD_CLOEXEC)
	if err != nil {
		return nil
	}
	return &alarm{fd, os.NewFile(uintptr(fd), "timerfd")}
}

func (a *alarms) put(al *alarm) {
	select {
	case a.idle <- al:
	default:
		al.file.Close()
	}
}

// close gives the descriptors back.
func (a *alarms) close() {
	for {
		select {
		case al := <-a.idle:
			al.file.Close()
		default:
			return
		}
	}
}
