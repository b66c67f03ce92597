package ps

import (
	"cmp"
	goversion "go/version"
	"math"
	"slices"
	"strings"

	"github.com/procfit/procfit/internal/program/observe"
	"github.com/procfit/procfit/internal/program/rule"
)

// sorts are the columns that a list can be sorted by, the first the default.
// Numbers come largest first, and what is not known last.
func sorts() []sort {
	return []sort{
		{"findings", func(a, b observe.Process) int { return rule.CompareWorst(a.Findings, b.Findings) }},
		{"pid", func(a, b observe.Process) int { return 0 }},
		{"name", func(a, b observe.Process) int { return cmp.Compare(a.Name, b.Name) }},
		{"go", func(a, b observe.Process) int { return goversion.Compare(Release(a), Release(b)) }},
		{"procs", largest(func(p observe.Process) (float64, bool) { n, ok := p.Procs(); return float64(n), ok })},
		{"limit", largest(func(p observe.Process) (float64, bool) { l, ok := p.Limit(); return -l.CPUs, ok })},
		{"throttled", largest(func(p observe.Process) (float64, bool) {
			if p.Throttling == nil {
				return 0, false
			}
			return p.Throttling.Ratio(), true
		})},
		{"p99", largest(func(p observe.Process) (float64, bool) { return p.Last().LatencyAt(0.99) })},
		{"wait", largest(func(p observe.Process) (float64, bool) { return p.Last().Waiting() })},
		{"switches", largest(func(p observe.Process) (float64, bool) { return p.Last().Switches() })},
		{"threads", largest(func(p observe.Process) (float64, bool) { return float64(p.Threads), true })},
		{"cpu", largest(func(p observe.Process) (float64, bool) { return p.Last().CPUs() })},
	}
}

type sort struct {
	name string
	by   func(a, b observe.Process) int
}

// Sorts are the names that Sort knows, the default first.
func Sorts() []string {
	var names []string
	for _, s := range sorts() {
		names = append(names, s.name)
	}
	return names
}

// Sort sorts the processes by one of Sorts, equal ones by PID.
func Sort(all []observe.Process, name string) {
	for _, s := range sorts() {
		if s.name == name {
			slices.SortStableFunc(all, func(a, b observe.Process) int {
				return cmp.Or(s.by(a, b), cmp.Compare(a.PID, b.PID))
			})
		}
	}
}

func largest(of func(observe.Process) (float64, bool)) func(a, b observe.Process) int {
	value := func(p observe.Process) float64 {
		if v, known := of(p); known {
			return v
		}
		return math.Inf(-1)
	}
	return func(a, b observe.Process) int { return cmp.Compare(value(b), value(a)) }
}

// Release is the Go version of the program without what a toolchain may add to it.
func Release(p observe.Process) string {
	v, _, _ := strings.Cut(p.Facts.GoVersion, " ")
	return v
}
