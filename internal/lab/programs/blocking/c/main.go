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
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/procfit/procfit/internal/lab/programs/harness"
)

// sleep is the call.
func sleep(d time.Duration) error {
	if code := C.nap(C.uint(d.Microseconds())); code != 0 {
		return fmt.Errorf("nanosleep returned %d", code)
	}
	return nil
}

// each has n goroutines call until they say that it is enough.
func each(n int, call func() (more bool, err error)) error {
	_, err := harness.Try(n, func() (err error) {
		for more := true; more && err == nil; {
			more, err = call()
		}
		return err
	})
	return err
}

func measure(b *harness.Batch, n int, d time.Duration) error {
	before, most := harness.Threads(), 0
	var counted sync.WaitGroup
	counted.Add(1)
	time.AfterFunc(d/2, func() {
		defer counted.Done()
		most = harness.Threads()
	})
	if err := each(n, func() (bool, error) { return false, sleep(d) }); err != nil {
		return err
	}
	counted.Wait()

	var calls atomic.Int64
	start := time.Now()
	if err := each(n, func() (bool, error) {
		calls.Add(1)
		return time.Since(start) < d, sleep(time.Millisecond)
	}); err != nil {
		return err
	}
	elapsed := time.Since(start)
	b.Result("BenchmarkCalls %d %.0f ns/op %.3f threads/call %.1f calls/s",
		calls.Load(), float64(elapsed.Nanoseconds())/float64(calls.Load()), float64(most-before)/float64(n), float64(calls.Load())/elapsed.Seconds())
	return nil
}

func program(b *harness.Batch) func() error {
	n := b.Int("n", 100, 1, "`goroutines` that call at one time (the articles name no number)")
	d := b.Duration("d", 300*time.Millisecond, "how `long` the long call takes, and the short ones are repeated")
	b.Check(func() bool { return *d >= 10*time.Millisecond }, "-d must be at least 10ms")
	return func() error { return measure(b, *n, *d) }
}

func main() { harness.Main("blocking", program) }
