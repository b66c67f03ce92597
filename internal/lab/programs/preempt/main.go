// The tight loop of document 001, beside a goroutine that must still run. With
// one P the loop holds the only place to run Go code. Since Go 1.14 a signal
// takes it away; before, nothing does, and the goroutine never runs again. With
// a second P, or GODEBUG=asyncpreemptoff=1 to bring the old ways back, the
// difference shows in any version. A second P does not help where a collection
// begins, as it does in most programs sooner or later: for that every P must stop, and
// the loop does not. -collect begins one.
//
// It never gives up by itself: where it hangs no part of the process can run,
// not even a timer, so whoever starts it must kill it. Started alone with
// -timeout, it starts itself a second time and does that.
package preempt

import (
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"sync/atomic"
	"time"
)

type options struct {
	delay, timeout time.Duration
	collect        bool
}

func parse(args []string, stderr io.Writer) (o options, code int, done bool) {
	flags := flag.NewFlagSet("preempt", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.DurationVar(&o.delay, "d", time.Second, "how long the goroutine sleeps while the loop spins; the document's is 1s")
	flags.DurationVar(&o.timeout, "timeout", 0, "kill the program when the goroutine has not run this long after it was due; 0: never.\nOnly when it is started alone: in procfit's own process nobody could")
	flags.BoolVar(&o.collect, "collect", false, "have the goroutine begin a garbage collection once it runs, for which the loop must stop")
	switch err := flags.Parse(args); {
	case err == flag.ErrHelp:
		return o, 0, true
	case err != nil:
		return o, 2, true
	case flags.NArg() > 0:
		fmt.Fprintf(stderr, "preempt: %q: want flags only\n", flags.Arg(0))
		return o, 2, true
	case o.delay < 0 || o.timeout < 0:
		fmt.Fprintln(stderr, "preempt: -d and -timeout must not be negative")
		return o, 2, true
	}
	return o, 0, false
}

// spin is the tight loop. It calls nothing that the compiler does not expand in
// place, so it has no point at which it could yield.
func spin(started, stop *int32) {
	atomic.StoreInt32(started, 1)
	for atomic.LoadInt32(stop) == 0 {
	}
}

// Main runs the program. It keeps to Go 1.2.
func Main(args []string, stdout, stderr io.Writer) int {
	o, code, done := parse(args, stderr)
	if done {
		return code
	}
	log.New(stderr, "", log.LstdFlags).Printf("preempt: GOMAXPROCS=%d NumCPU=%d Version=%s",
		runtime.GOMAXPROCS(0), runtime.NumCPU(), runtime.Version())
	// Before a collection all goroutines must stop, which the loop may not: but for
	// this, Go 1.2 now and then hangs with two Ps without being asked to.
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	var started, stop int32
	defer atomic.StoreInt32(&stop, 1)
	go spin(&started, &stop)
	for atomic.LoadInt32(&started) == 0 {
		runtime.Gosched()
	}
	due := time.Now().Add(o.delay)
	time.Sleep(o.delay)
	if o.collect {
		debug.SetGCPercent(100) // up to Go 1.5 runtime.GC collects nothing without
		runtime.GC()
	}
	late := time.Now().Sub(due)
	fmt.Fprintf(stderr, "preempt: the goroutine ran, %v after it was due\n", late)
	fmt.Fprintf(stdout, "BenchmarkPreempt 1 %d ns/op\n", late.Nanoseconds())
	return 0
}

// watched runs the program as a process of its own and kills it when it hangs.
func watched(o options) int {
	args := []string{"-d", o.delay.String()}
	if o.collect {
		args = append(args, "-collect")
	}
	cmd := exec.Command(os.Args[0], args...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	if err := cmd.Start(); err != nil {
		fmt.Fprintf(os.Stderr, "preempt: start it again to watch it: %v\n", err)
		return 1
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	select {
	case err := <-ended:
		if err != nil {
			fmt.Fprintf(os.Stderr, "preempt: %v\n", err)
			return 1
		}
		return 0
	case <-time.After(o.delay + o.timeout):
		cmd.Process.Kill()
		<-ended
		fmt.Fprintf(os.Stderr, "preempt: hung: the goroutine has not run %v after it was due\n", o.timeout)
		return 1
	}
}

func main() {
	o, code, done := parse(os.Args[1:], os.Stderr)
	switch {
	case done:
	case o.timeout > 0:
		code = watched(o)
	default:
		code = Main(os.Args[1:], os.Stdout, os.Stderr)
	}
	os.Exit(code)
}
