// Calls of the system that block, which document 003 says "do not count against the
// GOMAXPROCS limit": goroutines read pipes that nobody writes yet, in the kernel and not
// in the runtime's poller. Each takes a thread. Beside them one goroutine for each P
// computes, and before that without them.
package blocking

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"runtime"
	"runtime/pprof"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// threads counts those that exist: as the kernel sees them, and where it has no /proc,
// those that the runtime has ever made.
func threads() int {
	status, err := os.ReadFile("/proc/self/status")
	if err == nil {
		for _, line := range strings.Split(string(status), "\n") {
			if value, ok := strings.CutPrefix(line, "Threads:"); ok {
				if n, err := strconv.Atoi(strings.TrimSpace(value)); err == nil {
					return n
				}
			}
		}
	}
	return pprof.Lookup("threadcreate").Count()
}

// compute sums with a goroutine for each P for so long, and returns sums a second.
func compute(d time.Duration) float64 {
	var sums atomic.Int64
	var wg sync.WaitGroup
	start := time.Now()
	for p := 0; p < runtime.GOMAXPROCS(0); p++ {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for time.Since(start) < d {
				sum := 0
				for i := 0; i < 100_000; i++ {
					sum += i % 13
				}
				if sum > 0 {
					sums.Add(1)
				}
			}
		}()
	}
	wg.Wait()
	return float64(sums.Load()) / time.Since(start).Seconds()
}

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

// blocked makes so many calls and returns how many threads they took, what was computed
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
	before := threads()
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
	sums = compute(d)
	took = threads() - before
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

// Main runs the program.
func Main(args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("blocking", flag.ContinueOnError)
	flags.SetOutput(stderr)
	n := flags.Int("n", 100, "`calls` that block at one time (the documents name no number)")
	d := flags.Duration("d", 300*time.Millisecond, "how `long` to compute without and beside them")
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		return 2
	case flags.NArg() > 0:
		fmt.Fprintf(stderr, "blocking: %q: want flags only\n", flags.Arg(0))
		return 2
	}
	if *n < 1 || *d <= 0 {
		fmt.Fprintln(stderr, "blocking: -n must be at least 1, -d more than 0")
		return 2
	}
	log.New(stderr, "", log.LstdFlags).Printf("blocking: GOMAXPROCS=%d NumCPU=%d Version=%s",
		runtime.GOMAXPROCS(0), runtime.NumCPU(), runtime.Version())

	alone := compute(*d)
	took, beside, release, err := blocked(*n, *d)
	if err != nil {
		fmt.Fprintf(stderr, "blocking: %v\n", err)
		return 1
	}
	fmt.Fprintf(stdout, "BenchmarkBlocking %d %.0f ns/op %.3f threads/call %.1f alone-sums/s %.1f beside-sums/s\n",
		*n, float64(release.Nanoseconds())/float64(*n), max(0, float64(took)/float64(*n)), alone, beside)
	return 0
}

func main() {
	os.Exit(Main(os.Args[1:], os.Stdout, os.Stderr))
}
