package contest

import (
	"math"
	"slices"

	"github.com/procfit/procfit/internal/verdict/contest/race"
	"github.com/procfit/procfit/internal/verdict/journal"
)

// Bounds are where a ratio of two settings is, in logarithms: 0 is no difference.
type Bounds struct {
	N   int     // trials of the side that has fewer; 0: the two cannot be compared
	Mid float64 // 0 where they cannot
	// Lower and Upper are one-sided bounds of 95% each, which tell whether something
	// is as good; Least and Most share their error among all that is compared with
	// the best, and tell whether something is worse.
	Lower, Upper, Least, Most float64
}

// Singly is the confidence of a bound that must hold together with all others of its
// claim: then each may have it whole.
const Singly = 0.95

// How many trials of each side prove that something is as good, where race.Enough prove that it is
// worse; and how often a claim of the second kind may be false, which is looked at again and again: as
// package race has them.
const (
	FewestProve = 2
	claimError  = 0.01
)

// Between is a ÷ b in a figure, of two values of GOMAXPROCS.
func (c *Contest) Between(a, b int, by race.Figure) Bounds {
	n := min(c.lead.Model.Trials(a, by), c.lead.Model.Trials(b, by))
	e := Bounds{N: n, Lower: math.Inf(-1), Upper: math.Inf(1), Least: math.Inf(-1), Most: math.Inf(1)}
	if n == 0 || a == b {
		return e
	}
	ratio, low, high := c.lead.Model.Ratio(a, b, by, oneSided(Singly))
	// If one of several may be picked out: in two metrics, against each other value.
	shared := 1 - claimError/float64(2*max(1, len(c.lead.Levels)-1))
	_, least, most := c.lead.Model.Ratio(a, b, by, oneSided(shared))
	if e.Mid = math.Log(ratio); math.IsNaN(e.Mid) || math.IsInf(e.Mid, 0) {
		e.N, e.Mid = 0, 0
		return e
	}
	if n < FewestProve {
		return e
	}
	e.Lower, e.Upper = math.Log(low), math.Log(high)
	if n >= race.Enough {
		e.Least, e.Most = math.Log(least), math.Log(most)
	}
	return e
}

// Level is what is known of one value; its Trials are 0 where that is nothing.
func (c *Contest) Level(value int) race.Level {
	for _, l := range c.lead.Levels {
		if l.Value == value {
			return l
		}
	}
	return race.Level{}
}

// oneSided is the confidence of an interval each end of which has that of p.
func oneSided(p float64) float64 { return 1 - 2*(1-p) }

// Duel is one setting of a gate, whose old and new command are run side by side.
type Duel struct {
	Old, New journal.Setting
	Rules    race.GateRules
	Latency  Latency
	Pairs    []race.GatePair // of the blocks that are at their end
	Copies   []race.GatePair // the new one as both, where a block runs it twice
}

// brokenPairs without one that can be compared end a duel: the rest would be no better.
const brokenPairs = 3

// End is why a duel is at its end; empty where it is not.
func (d Duel) End() race.Stop {
	whole := slices.ContainsFunc(d.Pairs, func(p race.GatePair) bool { return !p.Old.Failed && !p.New.Failed })
	switch {
	case !whole && len(d.Pairs) >= brokenPairs:
		return race.StopNothing
	case d.Gate().Ruling != race.GoOn:
		return race.StopGoal
	}
	return ""
}

// Gate is what the pairs so far prove.
func (d Duel) Gate() race.Gate { return race.SequentialGate(d.Rules, d.Pairs) }

// Duels are those of a gate's journal, in the order of its plan.
func (t *Counted) Duels() (list []Duel) {
	h := t.Header
	for _, a := range h.Plan.Settings {
		then := a.Key()
		then.Variant = journal.VariantAgainst
		old := slices.IndexFunc(h.Plan.Settings, func(o journal.Setting) bool { return o.Key() == then })
		if a.Variant == "" && old >= 0 {
			d := Duel{Old: h.Plan.Settings[old], New: a, Rules: race.GateRules{Margin: h.Plan.Margin, MarginP99: h.Plan.MarginP99}}
			d.gather(t.Trials)
			list = append(list, d)
		}
	}
	if h.Plan.MaxTrials == 0 {
		return list
	}
	for i := range list { // what the others and the pilots leave of one budget
		d := &list[i]
		d.Rules.MaxPairs = max(1, len(d.Pairs)+(h.Plan.MaxTrials-len(t.Trials))/2)
	}
	return list
}

func (d *Duel) gather(trials []journal.Trial) {
	own := slices.DeleteFunc(Measured(trials), func(t *journal.Trial) bool {
		return t.Setting.Group() != d.New.Group() || t.Setting.Variant != ""
	})
	latency := highest(d.New.Group(), own)
	d.Rules.Latency, d.Latency = latency.Quantile > 0, latency
	type place struct {
		key  journal.SettingKey
		role journal.Role
	}
	pair := func(before, after place) (list []race.GatePair) {
		pairs := map[int]*[2]*race.Trial{} // by block
		for i := range trials {
			t := &trials[i]
			side := slices.Index([]place{before, after}, place{t.Setting.Key(), t.Role})
			if side < 0 {
				continue
			}
			if pairs[t.Block] == nil {
				pairs[t.Block] = &[2]*race.Trial{}
			}
			p := pairs[t.Block]
			if p[side] = new(latency.figures(t)); p[0] != nil && p[1] != nil {
				list = append(list, race.GatePair{Old: *p[0], New: *p[1]})
			}
		}
		return list
	}
	now := place{d.New.Key(), journal.RoleMeasure}
	d.Pairs = pair(place{d.Old.Key(), journal.RoleMeasure}, now)
	d.Copies = pair(now, place{d.New.Key(), journal.RoleAA})
}
