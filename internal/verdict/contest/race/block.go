package race

import (
	"cmp"
	"math"
	"slices"

	"github.com/procfit/procfit/internal/show/sorting"
	"github.com/procfit/procfit/internal/verdict/stat"
)

// mostInBlock is how many values a block has after the first: the front is in each,
// so that every other is compared with it within a block.
const mostInBlock = 3

// leastDanger is how probably a rival must make the front wrong to be measured again
// for that.
const leastDanger = 0.003

// block is what is measured next: the fresh value if there is one, the front, and the
// rivals that most keep it from being proven.
func (s *Race) block(fresh int) []int {
	front := cmp.Or(s.front, s.top)
	var set []int
	add := func(n int) {
		if n > 0 && !slices.Contains(set, n) && len(set) < mostInBlock {
			set = append(set, n)
		}
	}
	add(fresh)
	add(front)
	danger := map[int]float64{}
	for _, n := range s.rivals {
		danger[n] = s.danger(front, n)
	}
	rivals := slices.Clone(s.rivals)
	sorting.Stable(rivals, func(a, b int) int { return cmp.Compare(danger[b], danger[a]) })
	for _, n := range rivals {
		if danger[n] > leastDanger || len(set) < 2 {
			add(n)
		}
	}
	return set
}

// danger is how much a rival keeps the front from being proven: the share that it
// lacks of the trials a proof needs, or how probably it makes the front wrong.
func (s *Race) danger(front, n int) float64 {
	trials := s.model.throughput.trials(n)
	if s.lacks(n) || trials < Enough && s.rules.Latency && !s.model.p99.has(n) { // no trial could tell its p99 yet
		return 0.5
	}
	d, se := s.model.throughput.difference(front, n)
	v := stat.NormalCDF((-s.rules.margin(Throughput) - d) / se)
	if s.byLatency(n) && s.model.p99.has(front) {
		d, se = s.model.p99.difference(front, n)
		v = max(v, stat.NormalCDF((d-s.rules.margin(P99))/se))
	}
	if o, ok := s.looks[front]; ok && front != s.pick && !math.IsInf(o.cost, 1) {
		want := o.want[n]
		v = max(v/100, (want-float64(trials))/max(want, 1))
	}
	return v
}
