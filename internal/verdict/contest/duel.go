package contest

import (
	"slices"

	"github.com/procfit/procfit/internal/verdict/contest/race"
	"github.com/procfit/procfit/internal/verdict/journal"
)

// Duel is one setting of a gate, whose old and new command are run side by side.
type Duel struct {
	Old, New journal.Arm
	Rules    race.GateRules
	Pairs    []race.GatePair // of the blocks that are at their end
}

// Duels are those of a gate's journal, in the order of its plan.
func Duels(h journal.Header, trials []journal.Trial) (list []Duel) {
	for _, a := range h.Plan.Arms {
		then := a.Key()
		then.Variant = journal.VariantAgainst
		old := slices.IndexFunc(h.Plan.Arms, func(o journal.Arm) bool { return o.Key() == then })
		if a.Variant == "" && old >= 0 {
			d := Duel{Old: h.Plan.Arms[old], New: a, Rules: race.GateRules{Margin: h.Plan.Margin, MarginP99: h.Plan.MarginP99}}
			d.gather(trials)
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
		if t := &trials[i]; t.Role != journal.RolePilot && t.Arm.Group() == d.New.Group() && t.Arm.Variant == "" {
			own = append(own, t)
		}
	}
	latency := LatencyOf(d.New.Group(), own)
	before, after := map[int]race.Trial{}, map[int]race.Trial{}
	for i := range trials {
		t := &trials[i]
		switch {
		case t.Role != journal.RoleMeasure:
			continue
		case t.Arm.Key() == d.Old.Key():
			before[t.Block] = latency.Figures(t)
		case t.Arm.Key() == d.New.Key():
			after[t.Block] = latency.Figures(t)
		default:
			continue
		}
		old, ok := before[t.Block]
		now, ok2 := after[t.Block]
		if ok && ok2 {
			d.Rules.Latency = d.Rules.Latency || old.P99 > 0 && now.P99 > 0
			d.Pairs = append(d.Pairs, race.GatePair{Old: old, New: now})
		}
	}
}
