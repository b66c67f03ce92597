// What a switch between two goroutines costs in one thread and between two threads, after
// document 002's reason for the old default of 1. Two goroutines hand a message back and
// forth. First both may run in any thread, and with one P they share one; then each is
// locked to a thread of its own, so that every hand-over wakes one thread and puts the other
// to sleep. The kernel counts how often a thread went to sleep.
package handoff

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/procfit/procfit/internal/lab/programs/harness"
)

// sleeps counts how often threads of the process waited since they were made; -1 where the
// kernel does not say.
func sleeps() int {
	const name = "voluntary_ctxt_switches:"
	files, _ := filepath.Glob("/proc/self/task/*/status")
	n := -1
	for _, file := range files {
		text, err := os.ReadFile(file)
		_, value, ok := strings.Cut(string(text), "\n"+name)
		value, _, _ = strings.Cut(value, "\n")
		if count, errCount := strconv.Atoi(strings.TrimSpace(value)); err == nil && ok && errCount == nil {
			n = max(n, 0) + count
		}
	}
	return n
}

// pass hands a message back and forth n times, in the goroutines' own threads or in any.
func pass(n int, own bool) (elapsed time.Duration, slept int, err error) {
	there, back := make(chan int), make(chan int)
	lock := func() {
		if own {
			runtime.LockOSThread()
		}
	}
	go func() {
		lock() // until it ends, and its thread with it
		for m := range there {
			back <- m + 1
		}
		close(back)
	}()
	lock()
	if own {
		defer runtime.UnlockOSThread()
	}
	before, start := sleeps(), time.Now()
	for i := 0; i < n && err == nil; i++ {
		there <- i
		if m := <-back; m != i+1 {
			err = fmt.Errorf("message %d came back as %d", i, m)
		}
	}
	elapsed, slept = time.Since(start), sleeps()-before
	if before < 0 {
		slept = -1
	}
	close(there)
	<-back
	return elapsed, slept, err
}

func Program(b *harness.Batch) func() error {
	n := b.Int("n", 1_000_000, 1, "`messages` in one thread, each there and back; the article names no program")
	threads := b.Int("threads", 20_000, 1, "`messages` between two threads")
	return func() error {
		for _, line := range []struct {
			name string
			n    int
			own  bool
		}{{"goroutines", *n, false}, {"threads", *threads, true}} {
			elapsed, slept, err := pass(line.n, line.own)
			if err != nil {
				return err
			}
			text := fmt.Sprintf("BenchmarkHandoff/%s %d %.1f ns/op", line.name, 2*line.n, float64(elapsed.Nanoseconds())/float64(2*line.n))
			if slept >= 0 {
				text += fmt.Sprintf(" %.4f sleeps/op", float64(slept)/float64(2*line.n))
			}
			b.Result("%s", text)
		}
		return nil
	}
}
