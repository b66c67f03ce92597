package race

import (
	"cmp"
	"math/rand/v2"
	"slices"
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
