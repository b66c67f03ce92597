package race

import (
	"math"
	"slices"
)

// Slicing says which slices of one start are taken, whose value is set while the program runs,
// and which values they leave to starts of their own. Slices show throughput alone: the p99 of
// so short a time is luck.
type Slicing struct {
	rules Rules
	fast  *Race
	count int
}

// SlicesEach is how many each value has. With more of them, the simulations' races took as many
// trials.
const SlicesEach = 4

// ownShare is how much a start may favour one value, as others do not, in standard deviations of
// a slice.
const ownShare = 1

// Slices is the state after some, of the rules of the trials that follow.
func Slices(r Rules, trials []Trial) *Slicing {
	s := &Slicing{rules: r, count: len(trials)}
	r.Goal, r.Listed, r.Latency = Likely, false, false
	r.Seed++ // than that of the starts
	s.fast = New(r, trials)
	return s
}

// Next are the values of the next block in the order to run; none: it is over.
func (s *Slicing) Next() (values []int) {
	if s.count >= SlicesEach*len(s.rules.Values) {
		return nil
	}
	for _, c := range s.fast.arrange(s.rules.Values) {
		values = append(values, c.Value)
	}
	return values
}

// Lead is what the slices show.
func (s *Slicing) Lead() Lead { return s.fast.Lead() }

// Kept are the values that get starts of their own first: the smallest that is likely, the
// default, and what may be better than these in any start. They are two at least.
func (s *Slicing) Kept() (list []int) {
	for _, n := range s.fast.values {
		if n == s.rules.Default || !s.Slower(n) && !s.covered(n) {
			list = append(list, n)
		}
	}
	if d := s.rules.Default; d > 0 && !slices.Contains(list, d) {
		list = append(list, d)
	}
	if len(list) == 1 {
		list = append(list, s.next(list[0])...)
	}
	slices.Sort(list)
	return list
}

// covered reports whether the smallest value that is likely is as fast as a larger one in any
// start. A larger one may have the better p99 alone. Below the default, whose trials show whether
// p99 becomes better with more Ps, the race looks for it (edge).
func (s *Slicing) covered(n int) bool {
	pick := s.fast.pick
	prompt := s.rules.Latency && (s.rules.MaxByLatency <= 0 || n <= s.rules.MaxByLatency)
	if pick == 0 || n <= pick || prompt && n > s.rules.Default {
		return false
	}
	low, _ := s.bounds(pick, n)
	return low > -s.rules.margin(Throughput)
}

// Narrow are the rules of the starts of their own: the values that are kept come first, and
// nothing is measured that is slower, or beyond what is.
func (s *Slicing) Narrow(r Rules) Rules {
	r.First = s.Kept()
	r.MaxTrials = r.Limit()
	low, high := 0, math.MaxInt
	for _, n := range s.fast.values {
		switch {
		case !s.Slower(n) || slices.Contains(r.First, n):
		case n < s.fast.top:
			low = n
		default:
			high = min(high, n)
		}
	}
	r.Moves = low > 0 || high < math.MaxInt
	r.Values = slices.DeleteFunc(slices.Clone(r.Values), func(n int) bool {
		return (n <= low || n >= high) && !slices.Contains(r.First, n)
	})
	return r
}

// next is the fastest value but one: what is to be proven is that one against another.
func (s *Slicing) next(but int) (list []int) {
	f := s.fast.model.throughput
	for _, n := range s.fast.values {
		if n == but {
			continue
		}
		if d := 0.0; len(list) > 0 {
			if d, _ = f.difference(n, list[0]); d <= 0 {
				continue
			}
		}
		list = []int{n}
	}
	return list
}

// Slower reports whether a value is slower than the fastest by more than the margin, in any start
// and without its lowest slice: that may be another program's doing, or a collection's.
func (s *Slicing) Slower(n int) bool {
	if !s.fast.out[n] || s.fast.outByOne(n) {
		return false
	}
	_, high := s.bounds(n, s.fast.top)
	return high < -s.rules.margin(Throughput)
}

// bounds of the throughput of a over b, as a logarithm, in any start: each at 95%.
func (s *Slicing) bounds(a, b int) (low, high float64) {
	f := s.fast.model.throughput
	d, se := f.difference(a, b)
	wide := f.quantile(confidence) * math.Hypot(se, ownShare*math.Sqrt2*f.sigma)
	return d - wide, d + wide
}

// Apart is a value that is kept and whose throughput, over the default's, is proven to be another
// in trials with starts of their own, by more than the margin; 0: none is. slices and starts are
// that throughput in both. It takes two trials at 99.5%, after which such a value may be out.
func (s *Slicing) Apart(trials []Trial) (n int, slices, starts float64) {
	live, fresh := s.fast.model, newModel(trials, s.rules.without)
	standard := s.rules.Default
	for _, n := range s.Kept() {
		if n == standard || !live.throughput.has(n) || !live.throughput.has(standard) || min(fresh.Trials(n, Throughput), fresh.Trials(standard, Throughput)) < 2 {
			continue
		}
		before, se := live.throughput.difference(n, standard)
		now, own := fresh.throughput.difference(n, standard)
		q := max(live.throughput.quantile(outLevel), fresh.throughput.quantile(outLevel))
		if math.Abs(now-before)-q*math.Hypot(se, own) > s.rules.margin(Throughput) {
			return n, math.Exp(before), math.Exp(now)
		}
	}
	return 0, 0, 0
}
