package live

import (
	"math/rand"
	"os"
	"syscall"
	"time"
	"unsafe"
)

const clockMonotonic = 1 // CLOCK_MONOTONIC

// monotonic is the time on CLOCK_MONOTONIC in nanoseconds; 0: the kernel refuses it.
func monotonic() int64 {
	var now syscall.Timespec
	if _, _, errno := syscall.Syscall(syscall.SYS_CLOCK_GETTIME, clockMonotonic, uintptr(unsafe.Pointer(&now)), 0); errno != 0 {
		return 0
	}
	return now.Nano()
}

// probeEvery is the mean time between two of the probe's samples, and probeLatest the
// longest.
const (
	probeEvery  = 20 * time.Millisecond
	probeLatest = 5 * probeEvery
)

// probe measures how late a goroutine runs after the kernel has made its file readable, at
// random times. It is the way that a request takes, in a program whose listener is not the
// Meter's. The zero value is ready.
type probe struct {
	timer  *os.File // a timerfd; nil: it is not open
	random *rand.Rand
}

func (p *probe) open() error {
	fd, _, errno := syscall.Syscall(syscall.SYS_TIMERFD_CREATE, clockMonotonic, syscall.O_NONBLOCK|syscall.O_CLOEXEC, 0)
	if errno != 0 {
		return errno
	}
	p.timer, p.random = os.NewFile(fd, "timerfd"), rand.New(rand.NewSource(time.Now().UnixNano()))
	return nil
}

// wait waits for a random time, and counts how late it returns. Without a timer of the
// kernel it waits, and counts nothing.
func (p *probe) wait(c *counters) {
	if p.timer == nil && p.open() != nil {
		time.Sleep(probeEvery)
		return
	}
	in := min(time.Duration(p.random.ExpFloat64()*float64(probeEvery))+1, probeLatest)
	due, expired := time.Now().Add(in), make([]byte, 8)
	timer := [2]syscall.Timespec{1: syscall.NsecToTimespec(int64(in))} // interval, first
	raw, err := p.timer.SyscallConn()
	errno := syscall.EBADF
	if err == nil {
		err = raw.Control(func(fd uintptr) {
			_, _, errno = syscall.Syscall6(syscall.SYS_TIMERFD_SETTIME, fd, 0, uintptr(unsafe.Pointer(&timer)), 0, 0, 0)
		})
	}
	if err == nil && errno == 0 {
		_, err = p.timer.Read(expired)
	}
	if err != nil || errno != 0 {
		p.close()
		time.Sleep(probeEvery)
		return
	}
	c.ready.add(time.Since(due))
}

func (p *probe) close() {
	if p.timer != nil {
		p.timer.Close()
		p.timer = nil
	}
}
