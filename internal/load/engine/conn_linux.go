//go:build !portable

package engine

import (
	"fmt"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/procfit/procfit/internal/load"
	"github.com/procfit/procfit/internal/load/wire"
)

type state uint8

const (
	stateClosed     state = iota // waits for retryAt
	stateConnecting              // since start
	stateIdle                    // since freeAt
	stateBusy                    // a request is under way
)

// conn is one connection and the request on it.
type conn struct {
	index      int32 // in worker.conns
	generation int32 // tells late events of an earlier descriptor apart
	fd         int
	target     int // index into run.targets
	state      state
	served     bool // has answered since it was opened
	failures   int  // in a row
	sent       int  // bytes of the request
	retryAt    int64
	exchange
	response wire.Response
}

// connect opens the connection without waiting for it.
func (w *loop) connect(c *conn, now int64) {
	address := w.remote[c.target]
	family := unix.AF_INET
	if _, ok := address.(*unix.SockaddrInet6); ok {
		family = unix.AF_INET6
	}
	c.state, c.sentAt, c.served = stateConnecting, now, false
	fd, err := unix.Socket(family, unix.SOCK_STREAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		w.fail(c, wire.DialKind(err), err.Error(), now)
		return
	}
	c.fd = fd
	c.generation++
	if err := unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1); err != nil {
		w.fail(c, wire.DialKind(err), err.Error(), now)
		return
	}
	if err := unix.Connect(fd, address); err != nil && err != unix.EINPROGRESS {
		w.fail(c, wire.DialKind(err), err.Error(), now)
		return
	}
	// Edge-triggered and registered once for all that can happen: the loop reads
	// and writes until it must wait, so no other epoll call is ever needed.
	event := unix.EpollEvent{
		Events: unix.EPOLLIN | unix.EPOLLOUT | unix.EPOLLRDHUP | unix.EPOLLET&0xffffffff,
		Fd:     c.index, Pad: c.generation,
	}
	if err := unix.EpollCtl(w.epoll, unix.EPOLL_CTL_ADD, fd, &event); err != nil {
		w.fail(c, wire.DialKind(err), err.Error(), now)
	}
}

// ready handles an event of the connection.
func (w *loop) ready(c *conn, events uint32) {
	const gone = unix.EPOLLRDHUP | unix.EPOLLHUP | unix.EPOLLERR
	switch c.state {
	case stateConnecting:
		w.connected(c, events)
	case stateBusy:
		if c.sent < len(w.bytes(c)) && events&unix.EPOLLOUT != 0 {
			if w.write(c); c.state != stateBusy {
				return
			}
		}
		if events&(unix.EPOLLIN|gone) != 0 {
			w.read(c, events&gone != 0)
		}
	case stateIdle:
		if events&(unix.EPOLLIN|gone) != 0 {
			w.readIdle(c)
		}
	}
}

// connected ends a connection attempt.
func (w *loop) connected(c *conn, events uint32) {
	now := w.clock()
	errno, err := unix.GetsockoptInt(c.fd, unix.SOL_SOCKET, unix.SO_ERROR)
	if err == nil && errno != 0 {
		err = syscall.Errno(errno)
	}
	switch {
	case err != nil:
		w.fail(c, wire.DialKind(err), err.Error(), now)
	case events&(unix.EPOLLRDHUP|unix.EPOLLHUP) != 0:
		w.fail(c, load.KindClosed, "at once", now)
	case events&unix.EPOLLOUT != 0:
		w.free(c, now)
	}
}

// reopen replaces a connection that ended in good order: at once if it served,
// else like a failure, since a server that accepts and closes would have us
// spin.
func (w *loop) reopen(c *conn, now int64) {
	w.shut(c)
	if c.served {
		w.connect(c, now)
		return
	}
	w.backOff(c, now)
}

// fail counts an error, with the request that it ends, and backs off. The request
// counts as at least as late as it waited: who retries it waits longer still.
func (w *loop) fail(c *conn, k load.Kind, detail string, now int64) {
	ended := &c.exchange
	if c.state == stateBusy {
		w.busy--
	} else {
		ended = nil
	}
	w.failure(ended, c.target, wire.Failure{Kind: k, Detail: detail}, now)
	w.shut(c)
	w.backOff(c, now)
}

func (w *loop) shut(c *conn) {
	if c.fd >= 0 {
		unix.Close(c.fd) // leaves the epoll set with it
	}
	c.fd, c.state = -1, stateClosed
}

func (w *loop) backOff(c *conn, now int64) {
	c.failures++
	c.retryAt = now + int64(min(maxBackoff, minBackoff<<min(c.failures-1, 10)))
	w.failing = min(w.failing, c.retryAt)
}

// look walks the connections for time-outs and for those to open again, and sets
// when to look next. Time-outs are seen up to a sixteenth late.
func (w *loop) look(now int64) {
	timeout := int64(w.Timeout)
	w.failing = now + int64(min(max(w.Timeout/16, minTick), maxTick))
	for i := range w.conns {
		c := &w.conns[i]
		switch c.state {
		case stateClosed:
			if c.retryAt > now {
				w.failing = min(w.failing, c.retryAt)
			} else {
				w.connect(c, now)
			}
		case stateConnecting:
			if now-c.sentAt >= timeout {
				w.fail(c, load.KindConnectTimeout, w.Timeout.String(), now)
			}
		case stateBusy:
			if now-c.sentAt >= timeout {
				w.fail(c, load.KindTimeout, fmt.Sprintf("no answer within %v", w.Timeout), now)
			}
		}
	}
}
