package pagetest

import (
	"github.com/procfit/procfit/internal/verdict"
	"github.com/procfit/procfit/internal/verdict/journal"
	"github.com/procfit/procfit/internal/verdict/verdicttest"
)

// Varied is a sweep of GOMAXPROCS and GOGC, whose program can use two Ps and is slowed down
// by its collector, within a bound on memory; of one that ended early the first trials.
func Varied(trials int) *verdict.Result {
	h := verdicttest.Varied(journal.Axis{Name: "GOGC", Values: []string{"50", "100", "200", "off"}, Start: "100"})
	h.Plan.MaxMemoryBytes = 512 << 20
	collects := map[string]float64{"50": 0.6, "100": 0.8, "200": 1, "off": 1.2}
	heaps := map[string]int64{"50": 50 << 20, "100": 70 << 20, "200": 110 << 20, "off": 900 << 20}
	return verdict.Analyze(h, verdicttest.Race(h, func(procs int, v map[string]string) (float64, int64) {
		return 100 * float64(min(procs, 2)) * collects[v["GOGC"]], heaps[v["GOGC"]]
	}, 1, trials))
}

// Sliced is a sweep of a server that slices of one start begin, whose throughput grows up to three
// Ps. Where three are set at the start it is this part of what it is where they are set later.
func Sliced(part float64) *verdict.Result {
	world := func(part float64) verdicttest.World {
		return func(procs int, _ map[string]string) (float64, int64) {
			return []float64{30, 60, 99 * part, 100}[procs-1], 50 << 20
		}
	}
	h, trials, slices := verdicttest.Sliced(world(1), world(part), 1)
	return verdict.Analyze(h, trials, slices...)
}
