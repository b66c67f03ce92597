//go:build !portable

package engine

import (
	"errors"
	"fmt"
	"math"
	"net"
	"net/netip"
	"runtime"
	"sync"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/procfit/procfit/internal/load"
	"github.com/procfit/procfit/internal/load/wire"
)

const (
	readBuffer = 64 << 10
	mostReads  = 16  // of a connection in a row: the others, and the end of the run, have their turn
	batch      = 256 // events taken at once

	tagTimer = -1 // in place of a connection's index
	tagWake  = -2
)

// epoll is a network on the kernel's sockets, for a loop with a thread of its own.
type epoll struct {
	*attempts // those with TLS
	w         *loop
	fd        int
	timer     int             // timerfd: exact to the thread's timer slack on every kernel, unlike a time-out of epoll
	waker     int             // eventfd: run.stop has been set, or a goroutine has opened a connection
	remote    []unix.Sockaddr // of the targets
	buf       []byte          // what came
	plain     []byte          // and of TLS its text
	events    []unix.EpollEvent
	armed     int64   // what the timer is set to; 0: not
	short     bool    // the event says of no end: less than the buffer holds is all that came
	reads     int     // that the connection has left in its turn
	unread    []*conn // that had none left

	mu     sync.Mutex // for opened
	opened []*sealed
}

func rawLoops(r *run) ([]*loop, error) {
	var list []*loop
	n := chooseThreads(r.Options, runtime.NumCPU(), runtime.GOMAXPROCS(0))
	for i := range n {
		w := &loop{}
		w.init(r, i, n)
		e, err := newEpoll(w)
		w.net = e
		if err != nil {
			e.close()
			for _, made := range list {
				made.net.close()
			}
			return nil, fmt.Errorf("thread %d: %w", i, err)
		}
		list = append(list, w)
	}
	return list, nil
}

// newEpoll is to be closed where it fails, too.
func newEpoll(w *loop) (e *epoll, err error) {
	e = &epoll{attempts: newAttempts(new(net.Dialer).DialContext), w: w, fd: -1, timer: -1, waker: -1, reads: math.MaxInt, buf: make([]byte, readBuffer), events: make([]unix.EpollEvent, batch)}
	for i, a := range w.addresses {
		e.remote = append(e.remote, socketAddress(a))
		if w.speakers[i].TLS != nil {
			e.plain = make([]byte, readBuffer)
		}
	}
	if e.fd, err = unix.EpollCreate1(unix.EPOLL_CLOEXEC); err != nil {
		return e, fmt.Errorf("epoll: %w", err)
	}
	if e.timer, err = unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_CLOEXEC|unix.TFD_NONBLOCK); err != nil {
		return e, fmt.Errorf("timerfd: %w", err)
	}
	if e.waker, err = unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK); err != nil {
		return e, fmt.Errorf("eventfd: %w", err)
	}
	for tag, fd := range map[int32]int{tagTimer: e.timer, tagWake: e.waker} {
		event := unix.EpollEvent{Events: unix.EPOLLIN | unix.EPOLLET, Fd: tag}
		if err := unix.EpollCtl(e.fd, unix.EPOLL_CTL_ADD, fd, &event); err != nil {
			return e, fmt.Errorf("epoll: %w", err)
		}
	}
	return e, nil
}

func (e *epoll) begin() (end func(), err error) {
	if err := takeThread(e.w.CPUs); err != nil {
		return nil, err
	}
	add := func(n int) {
		procs.Lock()
		defer procs.Unlock()
		runtime.GOMAXPROCS(runtime.GOMAXPROCS(0) + n)
	}
	add(1) // the loop keeps one, see await
	return func() { add(-1) }, nil
}

var procs sync.Mutex // held while GOMAXPROCS is read and set

func (e *epoll) used() (user, system time.Duration, cpus int, err error) {
	user, system, err = threadCPU()
	return user, system, 1, err
}

func (e *epoll) wake() {
	unix.Write(e.waker, []byte{1, 0, 0, 0, 0, 0, 0, 0})
}

func (e *epoll) close() {
	e.cancel()
	e.left.Wait()
	for _, s := range e.opened {
		s.discard()
	}
	e.opened = nil
	for i := range e.w.conns {
		e.w.shut(&e.w.conns[i])
	}
	for _, fd := range []*int{&e.fd, &e.timer, &e.waker} {
		if *fd >= 0 {
			unix.Close(*fd)
			*fd = -1
		}
	}
}

// wait sleeps until a connection is ready or the time has come, and handles what
// is ready. The timer is only set when the time differs from the last one.
func (e *epoll) wait(until int64) error {
	if until != e.armed {
		now := e.w.clock()
		spec := unix.ItimerSpec{Value: unix.NsecToTimespec(max(1, until-now))}
		if err := unix.TimerfdSettime(e.timer, 0, &spec, nil); err != nil {
			return fmt.Errorf("set the timer: %w", err)
		}
		e.armed = until
	}
	waiting := len(e.unread)
	n, err := e.await(waiting == 0)
	if err != nil {
		if errors.Is(err, syscall.EINTR) {
			return nil
		}
		return fmt.Errorf("epoll: %w", err)
	}
	for _, c := range e.unread[:waiting] {
		if c.unread = false; c.wire != nil {
			e.read(c)
		}
	}
	e.unread = append(e.unread[:0], e.unread[waiting:]...)
	for i := range n {
		switch event := &e.events[i]; event.Fd {
		case tagTimer:
			e.armed = 0
		case tagWake:
			e.takeOpened()
		default:
			if c := &e.w.conns[event.Fd]; c.generation == event.Pad && c.stream != nil {
				e.ready(c, event.Events)
			}
		}
	}
	return nil
}

// await waits for events. While the loop sends it keeps its P, and does not report to the
// runtime that its thread may sleep: answers come so often that giving the P back and asking for
// it again, and the runtime's watching for that every 20 µs, would take more CPU time than
// the waiting. Where the runtime needs the thread to stop, its signal ends the wait.
func (e *epoll) await(block bool) (int, error) {
	timeout := 0
	if block {
		timeout = -1
	}
	if !e.w.sending {
		return unix.EpollWait(e.fd, e.events, timeout)
	}
	n, _, errno := unix.RawSyscall6(unix.SYS_EPOLL_PWAIT, uintptr(e.fd), uintptr(unsafe.Pointer(&e.events[0])), uintptr(len(e.events)), uintptr(timeout), 0, 0)
	if errno != 0 {
		return 0, errno
	}
	return int(n), nil
}

// open connects without waiting for it, and leaves a handshake to a goroutine.
func (e *epoll) open(c *conn) {
	if e.w.speakers[c.target].TLS != nil {
		e.openTLS(c)
		return
	}
	address := e.remote[c.target]
	family := unix.AF_INET
	if _, ok := address.(*unix.SockaddrInet6); ok {
		family = unix.AF_INET6
	}
	fd, err := unix.Socket(family, unix.SOCK_STREAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		e.w.lose(c, wire.Undialled(err), e.w.clock())
		return
	}
	c.stream = &descriptor{network: e, fd: fd}
	if err = unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1); err == nil {
		err = unix.Connect(fd, address)
	}
	if err == nil || err == unix.EINPROGRESS {
		err = e.register(c, fd)
	}
	if err != nil {
		e.w.lose(c, wire.Undialled(err), e.w.clock())
	}
}

// register makes the events of a connection the loop's: edge-triggered and once for all that
// can happen. The loop reads and writes until it must wait, so no other epoll call is ever
// needed.
func (e *epoll) register(c *conn, fd int) error {
	return unix.EpollCtl(e.fd, unix.EPOLL_CTL_ADD, fd, &unix.EpollEvent{
		Events: unix.EPOLLIN | unix.EPOLLOUT | unix.EPOLLRDHUP | unix.EPOLLET&0xffffffff,
		Fd:     c.index, Pad: c.generation,
	})
}

func (e *epoll) ready(c *conn, events uint32) {
	const gone = unix.EPOLLRDHUP | unix.EPOLLHUP | unix.EPOLLERR
	before := c.generation
	if c.wire == nil {
		e.connected(c, events)
	} else if c.blocked > 0 && events&unix.EPOLLOUT != 0 {
		e.w.write(c)
	}
	if c.generation != before || c.wire == nil { // it is lost, and may be opened again
		return
	}
	if events&(unix.EPOLLIN|gone) != 0 {
		e.short = events&gone == 0
		e.read(c)
		e.short = false
	}
}

// read reads what has come, but what is too much for one turn in the next one.
func (e *epoll) read(c *conn) {
	if c.unread {
		return // its turn comes
	}
	e.reads = mostReads
	if e.w.read(c); e.reads <= 0 {
		c.unread, e.unread = true, append(e.unread, c)
	}
	e.reads = math.MaxInt
}

// connected ends an attempt to connect, if the events say that it has ended.
func (e *epoll) connected(c *conn, events uint32) {
	errno, err := unix.GetsockoptInt(c.stream.(*descriptor).fd, unix.SOL_SOCKET, unix.SO_ERROR)
	if err == nil && errno != 0 {
		err = syscall.Errno(errno)
	}
	switch {
	case err != nil:
		e.w.lose(c, wire.Undialled(err), e.w.clock())
	case events&(unix.EPOLLRDHUP|unix.EPOLLHUP) != 0:
		e.w.lose(c, &wire.Failure{Kind: load.KindClosed, Detail: "at once"}, e.w.clock())
	case events&unix.EPOLLOUT != 0:
		spoken, f := e.w.speakers[c.target].Plain()
		if f != nil {
			e.w.lose(c, f, e.w.clock())
			return
		}
		e.w.connected(c, c.stream, spoken)
	}
}

// socketAddress is an address for connect(2). Each thread makes its own, since
// the system call writes into it.
func socketAddress(a netip.AddrPort) unix.Sockaddr {
	ip := a.Addr().Unmap()
	if ip.Is4() {
		return &unix.SockaddrInet4{Port: int(a.Port()), Addr: ip.As4()}
	}
	sa := &unix.SockaddrInet6{Port: int(a.Port()), Addr: ip.As16()}
	if ifi, err := net.InterfaceByName(ip.Zone()); err == nil {
		sa.ZoneId = uint32(ifi.Index)
	}
	return sa
}
