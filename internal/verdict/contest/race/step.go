package race

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/procfit/procfit/internal/show/sorting"
	"github.com/procfit/procfit/internal/verdict/stat"
)

// Choice is one trial to run.
type Choice struct {
	Value int
	Unset bool // without GOMAXPROCS, which resolves to the value
}

// Why a block is run.
type Why string

const (
	WhyGrid  Why = "grid"  // a first look at all
	WhyEdge  Why = "edge"  // a value not yet measured, below the smallest that seems good
	WhyPeak  Why = "peak"  // a value not yet measured, next to the highest throughput
	WhyFront Why = "front" // the smallest value that may be good, against its rivals
	WhyTrade Why = "trade" // a slower value whose p99 seems far better
	WhyOpen  Why = "open"  // a value that may be as good as the pick, where nothing is proven worse
)

// Stop is why a race ended.
type Stop string

const (
	StopGoal    Stop = "goal"      // what was asked for is reached
	StopLimit   Stop = "limit"     // the next block does not fit into the trials left
	StopFutile  Stop = "futile"    // one is likely, and none can be proven with the trials left
	StopUnmet   Stop = "objective" // what missed the objective leaves none to be named, however many trials there are
	StopNothing Stop = "nothing"   // no value can be measured
)

// Step is what to do next: a block in the order to run, or the end.
type Step struct {
	Block []Choice
	Why   Why
	Stop  Stop // empty: the block is to be run
}

// Next is the block after these trials.
func (s *Race) Next() Step {
	step := s.next()
	if step.Stop == "" && len(s.trials)+len(step.Block) > s.rules.Limit() {
		step = Step{Stop: StopLimit}
	}
	return step
}

func (s *Race) next() Step {
	blocks := blocksOf(s.trials)
	if s.top == 0 || s.rules.Listed && blocks < TrialsPerListed {
		return s.grid()
	}
	fresh, why := s.look()
	decided := s.pick != 0 && s.front == s.pick
	if decided && fresh == 0 && !slices.ContainsFunc(s.rivals, s.lacks) && s.confirmed() {
		if n := s.probe(); n != 0 {
			return Step{Why: WhyTrade, Block: s.arrange([]int{n, s.pick})}
		}
		if n, against := s.undecided(); n != 0 {
			return Step{Why: WhyOpen, Block: s.arrange([]int{n, against})}
		}
		return Step{Stop: StopGoal}
	}
	if fresh == 0 && s.barred() {
		return Step{Stop: StopUnmet}
	}
	if s.futile() {
		return Step{Stop: StopFutile}
	}
	return Step{Why: cmp.Or(why, WhyFront), Block: s.arrange(s.block(fresh))}
}

// lacks reports whether a rival has fewer trials than one that is named, without which no race
// ends: the peak, the default, or one that did not meet the objective, which may be chance.
func (s *Race) lacks(n int) bool {
	return s.model.throughput.trials(n) < Enough && (n == s.top || n == s.rules.Default || s.unmet[n])
}

// grid is a block of all that have not failed three times without a figure, and that did not miss
// the objective in three trials.
func (s *Race) grid() Step {
	var left []int
	for _, n := range s.rules.grid() {
		if !s.misses(n) && (s.failed[n] < Enough || s.model.throughput.has(n)) {
			left = append(left, n)
		}
	}
	switch {
	case len(left) > 0:
		return Step{Why: WhyGrid, Block: s.arrange(left)}
	case slices.ContainsFunc(s.rules.grid(), s.misses):
		return Step{Stop: StopUnmet}
	}
	return Step{Stop: StopNothing}
}

// confirmed reports whether the pick was so before its latest block too: a second look
// that agrees.
func (s *Race) confirmed() bool {
	block := -1
	for _, t := range s.trials {
		if t.Value == s.pick {
			block = t.Block
		}
	}
	start := slices.IndexFunc(s.trials, func(t Trial) bool { return t.Block == block })
	if start <= 0 {
		return false
	}
	before := New(s.rules, s.trials[:start])
	return before.pick == s.pick && before.front == s.pick
}

func blocksOf(trials []Trial) int {
	seen := map[int]bool{}
	for _, t := range trials {
		seen[t.Block] = true
	}
	return len(seen)
}

// arrange shuffles a block by the seed and its number, and lets the default's trials
// alternate between unset and its number.
func (s *Race) arrange(values []int) []Choice {
	var out []Choice
	for _, n := range values {
		c := Choice{Value: n}
		for _, t := range s.trials {
			if t.Value == n {
				c.Unset = !c.Unset
			}
		}
		c.Unset = n == s.rules.Default && !c.Unset
		out = append(out, c)
	}
	r := rand.New(rand.NewPCG(s.rules.Seed, uint64(blocksOf(s.trials))))
	r.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	return out
}

// look finds a value not yet measured that is worth a trial; 0 when there is none.
func (s *Race) look() (int, Why) {
	if n := s.missed(); n > 0 {
		return n, WhyGrid
	}
	if n := s.edge(); n > 0 {
		return n, WhyEdge
	}
	if n := s.beside(); n > 0 && s.rules.First == nil { // else slices have looked
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
