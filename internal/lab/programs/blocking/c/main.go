// Calls of C that block, for document 000's "my code calls C and blocks": goroutines
// call a C function that sleeps, first once and long, which takes a thread for each, and
// then a millisecond, over and over. The runtime takes the P of a call away only when it
// looks for such, so that short calls can hold what others wait for.
//
// It needs a C compiler: CGO_ENABLED=1 go build.
package main

// #include <errno.h>
// #include <time.h>
//
// static int nap(unsigned microseconds) {
// 	struct timespec left = {microseconds / 1000000, microseconds % 1000000 * 1000L};
// 	int failed;
// 	do { // a signal, such as the runtime's of preemption, ends a sleep early
// 		failed = nanosleep(&left, &left);
// 	} while (failed && errno == EINTR);
// 	return failed;
// }
import "C"

import (
	"flag"
	"fmt"
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

// sleep is the call.
func sleep(d time.Duration) error {
	if code := C.nap(C.uint(d.Microseconds())); code != 0 {
		return fmt.Errorf("nanosleep returned %d", code)
	}
	return nil
}

// each has n goroutines call until they say that it is enough.
func each(n int, call func() (more bool, err error)) error {
	failed := make(chan error, n)
	var wg sync.WaitGroup
	for i := 0; i < n; i++ {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for {
				more, err := call()
				if err != nil {
					failed <- err
				}
				if err != nil || !more {
					return
				}
			}
		}()
	}
	wg.Wait()
	close(failed)
	return <-failed
}

func measure(n int, d time.Duration) error {
	before, most := threads(), 0
	var looked sync.WaitGroup
	looked.Add(1)
	time.AfterFunc(d/2, func() {
		defer looked.Done()
		most = threads()
	})
	if err := each(n, func() (bool, error) { return false, sleep(d) }); err != nil {
		return err
	}
	looked.Wait()

	var calls atomic.Int64
	start := time.Now()
	if err := each(n, func() (bool, error) {
		calls.Add(1)
		return time.Since(start) < d, sleep(time.Millisecond)
	}); err != nil {
		return err
	}
	elapsed := time.Since(start)
	fmt.Printf("BenchmarkCalls %d %.0f ns/op %.3f threads/call %.1f calls/s\n",
		calls.Load(), float64(elapsed.Nanoseconds())/float64(calls.Load()), float64(most-before)/float64(n), float64(calls.Load())/elapsed.Seconds())
	return nil
}

func main() {
	n := flag.Int("n", 100, "`goroutines` that call at one time (the documents name no number)")
	d := flag.Duration("d", 300*time.Millisecond, "how `long` the long call takes, and the short ones are repeated")
	if flag.Parse(); flag.NArg() > 0 {
		fmt.Fprintf(os.Stderr, "blocking: %q: want flags only\n", flag.Arg(0))
		os.Exit(2)
	}
	if *n < 1 || *d < 10*time.Millisecond {
		fmt.Fprintln(os.Stderr, "blocking: -n must be at least 1, -d at least 10ms")
		os.Exit(2)
	}
	log.Printf("blocking: GOMAXPROCS=%d NumCPU=%d Version=%s", runtime.GOMAXPROCS(0), runtime.NumCPU(), runtime.Version())
	if err := measure(*n, *d); err != nil {
		fmt.Fprintf(os.Stderr, "blocking: %v\n", err)
		os.Exit(1)
	}
}
