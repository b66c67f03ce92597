//go:build !portable

package local

import (
	"context"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/procfit/procfit/internal/host/cpuset"
	"github.com/procfit/procfit/internal/host/topology"
	"github.com/procfit/procfit/maxprocs/facts"
)

const (
	speedTime = 30 * time.Millisecond // of the CPU, that the work takes on each one
	// speedWords are those that the work walks over, in all of 8 MiB: more than the caches
	// of one core have as a rule, so that who takes the shared cache or the memory's
	// bandwidth slows it down.
	speedWords = 2 << 20
	// speedSteps and speedSums are one piece of the work: about as much time for the memory
	// as for the core.
	speedSteps, speedSums = 2000, 20000
	mostWaiting           = 1.25 // of its own time: work that takes longer waits for other programs
)

// walk is a random order of its words in which each is the place of the next, over all of them.
var walk = sync.OnceValue(func() []uint32 {
	words := make([]uint32, speedWords)
	for i := range words {
		words[i] = uint32(i)
	}
	random := rand.New(rand.NewPCG(1, 2))
	for i := len(words) - 1; i > 0; i-- { // Sattolo: one cycle
		j := random.IntN(i)
		words[i], words[j] = words[j], words[i]
	}
	return words
})

// Speed implements plan.Machine: the work runs on all CPUs at the same time. The time that
// counts is the threads' own: a lower clock, a hypervisor that takes CPUs without saying so,
// and others that fill the caches make it longer. Where other programs take the CPUs
// themselves, which empties the caches too, that is counted as theirs, and the speed is not
// known. A CPU limit around procfit is a slower machine, whatever it does to the work.
func (r *runner) Speed(ctx context.Context) float64 {
	on := r.spec.LoadCPUs()
	if on == nil {
		on = topology.Allowed()
	}
	cpus := slices.Compact(slices.Sorted(slices.Values(slices.Concat(r.cpus, on))))
	words, works := walk(), make([]work, min(len(cpus), runtime.GOMAXPROCS(0)))
	var all sync.WaitGroup
	for i := range works {
		all.Go(func() { works[i] = workOn(ctx, cpus[i*len(cpus)/len(works)], words) })
	}
	all.Wait()
	limited := 1.0
	if l, known := facts.Read().Tightest(); known {
		limited = min(1, l.CPUs/float64(len(cpus)))
	}
	speed, own := speedOf(works, limited, r.speed)
	r.speed = own
	return speed
}

// speedOf is the speed by the work that was done on each CPU, under a limit to this part of
// them, and the speed without the limit, which was known before: a work that waited shows
// none of its own. Zero: not known.
func speedOf(works []work, limited, known float64) (speed, own float64) {
	var sum float64
	var used, took time.Duration
	for _, w := range works {
		if w.used <= 0 {
			return 0, known
		}
		sum += float64(w.pieces) / w.used.Seconds()
		used, took = used+w.used, took+w.took
	}
	each := sum / float64(len(works))
	switch waited := float64(took) > mostWaiting*float64(used); {
	case waited && limited == 1:
		return 0, known
	case waited && known > 0:
		return limited * known, known // the limit, or others, held the work back
	case waited:
		return limited * each, known
	}
	return limited * each, each
}

type work struct {
	pieces     int
	used, took time.Duration // the thread's own time, and the wall's
}

// workOn does the work on one CPU; none: the thread may not run there.
func workOn(ctx context.Context, cpu int, words []uint32) (w work) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	before := cpuset.Mask()
	if unix.SchedGetaffinityDynamic(0, before) != nil || unix.SchedSetaffinityDynamic(0, cpuset.Mask(cpu)) != nil {
		return w
	}
	defer unix.SchedSetaffinityDynamic(0, before)
	at := uint32(cpu) % speedWords
	at, _ = piece(words, at) // brings the thread here
	began, used := time.Now(), threadCPU()
	for w.used < speedTime && ctx.Err() == nil {
		at, _ = piece(words, at)
		w.pieces++
		w.used, w.took = threadCPU()-used, time.Since(began)
	}
	return w
}

func piece(words []uint32, at uint32) (next uint32, sum uint64) {
	for range speedSteps {
		at = words[at]
	}
	sum = uint64(at)
	for range speedSums {
		sum ^= sum << 13
		sum ^= sum >> 7
		sum ^= sum << 17
	}
	return (at + uint32(sum&1)) % speedWords, sum
}

func threadCPU() time.Duration {
	var t unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t)
	return time.Duration(t.Nano())
}
