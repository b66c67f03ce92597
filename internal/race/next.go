package race

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

// Choice is one trial to run.
type Choice struct {
	Value int
	Unset bool
}

// Why a block is run.
type Why string

// Reasons of blocks.
const (
	WhyGrid  Why = "grid"  // the first look at all
	WhyEdge  Why = "edge"  // a value not yet measured, below the smallest good one
	WhyPeak  Why = "peak"  // a value not yet measured, beside the highest throughput
	WhyFront Why = "front" // the smallest value that may be good, against its rivals
	WhyTrade Why = "trade" // a slower value whose p99 seems far better
)

// Stop is why a race ended.
type Stop string

// Reasons to stop.
const (
	StopGoal    Stop = "goal"    // what was asked is reached
	StopLimit   Stop = "limit"   // no trials are left
	StopNothing Stop = "nothing" // no value can be measured
)

// Step is what to do next: a block in the order to run, or the end.
type Step struct {
	Block      []Choice
	Why        Why
	Done       bool
	Stop       Stop
	Assessment Assessment // of the trials so far
}

// Next is the block after these trials.
func Next(r Rules, trials []Trial) Step {
	step, s := next(r, trials)
	if s == nil {
		s = stand(r, trials)
	}
	step.Assessment = s.assess()
	return step
}

func next(r Rules, trials []Trial) (Step, *standing) {
	blocks := blocksOf(trials)
	if blocks == 0 || r.Listed && blocks < trialsPerListed {
		return Step{Why: WhyGrid, Block: arrange(r, trials, r.grid())}, nil
	}
	s := stand(r, trials)
	if s.top == 0 {
		return s.failing()
	}
	fresh, why := s.look()
	settled := s.pick != 0 && s.front == s.pick
	if settled && fresh == 0 && s.model.throughput.trials(s.top) >= enough && s.confirmed() {
		return Step{Done: true, Stop: StopGoal}, s
	}
	block := s.block(fresh, settled)
	if len(block) == 0 {
		return Step{Done: true, Stop: StopNothing}, s
	}
	if len(trials)+len(block) > r.Limit() {
		return Step{Done: true, Stop: StopLimit}, s
	}
	if why == "" {
		why = WhyFront
	}
	return Step{Why: why, Block: arrange(r, trials, block)}, s
}

// failing is the next block while no trial carries figures: all that have not failed
// three times.
func (s *standing) failing() (Step, *standing) {
	var left []int
	for _, n := range s.rules.grid() {
		if s.tried[n] < enough {
			left = append(left, n)
		}
	}
	if len(left) == 0 {
		return Step{Done: true, Stop: StopNothing}, s
	}
	if len(s.trials)+len(left) > s.rules.Limit() {
		return Step{Done: true, Stop: StopLimit}, s
	}
	return Step{Why: WhyGrid, Block: arrange(s.rules, s.trials, left)}, s
}

// confirmed says whether the pick was so before its latest block too.
func (s *standing) confirmed() bool {
	last := -1
	for i, t := range s.trials {
		if t.Value == s.pick {
			last = i
		}
	}
	start := slices.IndexFunc(s.trials, func(t Trial) bool { return t.Block == s.trials[last].Block })
	if start == 0 {
		return false
	}
	before := stand(s.rules, s.trials[:start])
	return before.pick == s.pick && before.front == s.pick
}

// block is what is measured next: the fresh value, the front, and the rivals that
// most probably make it wrong.
func (s *standing) block(fresh int, settled bool) []int {
	var set []int
	add := func(n int) {
		if n > 0 && !slices.Contains(set, n) && len(set) < T.BlockMax {
			set = append(set, n)
		}
	}
	add(fresh)
	front := s.front
	if settled {
		front = s.pick
	}
	if front == 0 {
		front = s.top
	}
	add(front)
	type rival struct {
		n      int
		danger float64
	}
	var rivals []rival
	for _, n := range s.rivals {
		if n != front {
			rivals = append(rivals, rival{n, s.danger(front, n)})
		}
	}
	slices.SortStableFunc(rivals, func(a, b rival) int { return cmp.Compare(b.danger, a.danger) })
	for _, v := range rivals {
		if v.danger > .003 || len(set) < 2 {
			add(v.n)
		}
	}
	if len(set) < 2 {
		add(s.top)
	}
	return set
}

// danger is how probably a rival makes the front wrong.
func (s *standing) danger(front, n int) float64 {
	d, se := s.model.throughput.difference(front, n)
	v := distuv.UnitNormal.CDF((-s.rules.margin(Throughput) - d) / se)
	if s.byLatency(n) && s.model.p99.has(front) {
		d, se = s.model.p99.difference(front, n)
		v = max(v, distuv.UnitNormal.CDF((d-s.rules.margin(P99))/se))
	}
	if s.model.throughput.trials(n) < enough && (n == s.top || s.rules.Latency && !s.model.p99.has(n)) {
		v = max(v, 0.5)
	}
	return v
}

// look finds a value not yet measured that is worth a trial.
func (s *standing) look() (int, Why) {
	if n := s.edge(); n > 0 {
		return n, WhyEdge
	}
	if n := s.tent(); n > 0 {
		return n, WhyPeak
	}
	return 0, ""
}

func (s *standing) edge() int {
	f := s.model.throughput
	front := s.pick
	if front == 0 || s.front < front {
		front = s.front
	}
	if front == 0 {
		return 0
	}
	j := f.index[front]
	if j == 0 || s.wrong(front) > T.Try || f.trials(front) < 2 {
		return 0
	}
	below := s.values[j-1]
	if !s.out[below] && !s.dropped[below] || float64(front-below) <= max(1, T.Gap*float64(front)) {
		return 0
	}
	least := float64(below)
	if s.out[below] {
		d, _ := f.difference(below, s.top)
		least = max(least, 0.95*least/math.Exp(d)-0.15)
	}
	want := max(least, math.Sqrt(float64(below)*float64(front)))
	if s.out[below] && least-float64(below) >= 0.25*float64(front-below) {
		want = math.Ceil(least)
	}
	return s.rules.between(below, front, want)
}

func (s *standing) tent() int {
	f := s.model.throughput
	i := f.index[s.top]
	x := func(k int) float64 { return math.Log2(float64(s.values[k])) }
	slope := func(k int) float64 {
		j := k - 1
		for j > 0 && x(k)-x(j) < 0.12 {
			j--
		}
		d, se := f.difference(s.values[k], s.values[j])
		return max(0, min((d-se)/(x(k)-x(j)), math.Ln2))
	}
	pick, most := 0, T.Gain
	consider := func(low, high, from int, grow float64) {
		c := s.rules.between(s.values[low], s.values[high], math.Sqrt(float64(s.values[low])*float64(s.values[high])))
		if c == 0 {
			return
		}
		if g := f.mean[from] + grow*(math.Log2(float64(c))-x(from)) - f.mean[i]; g > most {
			pick, most = c, g
		}
	}
	if i > 0 {
		grow := math.Ln2
		if i > 1 {
			grow = slope(i - 1)
		}
		consider(i-1, i, i-1, grow)
	}
	if i < len(s.values)-1 {
		grow := math.Ln2
		if i > 0 {
			grow = slope(i)
		}
		consider(i, i+1, i, grow)
	}
	return pick
}

func blocksOf(trials []Trial) int {
	seen := map[int]bool{}
	for _, t := range trials {
		seen[t.Block] = true
	}
	return len(seen)
}

// arrange shuffles a block, and lets the default's trials alternate.
func arrange(r Rules, trials []Trial, values []int) []Choice {
	var out []Choice
	for _, n := range values {
		c := Choice{Value: n}
		if n == r.Default {
			count := 0
			for _, t := range trials {
				if t.Value == n {
					count++
				}
			}
			c.Unset = count%2 == 0
		}
		out = append(out, c)
	}
	rand.New(rand.NewPCG(r.Seed, uint64(blocksOf(trials)))).Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	return out
}
