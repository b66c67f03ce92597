package vm

import (
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
)

// pair is two values of two factors, f < g.
type pair struct{ f, g, a, b uint8 }

// pairs are those that the cell shows. With a deciding GOMAXPROCS it shows only
// that one's own pairs.
func (c cell) pairs() []pair {
	out := make([]pair, 0, nFactors*(nFactors-1)/2)
	for f := range nFactors {
		for g := f + 1; g < nFactors; g++ {
			if !c.masked() || f == fEnv || g == fEnv {
				out = append(out, pair{uint8(f), uint8(g), c[f], c[g]})
			}
		}
	}
	return out
}

// everyPair is what can be shown at all, on all machines or on those of inRun, found by
// trying every possible cell.
func everyPair(whole bool) map[pair]bool {
	if whole {
		return maps.Clone(pairsOfAll())
	}
	return maps.Clone(pairsOfRun())
}

var (
	pairsOfAll = sync.OnceValue(func() map[pair]bool { return pairsOf(cell.possible) })
	pairsOfRun = sync.OnceValue(func() map[pair]bool {
		return pairsOf(func(c cell) bool { return c.inRun() && c.possible() })
	})
)

func pairsOf(shown func(cell) bool) map[pair]bool {
	all := map[pair]bool{}
	var c cell
	for {
		if shown(c) {
			for _, p := range c.pairs() {
				all[p] = true
			}
		}
		f := 0
		for ; f < nFactors; f++ {
			if c[f]++; int(c[f]) < len(factors[f].values) {
				break
			}
			c[f] = 0
		}
		if f == nFactors {
			return all
		}
	}
}

// plan is the parent cgroups' cells, then cells that together show every pair, then
// random ones up to n, for the machine that has the fewest: three of four with a
// runtime that reads limits and no GOMAXPROCS to hide them. The whole plan is for all
// machines, the other for those of inRun. The same seed gives the same cells.
func plan(n int, seed uint64, whole bool) []cell {
	random := rand.New(rand.NewPCG(seed, 0))
	left := everyPair(whole)
	var open []pair
	for p := range left {
		open = append(open, p)
	}
	slices.SortFunc(open, func(p, q pair) int {
		return slices.Compare([]uint8{p.f, p.g, p.a, p.b}, []uint8{q.f, q.g, q.a, q.b})
	})
	random.Shuffle(len(open), func(i, j int) { open[i], open[j] = open[j], open[i] })

	// Of the cells drawn, a fifth tell something of limits. One in so many of the
	// others is taken.
	const skipped = 12
	var cells []cell
	drawn := map[cell]bool{}
	machines := map[[2]uint8]int{}
	add := func(c cell) {
		cells = append(cells, c)
		drawn[c] = true
		machines[c.machine()]++
		for _, p := range c.pairs() {
			delete(left, p)
		}
	}
	for _, c := range ancestors() {
		add(c)
	}
	for _, p := range open {
		if left[p] {
			add(best(random, left, p, whole))
		}
	}
	for len(cells) < n {
		c := draw(random)
		if telling := c.readsLimits() && !c.masked(); !telling && random.IntN(skipped) > 0 {
			continue
		}
		if !whole && !c.inRun() {
			continue
		}
		fewest := true
		for _, n := range machines { // each has cells that show its pairs
			fewest = fewest && machines[c.machine()] <= n
		}
		if fewest && c.possible() && !drawn[c] {
			add(c)
		}
	}
	return cells
}

// machine is what cells must share to run in one.
func (c cell) machine() [2]uint8 { return [2]uint8{c[fCPUs], c[fCgroup]} }

// inRun reports whether .ci/run boots the cell's machine: five of the twelve that .ci/full
// boots, with every number of CPUs and every arrangement. Each arrangement has a machine
// of 8 CPUs or more: fewer would hide most limits.
func (c cell) inRun() bool {
	switch c.value(fCPUs) + " " + c.value(fCgroup) {
	case "1 v1", "2 v2", "8 v1", "8 hybrid", "64 v2":
		return true
	}
	return false
}

// best is the one of some random cells showing p that shows most of what is left.
func best(random *rand.Rand, left map[pair]bool, p pair, whole bool) cell {
	const candidates = 64
	var found cell
	most := 0
	for tried := 0; tried < candidates; {
		c := draw(random)
		c[p.f], c[p.g] = p.a, p.b
		if !c.possible() || !whole && !c.inRun() {
			continue
		}
		shown := 0
		isShown := false
		for _, q := range c.pairs() {
			isShown = isShown || q == p
			if left[q] {
				shown++
			}
		}
		if !isShown {
			continue
		}
		tried++
		if shown > most {
			found, most = c, shown
		}
	}
	return found
}

func draw(random *rand.Rand) cell {
	var c cell
	for f := range factors {
		c[f] = uint8(random.IntN(len(factors[f].values)))
	}
	return c
}

// ancestors are the cells in which a parent's limit of 1.5 CPUs stands above a
// leaf's of 20 on 64 CPUs, which the runtime does not see and fit must.
func ancestors() []cell {
	var cells []cell
	for program := range factors[fProgram].values {
		c := cellOf(map[int]string{fCPUs: "64", fCgroup: "v2", fLimit: "20", fNesting: "tighter parent"})
		c[fProgram] = uint8(program)
		cells = append(cells, c)
	}
	return cells
}

// cellOf is the cell with these values, and the first one of every other factor.
func cellOf(values map[int]string) cell {
	var c cell
	for f, value := range values {
		i := slices.Index(factors[f].values, value)
		if i < 0 {
			panic(factors[f].name + " has no value " + value)
		}
		c[f] = uint8(i)
	}
	return c
}

func TestPlan(t *testing.T) {
	for _, tc := range []struct {
		n        int
		whole    bool
		machines int
	}{{cellsInRun, false, 5}, {cellsInFull, true, len(factors[fCPUs].values) * len(factors[fCgroup].values)}} {
		cells := plan(tc.n, 1, tc.whole)
		if len(cells) != tc.n {
			t.Errorf("%d cells, want %d", len(cells), tc.n)
		}
		left := everyPair(tc.whole)
		total := len(left)
		seen := map[cell]bool{}
		machines := map[[2]uint8]int{}
		for _, c := range cells {
			if !c.possible() || !tc.whole && !c.inRun() || seen[c] {
				t.Errorf("impossible or drawn twice: %v", c)
			}
			seen[c] = true
			machines[c.machine()]++
			for _, p := range c.pairs() {
				delete(left, p)
			}
		}
		if total < 700 || len(left) > 0 {
			t.Errorf("%d of %d pairs are not covered", len(left), total)
		}
		if len(machines) != tc.machines {
			t.Errorf("%d machines, want %d", len(machines), tc.machines)
		}
		if !slices.Equal(cells, plan(tc.n, 1, tc.whole)) {
			t.Error("the same seed gives other cells")
		}
	}
	missing := everyPair(true)
	for p := range everyPair(false) {
		delete(missing, p)
	}
	for p := range missing {
		if p.f != fCPUs || p.g != fCgroup {
			t.Errorf("the machines of .ci/run cannot show %s=%s with %s=%s", factors[p.f].name, factors[p.f].values[p.a], factors[p.g].name, factors[p.g].values[p.b])
		}
	}
	if len(missing) != 7 {
		t.Errorf("%d pairs are shown by .ci/full alone, want 7", len(missing))
	}
}

func TestPossible(t *testing.T) {
	for _, tc := range []struct {
		cgroup, limit, nesting string
		want                   bool
	}{
		{"v2", "20", "tighter parent", true},
		{"v1", "20", "tighter parent", false},
		{"hybrid", "none", "tighter parent", true},
		{"v2", "none", "tighter leaf", false},
		{"v1", "0.5", "tighter leaf", true},
	} {
		c := cellOf(map[int]string{fCgroup: tc.cgroup, fLimit: tc.limit, fNesting: tc.nesting})
		if got := c.possible(); got != tc.want {
			t.Errorf("%v: possible %v", c, got)
		}
	}
}
