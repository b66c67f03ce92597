package live

import (
	"math/rand"
	"net"
	"os"
	"sync"
	"syscall"
	"time"
	"unsafe"
)

// probeEvery is the mean time between two of the probe's samples.
const probeEvery = 20 * time.Millisecond

// probe measures until stop how late a goroutine runs after the kernel has made its file
// readable, at random times. It is the way that a request takes, in a program whose
// listener is not the Meter's.
func (m *Meter) probe() (stop func()) {
	const monotonic = 1 // CLOCK_MONOTONIC
	fd, _, errno := syscall.Syscall(syscall.SYS_TIMERFD_CREATE, monotonic, syscall.O_NONBLOCK|syscall.O_CLOEXEC, 0)
	if errno != 0 {
		return func() {}
	}
	f := os.NewFile(fd, "timerfd")
	raw, err := f.SyscallConn()
	if err != nil {
		f.Close()
		return func() {}
	}
	var done sync.WaitGroup
	done.Add(1)
	go func() {
		defer done.Done()
		random, expired := rand.New(rand.NewSource(time.Now().UnixNano())), make([]byte, 8)
		for {
			in := time.Duration(random.ExpFloat64()*float64(probeEvery)) + 1
			due := time.Now().Add(in)
			timer := [2]syscall.Timespec{1: syscall.NsecToTimespec(int64(in))} // interval, first
			err := raw.Control(func(fd uintptr) {
				syscall.Syscall6(syscall.SYS_TIMERFD_SETTIME, fd, 0, uintptr(unsafe.Pointer(&timer)), 0, 0, 0)
			})
			if err != nil {
				return
			}
			if _, err := f.Read(expired); err != nil {
				return
			}
			m.ready.add(time.Since(due))
		}
	}()
	return func() { f.Close(); done.Wait() }
}

// allowed reports whether the process on the other side is of this user or of root.
func allowed(c *net.UnixConn) bool {
	raw, err := c.SyscallConn()
	if err != nil {
		return false
	}
	ok := false
	err = raw.Control(func(fd uintptr) {
		peer, err := syscall.GetsockoptUcred(int(fd), syscall.SOL_SOCKET, syscall.SO_PEERCRED)
		ok = err == nil && (peer.Uid == 0 || int(peer.Uid) == os.Geteuid())
	})
	return err == nil && ok
}
