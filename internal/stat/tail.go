package stat

import "math"

// walk is what the comparisons of a group's settings come to, before a verdict
// is made of it.
type walk struct {
	*judge
	group    *Group
	settings []*setting // by procs
	unplaced *setting   // the unset arm, where it has no place among them
	best     *setting   // of the highest median throughput
	withheld []*setting // that are not compared: other programs left them too few CPUs
	// tested are the comparisons with the best that the walk made, tail those that
	// it passed (T, by procs, with the best).
	tested map[*setting]bool
	tail   []*setting
	// latency says whether p99 is judged: every setting of T has one.
	latency bool
	passes  []*setting // those of T that pass on latency
	losses  []metricLoss
	// pilotsInvalid: some pilot was, of whichever group
	pilotsInvalid bool
}

// walkDown goes from the best setting to ever fewer Ps while each is as good as
// the best, then likewise to more. Stopping at the first failure is what allows
// each test its full 5 % (Hsu and Berger, JASA 1999).
func walkDown(j *judge, settings []*setting, unplaced *setting) *walk {
	w := &walk{judge: j, settings: settings, unplaced: unplaced, tested: map[*setting]bool{}}
	at := -1
	for i, s := range settings {
		if !math.IsNaN(s.rate) && (at < 0 || s.rate > w.best.rate) {
			at, w.best = i, s
		}
	}
	if at < 0 {
		return w
	}
	in := map[*setting]bool{w.best: true}
	w.tested[w.best] = true
	for _, step := range []int{-1, 1} {
		for i := at + step; i >= 0 && i < len(settings); i += step {
			w.tested[settings[i]] = true
			if !j.throughput(settings[i].throughput, w.best.throughput).asGood {
				break
			}
			in[settings[i]] = true
		}
	}
	w.latency = true
	for _, s := range settings {
		if in[s] {
			w.tail = append(w.tail, s)
			w.latency = w.latency && s.hasP99()
		}
	}
	for _, s := range w.tail {
		if w.passesLatency(s) {
			w.passes = append(w.passes, s)
		}
	}
	return w
}

func (w *walk) passesLatency(s *setting) bool {
	if s.saturated {
		return false
	}
	for _, other := range w.tail {
		if w.latency && other != s && !w.p99(s.p99, other.p99).asGood {
			return false
		}
	}
	return true
}

func (w *walk) inTail(s *setting) bool {
	for _, t := range w.tail {
		if t == s {
			return true
		}
	}
	return false
}

// beats says whether s is proven better than other on either metric, or carries
// the rate where other does not, in blocks enough to prove anything.
func (w *walk) beats(s, other *setting) bool {
	carries := other.saturated && !s.saturated && len(other.throughput.minus(s.throughput)) >= minPairs
	return carries ||
		w.throughput(other.throughput, s.throughput).worse ||
		w.latency && w.p99(other.p99, s.p99).worse
}

// decided says whether the blocks settle that s is to be preferred to other:
// other is proven worse, or s is as good with fewer Ps.
func (w *walk) decided(s, other *setting) bool {
	return w.beats(s, other) || s.procs < other.procs && w.coversFor(s, other)
}

// coversFor says whether s is as good as other on all that is judged.
func (w *walk) coversFor(s, other *setting) bool {
	return w.throughput(s.throughput, other.throughput).asGood &&
		(!w.latency || !other.hasP99() || w.p99(s.p99, other.p99).asGood)
}

// undecided lists the settings that s is not proven preferable to.
func (w *walk) undecided(s *setting) []*setting {
	var list []*setting
	for _, other := range w.settings {
		if other != s && !w.decided(s, other) {
			list = append(list, other)
		}
	}
	return list
}

// alike says whether all settings are proven equal within the margins: each and
// the best are as good as the other, in throughput and in p99.
func (w *walk) alike() bool {
	if len(w.settings) < 2 || w.unplaced != nil {
		return false
	}
	fastest := w.best
	for _, s := range w.settings {
		if w.latency && (s.saturated || !s.hasP99()) {
			return false
		}
		if w.latency && s.tail < fastest.tail {
			fastest = s
		}
	}
	for _, s := range w.settings {
		if s != w.best && !(w.throughput(s.throughput, w.best.throughput).asGood && w.throughput(w.best.throughput, s.throughput).asGood) {
			return false
		}
		if w.latency && s != fastest && !(w.p99(s.p99, fastest.p99).asGood && w.p99(fastest.p99, s.p99).asGood) {
			return false
		}
	}
	return true
}
