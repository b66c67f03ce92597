// How many threads of the operating system 10,000 goroutines take, after document
// 003: a third sum integers and sleep a millisecond, over and over; a third sleep
// a minute; a third sum random integers. Only those that run need a thread, and
// GOMAXPROCS bounds how many do.
package threads

import (
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/procfit/procfit/internal/lab/programs/harness"
)

// A clock tells all goroutines when to end. Those that compute look at it
// themselves, and one of them counts the threads now and then: with thousands in
// the queue, nobody else gets a turn in time.
type clock struct {
	start, end time.Time
	over       chan struct{}
	once       sync.Once
	next       atomic.Int64 // when to count, in nanoseconds from the start
	most       atomic.Int64
	mu         sync.Mutex
	busy       []int // threads that ran at each count, but for the one that counted
}

// busyThreads counts the other threads of the process that run or wait for a CPU; where the
// kernel has no /proc, none.
func busyThreads() int {
	self, _ := os.Readlink("/proc/thread-self") // PID/task/TID
	states, _ := filepath.Glob("/proc/self/task/*/stat")
	n := 0
	for _, name := range states {
		text, err := os.ReadFile(name)
		_, fields, ok := strings.Cut(string(text), ") ")
		if err == nil && ok && strings.HasPrefix(fields, "R") && filepath.Base(filepath.Dir(name)) != filepath.Base(self) {
			n++
		}
	}
	return n
}

// running is false when the time is over.
func (c *clock) running() bool {
	now := time.Now()
	if next := c.next.Load(); int64(now.Sub(c.start)) >= next && c.next.CompareAndSwap(next, next+int64(100*time.Millisecond)) {
		if n := int64(harness.Threads()); n > c.most.Load() {
			c.most.Store(n)
		}
		n := busyThreads()
		c.mu.Lock()
		c.busy = append(c.busy, n)
		c.mu.Unlock()
	}
	if now.Before(c.end) {
		return true
	}
	c.once.Do(func() { close(c.over) })
	return false
}

// sumAndSleep sums 1 to 1000 and sleeps a millisecond. It returns how often.
func sumAndSleep(c *clock) (rounds, wrong int) {
	for ; c.running(); rounds++ {
		sum := 0
		for i := 1; i <= 1000; i++ {
			sum += i
		}
		if sum != 500_500 {
			wrong++
		}
		time.Sleep(time.Millisecond)
	}
	return rounds, wrong
}

func sleep(c *clock) (rounds, wrong int) {
	for {
		timer := time.NewTimer(time.Minute)
		select {
		case <-timer.C:
			rounds++
		case <-c.over:
			timer.Stop()
			return rounds, 0
		}
	}
}

// sumRandom sums 1000 random integers below 100.
func sumRandom(c *clock) (rounds, wrong int) {
	for ; c.running(); rounds++ {
		sum := 0
		for i := 0; i < 1000; i++ {
			sum += rand.Intn(100)
		}
		if sum < 0 || sum > 99_000 {
			wrong++
		}
	}
	return rounds, wrong
}

func Program(b *harness.Batch) func() error {
	d := b.Duration("d", 5*time.Second, "how `long` (the article does not say)")
	n := b.Int("n", 10_000, 3, "`goroutines` in all; the article's are 10,000")
	return func() error {
		kinds := []func(*clock) (rounds, wrong int){sumAndSleep, sleep, sumRandom}
		rounds, wrong := make([]int, len(kinds)), 0
		c := &clock{over: make(chan struct{})}
		made := make(chan struct{})
		var mu sync.Mutex
		var wg sync.WaitGroup
		before := harness.Threads()
		for i := 0; i < *n; i++ {
			kind := i % len(kinds)
			wg.Add(1)
			go func() {
				defer wg.Done()
				<-made
				r, w := kinds[kind](c)
				mu.Lock()
				defer mu.Unlock()
				rounds[kind], wrong = rounds[kind]+r, wrong+w
			}()
		}
		c.start = time.Now()
		c.end = c.start.Add(*d)
		close(made)
		wg.Wait()
		elapsed := time.Since(c.start)
		if wrong > 0 || rounds[2] == 0 {
			return fmt.Errorf("%d sums are wrong, of %v", wrong, rounds)
		}
		sort.Ints(c.busy)
		b.Result("BenchmarkThreads 1 %d ns/op %d threads-before %d threads-max %d threads-running %.0f sleeping-rounds/s %.0f random-rounds/s",
			elapsed.Nanoseconds(), before, c.most.Load(), c.busy[len(c.busy)/2], float64(rounds[0])/elapsed.Seconds(), float64(rounds[2])/elapsed.Seconds())
		return nil
	}
}
