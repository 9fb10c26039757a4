package load

import (
	"io"
	"net"
	"os"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/servemark/servemark/internal/bench"
)

// kernelReader reads from a TCP connection with recvmsg, which tells when the kernel received the last of the bytes
// (SO_TIMESTAMPNS). It allocates nothing per read. One goroutine at a time reads from a connection.
type kernelReader struct {
	raw  syscall.RawConn
	conn *net.TCPConn
	wall *wall

	// What the call below the poller needs and returns; the fields stand for a closure's variables.
	call  func(fd uintptr) bool
	msg   unix.Msghdr
	iov   unix.Iovec
	n     int
	errno syscall.Errno
	// control holds one stamp and, since it is of words, is aligned as a Cmsghdr must be.
	control [8]uint64
}

// newKernelReader asks the kernel to stamp what c receives, and returns nil where c cannot be stamped.
func newKernelReader(c net.Conn, w *wall) *kernelReader {
	tcp, ok := c.(*net.TCPConn)
	if !ok || w == nil {
		return nil
	}
	raw, err := tcp.SyscallConn()
	if err != nil {
		return nil
	}
	var refused error
	err = raw.Control(func(fd uintptr) {
		refused = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_TIMESTAMPNS, 1)
	})
	if err != nil || refused != nil {
		return nil
	}
	r := &kernelReader{raw: raw, conn: tcp, wall: w}
	r.call = r.recvmsg
	return r
}

// read reads as net.Conn's Read does. at is when the kernel received the last of the bytes, or Never where it does not say.
func (r *kernelReader) read(p []byte) (n int, at bench.Instant, err error) {
	r.iov.Base = &p[0]
	r.iov.SetLen(len(p))
	r.msg = unix.Msghdr{Iov: &r.iov, Control: (*byte)(unsafe.Pointer(&r.control[0]))}
	r.msg.SetIovlen(1)
	r.msg.SetControllen(int(unsafe.Sizeof(r.control)))
	err = r.raw.Read(r.call)
	r.iov.Base = nil
	switch {
	case err != nil:
		return 0, bench.Never, err
	case r.errno != 0:
		return 0, bench.Never, &net.OpError{Op: "read", Net: "tcp", Source: r.conn.LocalAddr(), Addr: r.conn.RemoteAddr(),
			Err: os.NewSyscallError("recvmsg", r.errno)}
	case r.n == 0:
		return 0, bench.Never, io.EOF
	}
	return r.n, r.stamp(), nil
}

// recvmsg is one try; false lets the poller wait for more.
func (r *kernelReader) recvmsg(fd uintptr) bool {
	for {
		n, _, errno := unix.Syscall(unix.SYS_RECVMSG, fd, uintptr(unsafe.Pointer(&r.msg)), unix.MSG_DONTWAIT)
		switch errno {
		case unix.EINTR:
			continue
		case unix.EAGAIN:
			return false
		}
		r.n, r.errno = int(n), errno
		return true
	}
}

// stamp finds the receive stamp among the control messages.
func (r *kernelReader) stamp() bench.Instant {
	const head, word = unix.SizeofCmsghdr, unsafe.Sizeof(r.control[0])
	left := uintptr(r.msg.Controllen)
	for i := uintptr(0); left >= head; {
		h := (*unix.Cmsghdr)(unsafe.Pointer(&r.control[i/word]))
		size := uintptr(h.Len)
		if size < head || size > left {
			break
		}
		if h.Level == unix.SOL_SOCKET && h.Type == unix.SCM_TIMESTAMPNS && size >= head+unsafe.Sizeof(unix.Timespec{}) {
			ts := (*unix.Timespec)(unsafe.Pointer(&r.control[(i+head)/word]))
			return r.wall.at(ts.Nano())
		}
		step := (size + word - 1) / word * word
		if step >= left {
			break
		}
		i, left = i+step, left-step
	}
	return bench.Never
}

// unread returns how many bytes wait to be read.
func (r *kernelReader) unread() (n int, ok bool) {
	err := r.raw.Control(func(fd uintptr) {
		var err error
		n, err = unix.IoctlGetInt(int(fd), unix.TIOCINQ)
		ok = err == nil
	})
	return n, ok && err == nil
}
