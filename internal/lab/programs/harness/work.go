package harness

import (
	"crypto/sha256"
	"fmt"
	"os"
	"runtime"
	"runtime/pprof"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Together runs n goroutines and returns how long it took until all had ended.
func Together(n int, run func(goroutine int)) time.Duration {
	var wg sync.WaitGroup
	start := time.Now()
	for i := 0; i < n; i++ {
		wg.Add(1)
		go func(i int) {
			defer wg.Done()
			run(i)
		}(i)
	}
	wg.Wait()
	return time.Since(start)
}

// Try is Together for what may fail; the error is the first one.
func Try(n int, run func() error) (time.Duration, error) {
	failed := make(chan error, n)
	elapsed := Together(n, func(int) {
		if err := run(); err != nil {
			failed <- err
		}
	})
	if len(failed) > 0 {
		return elapsed, fmt.Errorf("%d of %d goroutines failed: %w", len(failed), n, <-failed)
	}
	return elapsed, nil
}

// Take has that many workers do n tasks, each worker the next one that is left.
func Take(workers, n int, task func(i int) error) (time.Duration, error) {
	var taken atomic.Int64
	return Try(workers, func() error {
		for i := taken.Add(1) - 1; i < int64(n); i = taken.Add(1) - 1 {
			if err := task(int(i)); err != nil {
				return err
			}
		}
		return nil
	})
}

// Share has that many goroutines do n steps in all, each its part of them.
func Share(goroutines, n int, run func(goroutine, part int)) time.Duration {
	return Together(goroutines, func(g int) {
		part := n / goroutines
		if g < n%goroutines {
			part++
		}
		run(g, part)
	})
}

// Compute computes with a goroutine for each P, and returns sums per second.
func Compute(d time.Duration) float64 {
	var sums atomic.Int64
	start := time.Now()
	Together(runtime.GOMAXPROCS(0), func(int) {
		for time.Since(start) < d {
			sum := 0
			for i := 0; i < 100_000; i++ {
				sum += i % 13
			}
			if sum > 0 {
				sums.Add(1)
			}
		}
	})
	return float64(sums.Load()) / time.Since(start).Seconds()
}

// Sum adds that many numbers from 0 to 12, and reports whether the sum is right.
func Sum(steps int) bool {
	sum := int64(0)
	for i := 0; i < steps; i++ {
		sum += int64(i % 13)
	}
	rounds, rest := int64(steps/13), int64(steps%13)
	return sum == rounds*(12*13/2)+rest*(rest-1)/2
}

// Shift is the result of that number of steps of xorshift. Each step needs the one before.
func Shift(steps int64) uint64 {
	x := uint64(88172645463325252)
	for i := int64(0); i < steps; i++ {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
	}
	return x
}

// Hash is the SHA-256 of a number of blocks, each of 4096 zero bytes.
func Hash(blocks int) [sha256.Size]byte {
	hash, block := sha256.New(), make([]byte, 4096)
	for i := 0; i < blocks; i++ {
		hash.Write(block)
	}
	return [sha256.Size]byte(hash.Sum(nil))
}

// A Tally counts what goroutines do until a time: a million steps of Sum or a wait of
// 10 ms, again and again.
type Tally struct {
	mu           sync.Mutex
	Sums, Sleeps int
	Slept        time.Duration
	wrong        int
}

func (t *Tally) Compute(until time.Time) {
	sums, wrong := 0, 0
	for ; time.Now().Before(until); sums++ {
		if !Sum(1_000_000) {
			wrong++
		}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.Sums, t.wrong = t.Sums+sums, t.wrong+wrong
}

func (t *Tally) Wait(until time.Time) {
	sleeps, slept := 0, time.Duration(0)
	for now := time.Now(); now.Before(until); sleeps++ {
		time.Sleep(10 * time.Millisecond)
		after := time.Now()
		slept, now = slept+after.Sub(now), after
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.Sleeps, t.Slept = t.Sleeps+sleeps, t.Slept+slept
}

// Run has that many goroutines compute and that many wait, and returns how long that took.
func (t *Tally) Run(computing, waiting int, d time.Duration) (time.Duration, error) {
	until := time.Now().Add(d)
	elapsed := Together(computing+waiting, func(g int) {
		if g < computing {
			t.Compute(until)
		} else {
			t.Wait(until)
		}
	})
	if t.wrong > 0 {
		return elapsed, fmt.Errorf("%d of %d sums are wrong", t.wrong, t.Sums)
	}
	return elapsed, nil
}

// Clients send requests for so long, each one at a time and at least one, and return how
// long the requests took, sorted. Each request is a goroutine that goes to the end of the
// queue first, as a request from the network does; otherwise a client and its requests
// would keep a P between them.
func Clients(clients int, d time.Duration, answer func() error) (took []time.Duration, elapsed time.Duration, err error) {
	var mu sync.Mutex
	until := time.Now().Add(d)
	elapsed, err = Try(clients, func() error {
		var own []time.Duration
		answered := make(chan error)
		for now := time.Now(); len(own) == 0 || now.Before(until); {
			go func() {
				runtime.Gosched()
				answered <- answer()
			}()
			if err := <-answered; err != nil {
				return err
			}
			after := time.Now()
			own, now = append(own, after.Sub(now)), after
		}
		mu.Lock()
		defer mu.Unlock()
		took = append(took, own...)
		return nil
	})
	slices.Sort(took)
	return took, elapsed, err
}

// Percentile is of sorted values, in nanoseconds.
func Percentile(sorted []time.Duration, p float64) int64 {
	return sorted[int(p*float64(len(sorted)-1))].Nanoseconds()
}

// link passes on what it gets, one more.
func link(left <-chan int, right chan<- int) {
	for {
		n, ok := <-left
		if !ok {
			close(right)
			return
		}
		right <- n + 1
	}
}

// Chain sends messages, one after the other, through goroutines that channels of a size
// join, and returns how long that took. It keeps to Go 1.2.
func Chain(goroutines, buffer, messages int) (elapsed time.Duration, err error) {
	first := make(chan int, buffer)
	last := first
	for i := 0; i < goroutines; i++ {
		next := make(chan int, buffer)
		go link(last, next)
		last = next
	}
	start := time.Now()
	for i := 0; i < messages && err == nil; i++ {
		first <- i
		if got := <-last; got != i+goroutines {
			err = fmt.Errorf("message %d came out as %d, expected %d", i, got, i+goroutines)
		}
	}
	elapsed = time.Since(start)
	close(first)
	<-last // closed too, once every goroutine has ended
	return elapsed, err
}

// ProcLine is the value of a line of a file in /proc/self, empty where there is none.
func ProcLine(file, name string) string {
	text, err := os.ReadFile("/proc/self/" + file)
	if err != nil {
		return ""
	}
	for _, line := range strings.Split(string(text), "\n") {
		if value, ok := strings.CutPrefix(line, name); ok {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// Threads counts those that exist: as the kernel sees them, and where it has no /proc,
// those that the runtime has ever made.
func Threads() int {
	if n, err := strconv.Atoi(ProcLine("status", "Threads:")); err == nil {
		return n
	}
	return pprof.Lookup("threadcreate").Count()
}
