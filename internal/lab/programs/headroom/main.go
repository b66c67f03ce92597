// A service that allocates much and, if told to, waits in the middle of each request,
// for document 000's one P more or less than there are CPUs. Its clients, each with one
// request at a time, are goroutines of the same process: what they cost is next to
// nothing, where a load generator would take a CPU.
package headroom

import (
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

type record struct {
	id   int
	name string
	tags map[string]*record
	next *record
}

// build makes so many records, each found by its name from the one before it.
func build(records int) *record {
	var first *record
	for i := 0; i < records; i++ {
		r := &record{id: i, name: fmt.Sprintf("record %d", i), next: first}
		if first != nil {
			r.tags = map[string]*record{first.name: first}
		}
		first = r
	}
	return first
}

// sum goes by the names through all records.
func (r *record) sum() int {
	total := 0
	for ; r != nil; r = r.tags[name(r.next)] {
		total += r.id
	}
	return total
}

func name(r *record) string {
	if r == nil {
		return ""
	}
	return r.name
}

// A service answers requests.
type service struct {
	records int
	wait    time.Duration
}

// answer takes a request: it allocates, waits as if for a database, and reads what it
// has allocated. First it goes to the end of the queue, as one from the network would;
// else a client and its requests would keep a P between them.
func (s service) answer() error {
	runtime.Gosched()
	r := build(s.records)
	if s.wait > 0 {
		time.Sleep(s.wait)
	}
	if got, want := r.sum(), s.records*(s.records-1)/2; got != want {
		return fmt.Errorf("%d records sum to %d, want %d", s.records, got, want)
	}
	return nil
}

// client sends requests one after the other until the time is over, and returns how
// long each took.
func client(s service, until time.Time) (took []time.Duration, err error) {
	answered := make(chan error)
	for now := time.Now(); now.Before(until); {
		go func() { answered <- s.answer() }()
		if err := <-answered; err != nil {
			return nil, err
		}
		after := time.Now()
		took = append(took, after.Sub(now))
		now = after
	}
	return took, nil
}

// percentile is of sorted values.
func percentile(sorted []time.Duration, p float64) int64 {
	return sorted[int(p*float64(len(sorted)-1))].Nanoseconds()
}

// Main runs the program.
func Main(args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("headroom", flag.ContinueOnError)
	flags.SetOutput(stderr)
	clients := flags.Int("clients", 64, "`clients`, each with one request at a time (the document's wrk has 64)")
	d := flags.Duration("d", 2*time.Second, "how `long`; the document's runs take 10s")
	records := flags.Int("records", 200, "that a request allocates (ours: some 90 KB)")
	wait := flags.Duration("wait", 0, "how `long` a request waits, as if for a database")
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		return 2
	case flags.NArg() > 0:
		fmt.Fprintf(stderr, "headroom: %q: want flags only\n", flags.Arg(0))
		return 2
	}
	if *clients < 1 || *records < 1 || *d <= 0 || *wait < 0 {
		fmt.Fprintln(stderr, "headroom: -clients and -records must be at least 1, -d more than 0, -wait not negative")
		return 2
	}
	log.New(stderr, "", log.LstdFlags).Printf("headroom: GOMAXPROCS=%d NumCPU=%d Version=%s",
		runtime.GOMAXPROCS(0), runtime.NumCPU(), runtime.Version())

	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	var mu sync.Mutex
	var all []time.Duration
	var failed error
	var wg sync.WaitGroup
	start := time.Now()
	for c := 0; c < *clients; c++ {
		wg.Add(1)
		go func() {
			defer wg.Done()
			took, err := client(service{*records, *wait}, start.Add(*d))
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				failed = err
			}
			all = append(all, took...)
		}()
	}
	wg.Wait()
	elapsed := time.Since(start)
	runtime.ReadMemStats(&after)
	if failed != nil {
		fmt.Fprintf(stderr, "headroom: %v\n", failed)
		return 1
	}
	slices.Sort(all)
	n := float64(len(all))
	fmt.Fprintf(stdout, "BenchmarkHeadroom %d %.0f ns/op %d p50-ns %d p99-ns %.0f B/op %d gcs\n", len(all),
		float64(elapsed.Nanoseconds())/n, percentile(all, 0.50), percentile(all, 0.99), float64(after.TotalAlloc-before.TotalAlloc)/n, after.NumGC-before.NumGC)
	return 0
}

func main() {
	os.Exit(Main(os.Args[1:], os.Stdout, os.Stderr))
}
