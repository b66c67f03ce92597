package goproctest

import (
	"fmt"
	"time"
)

// Collected is what a probe says of all that its garbage collector has done; times are
// -1 where its release does not tell.
type Collected struct {
	Cycles           int64
	Pause            time.Duration
	Last             int64 // Unix nanoseconds
	Heap             int64 // bytes, just before
	Collecting, Busy time.Duration
}

// Collect has the probe collect its garbage, and returns what it says then.
func (p *Probe) Collect() Collected {
	p.t.Helper()
	if _, err := fmt.Fprintln(p.in, "collect"); err != nil {
		p.t.Fatal(err)
	}
	if !p.out.Scan() {
		p.t.Fatalf("the probe ended: %v", p.out.Err())
	}
	var c Collected
	var all, idleMark, total, idle int64
	if _, err := fmt.Sscan(p.out.Text(), &c.Cycles, &c.Pause, &c.Last, &c.Heap, &all, &idleMark, &total, &idle); err != nil {
		p.t.Fatalf("%q: %v", p.out.Text(), err)
	}
	p.says()
	c.Collecting, c.Busy = -1, -1
	if all >= 0 {
		c.Collecting, c.Busy = time.Duration(all-idleMark), time.Duration(total-idle)
	}
	return c
}

// Same tells whether a time that was read is the one that a probe said, in seconds as a
// float64.
func Same(read, said time.Duration) bool { return (read - said).Abs() <= 2*time.Nanosecond }

// About tells whether the heap that was read is that which a probe had just before: what
// the runtime itself takes meanwhile is little.
func About(read, said int64) bool { return read > said-said/8 && read < said+said/8 }
