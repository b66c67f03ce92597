// The chain of document 002 over buffered channels: 100 goroutines pass a number
// from one end to the other, one number at a time. A send into an empty buffer
// does not wait for the receiver, so the sender runs on beside the goroutine
// that it woke, if only to find that there is nothing more to do.
package chainbuf

import (
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"runtime"
	"time"
)

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

// Main runs the program. It keeps to Go 1.2.
func Main(args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("chainbuf", flag.ContinueOnError)
	flags.SetOutput(stderr)
	goroutines := flags.Int("goroutines", 100, "length of the chain; the document's is 100")
	buffer := flags.Int("buffer", 1, "`messages` that a channel holds; the document does not say")
	n := flags.Int("n", 50000, "`messages`, one after the other (0.8 s at 16 µs; the document does not say)")
	switch err := flags.Parse(args); {
	case err == flag.ErrHelp:
		return 0
	case err != nil:
		return 2
	case flags.NArg() > 0:
		fmt.Fprintf(stderr, "chainbuf: %q: want flags only\n", flags.Arg(0))
		return 2
	}
	if *goroutines < 1 || *buffer < 1 || *n < 1 {
		fmt.Fprintln(stderr, "chainbuf: -goroutines, -buffer and -n must be at least 1")
		return 2
	}
	log.New(stderr, "", log.LstdFlags).Printf("chainbuf: GOMAXPROCS=%d NumCPU=%d Version=%s",
		runtime.GOMAXPROCS(0), runtime.NumCPU(), runtime.Version())

	first := make(chan int, *buffer)
	last := first
	for i := 0; i < *goroutines; i++ {
		next := make(chan int, *buffer)
		go link(last, next)
		last = next
	}
	code := 0
	start := time.Now()
	for i := 0; i < *n; i++ {
		first <- i
		if got := <-last; got != i+*goroutines {
			fmt.Fprintf(stderr, "chainbuf: message %d came out as %d, want %d\n", i, got, i+*goroutines)
			code = 1
			break
		}
	}
	elapsed := time.Since(start)
	close(first)
	<-last // closed too, once every goroutine has ended
	if code == 0 {
		fmt.Fprintf(stdout, "BenchmarkChainBuf %d %.1f ns/op\n", *n, float64(elapsed.Nanoseconds())/float64(*n))
	}
	return code
}

func main() {
	os.Exit(Main(os.Args[1:], os.Stdout, os.Stderr))
}
