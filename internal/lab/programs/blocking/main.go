// Calls of the system that block, which document 003 says "do not count against the
// GOMAXPROCS limit": goroutines read pipes that nobody writes yet, in the kernel and not
// in the runtime's poller. Each takes a thread. Next to them one goroutine for each P
// computes, and before that without them.
package blocking

import (
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/procfit/procfit/internal/lab/programs/harness"
)

// A call is one that blocks until it is released.
type call struct {
	in, out *os.File
	err     error
}

// newCall makes a pipe. Asked for its descriptor, a file is no longer the poller's: a
// read of it blocks its thread.
func newCall() (*call, error) {
	in, out, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	in.Fd()
	return &call{in: in, out: out}, nil
}

func (c *call) block() {
	var b [1]byte
	if n, err := c.in.Read(b[:]); n != 1 || b[0] != 'x' {
		c.err = fmt.Errorf("read %q, %d: %v", b, n, err)
	}
}

func (c *call) release() error {
	_, err := c.out.Write([]byte{'x'})
	return err
}

func (c *call) close() {
	c.in.Close()
	c.out.Close()
}

// blocked makes that many calls and returns how many threads they took, what was computed
// meanwhile, and how long their return took once they were released.
func blocked(n int, d time.Duration) (took int, sums float64, release time.Duration, err error) {
	var calls []*call
	defer func() {
		for _, c := range calls {
			c.close()
		}
	}()
	for i := 0; i < n; i++ {
		c, err := newCall()
		if err != nil {
			return 0, 0, 0, err
		}
		calls = append(calls, c)
	}
	before := harness.Threads()
	var wg sync.WaitGroup
	for _, c := range calls {
		c := c
		wg.Add(1)
		go func() {
			defer wg.Done()
			c.block()
		}()
	}
	time.Sleep(d / 2) // until all are in the kernel
	sums = harness.Compute(d)
	took = harness.Threads() - before
	start := time.Now()
	for _, c := range calls {
		if err := c.release(); err != nil {
			return 0, 0, 0, err
		}
	}
	wg.Wait()
	release = time.Since(start)
	for _, c := range calls {
		if c.err != nil {
			return 0, 0, 0, c.err
		}
	}
	return took, sums, release, nil
}

func Program(b *harness.Batch) func() error {
	n := b.Int("n", 100, 1, "`calls` that block at one time (the articles name no number)")
	d := b.Duration("d", 300*time.Millisecond, "how `long` to compute without them and next to them")
	return func() error {
		alone := harness.Compute(*d)
		took, beside, release, err := blocked(*n, *d)
		if err == nil {
			b.Result("BenchmarkBlocking %d %.0f ns/op %.3f threads/call %.1f alone-sums/s %.1f beside-sums/s",
				*n, float64(release.Nanoseconds())/float64(*n), max(0, float64(took)/float64(*n)), alone, beside)
		}
		return err
	}
}
