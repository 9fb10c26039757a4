//go:build !linux

package flood

import (
	"context"
	"errors"
	"net"
)

// Serve needs Linux: its event loop is built on epoll.
func Serve(context.Context, net.Listener, Config) error {
	return errors.New("the flood mode needs Linux (epoll); use `servemark sim` without it on this system")
}
