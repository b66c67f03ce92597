package stat

import (
	"math"
)

// reasons are what the comparisons show, each with its figures and its n: first
// what is proven, then what is open, then the noise that it stands against.
func (w *walk) reasons() []Reason {
	list := []Reason{{Code: ReasonFastest, Of: w.best.named()}}
	list = append(list, w.throughputReasons()...)
	list = append(list, w.latencyReasons()...)
	if len(w.withheld) > 0 {
		list = append(list, Reason{Code: ReasonWithheld, List: namedAll(w.withheld)})
	}
	if u := w.unplaced; u != nil && u.procs == 0 {
		list = append(list, Reason{Code: ReasonUnsetUnread, Of: u.named()})
	} else if u != nil {
		c := w.throughput(u.throughput, w.twin().throughput)
		list = append(list, Reason{Code: ReasonUnsetDiffers, Of: u.named(), Than: w.twin().named(), Change: expm1(c.mid), N: c.n})
	}
	if f := w.group.NoiseFloor; f.Throughput != nil {
		r := Reason{Code: ReasonNoise, N: f.Pairs, Change: *f.Throughput}
		if w.latency {
			r.P99Change = f.P99
		}
		list = append(list, r)
	}
	return append(list, Reason{Code: ReasonHolds})
}

// byStanding sorts comparisons with one setting: worse, as good, open.
type byStanding struct{ worse, good, open []Reason }

func (b byStanding) all() []Reason { return append(append(b.worse, b.good...), b.open...) }

func (w *walk) throughputReasons() []Reason {
	var list byStanding
	for _, s := range w.settings {
		if s == w.best {
			continue
		}
		c := w.throughput(s.throughput, w.best.throughput)
		r := Reason{Metric: MetricThroughput, Of: s.named(), Than: w.best.named(), Change: expm1(c.mid), N: c.n}
		switch {
		case c.n == 0:
			r.Code, r.Change = ReasonSpeedOpen, 0
			list.open = append(list.open, r)
		case c.worse:
			r.Code, r.Bound = ReasonSlower, expm1(c.upper)
			list.worse = append(list.worse, r)
		case c.asGood:
			r.Code, r.Bound = ReasonAsFast, expm1(min(c.lower, 0))
			list.good = append(list.good, r)
		default:
			r.Code = ReasonSpeedOpen
			list.open = append(list.open, r)
		}
	}
	return list.all()
}

// latencyReasons compares T with the lowest p99 of all that carry the rate.
func (w *walk) latencyReasons() []Reason {
	if !w.latency {
		if w.group.LatencyMode != "" {
			return []Reason{{Code: ReasonP99NotJudged}}
		}
		return nil
	}
	low := w.settings[0]
	for _, s := range w.settings {
		if s.hasP99() && !s.saturated && (low.saturated || !low.hasP99() || s.tail < low.tail) {
			low = s
		}
	}
	var list byStanding
	for _, s := range w.settings {
		if s == low || !w.inTail(s) {
			continue
		}
		c := w.p99(s.p99, low.p99)
		r := Reason{Metric: MetricP99, Of: s.named(), Than: low.named(), N: c.n}
		if c.n > 0 {
			r.Change = expm1(c.mid)
		}
		switch {
		case s.saturated:
			list.worse = append(list.worse, Reason{Code: ReasonSaturated, Of: s.named()})
		case c.worse:
			r.Code, r.Bound = ReasonLater, expm1(c.lower)
			list.worse = append(list.worse, r)
		case c.asGood:
			r.Code = ReasonAsPrompt
			list.good = append(list.good, r)
		default:
			r.Code = ReasonP99Open
			list.open = append(list.open, r)
		}
	}
	return append([]Reason{{Code: ReasonLowestP99, Of: low.named()}}, list.all()...)
}

// twin is the numbered setting of the unplaced unset arm's value.
func (w *walk) twin() *setting {
	for _, s := range w.settings {
		if s.procs == w.unplaced.procs {
			return s
		}
	}
	return w.unplaced
}

// noneOnLatency is for a T in which no setting is shown to have the best p99.
func (w *walk) noneOnLatency() Reason {
	if len(w.tail) == 1 {
		return Reason{Code: CauseSaturated, Of: w.tail[0].named()}
	}
	r := Reason{Code: CauseP99Open, List: namedAll(w.tail)}
	if d := w.standard(); d != nil && w.inTail(d) {
		r.Than = d.named()
	}
	return r
}

// settle says what would make a verdict possible, from the spread of these
// blocks.
func (w *walk) settle() []Step {
	var list []Step
	ask := func(metric string, of func(*setting) series, margin float64) {
		sd, n := spread(of, w.best, w.settings)
		if n < 2 || math.IsNaN(sd) {
			return
		}
		switch need := enough(sd, margin); {
		case need == 0:
			list = append(list, Step{Code: StepQuieter, Metric: metric, Spread: sd})
		case need > n:
			list = append(list, Step{Code: StepMoreBlocks, Metric: metric, Blocks: need, Have: n})
		default:
			list = append(list, Step{Code: StepTwiceBlocks, Metric: metric, Blocks: 2 * n, Have: n})
		}
	}
	open := w.open()
	if open.throughput {
		ask(MetricThroughput, speedOf, w.margin)
	}
	if open.p99 {
		ask(MetricP99, tailOf, w.marginP99)
	}
	if len(list) == 0 {
		list = append(list, Step{Code: StepMoreBlocks})
	}
	return list
}

// openness is which metrics leave something open.
type openness struct{ throughput, p99 bool }

func (w *walk) open() openness {
	var o openness
	for _, s := range w.settings {
		c := w.throughput(s.throughput, w.best.throughput)
		o.throughput = o.throughput || s != w.best && !c.asGood && !c.worse
	}
	for _, a := range w.tail {
		for _, b := range w.tail {
			c := w.p99(a.p99, b.p99)
			o.p99 = o.p99 || w.latency && a != b && !c.asGood && !c.worse
		}
	}
	return o
}
