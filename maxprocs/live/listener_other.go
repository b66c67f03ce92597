//go:build !linux

package live

import (
	"net"
	"sync/atomic"
	"time"
)

// Listener returns l: only Linux has stamps of a request's receipt that a program can read.
func (m *Meter) Listener(l net.Listener) net.Listener { return l }

// conn is never made here.
type conn struct {
	net.Conn
	came atomic.Int64
}

func (*conn) owe(int64) {}

// probe needs Linux.
type probe struct{}

func (probe) wait(*counters) { time.Sleep(idle) }
func (probe) close()         {}

// monotonic is 0: leases need Linux.
func monotonic() int64 { return 0 }
