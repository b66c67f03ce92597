// Package race decides which value of GOMAXPROCS to measure next, and what the trials
// so far prove. It is pure: the same rules and trials give the same block and the same
// assessment, so that a run that was interrupted continues as if it had not been. It has
// no sentences.
//
// # The model
//
// The logarithms of throughput and of p99 are fitted apart (fit): a trial is its value's
// level, plus the machine's state in its block, plus noise. Blocks are a walk, whose step
// is not known: fits at seven steps are averaged by their likelihood. Each start of a program
// whose value is set while it runs has a walk of its own, and its level is free. So a block of three
// is compared with its neighbours in time as far as the machine is steady, and within
// itself alone where it is not. A trial far from its place counts only as far as Huber's
// bound, and less the further it is (influence); each value has a spread of its own, drawn to that of all. Bounds are Student's
// t with all residuals' degrees of freedom: no copies are run for the noise. A saturated
// trial has no p99; a failed one counts for nothing, and the throughput of one that met its
// objective at no rate is a bound from above.
//
// # Proven, likely
//
// A value is out when its throughput is proven worse than the highest, by more than the
// margin, at 99.5%, or is below 45% of it. The others are rivals. One that fell
// behind the offered rate more often than another takes no part by its p99 (behind). A value is proven
// when it is no worse than each rival, in throughput and in p99, by a one-sided bound of
// 95% each: all must hold, so that they need no correction for their number
// (intersection-union; Berger, 1982). A comparison must also hold without the trial of
// the rival that helps it most (alone): an outlier proves nothing. A value is likely when,
// by models in which rivals are pooled (of throughput in rivals, of p99 in curve), it is
// wrong by throughput with 3% and by p99 with 10% at most (probable), and its own trials
// show at 95% that it does no harm (harmless). The smallest proven value is named, or a
// likely one that has fewer than four fifths of its Ps.
//
// Of a difference a level says Slower or Later only by a bound that counts all values.
//
// # The next block
//
// First come all of a few values, else the powers of two. Then each value's proof is
// priced in trials (outlook), and the front is where that, and the Ps, cost least. Below
// it a value is measured that may still be good (edge), next to the peak one that may be
// higher (beside). A block has the front, such a value, and the rivals that lack most of
// what the proof asks. It ends when the front is proven twice in a row, when nothing
// can be proven with the trials left and something is likely (futile), or with any number of
// trials (barred), or with the trials.
// A race until likely uses the pooled chances in place of prices. The default runs as unset
// and as its number in turn; where these are proven apart nothing is named.
//
// # What it does not cover
//
// Only values that were measured are proven against. For the values between them there are two arguments: throughput
// grows at most in proportion, and the look next to the peak: a peak narrower than that is
// missed, and so is a p99 that is good at a few values between two bad ones. A proof is
// looked at after each block, which adds to its error at the very margin.
// docs/evidence/verdict-simulations.md has what simulations show, and the tests run them.
package race

import (
	"maps"
	"math"
	"slices"
)

// Enough is how many trials a value has that is named, or of which a difference is claimed.
const Enough = 3

// Race is what the trials say of every value, and of what to do next.
type Race struct {
	rules   Rules
	trials  []Trial
	model   *Model
	values  []int // measured, ascending
	failed  map[int]int
	fell    map[int]int  // trials that did not carry the offered rate
	unmet   map[int]bool // that met the objective in half of their trials at most
	top     int          // highest throughput of those that met it
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
	throughput, p99 float64
	likely          bool
	proven          bool // as good as each rival
}

// wrong is the probability of being wrong in any.
func (c chance) wrong() float64 { return min(1, c.throughput+c.p99) }

// New is the race after these trials, or what a grid's trials come to.
func New(r Rules, trials []Trial) *Race {
	s := &Race{rules: r, trials: trials, model: newModel(trials, r.without),
		failed: map[int]int{}, fell: map[int]int{}, unmet: map[int]bool{}, out: map[int]bool{}, chance: map[int]chance{}, dropped: map[int]bool{}, smooth: map[int]float64{}}
	missed := map[int]int{} // trials that did not meet the objective, less those that did
	for _, t := range trials {
		if t.Saturated && !t.Failed {
			s.fell[t.Value]++
		}
		switch {
		case t.Failed:
			s.failed[t.Value]++
		case t.Unmet:
			missed[t.Value]++
			s.unmet[t.Value] = true
		default:
			missed[t.Value]--
		}
	}
	maps.DeleteFunc(s.unmet, func(n int, _ bool) bool { return missed[n] < 0 })
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
// reach. The throughput of a value that did not meet the objective is a bound from above: it may
// prove the value worse, and not as good.
func (s *Race) sortOut() {
	f := s.model.throughput
	best := math.Inf(-1)
	for _, n := range s.values {
		mean, se := f.level(n)
		if v := mean - 0.5*se; v > best && !s.unmet[n] { // one trial may be luck
			s.top, best = n, v
		}
	}
	if s.top == 0 {
		return
	}
	margin := s.rules.margin(Throughput)
	for _, n := range s.values {
		if n != s.top {
			d, _ := f.difference(n, s.top)
			s.out[n] = d < math.Log(hopeless) && (f.trials(n) >= Enough || n != s.rules.Default && !s.unmet[n]) ||
				f.trials(n) >= s.fewestOut(n) && f.trials(s.top) >= 2 && f.upper(n, s.top, outLevel) < -margin
		}
	}
	for _, n := range s.values {
		if s.out[n] {
			continue
		}
		s.rivals = append(s.rivals, n)
		if (!s.rules.Latency || s.model.p99.has(n)) && !s.behind(n) && s.failed[n] <= f.trials(n) && !s.unmet[n] {
			s.named = append(s.named, n)
		}
	}
}

// outLevel is that of the bound which puts a value out, high since it is looked at
// after each block.
const outLevel = 0.995

// fewestOut is how many trials put a value out: two, and of the default, against which
// every answer is reported, as many as a value has that is named. In a real sweep two
// unlucky ones put it out, and the race spent its trials on what was no better.
func (s *Race) fewestOut(n int) int {
	if n == s.rules.Default {
		return Enough
	}
	return 2
}

// hopeless is the share of the highest throughput below which one trial is enough: the value is
// measured no further, and nothing else follows from it (outByOne). It is not for the default, nor for a
// value that missed the objective, whose number is the lowest rate that was tried, or near it.
const hopeless = 0.45

// outByOne reports whether a single trial puts n out: it has no other, or without it n would not be worse.
func (s *Race) outByOne(n int) bool {
	f := s.model.throughput
	return s.out[n] && (f.trials(n) == 1 || f.mean[f.index[s.top]]-f.without[f.index[n]][0] <= s.rules.margin(Throughput))
}

// behind reports whether n fell behind the offered rate in a larger share of its trials, one of them
// left out, than another value that is not out. Then its p99 would be that of its good trials alone:
// it is not named, and its p99 does not speak against other values.
func (s *Race) behind(n int) bool {
	f := s.model.throughput
	return s.rules.Latency && s.fell[n] > 1 && slices.ContainsFunc(s.values, func(j int) bool {
		return !s.out[j] && s.within(j) && f.trials(j) >= Enough && (s.fell[n]-1)*f.trials(j) > s.fell[j]*(f.trials(n)-1)
	})
}

// within reports whether latency may prefer n.
func (s *Race) within(n int) bool { return s.rules.MaxByLatency <= 0 || n <= s.rules.MaxByLatency }

// byLatency reports whether n's p99 may speak against other values.
func (s *Race) byLatency(n int) bool {
	return s.rules.Latency && s.model.p99.has(n) && s.within(n) && !s.behind(n)
}

func (s *Race) prove(n int) bool {
	return !s.aboveBound(n) && !slices.ContainsFunc(s.rivals, func(j int) bool {
		return j != n && (!s.asGood(n, j, Throughput) || s.byLatency(j) && !s.asGood(n, j, P99))
	})
}

// enough reports whether n has as many trials as a value has that is named, in each figure that is judged.
func (s *Race) enough(n int) bool {
	return s.model.throughput.trials(n) >= Enough && (!s.rules.Latency || s.model.p99.trials(n) >= Enough)
}

// aboveBound reports whether n is above the bound of what latency may prefer, while a
// value within it is not out: that one may be open by its latency alone.
func (s *Race) aboveBound(n int) bool {
	m := s.rules.MaxByLatency
	return s.rules.Latency && m > 0 && n > m && s.rivals[0] <= m
}

// choose finds the values that remain, smallest first.
func (s *Race) choose() {
	first := func(ok func(chance) bool) int {
		for _, n := range s.named {
			if s.enough(n) && ok(s.chance[n]) {
				return n
			}
		}
		return 0
	}
	s.likely = first(func(c chance) bool { return c.likely })
	s.proven = first(func(c chance) bool { return c.proven })
	if s.rules.Goal == Likely {
		s.pick = s.likely
		s.giveUp()
		return
	}
	s.pick = s.proven
	s.weigh()
}
