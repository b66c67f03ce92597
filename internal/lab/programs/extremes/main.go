// Requests that only compute, as document 000's server does, for a number of Ps far
// beyond the CPUs: what they serve, how long the slowest take, and what memory the Ps
// cost. The clients, each with one request at a time, are goroutines of the same
// process, so that there is no load generator to share the CPUs with.
package extremes

import (
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"runtime"
	"slices"
	"sync"
	"time"
)

// answer hashes so many blocks of 4096 zero bytes. First it goes to the end of the
// queue, as a request from the network would; else a client and its requests would keep
// a P between them.
func answer(blocks int) [sha256.Size]byte {
	runtime.Gosched()
	hash, block := sha256.New(), make([]byte, 4096)
	for i := 0; i < blocks; i++ {
		hash.Write(block)
	}
	return [sha256.Size]byte(hash.Sum(nil))
}

// client sends requests one after the other until the time is over, and returns how
// long each took and how many answers were wrong.
func client(blocks int, want [sha256.Size]byte, until time.Time) (took []time.Duration, wrong int) {
	answered := make(chan [sha256.Size]byte)
	for now := time.Now(); now.Before(until); {
		go func() { answered <- answer(blocks) }()
		if <-answered != want {
			wrong++
		}
		after := time.Now()
		took = append(took, after.Sub(now))
		now = after
	}
	return took, wrong
}

// percentile is of sorted values.
func percentile(sorted []time.Duration, p float64) int64 {
	return sorted[int(p*float64(len(sorted)-1))].Nanoseconds()
}

// Main runs the program.
func Main(args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("extremes", flag.ContinueOnError)
	flags.SetOutput(stderr)
	clients := flags.Int("clients", 64, "`clients`, each with one request at a time (the document's wrk has 64)")
	d := flags.Duration("d", 2*time.Second, "how `long`; the document's runs take 10s")
	blocks := flags.Int("blocks", 64, "of 4096 bytes that a request hashes; the document's are 64")
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		return 2
	case flags.NArg() > 0:
		fmt.Fprintf(stderr, "extremes: %q: want flags only\n", flags.Arg(0))
		return 2
	}
	if *clients < 1 || *blocks < 1 || *d <= 0 {
		fmt.Fprintln(stderr, "extremes: -clients and -blocks must be at least 1, -d more than 0")
		return 2
	}
	log.New(stderr, "", log.LstdFlags).Printf("extremes: GOMAXPROCS=%d NumCPU=%d Version=%s",
		runtime.GOMAXPROCS(0), runtime.NumCPU(), runtime.Version())

	want := answer(*blocks)
	var mu sync.Mutex
	var all []time.Duration
	wrong := 0
	var wg sync.WaitGroup
	start := time.Now()
	for c := 0; c < *clients; c++ {
		wg.Add(1)
		go func() {
			defer wg.Done()
			took, w := client(*blocks, want, start.Add(*d))
			mu.Lock()
			defer mu.Unlock()
			all, wrong = append(all, took...), wrong+w
		}()
	}
	wg.Wait()
	elapsed := time.Since(start)
	if wrong > 0 {
		fmt.Fprintf(stderr, "extremes: %d of %d answers are wrong\n", wrong, len(all))
		return 1
	}
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	slices.Sort(all)
	fmt.Fprintf(stdout, "BenchmarkExtremes %d %.0f ns/op %d p50-ns %d p99-ns %d memory-B %d mcache-B\n", len(all),
		float64(elapsed.Nanoseconds())/float64(len(all)), percentile(all, 0.50), percentile(all, 0.99), memory.Sys-memory.HeapReleased, memory.MCacheInuse)
	return 0
}

func main() {
	os.Exit(Main(os.Args[1:], os.Stdout, os.Stderr))
}
