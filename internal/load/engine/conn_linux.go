//go:build !portable

package engine

import (
	"fmt"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/procfit/procfit/internal/load"
	"github.com/procfit/procfit/internal/load/wire"
	"github.com/procfit/procfit/internal/show/number"
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
	again      bool // it has a request that is to be sent once it is open; that counts as busy
	retries    int  // of that request
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
	case events&unix.EPOLLOUT != 0 && c.again:
		c.again = false
		w.busy-- // which send adds
		w.send(c)
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
// counts as at least as late as it waited: who retries it waits longer still. Before the
// load starts it is only noted, as the portable engine does (pool.fails): the connection
// is tried again.
func (w *loop) fail(c *conn, k load.Kind, detail string, now int64) {
	var ended *exchange
	if c.underWay() {
		ended = &c.exchange
		w.busy--
	}
	c.again, c.retries = false, 0
	if w.from == 0 {
		w.note(c.target, k, detail)
	} else {
		w.failure(ended, c.target, wire.Failure{Kind: k, Detail: detail}, now)
	}
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
				w.fail(c, load.KindConnectTimeout, number.Chosen(w.Timeout), now)
			}
		case stateBusy:
			if now-c.sentAt >= timeout {
				w.fail(c, load.KindTimeout, "no answer within "+number.Chosen(w.Timeout), now)
			}
		}
	}
}

// free makes the connection idle. It gets its next request when all that has come is
// read: what is sent in between would delay the readings behind it, and count as their
// latency.
func (w *loop) free(c *conn, now int64) {
	c.state, c.freeAt = stateIdle, now
	w.pushIdle(c)
}

// send starts the request that the connection was given.
func (w *loop) send(c *conn) {
	c.state, c.sent = stateBusy, 0
	c.response.Reset(w.targets[c.target].requests[c.request].Head)
	w.busy++
	w.write(c)
}

// write sends what is left of the request.
func (w *loop) write(c *conn) {
	request := w.bytes(c)
	for c.sent < len(request) {
		n, errno := sendBytes(c.fd, request[c.sent:])
		switch errno {
		case 0:
			c.sent += n
		case unix.EAGAIN:
			return
		case unix.EINTR:
		default:
			// The server may have answered before it closed, a 413 for instance.
			w.read(c, true)
			if c.state == stateBusy {
				w.fail(c, wire.BrokenKind(errno), "send: "+errno.Error(), w.clock())
			}
			return
		}
	}
}

// read takes what has come. Where less came than the buffer holds, the next
// event tells of more, and no further call is needed (epoll(7)), unless the
// other side is gone, which was reported already.
func (w *loop) read(c *conn, gone bool) {
	for {
		n, errno := receiveBytes(c.fd, w.buf)
		if errno == unix.EAGAIN {
			return
		}
		if errno == unix.EINTR {
			continue
		}
		now := w.clock()
		if errno != 0 {
			w.fail(c, wire.BrokenKind(errno), "receive: "+errno.Error(), now)
			return
		}
		if n == 0 {
			if c.response.End() {
				w.done(c, now)
			} else {
				w.fail(c, load.KindClosed, "", now)
			}
			return
		}
		w.bytesRead += int64(n)
		used, done, err := c.response.Feed(w.buf[:n])
		switch {
		case err != nil:
			f := wire.Malformed(err)
			w.fail(c, f.Kind, f.Detail, now)
			return
		case done && wire.IsAnswer(w.buf[used:n]):
			w.fail(c, load.KindUnasked, "", now)
			return
		case done:
			c.response.Keep = c.response.Keep && !gone
			if used < n {
				// What follows the answer belongs to no request, and a client that cannot tell
				// what it is uses the connection no more (RFC 9112, section 6.3). It is reset:
				// ended in good order by us it would keep its port for a minute.
				c.response.Keep = false
				_ = unix.SetsockoptLinger(c.fd, unix.SOL_SOCKET, unix.SO_LINGER, &unix.Linger{Onoff: 1})
			}
			w.done(c, now)
			return
		case n < len(w.buf) && !gone:
			return
		}
	}
}

// readIdle handles what comes without a request: the end of the connection, which a
// server may choose at any time, or bytes that nobody asked for, as a rule the 408 of a
// server or balancer that waited too long for a request (RFC 9110, section 15.5.9). No
// request has failed by either: the connection is opened again.
func (w *loop) readIdle(c *conn) {
	n, errno := receiveBytes(c.fd, w.buf)
	if errno == unix.EAGAIN || errno == unix.EINTR {
		return
	}
	now := w.clock()
	w.drop(c)
	if errno == 0 && n > 0 && w.from == 0 { // which may be why no connection stays open
		w.note(c.target, load.KindMalformed, fmt.Sprintf("%d bytes without a request", n))
	}
	w.reopen(c, now)
}

// underWay reports whether the connection has a request.
func (c *conn) underWay() bool { return c.state == stateBusy || c.again }

// done ends a request that got its answer.
func (w *loop) done(c *conn, now int64) {
	if c.response.Unasked() && c.retries < wire.MostRetries {
		c.again = true
		c.retries++
		w.reopen(c, now)
		return
	}
	c.retries = 0
	w.busy--
	w.answered(&c.exchange, c.target, wire.Status(c.response.Status), now)
	c.failures, c.served = 0, true
	if c.response.Keep && c.sent == len(w.bytes(c)) {
		w.free(c, now)
		return
	}
	w.reopen(c, now)
}

// sendBytes and receiveBytes skip the runtime's bookkeeping of system calls,
// which is safe because a non-blocking socket returns at once. MSG_NOSIGNAL: a
// closed connection is an error, not a signal.
func sendBytes(fd int, b []byte) (int, syscall.Errno) {
	n, _, errno := unix.RawSyscall6(unix.SYS_SENDTO, uintptr(fd), uintptr(unsafe.Pointer(&b[0])), uintptr(len(b)), unix.MSG_NOSIGNAL, 0, 0)
	return int(n), errno
}

func receiveBytes(fd int, b []byte) (int, syscall.Errno) {
	n, _, errno := unix.RawSyscall6(unix.SYS_RECVFROM, uintptr(fd), uintptr(unsafe.Pointer(&b[0])), uintptr(len(b)), 0, 0, 0)
	return int(n), errno
}
