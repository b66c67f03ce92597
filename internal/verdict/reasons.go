package verdict

import (
	"slices"

	"github.com/procfit/procfit/internal/verdict/contest/race"
	"github.com/procfit/procfit/internal/verdict/journal"
)

// reasons are what the comparisons show, each with its metrics and its n: first
// what is proven, then what is open, then what was skipped, and the noise.
func (w *outcome) reasons() []Reason {
	list := []Reason{{Code: ReasonFastest, Of: w.best.named(), List: namedAll(w.lucky())}}
	list = append(list, w.throughputReasons()...)
	list = append(list, w.latencyReasons()...)
	return append(list, w.common()...)
}

// common are those that compare no values.
func (w *outcome) common() (list []Reason) {
	if j := w.group.Latency; j.Quantile != 0.99 && (j.Quantile > 0 || j.Reason != "") {
		list = append(list, Reason{Code: ReasonUnjudged})
	}
	if n := w.group.Latency.Late; n > 0 {
		list = append(list, Reason{Code: ReasonLateLoad, N: n})
	}
	if w.latency && w.bound > 0 {
		list = append(list, Reason{Code: ReasonShared})
	}
	if n := w.group.Others.Bursts; n > 0 {
		list = append(list, Reason{Code: ReasonBursts, N: n})
	}
	if len(w.withheld) > 0 {
		list = append(list, Reason{Code: ReasonWithheld, List: namedAll(w.withheld)})
	}
	if u := w.unplaced; u != nil && u.procs == 0 {
		list = append(list, Reason{Code: ReasonUnsetUnread, Of: u.named()})
	} else if u != nil {
		list = append(list, Reason{Code: ReasonUnsetDiffers, Of: u.named(), Than: w.twin().named(), Change: u.rate/w.twin().rate - 1, N: min(u.level.Trials, w.twin().level.Trials)})
	}
	if w.group.Spread.Throughput != nil {
		list = append(list, Reason{Code: ReasonSpread})
	}
	return append(list, Reason{Code: ReasonHolds})
}

// lucky are the values whose level is above the best one's, by too few trials to
// count.
func (w *outcome) lucky() []*contender {
	return slices.DeleteFunc(slices.Clone(w.contenders), func(s *contender) bool { return !(s.rate > w.best.rate) })
}

// byStanding sorts comparisons with one value: worse, as good, open.
type byStanding struct{ worse, good, open []Reason }

func (b byStanding) all() []Reason { return append(append(b.worse, b.good...), b.open...) }

func (w *outcome) throughputReasons() []Reason {
	var list byStanding
	var aside []Reason
	for _, s := range w.contenders {
		if s == w.best {
			continue
		}
		c := w.throughput(s, w.best)
		r := Reason{Metric: MetricThroughput, Of: s.named(), Than: w.best.named(), Change: expm1(c.Mid), N: c.N}
		switch {
		case c.N == 0:
			r.Code, r.Change = ReasonSpeedOpen, 0
			list.open = append(list.open, r)
		case c.worse:
			r.Code, r.Bound = ReasonSlower, expm1(c.Most)
			list.worse = append(list.worse, r)
		case c.asGood:
			r.Code, r.Bound = ReasonAsFast, expm1(min(c.Lower, 0))
			list.good = append(list.good, r)
		case s.level.Out:
			r.Code = ReasonSetAside
			aside = append(aside, r)
		default:
			r.Code = ReasonSpeedOpen
			list.open = append(list.open, r)
		}
	}
	return append(append(list.worse, aside...), append(list.good, list.open...)...)
}

// latencyReasons compares what is as good in throughput with the lowest latency of all
// that carry the rate.
func (w *outcome) latencyReasons() []Reason {
	if !w.latency {
		if w.group.LatencyMode == string(journal.ModeClosed) {
			return []Reason{{Code: ReasonP99NotJudged}}
		}
		return nil
	}
	var list byStanding
	for _, s := range w.contenders {
		if s.saturated {
			list.worse = append(list.worse, Reason{Code: ReasonSaturated, Of: s.named()})
		}
	}
	low := w.lowest
	if low == nil || !slices.ContainsFunc(w.contenders, w.besideLow) {
		return list.all()
	}
	for _, s := range w.contenders {
		if s == low || s.saturated || !s.hasP99() || !w.inTail(s) || w.beyond(s) {
			continue
		}
		c := w.p99(s, low)
		r := Reason{Metric: MetricP99, Of: s.named(), Than: low.named(), N: c.N}
		if c.N > 0 {
			r.Change = expm1(c.Mid)
		}
		switch {
		case c.worse:
			r.Code, r.Bound = ReasonLater, expm1(c.Least)
			list.worse = append(list.worse, r)
		case c.asGood:
			r.Code, r.Bound = ReasonAsPrompt, expm1(max(c.Upper, 0))
			list.good = append(list.good, r)
		default:
			r.Code = ReasonP99Open
			list.open = append(list.open, r)
		}
	}
	return append([]Reason{{Code: ReasonLowestP99, Of: low.named(), List: namedAll(w.luckyLow())}}, list.all()...)
}

// luckyLow are the values whose latency is below the lowest, by too few trials to
// count.
func (w *outcome) luckyLow() []*contender {
	return slices.DeleteFunc(slices.Clone(w.contenders), func(s *contender) bool { return !(s.tail < w.lowest.tail) || !w.besideLow(s) })
}

// besideLow are those that the lowest latency is the lowest of.
func (w *outcome) besideLow(s *contender) bool {
	return s != w.lowest && s.hasP99() && !s.saturated && !w.out(s) && !w.beyond(s)
}

// twin is the numbered value of the unplaced unset setting's value.
func (w *outcome) twin() *contender {
	for _, s := range w.contenders {
		if s.procs == w.unplaced.procs {
			return s
		}
	}
	return w.unplaced
}

// opened is a comparison that the trials leave open.
type opened struct {
	a, b   *contender
	metric string
	trials int // that it would take, as the contest foresees; 0: not known
}

func pairOf(o opened) []*contender {
	if o.b.procs < o.a.procs {
		return []*contender{o.b, o.a}
	}
	return []*contender{o.a, o.b}
}

// open are the comparisons that the contest names, the one that decides first.
func (w *outcome) open() []opened {
	var list []opened
	for _, c := range w.Open {
		o := opened{a: w.of(c.A), b: w.of(c.B), metric: MetricThroughput, trials: c.Trials}
		if c.By == race.P99 {
			o.metric = MetricP99
		}
		if o.a != nil && o.b != nil {
			list = append(list, o)
		}
	}
	return list
}
