package race

import (
	"math"
	"slices"

	"github.com/procfit/procfit/internal/verdict/stat"
)

func (s *Race) levels(best int) []Level {
	saturated := map[int]int{}
	var tried []int
	for _, t := range s.trials {
		tried = append(tried, t.Value)
		if t.Saturated && !t.Failed {
			saturated[t.Value]++
		}
	}
	slices.Sort(tried)
	var out []Level
	for _, n := range slices.Compact(tried) {
		l := Level{Value: n, Trials: s.model.throughput.trials(n)}
		if l.Trials > 0 {
			l.Throughput = s.model.interval(n, Throughput)
			l.P99 = s.model.interval(n, P99)
			l.Out, l.Saturated, l.Unmet = s.out[n], s.saturated(n, saturated[n]), s.unmet[n]
			l.Slower, l.Later = s.slower(n), s.later(n, best)
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
func (s *Race) saturated(n, count int) bool {
	if count == 0 {
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
	return 1-stat.HalfBinomial(count-1, trials) <= 1-confidence
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
	if n == a.Pick && a.Confidence == Proven && a.Default == "" && !s.moves() && slices.Contains(s.rivals, s.rules.Default) {
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
		if !s.model.asGood(n, j, Throughput, s.rules.margin(Throughput)) {
			out = append(out, s.comparison(n, j, Throughput))
		}
		if s.byLatency(j) && s.model.p99.has(n) && !s.model.asGood(n, j, P99, s.rules.margin(P99)) {
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
