package load

import (
	"fmt"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// free gives the connection its next request or makes it idle.
func (w *worker) free(c *conn, now int64) {
	c.state, c.freeAt = stateIdle, now
	if w.Rate == 0 {
		if w.sending && now < w.end {
			w.send(c, now)
		}
		return
	}
	if w.sending && w.idleLen == 0 && w.slot < w.slots {
		if at := w.intended(w.slot); at <= now {
			w.sendSlot(c, at, now)
			return
		}
	}
	w.pushIdle(c)
}

// send starts a request whose latency counts from start.
func (w *worker) send(c *conn, start int64) {
	c.state, c.start, c.sentAt, c.sent = stateBusy, start, max(start, c.freeAt), 0
	c.response.reset(w.head)
	w.busy++
	w.write(c)
}

// write sends what is left of the request.
func (w *worker) write(c *conn) {
	request := w.targets[c.target].request
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
				w.fail(c, brokenKind(errno), "send: "+errno.Error(), w.clock())
			}
			return
		}
	}
}

// read takes what has come. Where less came than the buffer holds, the next
// event tells of more, and no further call is needed (epoll(7)), unless the
// other side is gone, which was told already.
func (w *worker) read(c *conn, gone bool) {
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
			w.fail(c, brokenKind(errno), "receive: "+errno.Error(), now)
			return
		}
		if n == 0 {
			if c.response.end() {
				w.answered(c, now)
			} else {
				w.fail(c, KindClosed, "", now)
			}
			return
		}
		w.bytes += int64(n)
		used, done, err := c.response.feed(w.buf[:n])
		switch {
		case err != nil:
			w.fail(c, KindMalformed, err.Error(), now)
			return
		case done && used < n:
			w.fail(c, KindMalformed, fmt.Sprintf("%d bytes more than the answer's length", n-used), now)
			return
		case done:
			c.response.keep = c.response.keep && !gone
			w.answered(c, now)
			return
		case n < len(w.buf) && !gone:
			return
		}
	}
}

// readIdle handles what comes without a request: the end of the connection,
// which a server may choose at any time, or bytes that nobody asked for.
func (w *worker) readIdle(c *conn) {
	n, errno := receiveBytes(c.fd, w.buf)
	if errno == unix.EAGAIN || errno == unix.EINTR {
		return
	}
	now := w.clock()
	if w.Rate > 0 {
		w.drop(c)
	}
	if errno == 0 && n > 0 {
		w.fail(c, KindMalformed, fmt.Sprintf("%d bytes without a request", n), now)
		return
	}
	w.reopen(c, now)
}

// answered ends a request that got its answer.
func (w *worker) answered(c *conn, now int64) {
	w.busy--
	w.count(c, now)
	c.failures, c.served = 0, true
	if c.response.keep && c.sent == len(w.targets[c.target].request) {
		w.free(c, now)
		return
	}
	w.reopen(c, now)
}

// count enters an answer. One to a request of the settling counts only for what
// arrives within the duration.
func (w *worker) count(c *conn, now int64) {
	status := c.response.status
	good := goodStatus(status)
	if now < w.end {
		w.counted++
		if good && now >= w.from {
			w.inTime++
		}
	}
	if c.start < w.from {
		return
	}
	took := now - c.start
	w.requests++
	w.perURL[c.target].Answered++
	w.record(took)
	if w.fastest == 0 || took < w.fastest {
		w.fastest = max(1, took)
	}
	w.statuses[status]++
	if !good {
		w.perURL[c.target].Failed++
		w.note(c, StatusKind(status), "")
		return
	}
	w.good++
	if w.Rate > 0 {
		if i := int(float64(now-w.from) * w.binsPerNano); i < paceBins {
			w.bins[i]++
		}
	}
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
