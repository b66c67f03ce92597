package race

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/procfit/procfit/internal/verdict/stat"
)

// Lead is which value is best after some trials, and what is proven.
type Lead struct {
	Pick       int     // the smallest value as good as any; 0: undecided
	Confidence Goal    // of the pick; empty without one
	Default    Goal    // how sure it is that the default is as good as any; empty: that is open, or there is none
	Peak       int     // the highest throughput; 0 without figures
	BestP99    int     // the shortest p99 among values that are not out; 0: none
	Trade      int     // a value that is out whose p99 is proven better than the pick's by more than its throughput is worse; 0: none
	Levels     []Level // of each value that was tried, ascending
	Open       []Comparison
	Spread     Spread
	Copies     Copies
	Model      *Model
}

// Level is what is known of one value.
type Level struct {
	Value           int
	Trials          int           // that carry figures
	Throughput, P99 stat.Interval // at the average block
	Out             bool          // proven worse than the peak by more than the margin, or hopeless
	OutByOne        bool          // by a single trial
	Saturated       bool          // proven: it does not carry the offered rate
	Behind          bool          // it fell behind the offered rate more often than another value: its P99 is not known
	Unmet           bool          // it met the objective in half of its trials at most: Throughput is a bound from above
	Slower          bool          // proven worse than the peak by more than the margin, all values considered at once
	Later           bool          // and its p99 than the best
}

// Comparison is one that is not decided: is A as good as B?
type Comparison struct {
	A, B   int
	By     Figure
	Trials int // that would decide it as things look, of both values together; 0: more than can be asked
}

// Spread is how much a trial strays about its value and block, as a coefficient of
// variation: the noise floor. DF is how many degrees of freedom it comes from.
type Spread struct {
	Throughput, P99 float64
	DF              float64
}

// Copies is the default as unset against its number, which are one setting.
type Copies struct {
	Ratio float64 // of throughput; 0: too few of both
	Apart bool    // proven to differ: then nothing is what it seems
}

// Lead is which value is best so far, and what is proven.
func (s *Race) Lead() Lead {
	a := Lead{Model: s.model, Peak: s.top, Copies: copiesOf(s.rules, s.trials)}
	if s.top == 0 {
		a.Levels = s.levels(0)
		return a
	}
	if !a.Copies.Apart {
		a.Pick = s.final()
	}
	if a.Pick != 0 {
		if a.Confidence = Likely; s.chance[a.Pick].proven {
			a.Confidence = Proven
		}
	}
	f := s.model.throughput
	a.Spread = Spread{Throughput: cv(f.sigma), DF: f.df}
	if s.model.p99 != nil {
		a.Spread.P99 = cv(s.model.p99.sigma)
	}
	a.BestP99 = s.shortest()
	a.Default = s.ofDefault()
	a.Levels = s.levels(a.BestP99)
	a.Open = s.open(a)
	a.Trade = s.trade(a.Pick)
	return a
}

// likelier is how much smaller a likely value must be to be named before a proven one.
const likelier = 0.8

// final is the value that is named if nothing more is measured.
func (s *Race) final() int {
	if s.rules.Goal == Likely || s.proven == 0 || s.likely != 0 && float64(s.likely) < likelier*float64(s.proven) {
		return s.likely
	}
	return s.proven
}

// cv is a standard deviation of logarithms as a coefficient of variation, kept within
// what a number holds.
func cv(sd float64) float64 { return math.Sqrt(math.Expm1(min(sd*sd, 700))) }

// shortest is the value of the shortest p99 that is not out, with half a standard
// error for luck.
func (s *Race) shortest() int {
	best, least := 0, math.Inf(1)
	for _, n := range s.rivals {
		if !s.byLatency(n) {
			continue
		}
		if mean, se := s.model.p99.level(n); mean+se/2 < least {
			best, least = n, mean+se/2
		}
	}
	return best
}

// That unset and its number differ, when the program runs with the same value, is asked
// after each block, of trials that are hardly ever of one block, on machines that drift:
// a real sweep of two equal ones had a difference of 14% after three trials each, at
// 99.5%. The rare program that reads the variable itself differs by more.
const copiesLevel = 0.9999

func copiesOf(r Rules, trials []Trial) Copies {
	samples, count, n := samplesOf(trials, Throughput, byCopy), map[int]int{}, r.Default
	for _, s := range samples {
		count[s.setting]++
	}
	if n == 0 || min(count[n], count[-n]) < Enough {
		return Copies{}
	}
	f := newFit(samples, priorOf(Throughput))
	d, se := f.difference(-n, n)
	return Copies{Ratio: math.Exp(d), Apart: math.Abs(d) > f.quantile(1-(1-copiesLevel)/2)*se}
}

// ofDefault is how sure it is that the default is as good as any; empty: that is open.
func (s *Race) ofDefault() Goal {
	i := slices.Index(s.named, s.rules.Default)
	if i < 0 || !s.enough(s.rules.Default) {
		return ""
	}
	c := s.chance[s.rules.Default]
	if !c.proven && !c.likely { // chances did not look at it, or found it unlikely
		r := rand.New(rand.NewPCG(uint64(len(s.trials)), 11))
		var prompt [][]float64
		if s.rules.Latency {
			prompt = s.model.p99.curve(s.named, draws, r)
		}
		slow, late := s.draw(i, prompt, r)
		c.likely = s.probable(s.rules.Default, slow, late) && s.harmless(s.rules.Default)
	}
	switch {
	case c.proven:
		return Proven
	case c.likely:
		return Likely
	}
	return ""
}

// moves reports whether some value is proven worse than another: only then the number of Ps
// is shown to matter. One trial does not prove it.
func (s *Race) moves() bool {
	best := s.shortest()
	return s.rules.Moves || slices.ContainsFunc(s.values, func(n int) bool {
		return s.out[n] && !s.outByOne(n) || s.slower(n) || best != 0 && s.model.p99.has(n) && s.later(n, best)
	})
}

// undecided is a value that may be as good as the pick or worse, where nothing is proven
// worse: while that is open nobody knows whether the number of Ps matters. It is the
// default, against which a change would be advised; without one, the value for which it
// costs least to tell. Against is what most keeps that open. Before that comes a value that is out
// by one trial. 0: nothing is open, or more trials would be needed than are left.
func (s *Race) undecided() (n, against int) {
	standard := s.rules.Default
	if standard == s.pick || s.moves() {
		return 0, 0
	}
	for _, n := range s.values {
		if s.outByOne(n) && s.failed[n] < Enough && s.left() >= 2 {
			return n, s.pick
		}
	}
	if s.rules.Goal == Likely {
		return 0, 0
	}
	least := s.left()
	for _, j := range s.rivals {
		if j == s.pick || standard != 0 && j != standard {
			continue
		}
		if rival, cost := s.toTell(j); rival != 0 && cost <= least {
			n, against, least = j, rival, cost
		}
	}
	return n, against
}

// toTell is how many trials it takes to tell whether a value is as good as the pick, or
// the default as good as any, and the rival that takes most of them; 0: it is proven.
func (s *Race) toTell(n int) (against int, cost float64) {
	for _, j := range s.rivals {
		if j == n || j != s.pick && n != s.rules.Default {
			continue
		}
		for _, by := range []Figure{Throughput, P99} {
			if by == P99 && !(s.byLatency(j) && s.model.p99.has(n)) || s.asGood(n, j, by) {
				continue
			}
			trials := float64(s.comparison(n, j, by).Trials)
			if trials == 0 { // more than can be asked
				trials = math.Inf(1)
			}
			if trials > cost {
				against, cost = j, trials
			}
		}
	}
	return against, cost
}

func (s *Race) levels(best int) []Level {
	var tried []int
	for _, t := range s.trials {
		tried = append(tried, t.Value)
	}
	slices.Sort(tried)
	var out []Level
	for _, n := range slices.Compact(tried) {
		l := Level{Value: n, Trials: s.model.throughput.trials(n)}
		if l.Trials > 0 {
			l.Throughput = s.model.interval(n, Throughput)
			if l.Behind = s.behind(n); !l.Behind {
				l.P99 = s.model.interval(n, P99)
			}
			l.Out, l.Saturated, l.Unmet = s.out[n], s.saturated(n), s.unmet[n]
			l.OutByOne, l.Slower, l.Later = s.outByOne(n), s.slower(n), s.later(n, best)
		}
		out = append(out, l)
	}
	return out
}

// interval of a value by itself, at the average block; without bounds where it has fewer trials
// than a value that is named. Two values are to be compared by Ratio, in which blocks cancel.
func (m *Model) interval(n int, by Figure) (i stat.Interval) {
	f := m.of(by)
	if !f.has(n) {
		return i
	}
	positive := func(x float64) bool { return x > 0 && !math.IsInf(x, 1) } // a journal may be anyone's
	mean, se := f.level(n)
	wide := f.shown(confidence) * se
	x, low, high := math.Exp(mean), math.Exp(mean-wide), math.Exp(mean+wide)
	if !positive(x) {
		return i
	}
	if i.Median, i.N = &x, f.trials(n); i.N >= Enough && positive(low) && positive(high) {
		i.Low, i.High = &low, &high
	}
	return i
}

// saturated reports whether a value is proven not to carry the offered rate: the upper
// bound of its throughput is below, or its trials that did not are so frequent that with 95%
// confidence most do not.
func (s *Race) saturated(n int) bool {
	if s.fell[n] == 0 {
		return false
	}
	trials := s.model.throughput.trials(n)
	if rate := s.rules.Rate; rate > 0 && trials >= Enough {
		mean, se := s.model.throughput.level(n)
		if mean+s.model.throughput.quantile(s.all())*se < math.Log(rate) {
			return true
		}
	}
	// The chance of that many, if the chance of each were one in two.
	return 1-stat.HalfBinomial(s.fell[n]-1, trials) <= 1-confidence
}

// claimError is how often a difference that is none may be claimed of any value, by
// throughput or p99.
const claimError = 0.01

// all is the level of a bound that is asked of every value at once (Bonferroni). It is far
// above that of a proof also because the bound is looked at after each block.
func (s *Race) all() float64 {
	return 1 - claimError/(2*float64(max(1, len(s.values)-1)))
}

// slower reports whether n is proven worse than the peak by more than the margin.
func (s *Race) slower(n int) bool {
	f := s.model.throughput
	return n != s.top && min(f.trials(n), f.trials(s.top)) >= Enough &&
		f.upper(n, s.top, s.all()) < -s.rules.margin(Throughput)
}

// later reports whether n's p99 is proven longer than the best by more than the margin.
func (s *Race) later(n, best int) bool {
	f := s.model.p99
	return n != best && min(f.trials(n), f.trials(best)) >= Enough &&
		f.lower(n, best, s.all()) > s.rules.margin(P99)
}

// mostAsked is how many trials may be asked for one comparison.
const mostAsked = 240

// open are the comparisons that keep the pick, or the front where it is another, or the
// default, from being proven.
func (s *Race) open(a Lead) []Comparison {
	n := a.Pick
	if n == 0 || a.Confidence == Proven {
		n = s.front
	}
	if n == a.Pick && a.Confidence == Proven && a.Default != Proven && !s.moves() && slices.Contains(s.rivals, s.rules.Default) {
		n = s.rules.Default // whether it is as good is all that is left
	}
	if n == 0 || n == a.Pick && a.Confidence == Proven {
		return nil
	}
	var out []Comparison
	for _, j := range s.rivals {
		if j == n {
			continue
		}
		if !s.asGood(n, j, Throughput) {
			out = append(out, s.comparison(n, j, Throughput))
		}
		if s.byLatency(j) && s.model.p99.has(n) && !s.asGood(n, j, P99) {
			out = append(out, s.comparison(n, j, P99))
		}
	}
	return out
}

// misses reports whether a value did not meet the objective, in as many trials as a claim takes.
func (s *Race) misses(n int) bool { return s.unmet[n] && !s.lacks(n) }

// never reports whether no number of trials shows that a is as good as b, or worse: one of them did
// not meet the objective, and its bound is not on the side that proves it worse.
func (s *Race) never(a, b int) bool {
	f, margin := s.model.throughput, s.rules.margin(Throughput)
	d, _ := f.difference(a, b)
	return s.misses(b) && f.upper(a, b, outLevel) < -margin || s.misses(a) && d > -margin
}

// comparison of two values with the trials that would decide it in four of five
// runs.
func (s *Race) comparison(a, b int, by Figure) Comparison {
	f := s.model.of(by)
	d, _ := f.difference(a, b)
	room := s.rules.margin(by) + d
	if by == P99 {
		room = s.rules.margin(by) - d
	}
	if room <= 0 { // it seems worse: then that is to be shown
		room = max(-room, 0.25*s.rules.margin(by))
	}
	need := room / (f.quantile(confidence) + f.quantile(0.8))
	spread := f.sigma * f.sigma * (f.scale[f.index[a]] + f.scale[f.index[b]])
	each := int(math.Ceil(spread / (need * need)))
	trials := max(1, max(0, each-f.trials(a))+max(0, each-f.trials(b)))
	if trials > mostAsked || by == Throughput && s.never(a, b) {
		trials = 0
	}
	return Comparison{a, b, by, trials}
}
