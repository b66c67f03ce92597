// The tight loop of document 001, next to a goroutine that must still run. With
// one P the loop holds the only place to run Go code. Since Go 1.14 a signal
// takes it away; before, nothing does, and the goroutine never runs again. With
// a second P, or GODEBUG=asyncpreemptoff=1 to bring the old ways back, the
// difference shows in any version. A second P does not help where a collection
// starts, as it does in most programs sooner or later: for that every P must stop, and
// the loop does not. -collect starts one.
//
// With -steps there are two such loops instead, which end by themselves: how long one of
// them has the P until the other one takes its turn is what the runtime lets a goroutine
// run. Where nothing takes the P away, each loop has one turn.
//
// It never gives up by itself: where it hangs no part of the process can run,
// not even a timer, so whoever starts it must kill it. Started alone with
// -timeout, it starts itself a second time and does that.
package preempt

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"sync/atomic"
	"time"

	"github.com/procfit/procfit/internal/lab/programs/harness"
)

type options struct {
	delay, timeout *time.Duration
	collect        *bool
	steps          *int
}

func define(b *harness.Batch) options {
	return options{
		b.Wait("d", time.Second, "how long the goroutine sleeps while the loop spins; the article's is 1s"),
		b.Wait("timeout", 0, "kill the program when the goroutine has not run this long after it was due; 0: never.\nOnly when it is started alone: in procfit's own process nobody could"),
		b.Flags.Bool("collect", false, "have the goroutine begin a garbage collection once it runs, for which the loop must stop"),
		b.Int("steps", 0, 0, "run two tight loops of that many `steps` instead, and count their turns; 0: do not"),
	}
}

// spin is the tight loop. It calls nothing that the compiler does not expand in
// place, so it has no point at which it could yield.
func spin(started, stop *int32) {
	atomic.StoreInt32(started, 1)
	for atomic.LoadInt32(stop) == 0 {
	}
}

// turns has two tight loops run until each has done its steps, and returns how often the P
// passed from one to the other, the start of the first one among them.
func turns(steps int) (elapsed time.Duration, n int) {
	var last int32
	ended := make(chan int)
	start := time.Now()
	for loop := int32(1); loop <= 2; loop++ {
		go func(loop int32) {
			mine := 0
			for i := 0; i < steps; i++ {
				if atomic.LoadInt32(&last) != loop {
					atomic.StoreInt32(&last, loop)
					mine++
				}
			}
			ended <- mine
		}(loop)
	}
	n = <-ended
	n += <-ended
	return time.Since(start), n
}

// Program is the program as a part of another. It keeps to Go 1.2.
func Program(b *harness.Batch) func() error {
	o := define(b)
	return func() error { return o.run(b) }
}

func (o options) run(b *harness.Batch) error {
	// Before a collection all goroutines must stop, which the loop may not: but for
	// this, Go 1.2 now and then hangs with two Ps without being asked to.
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	if *o.steps > 0 {
		elapsed, n := turns(*o.steps)
		b.Result("BenchmarkPreempt/turns 1 %d ns/op %d turns", elapsed.Nanoseconds()/int64(n), n)
		return nil
	}
	var started, stop int32
	defer atomic.StoreInt32(&stop, 1)
	go spin(&started, &stop)
	for atomic.LoadInt32(&started) == 0 {
		runtime.Gosched()
	}
	due := time.Now().Add(*o.delay)
	time.Sleep(*o.delay)
	if *o.collect {
		debug.SetGCPercent(100) // up to Go 1.5 runtime.GC collects nothing without
		runtime.GC()
	}
	late := time.Since(due)
	fmt.Fprintf(b.Stderr, "preempt: the goroutine ran, %v after it was due\n", late)
	b.Result("BenchmarkPreempt 1 %d ns/op", late.Nanoseconds())
	return nil
}

// watched runs the program as a process of its own and kills it when it hangs.
func (o options) watched() error {
	args := []string{"-d", o.delay.String()}
	if *o.collect {
		args = append(args, "-collect")
	}
	cmd := exec.Command(os.Args[0], args...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start it again to watch it: %v", err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	select {
	case err := <-ended:
		return err
	case <-time.After(*o.delay + *o.timeout):
		cmd.Process.Kill()
		<-ended
		return fmt.Errorf("hung: the goroutine has not run %v after it was due", *o.timeout)
	}
}

// alone is the program started by itself.
func alone(b *harness.Batch) func() error {
	o := define(b)
	b.Instead = func() (bool, error) {
		if *o.timeout == 0 || *o.steps > 0 {
			return false, nil
		}
		return true, o.watched()
	}
	return func() error { return o.run(b) }
}

func main() { harness.Main("preempt", alone) }
