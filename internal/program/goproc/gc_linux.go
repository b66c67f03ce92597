//go:build !portable

package goproc

import (
	"fmt"
	"time"
)

// A collector that ends a cycle just then is read again.
const (
	gcTries = 4
	gcPause = 200 * time.Microsecond
)

// GC reads what the garbage collector of a process has done. It is not known of a
// program in which it has not run yet, until it is of another process of the same file;
// nor of Go below 1.19, and of that no times.
func (c *Cache) GC(pid int) (GC, error) {
	g, err := c.gc(pid)
	if err != nil {
		return GC{}, fmt.Errorf("process %d: %w", pid, explain(pid, err))
	}
	return g, nil
}

func (c *Cache) gc(pid int) (GC, error) {
	f, mem, bias, err := c.memory(pid)
	if err != nil {
		return GC{}, err
	}
	defer mem.Close()
	f.mu.Lock()
	defer f.mu.Unlock()
	f.gc.begin()
	defer f.gc.end()
	var last *GC
	for try := range gcTries {
		if try > 0 {
			time.Sleep(gcPause)
		}
		now := clocks{unix: uint64(time.Now().UnixNano()), monotonic: uint64(monotonic())}
		if f.gc.memstats == 0 {
			if err = f.gc.find(mem, f.image, bias, now); err != nil {
				return GC{}, err
			}
		}
		g, whole := f.gc.read(mem, f.image, bias, now)
		if whole {
			return *g, nil
		}
		if g != nil {
			last = g
		}
	}
	if last == nil {
		return GC{}, errNoGC
	}
	return *last, nil
}
