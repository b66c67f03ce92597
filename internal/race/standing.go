package race

import (
	"math"
	"slices"
)

// Tune holds what is tried; it becomes constants.
type Tune struct {
	EpsT, EpsP float64
	Draws      int
	OutLevel   float64
	Try        float64
	CapLikely  bool
	Drop       float64
	RT, RP     int
	BlockMax   int
	Gain, Gap  float64
	Futile     float64
	FutileAt   int
}

// T is temporary.
var T = Tune{EpsT: .03, EpsP: .1, Draws: 400, OutLevel: .995, Try: .3, Drop: .5, RT: 7, RP: 14, BlockMax: 3, Gain: .025, Gap: .04}

// enough is how many trials a value has that is named.
const enough = 3

// standing is what the trials say of every value, and of what to do next.
type standing struct {
	rules   Rules
	trials  []Trial
	model   *Model
	values  []int       // measured, ascending
	tried   map[int]int // trials of each, failed ones too
	top     int         // highest throughput
	out     map[int]bool
	rivals  []int // not out
	named   []int // of these, those that may be named: their p99 is judged
	chance  map[int]chance
	pick    int // smallest that meets the goal
	likely  int // smallest that is likely
	proven  int // smallest that is proven
	front   int // smallest that is not given up
	dropped map[int]bool
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

func stand(r Rules, trials []Trial) *standing {
	s := &standing{rules: r, trials: trials, model: NewModel(trials),
		tried: map[int]int{}, out: map[int]bool{}, chance: map[int]chance{}, dropped: map[int]bool{}}
	for _, t := range trials {
		s.tried[t.Value]++
	}
	if s.model.throughput == nil {
		return s
	}
	s.values = s.model.throughput.arms
	s.sortOut()
	s.judge()
	s.choose()
	return s
}

// sortOut finds the highest throughput, and which values are proven out of its
// reach.
func (s *standing) sortOut() {
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
				f.trials(n) >= 2 && f.trials(s.top) >= 2 && f.upper(n, s.top, T.OutLevel) < -margin
		}
		if s.out[n] {
			continue
		}
		s.rivals = append(s.rivals, n)
		if !s.rules.Latency || s.model.p99.has(n) {
			s.named = append(s.named, n)
		}
	}
}

// hopeless is the share of the highest throughput below which one trial is enough.
const hopeless = 0.45

// byLatency says whether n's p99 may speak against other values.
func (s *standing) byLatency(n int) bool {
	return s.rules.Latency && s.model.p99.has(n) && (s.rules.MaxByLatency <= 0 || n <= s.rules.MaxByLatency)
}

// prove compares n with each rival.
func (s *standing) prove(n int) (asFast, asPrompt bool) {
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
	if m := s.rules.MaxByLatency; s.rules.Latency && m > 0 && n > m && s.rivals[0] <= m {
		asPrompt = false // the smaller value may be worse by its latency alone
	}
	return asFast, asPrompt
}

// choose finds the values that stand, smallest first.
func (s *standing) choose() {
	f := s.model.throughput
	first := func(ok func(chance) bool) int {
		for _, n := range s.named {
			if f.trials(n) >= enough && ok(s.chance[n]) {
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
	s.giveUp()
	least := math.Inf(1)
	for _, n := range s.named {
		if !s.dropped[n] {
			s.front = n
			return
		}
		if w := s.wrong(n); w < least-1e-9 {
			least, s.front = w, n
		}
	}
}

// ok says whether a value meets the goal.
func (s *standing) ok(n int) bool {
	if s.rules.Goal == Likely {
		return s.chance[n].likely
	}
	return s.chance[n].proven()
}

// wrong is the chance, bounded so that what meets the goal is below what does not.
func (s *standing) wrong(n int) float64 {
	w := s.chance[n].wrong()
	if s.rules.Goal == Likely {
		if s.chance[n].likely {
			return min(w, T.EpsP)
		}
		return max(w, T.EpsP+1e-6)
	}
	if s.chance[n].proven() {
		return 0
	}
	return max(w, T.EpsP+1e-6)
}

// giveUp drops values below the pick that more trials will hardly show to be good,
// the sooner the less there is to gain. Each assessment does it anew.
func (s *standing) giveUp() {
	f := s.model.throughput
	for k, n := range s.named {
		if s.pick != 0 && n >= s.pick {
			break
		}
		above := s.pick
		if above == 0 {
			if k+1 == len(s.named) {
				above = n
			} else {
				above = s.named[k+1]
			}
		}
		limit, fast, prompt := T.Drop, T.RT, T.RP
		if float64(above-n) > max(1, 0.12*float64(above)) {
			limit, fast, prompt = .9, fast+4, prompt+4
		}
		count, w, c := f.trials(n), s.wrong(n), s.chance[n]
		s.dropped[n] = count >= 3 && w >= limit || count >= 2 && w >= .95 ||
			count >= prompt && !s.ok(n) || count >= fast && c.throughput > T.EpsT
	}
}

func (s *standing) contains(n int) bool { return slices.Contains(s.values, n) }
