package live

import (
	"io"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"
)

// SO_TIMESTAMPING and its flags, as in the kernel's Documentation/networking/timestamping.rst:
// package syscall lacks them. The number of the option is the same on all systems that Go
// runs on but MIPS and SPARC, where the kernel refuses it.
const (
	soTimestamping = 37
	rxSoftware     = 1 << 3
	software       = 1 << 4
)

// Listener returns a listener whose TCP connections know when the kernel received each
// request. Where the kernel refuses the stamp, the connection works as it did and its
// requests have no arrival.
func (m *Meter) Listener(l net.Listener) net.Listener { return &listener{l, m} }

type listener struct {
	net.Listener
	meter *Meter
}

func (l *listener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	t, ok := c.(*net.TCPConn)
	if err != nil || !ok {
		return c, err
	}
	raw, err := t.SyscallConn()
	if err != nil {
		return c, nil
	}
	refused := error(nil)
	if raw.Control(func(fd uintptr) {
		refused = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, soTimestamping, rxSoftware|software)
	}) != nil || refused != nil {
		return c, nil
	}
	l.meter.stamped.Store(1)
	s := &conn{TCPConn: t, raw: raw, meter: l.meter}
	s.recv = s.receive
	if peer, ok := t.RemoteAddr().(*net.TCPAddr); ok {
		l.meter.accepted.Store(peer, s)
	}
	return s, nil
}

// conn reads the kernel's stamps together with the bytes.
type conn struct {
	*net.TCPConn
	raw   syscall.RawConn
	meter *Meter

	reading sync.Mutex         // of a Read, which has what follows
	recv    func(uintptr) bool // receive, made once
	p       []byte
	n       int
	err     error
	oob     [128]byte

	came  atomic.Int64 // the stamp of the last read, in Unix nanoseconds
	due   atomic.Int64 // the stamp of a request whose last write is to come; 0: none
	wrote atomic.Int64 // when the last write started
}

// receive is recvmsg. It reports false if there is nothing to read yet.
func (c *conn) receive(fd uintptr) bool {
	var oobn int
	for c.err = syscall.EINTR; c.err == syscall.EINTR; {
		c.n, oobn, _, _, c.err = syscall.Recvmsg(int(fd), c.p, c.oob[:], 0)
	}
	if c.err == syscall.EAGAIN {
		return false
	}
	if c.err == nil && c.n > 0 {
		at := stamp(c.oob[:oobn])
		if at <= 0 {
			at = time.Now().UnixNano()
		}
		c.settle()
		c.came.Store(at)
	}
	return true
}

// stamp is the software stamp of a control message, in Unix nanoseconds; 0: there is none.
func stamp(oob []byte) int64 {
	if len(oob) < syscall.SizeofCmsghdr+int(unsafe.Sizeof(syscall.Timespec{})) {
		return 0
	}
	h := (*syscall.Cmsghdr)(unsafe.Pointer(&oob[0]))
	if h.Level != syscall.SOL_SOCKET || h.Type != soTimestamping {
		return 0
	}
	return (*syscall.Timespec)(unsafe.Pointer(&oob[syscall.CmsgLen(0)])).Nano()
}

// Read reads bytes and the stamp of their receipt.
func (c *conn) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	c.reading.Lock()
	defer c.reading.Unlock()
	c.p = p
	err := c.raw.Read(c.recv)
	switch c.p = nil; {
	case err != nil:
		return 0, err
	case c.err != nil:
		return 0, &net.OpError{Op: "read", Net: "tcp", Source: c.LocalAddr(), Addr: c.RemoteAddr(), Err: os.NewSyscallError("recvmsg", c.err)}
	case c.n == 0:
		return 0, io.EOF
	}
	return c.n, nil
}

// owe notes that the answer to the request that came then is complete but for its last
// write.
func (c *conn) owe(came int64) { c.due.Store(came) }

// writes notes that a write starts. The latency ends here, and not after the write: by
// then the thread may have lost its CPU, which no client sees.
func (c *conn) writes() {
	now := time.Now().UnixNano()
	c.wrote.Store(now)
	if due := c.due.Swap(0); due != 0 {
		c.meter.arrival.add(time.Duration(now - due))
	}
}

// settle counts a request whose answer had been written when its handler returned.
func (c *conn) settle() {
	due, wrote := c.due.Load(), c.wrote.Load()
	if due != 0 && wrote >= due && c.due.CompareAndSwap(due, 0) {
		c.meter.arrival.add(time.Duration(wrote - due))
	}
}

func (c *conn) Write(p []byte) (int, error) {
	c.writes()
	return c.TCPConn.Write(p)
}

// ReadFrom is TCPConn's, which sends files without copying them.
func (c *conn) ReadFrom(r io.Reader) (int64, error) {
	c.writes()
	return c.TCPConn.ReadFrom(r)
}

func (c *conn) Close() error {
	c.settle()
	if peer, ok := c.RemoteAddr().(*net.TCPAddr); ok {
		c.meter.accepted.Delete(peer)
	}
	return c.TCPConn.Close()
}
