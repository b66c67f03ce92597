package race

import (
	"math"
)

// enough is how many trials a value has that is named.
const enough = 3

// Race is what the trials say of every value, and of what to do next.
type Race struct {
	rules   Rules
	trials  []Trial
	model   *Model
	values  []int // measured, ascending
	failed  map[int]int
	top     int // highest throughput
	out     map[int]bool
	rivals  []int // not out
	named   []int // of these, those that may be named: their p99 is judged
	chance  map[int]chance
	pick    int // smallest that meets the goal
	likely  int // smallest that is likely
	proven  int // smallest that is proven
	front   int // smallest that is not given up
	dropped map[int]bool
	smooth  map[int]float64 // logarithm of p99, neighbours pooled
	looks   map[int]outlook // by value, those up to the pick
}

// chance is how probably a value is wrong, by each figure, and what is proven.
type chance struct {
	throughput, p99  float64
	likely           bool
	asFast, asPrompt bool // proven so, against all rivals
}

func (c chance) proven() bool { return c.asFast && c.asPrompt }

// wrong is the probability of being wrong in any.
func (c chance) wrong() float64 { return min(1, c.throughput+c.p99) }

// New is the race after these trials, or what a grid's trials come to.
func New(r Rules, trials []Trial) *Race {
	s := &Race{rules: r, trials: trials, model: NewModel(trials),
		failed: map[int]int{}, out: map[int]bool{}, chance: map[int]chance{}, dropped: map[int]bool{}, smooth: map[int]float64{}}
	for _, t := range trials {
		if t.Failed {
			s.failed[t.Value]++
		}
	}
	if s.model.throughput == nil {
		return s
	}
	s.values = s.model.throughput.settings
	s.sortOut()
	s.chances()
	s.choose()
	return s
}

// sortOut finds the highest throughput, and which values are proven out of its
// reach.
func (s *Race) sortOut() {
	f := s.model.throughput
	best := math.Inf(-1)
	for _, n := range s.values {
		mean, se := f.level(n)
		if v := mean - 0.5*se; v > best { // one trial may be luck
			s.top, best = n, v
		}
	}
	margin := s.rules.margin(Throughput)
	for _, n := range s.values {
		if n != s.top {
			d, _ := f.difference(n, s.top)
			s.out[n] = d < math.Log(hopeless) ||
				f.trials(n) >= s.fewestOut(n) && f.trials(s.top) >= 2 && f.upper(n, s.top, outLevel) < -margin
		}
		if s.out[n] {
			continue
		}
		s.rivals = append(s.rivals, n)
		if (!s.rules.Latency || s.model.p99.has(n)) && s.failed[n] <= f.trials(n) {
			s.named = append(s.named, n)
		}
	}
}

// outLevel is that of the bound which puts a value out, high since it is looked at
// after each block.
const outLevel = 0.995

// fewestOut is how many trials put a value out: two, and of the default, against which
// every answer is told, as many as a value has that is named. In a real sweep two
// unlucky ones put it out, and the race spent its trials on what was no better.
func (s *Race) fewestOut(n int) int {
	if n == s.rules.Default {
		return enough
	}
	return 2
}

// hopeless is the share of the highest throughput below which one trial is enough.
const hopeless = 0.45

// byLatency says whether n's p99 may speak against other values.
func (s *Race) byLatency(n int) bool {
	return s.rules.Latency && s.model.p99.has(n) && (s.rules.MaxByLatency <= 0 || n <= s.rules.MaxByLatency)
}

// prove compares n with each rival.
func (s *Race) prove(n int) (asFast, asPrompt bool) {
	asFast, asPrompt = true, true
	for _, j := range s.rivals {
		if j == n {
			continue
		}
		asFast = asFast && s.model.asGood(n, j, Throughput, s.rules.margin(Throughput))
		if s.byLatency(j) {
			asPrompt = asPrompt && s.model.asGood(n, j, P99, s.rules.margin(P99))
		}
	}
	return asFast, asPrompt && !s.aboveBound(n)
}

// aboveBound says whether n is above the bound of what latency may prefer, while a
// value within it is not out: that one may be open by its latency alone.
func (s *Race) aboveBound(n int) bool {
	m := s.rules.MaxByLatency
	return s.rules.Latency && m > 0 && n > m && s.rivals[0] <= m
}

// choose finds the values that stand, smallest first.
func (s *Race) choose() {
	first := func(ok func(chance) bool) int {
		for _, n := range s.named {
			if s.model.throughput.trials(n) >= enough && ok(s.chance[n]) {
				return n
			}
		}
		return 0
	}
	s.likely = first(func(c chance) bool { return c.likely })
	s.proven = first(chance.proven)
	s.pick = s.proven
	if s.rules.Goal == Likely {
		s.pick = s.likely
	}
	if s.rules.Goal == Likely {
		s.giveUp()
	} else {
		s.weigh()
	}
}
