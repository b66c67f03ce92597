// One goroutine that allocates, for document 002's "single-goroutine programs can
// improve by raising GOMAXPROCS due to parallelism of the runtime, especially the
// garbage collector", and what the collector took of it: CPUs, pauses, and after which
// of its cycles the heap was as large as it came to be.
package gc

import (
	"fmt"
	"math"
	"runtime"
	"runtime/metrics"
	"sort"
	"time"

	"github.com/procfit/procfit/internal/lab/programs/harness"
)

type node struct {
	left, right *node
	payload     [4]int64
}

// nodes are those of a tree: about 6 KB.
const nodes = 127

func tree(nodes int) *node {
	if nodes == 0 {
		return nil
	}
	return &node{left: tree(nodes / 2), right: tree(nodes / 2), payload: [4]int64{1, int64(nodes)}}
}

// count goes through a tree, as whoever reads what it allocated does.
func (n *node) count() int64 {
	if n == nil {
		return 0
	}
	return n.payload[0] + n.left.count() + n.right.count()
}

const (
	cycles = "/gc/cycles/total:gc-cycles"
	goal   = "/gc/heap/goal:bytes"
	cpu    = "/cpu/classes/gc/total:cpu-seconds"
)

// A record is what became of the collector. The runtime adds up its CPU time as a
// cycle ends, so all is reported up to the end of the last one.
type record struct {
	samples      []metrics.Sample
	began, ended time.Time
	cpu          float64 // seconds
	seen         uint64  // cycles
	goals        []float64
	before       runtime.MemStats
}

func newRecord() *record {
	r := &record{samples: []metrics.Sample{{Name: cycles}, {Name: goal}, {Name: cpu}}}
	runtime.GC() // what was allocated before is not of this run
	metrics.Read(r.samples)
	runtime.ReadMemStats(&r.before)
	r.seen, r.cpu, r.began = r.samples[0].Value.Uint64(), r.samples[2].Value.Float64(), time.Now()
	r.ended = r.began
	return r
}

// look notes a cycle that has ended.
func (r *record) look() {
	metrics.Read(r.samples)
	if n := r.samples[0].Value.Uint64(); n > r.seen {
		r.seen, r.ended = n, time.Now()
		r.goals = append(r.goals, float64(r.samples[1].Value.Uint64()))
	}
}

// settled is the first cycle after which the goal of the heap was within 10% of what it
// came to, the median of the second half of the cycles. What is allocated while the
// collector marks makes single ones stray.
func (r *record) settled() int {
	half := append([]float64(nil), r.goals[len(r.goals)/2:]...)
	sort.Float64s(half)
	steady := half[len(half)/2]
	at := 0
	for at < len(r.goals) && math.Abs(r.goals[at]/steady-1) > 0.1 {
		at++
	}
	return at + 1
}

// pauses are the mean and the longest of the cycles' pauses, of which the runtime
// keeps the last 256.
func (r *record) pauses() (mean, longest float64) {
	var after runtime.MemStats
	runtime.ReadMemStats(&after)
	n := after.NumGC - r.before.NumGC
	for i := uint32(0); i < n && i < uint32(len(after.PauseNs)); i++ {
		longest = math.Max(longest, float64(after.PauseNs[(after.NumGC-1-i)%uint32(len(after.PauseNs))]))
	}
	return float64(after.PauseTotalNs-r.before.PauseTotalNs) / float64(n), longest
}

func Program(b *harness.Batch) func() error {
	n := b.Int("n", 60_000, 1, "`trees` of some 6 KB to allocate (the article names no program)")
	live := b.Int("live", 2048, 1, "`trees` that are kept (ours: 12 MB, so that the collector has something to mark)")
	return func() error {
		kept := make([]*node, *live)
		r := newRecord()
		for i := 0; i < *n; i++ {
			at := i % *live
			if old := kept[at]; old != nil && old.count() != nodes {
				return fmt.Errorf("a tree of %d nodes, want %d", old.count(), nodes)
			}
			kept[at] = tree(nodes)
			if i%32 == 0 { // some 0.3 ms; looking costs a thousandth of that
				r.look()
			}
		}
		elapsed := time.Since(r.began)
		r.look()
		runtime.KeepAlive(kept)
		if len(r.goals) == 0 {
			return fmt.Errorf("nothing was collected in %v: allocate more, by -n", elapsed)
		}
		metrics.Read(r.samples)
		seconds := r.ended.Sub(r.began).Seconds()
		mean, longest := r.pauses()
		b.Result("BenchmarkGC %d %.0f ns/op %d gcs %.0f cycle-ns %.4f gc-cpus %.0f pause-ns %.0f pause-max-ns %d settled-cycle",
			*n, float64(elapsed.Nanoseconds())/float64(*n), len(r.goals), seconds*1e9/float64(len(r.goals)),
			(r.samples[2].Value.Float64()-r.cpu)/seconds, mean, longest, r.settled())
		return nil
	}
}
