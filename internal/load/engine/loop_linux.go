//go:build !portable

package engine

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"runtime"
	"sync"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

const (
	readBuffer = 64 << 10
	batch      = 256 // events taken at once

	tagTimer = -1 // in place of a connection's index
	tagWake  = -2
)

// loop is one event loop on one thread, with the connections dealt to it.
type loop struct {
	lane
	epoll  int
	timer  int             // timerfd: exact to the thread's timer slack on every kernel, unlike a time-out of epoll
	waker  int             // eventfd: run.stop has been set
	remote []unix.Sockaddr // of the targets
	conns  []conn
	buf    []byte
	events []unix.EpollEvent

	sending bool  // between start and end, or last in an open loop
	busy    int   // connections with a request under way
	failing int64 // when the next connection is to be looked at: back-off or time-out
	armed   int64 // what the timer is set to; 0: not

	// The idle connections in the order in which they became free, so that the replicas of
	// an open loop share the load evenly.
	idle     []*conn
	idleHead int
	idleLen  int
}

// newLoop makes loop id of several, with every several-th connection.
func newLoop(r *run, id, of int) (*loop, error) {
	w := &loop{epoll: -1, timer: -1, waker: -1,
		buf: make([]byte, readBuffer), events: make([]unix.EpollEvent, batch)}
	w.init(r, id, of)
	for _, a := range r.addresses {
		w.remote = append(w.remote, socketAddress(a))
	}
	for i := id; i < r.Connections; i += of {
		t := i % len(r.targets)
		w.conns = append(w.conns, conn{index: int32(len(w.conns)), fd: -1, target: t})
		w.perURL[t].Connections++
	}
	w.idle = make([]*conn, len(w.conns))

	var err error
	if w.epoll, err = unix.EpollCreate1(unix.EPOLL_CLOEXEC); err != nil {
		return nil, fmt.Errorf("epoll: %w", err)
	}
	if w.timer, err = unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_CLOEXEC|unix.TFD_NONBLOCK); err != nil {
		w.close()
		return nil, fmt.Errorf("timerfd: %w", err)
	}
	if w.waker, err = unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK); err != nil {
		w.close()
		return nil, fmt.Errorf("eventfd: %w", err)
	}
	for tag, fd := range map[int32]int{tagTimer: w.timer, tagWake: w.waker} {
		event := unix.EpollEvent{Events: unix.EPOLLIN | unix.EPOLLET, Fd: tag}
		if err := unix.EpollCtl(w.epoll, unix.EPOLL_CTL_ADD, fd, &event); err != nil {
			w.close()
			return nil, fmt.Errorf("epoll: %w", err)
		}
	}
	return w, nil
}

// loops is the engine for plain HTTP/1.1 on Linux.
type loops struct{}

func rawEngine() engine { return loops{} }

func (loops) workers(r *run) ([]worker, error) {
	var list []worker
	n := chooseThreads(r.Options, runtime.NumCPU(), runtime.GOMAXPROCS(0))
	for i := range n {
		w, err := newLoop(r, i, n)
		if err != nil {
			for _, made := range list {
				made.close()
			}
			return nil, fmt.Errorf("thread %d: %w", i, err)
		}
		list = append(list, w)
	}
	return list, nil
}

// bytes is the request that the connection was given.
func (w *loop) bytes(c *conn) []byte { return w.targets[c.target].requests[c.request].Bytes }

func (w *loop) close() {
	for i := range w.conns {
		if c := &w.conns[i]; c.fd >= 0 {
			unix.Close(c.fd)
			c.fd = -1
		}
	}
	for _, fd := range []*int{&w.epoll, &w.timer, &w.waker} {
		if *fd >= 0 {
			unix.Close(*fd)
			*fd = -1
		}
	}
}

// wake makes the loop look at run.stop; any goroutine may call it.
func (w *loop) wake() {
	unix.Write(w.waker, []byte{1, 0, 0, 0, 0, 0, 0, 0})
}

// work connects, reports on setup, waits for the common start and loads.
func (w *loop) work(setup chan<- error) error {
	err := takeThread(w.CPUs)
	if err == nil {
		err = w.connectAll()
	}
	defer addProc()()
	setup <- err
	<-w.begin
	if err != nil || w.stop.Load() {
		return nil // reported on setup, or cancelled
	}
	if err := w.load(); err != nil {
		return err
	}
	user, system, err := threadCPU()
	if w.settled > 0 {
		w.wall = time.Duration(w.clock() - w.settled)
		w.user, w.system = user-w.user, system-w.system
	}
	return err
}

// settle notes what the thread has used until the measured time started.
func (w *loop) settle(now int64) (err error) {
	w.settled = now
	w.user, w.system, err = threadCPU()
	return err
}

// connectAll opens all connections; one that fails is tried again in the loop.
func (w *loop) connectAll() error {
	limit := w.clock() + int64(min(w.Timeout, maxSetup))
	for i := range w.conns {
		w.connect(&w.conns[i], w.clock())
	}
	for {
		open, waiting := 0, 0
		for i := range w.conns {
			switch w.conns[i].state {
			case stateConnecting:
				waiting++
			case stateIdle:
				open++
			}
		}
		now := w.clock()
		if waiting == 0 || now >= limit || w.stop.Load() {
			if open == 0 && !w.stop.Load() {
				return w.noneOpen(len(w.conns))
			}
			return nil
		}
		if err := w.wait(limit); err != nil {
			return err
		}
	}
}

// load is the loop proper: it sends from start and returns when all is answered,
// at last, or when told to stop.
func (w *loop) load() error {
	w.sending = true
	now := w.clock()
	w.failing = now // sets the next look
	for {
		now = w.clock()
		if w.settled == 0 && now >= w.from {
			if err := w.settle(now); err != nil {
				return err
			}
		}
		if w.Rate > 0 {
			now = w.sendDue(now)
			w.sending = w.slot < w.slots
		} else if w.sending = now < w.end; w.sending {
			now = w.sendNext(now)
		}
		if now >= w.failing {
			w.look(now)
		}
		w.show()
		if now >= w.last || w.stop.Load() || (!w.sending && w.busy == 0) {
			for i := range w.conns {
				if c := &w.conns[i]; c.underWay() {
					w.hanging(&c.exchange, c.target, now)
				}
			}
			w.unsent(now)
			return nil
		}
		if err := w.wait(w.next()); err != nil {
			return err
		}
	}
}

// next is when the loop must run again though nothing has come.
func (w *loop) next() int64 {
	at := min(w.failing, w.last)
	if !w.sending {
		return at
	}
	if w.Rate == 0 {
		return min(at, w.end)
	}
	if w.idleLen > 0 {
		at = min(at, w.intended(w.slot))
	}
	return at
}

// wait sleeps until a connection is ready or the time has come, and handles what
// is ready. The timer is only set when the time differs from the last one.
func (w *loop) wait(until int64) error {
	if until != w.armed {
		now := w.clock()
		spec := unix.ItimerSpec{Value: unix.NsecToTimespec(max(1, until-now))}
		if err := unix.TimerfdSettime(w.timer, 0, &spec, nil); err != nil {
			return fmt.Errorf("set the timer: %w", err)
		}
		w.armed = until
	}
	n, err := w.await()
	if err != nil {
		if errors.Is(err, syscall.EINTR) {
			return nil
		}
		return fmt.Errorf("epoll: %w", err)
	}
	for i := range n {
		e := &w.events[i]
		if e.Fd >= 0 {
			if c := &w.conns[e.Fd]; c.generation == e.Pad {
				w.ready(c, e.Events)
			}
		} else if e.Fd == tagTimer {
			w.armed = 0
		}
	}
	return nil
}

// addProc adds a P to the process's, for a loop that keeps one (see loop.await), until
// remove is called.
func addProc() (remove func()) {
	add := func(n int) {
		procs.Lock()
		defer procs.Unlock()
		runtime.GOMAXPROCS(runtime.GOMAXPROCS(0) + n)
	}
	add(1)
	return func() { add(-1) }
}

var procs sync.Mutex // held while GOMAXPROCS is read and set

// await waits for events. While the loop sends it keeps its P, and the runtime is not told
// that its thread may sleep: answers come so often that giving the P back and asking for
// it again, and the runtime's watching for that every 20 µs, would take more CPU time than
// the waiting. Where the runtime needs the thread to stop, its signal ends the wait.
func (w *loop) await() (int, error) {
	if !w.sending {
		return unix.EpollWait(w.epoll, w.events, -1)
	}
	n, _, errno := unix.RawSyscall6(unix.SYS_EPOLL_PWAIT, uintptr(w.epoll), uintptr(unsafe.Pointer(&w.events[0])), uintptr(len(w.events)), ^uintptr(0), 0, 0)
	if errno != 0 {
		return 0, errno
	}
	return int(n), nil
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
