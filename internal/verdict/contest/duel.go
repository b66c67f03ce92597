package contest

import (
	"slices"

	"github.com/procfit/procfit/internal/verdict/contest/race"
	"github.com/procfit/procfit/internal/verdict/journal"
)

// Duel is one setting of a gate, whose old and new command are run side by side.
type Duel struct {
	Old, New journal.Setting
	Rules    race.GateRules
	Latency  Latency
	Pairs    []race.GatePair // of the blocks that are at their end
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
func Duels(h journal.Header, trials []journal.Trial) (list []Duel) {
	counted, _ := Counted(h, trials)
	for _, a := range h.Plan.Settings {
		then := a.Key()
		then.Variant = journal.VariantAgainst
		old := slices.IndexFunc(h.Plan.Settings, func(o journal.Setting) bool { return o.Key() == then })
		if a.Variant == "" && old >= 0 {
			d := Duel{Old: h.Plan.Settings[old], New: a, Rules: race.GateRules{Margin: h.Plan.Margin, MarginP99: h.Plan.MarginP99}}
			d.gather(counted)
			list = append(list, d)
		}
	}
	if h.Plan.MaxTrials == 0 {
		return list
	}
	taken := len(trials)
	for i := range list { // what the others and the pilots leave of one budget
		d := &list[i]
		d.Rules.MaxPairs = max(1, len(d.Pairs)+(h.Plan.MaxTrials-taken)/2)
	}
	return list
}

// gather pairs the trials block by block.
func (d *Duel) gather(trials []journal.Trial) {
	var own []*journal.Trial
	for i := range trials {
		if t := &trials[i]; t.Role != journal.RolePilot && t.Setting.Group() == d.New.Group() && t.Setting.Variant == "" {
			own = append(own, t)
		}
	}
	latency := highest(d.New.Group(), own)
	d.Rules.Latency, d.Latency = latency.Quantile > 0, latency
	before, after := map[int]race.Trial{}, map[int]race.Trial{}
	for i := range trials {
		t := &trials[i]
		switch {
		case t.Role != journal.RoleMeasure:
			continue
		case t.Setting.Key() == d.Old.Key():
			before[t.Block] = latency.Figures(t)
		case t.Setting.Key() == d.New.Key():
			after[t.Block] = latency.Figures(t)
		default:
			continue
		}
		old, ok := before[t.Block]
		now, ok2 := after[t.Block]
		if ok && ok2 {
			d.Pairs = append(d.Pairs, race.GatePair{Old: old, New: now})
		}
	}
}
