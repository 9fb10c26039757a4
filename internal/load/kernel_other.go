//go:build !linux

package load

import (
	"errors"
	"net"

	"github.com/servemark/servemark/internal/bench"
)

// kernelReader does not exist here: stamps are user time, and the report says so.
type kernelReader struct{}

func newKernelReader(net.Conn, *wall) *kernelReader { return nil }

func (*kernelReader) read([]byte) (int, bench.Instant, error) {
	return 0, bench.Never, errors.ErrUnsupported
}

func (*kernelReader) unread() (int, bool) { return 0, false }
