package race

import (
	"math"
	"slices"
)

// look finds a value not yet measured that is worth a trial; 0 when there is none.
func (s *Race) look() (int, Why) {
	if n := s.missed(); n > 0 {
		return n, WhyGrid
	}
	if n := s.edge(); n > 0 {
		return n, WhyEdge
	}
	if s.rules.First != nil { // slices have looked
		return 0, ""
	}
	if n := s.beside(); n > 0 {
		return n, WhyPeak
	}
	return 0, ""
}

// missed is a value of the first look that no trial tells of, not even as failed: what it
// ran next to was skipped. 0: none is.
func (s *Race) missed() int {
	for _, n := range s.rules.grid() {
		if !slices.ContainsFunc(s.trials, func(t Trial) bool { return t.Value == n }) {
			return n
		}
	}
	return 0
}

// Below the front is looked once it is wrong with no more than this chance, and while
// that share of it is open.
const (
	mostDoubt = 0.3
	leastGap  = 0.04
)

// edge is a value between the front and the next smaller one, where that is out or
// dropped. Throughput grows at most in proportion, so nothing is good below the
// margin's share of what proportion needs.
func (s *Race) edge() int {
	f := s.model.throughput
	front := s.front
	if s.pick != 0 {
		front = min(front, s.pick)
	}
	if front == 0 || f.index[front] == 0 || s.wrong(front) > mostDoubt || f.trials(front) < 2 {
		return 0
	}
	below := s.values[f.index[front]-1]
	gap := float64(front - below)
	if !s.out[below] && !s.dropped[below] || gap <= max(1, leastGap*float64(front)) {
		return 0
	}
	low := float64(below)
	want := math.Sqrt(low * float64(front))
	if s.out[below] {
		d, _ := f.difference(below, s.top)
		least := low*math.Exp(-s.rules.margin(Throughput)-d) - 0.15
		want = max(want, least)
		if least-low >= gap/4 {
			want = math.Ceil(least)
		}
	}
	return s.between(below, front, want)
}

// between is the candidate nearest to want, by ratio, that is strictly between two
// measured neighbours and has not failed three times; 0 when there is none.
func (s *Race) between(low, high int, want float64) int {
	best, least := 0, math.Inf(1)
	for _, n := range s.rules.Values {
		if n <= low || n >= high || s.failed[n] >= Enough {
			continue
		}
		if d := math.Abs(math.Log(float64(n) / want)); d < least {
			best, least = n, d
		}
	}
	return best
}

// leastGain is how much a value next to the peak may promise above it, as a
// logarithm, for a trial.
const leastGain = 0.025

// growth per doubling is measured over this many doublings at least: a step of 1 in
// 40 says nothing.
const leastBase = 0.12

// beside looks on both sides of the peak for room for a higher one: to its left
// under the growth before it, to its right under the growth that led to it.
func (s *Race) beside() int {
	f := s.model.throughput
	i := f.index[s.top]
	best, most := 0, leastGain
	for low := max(0, i-1); low <= min(i, len(s.values)-2); low++ {
		from, to := s.values[low], s.values[low+1]
		n := s.between(from, to, math.Sqrt(float64(from)*float64(to)))
		if n == 0 {
			continue
		}
		far := math.Log2(float64(n) / float64(from))
		if gain := f.mean[low] + s.growth(low)*far - f.mean[i]; gain > most {
			best, most = n, gain
		}
	}
	return best
}

// growth of throughput into the i-th value, a doubling, less one standard error. It
// lies between none and in proportion, which is assumed of the first.
func (s *Race) growth(i int) float64 {
	if i == 0 {
		return math.Ln2
	}
	doublings := func(j int) float64 { return math.Log2(float64(s.values[i]) / float64(s.values[j])) }
	j := i - 1
	for j > 0 && doublings(j) < leastBase {
		j--
	}
	d, se := s.model.throughput.difference(s.values[i], s.values[j])
	return min(max((d-se)/doublings(j), 0), math.Ln2)
}
