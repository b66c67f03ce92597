//go:build !portable

package engine

import (
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/procfit/procfit/internal/load/wire"
)

type descriptor struct {
	network *epoll
	fd      int
}

// Read makes one call where less came than the buffer holds: then the next event reports
// more (epoll(7)), unless the other side is gone, which was reported already.
func (d *descriptor) Read() (b []byte, more bool, end error) {
	for {
		n, errno := receiveBytes(d.fd, d.network.buf)
		d.network.reads--
		switch {
		case errno == 0 && n > 0:
			return d.network.buf[:n], d.network.reads > 0 && (n == len(d.network.buf) || !d.network.short), nil
		case errno == 0:
			return nil, false, io.EOF
		case errno == unix.EAGAIN:
			return nil, false, nil
		case errno != unix.EINTR:
			return nil, false, fmt.Errorf("receive: %w", errno)
		}
	}
}

func (d *descriptor) Write(b []byte) (sent int, wait bool, err error) {
	for sent < len(b) {
		n, errno := sendBytes(d.fd, b[sent:])
		switch errno {
		case 0:
			sent += n
		case unix.EAGAIN:
			return sent, true, nil
		case unix.EINTR:
		default:
			return sent, false, fmt.Errorf("send: %w", errno)
		}
	}
	return sent, false, nil
}

func (d *descriptor) Close(reset bool) {
	if reset {
		_ = unix.SetsockoptLinger(d.fd, unix.SOL_SOCKET, unix.SO_LINGER, &unix.Linger{Onoff: 1})
	}
	unix.Close(d.fd) // it leaves the epoll set with it
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

type sealed struct {
	descriptor
	index   int32 // of the conn
	attempt *attempt
	tls     *tls.Conn
	records *records
}

// records is what crypto/tls reads and writes: a connection of package net during the
// handshake, the descriptor from then on.
type records struct {
	net.Conn
	below *descriptor // nil: the handshake is not over
	in    []byte      // what came and is not read
	more  bool        // there may be more
	end   error       // nil: there is none
	out   []byte      // what has not left
}

func (r *records) Read(b []byte) (int, error) {
	if r.below == nil {
		return r.Conn.Read(b)
	}
	if len(r.in) == 0 && r.more && r.below.network.reads > 0 {
		r.in, r.more, r.end = r.below.Read()
	}
	switch n := copy(b, r.in); {
	case n > 0:
		r.in = r.in[n:]
		return n, nil
	case r.end != nil:
		return 0, r.end
	}
	return 0, waiting{}
}

// waiting is the error of a read that would have to wait. It is one of package net that
// passes: crypto/tls continues after such an error only.
type waiting struct{}

func (waiting) Error() string   { return "nothing more now" }
func (waiting) Timeout() bool   { return true }
func (waiting) Temporary() bool { return true }

func (r *records) Write(b []byte) (int, error) {
	if r.below == nil {
		return r.Conn.Write(b)
	}
	r.out = append(r.out, b...)
	return len(b), nil
}

// Read reports more until all that came is decrypted, also at the end of a turn: the bytes are in
// a buffer of the thread, into which the next connection reads.
func (s *sealed) Read() (b []byte, more bool, end error) {
	n, err := s.tls.Read(s.network.plain)
	if _, wait := err.(waiting); !wait {
		return s.network.plain[:n], err == nil, err
	}
	s.records.more = true                     // at the next event, or in its next turn
	if _, _, err = s.Write(nil); err != nil { // what crypto/tls has to say by itself
		return nil, false, err
	}
	return s.network.plain[:n], false, nil
}

// sealAtOnce is how much of a long body becomes records at a time.
const sealAtOnce = 64 << 10

func (s *sealed) Write(b []byte) (sent int, wait bool, err error) {
	for {
		n, wait, err := s.descriptor.Write(s.records.out)
		s.records.out = append(s.records.out[:0], s.records.out[n:]...)
		if wait || err != nil || sent == len(b) {
			return sent, wait, err
		}
		part := b[sent:min(len(b), sent+sealAtOnce)]
		if _, err := s.tls.Write(part); err != nil {
			return sent, false, err
		}
		sent += len(part)
	}
}

func (e *epoll) openTLS(c *conn) {
	s := &sealed{descriptor: descriptor{e, -1}, index: c.index, records: &records{more: true}}
	wrap := func(c net.Conn) net.Conn {
		s.records.Conn = c
		return s.records
	}
	e.start(e.w, c, wrap, func(a *attempt) {
		if s.attempt = a; a.failure == nil {
			s.detach()
		}
		e.mu.Lock()
		e.opened = append(e.opened, s)
		e.mu.Unlock()
		e.wake()
	})
}

// detach takes the descriptor from package net, whose poller would wait for it too.
func (s *sealed) detach() {
	raw, err := s.records.Conn.(*net.TCPConn).SyscallConn()
	if err == nil {
		_ = raw.Control(func(fd uintptr) { s.fd, err = unix.FcntlInt(fd, unix.F_DUPFD_CLOEXEC, 0) })
	}
	if err != nil {
		s.fd, s.attempt.failure = -1, wire.Undialled(err)
	}
	s.records.Conn.Close()
}

func (e *epoll) takeOpened() {
	e.mu.Lock()
	list := e.opened
	e.opened = nil
	e.mu.Unlock()
	for _, s := range list {
		c := &e.w.conns[s.index]
		if c.generation != s.attempt.generation || c.state != stateConnecting {
			s.discard()
			continue
		}
		f := s.attempt.failure
		if f == nil {
			if err := e.register(c, s.fd); err != nil {
				f = wire.Undialled(err)
				s.discard()
			}
		}
		if f != nil {
			e.w.lose(c, f, e.w.clock())
			continue
		}
		s.tls, s.records.below = s.attempt.secure, &s.descriptor
		e.w.connected(c, s, s.attempt.spoken)
		if c.stream == s {
			e.read(c)
		}
	}
}

func (s *sealed) discard() {
	if s.fd >= 0 {
		s.Close(false)
	}
}
