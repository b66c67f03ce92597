//go:build !portable

package engine

import (
	"fmt"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/procfit/procfit/internal/load"
	"github.com/procfit/procfit/internal/load/wire"
)

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
		case done && used < n:
			w.fail(c, load.KindMalformed, fmt.Sprintf("%d bytes more than the answer's length", n-used), now)
			return
		case done:
			c.response.Keep = c.response.Keep && !gone
			w.done(c, now)
			return
		case n < len(w.buf) && !gone:
			return
		}
	}
}

// readIdle handles what comes without a request: the end of the connection,
// which a server may choose at any time, or bytes that nobody asked for.
func (w *loop) readIdle(c *conn) {
	n, errno := receiveBytes(c.fd, w.buf)
	if errno == unix.EAGAIN || errno == unix.EINTR {
		return
	}
	now := w.clock()
	w.drop(c)
	if errno == 0 && n > 0 {
		w.fail(c, load.KindMalformed, fmt.Sprintf("%d bytes without a request", n), now)
		return
	}
	w.reopen(c, now)
}

// done ends a request that got its answer.
func (w *loop) done(c *conn, now int64) {
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
