// A service that allocates much and, if told to, waits in the middle of each request, or
// computes next to threads that are always blocked,
// for document 000's one P more than there are CPUs. Its clients, each with one
// request at a time, are goroutines of the same process: what they cost is next to
// nothing, where a load generator would take a CPU.
package headroom

import (
	"fmt"
	"io"
	"os"
	"runtime"
	"time"

	"github.com/procfit/procfit/internal/lab/programs/harness"
)

type record struct {
	id   int
	name string
	tags map[string]*record
	next *record
}

// build makes that many records, each found by its name from the one before it.
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

// answer allocates, waits as if for a database, and reads what it has allocated.
func answer(records int, wait time.Duration) error {
	r := build(records)
	if wait > 0 {
		time.Sleep(wait)
	}
	if got, want := r.sum(), records*(records-1)/2; got != want {
		return fmt.Errorf("%d records sum to %d, want %d", records, got, want)
	}
	return nil
}

// block keeps a thread in blocking calls of the system, reads of a pipe in the kernel and not
// in the runtime's poller, until stop.
func block(each time.Duration, stop <-chan struct{}) error {
	in, out, err := os.Pipe()
	if err != nil {
		return err
	}
	defer in.Close()
	in.Fd() // asked for its descriptor, a file is no longer the poller's
	go func() {
		defer out.Close()
		for {
			select {
			case <-stop:
				return
			case <-time.After(each):
				out.Write([]byte{'x'})
			}
		}
	}()
	var b [1]byte
	for err == nil {
		_, err = in.Read(b[:])
	}
	if err == io.EOF {
		return nil
	}
	return err
}

func Program(b *harness.Batch) func() error {
	clients := b.Int("clients", 64, 1, "`clients`, each with one request at a time (the article's wrk has 64)")
	d := b.Duration("d", 2*time.Second, "how `long`; the article's runs take 10s")
	records := b.Int("records", 200, 1, "that a request allocates (ours: some 90 KB)")
	blocked := b.Flags.Int("blocked", 0, "`threads` that are always in a blocking call of 1ms (the article: one)")
	b.Check(func() bool { return *blocked >= 0 && *blocked <= 100 }, "-blocked must be 0 to 100")
	wait := b.Wait("wait", 0, "how `long` a request waits, as if for a database")
	return func() error {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		stop, ended := make(chan struct{}), make(chan error, *blocked)
		for i := 0; i < *blocked; i++ {
			go func() { ended <- block(time.Millisecond, stop) }()
		}
		took, elapsed, err := harness.Clients(*clients, *d, func() error { return answer(*records, *wait) })
		close(stop)
		for i := 0; i < *blocked; i++ {
			if failed := <-ended; err == nil {
				err = failed
			}
		}
		runtime.ReadMemStats(&after)
		if err != nil {
			return err
		}
		n := float64(len(took))
		b.Result("BenchmarkHeadroom %d %.0f ns/op %d p50-ns %d p99-ns %.0f B/op %d gcs", len(took), float64(elapsed.Nanoseconds())/n,
			harness.Percentile(took, 0.50), harness.Percentile(took, 0.99), float64(after.TotalAlloc-before.TotalAlloc)/n, after.NumGC-before.NumGC)
		return nil
	}
}
