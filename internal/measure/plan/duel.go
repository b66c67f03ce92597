package plan

import (
	"math/rand/v2"

	"github.com/procfit/procfit/internal/verdict/contest"
	"github.com/procfit/procfit/internal/verdict/journal"
)

// dueling runs the old and the new command of a gate side by side, setting by setting
// in turn, until each setting is decided or the budget is used up.
type dueling struct{ h journal.Header }

const (
	// duelPairs is how many pairs of trials a setting's duel has at most: a loss of
	// twice the margin is found in so many where throughput strays by 3 %.
	duelPairs = 40
	// fewestPairs is how many a ruling needs.
	fewestPairs = 4
)

func (p dueling) Next(r Record) Leg {
	leg := Leg{Total: p.h.Plan.MaxTrials, AtMost: true, Left: racing{p.h}.left(r)}
	if leg.Tasks = r.Lacks(pilotsOf(p.h.Plan)); len(leg.Tasks) > 0 {
		return leg
	}
	if leg.Tasks = r.begun(); len(leg.Tasks) > 0 {
		return leg
	}
	var next *contest.Duel
	for _, d := range contest.Duels(p.h, r.Trials) {
		if d.End() != "" {
			continue
		}
		if next == nil || len(d.Pairs) < len(next.Pairs) {
			next = &d
		}
	}
	if next == nil || (racing{p.h}).spent(r, 2) {
		return leg
	}
	block := journal.Block{Block: len(r.Blocks), Why: "gate", Settings: []journal.Setting{next.Old, next.New}}
	order := rand.New(rand.NewPCG(p.h.Plan.Seed, uint64(block.Block)))
	order.Shuffle(2, func(i, j int) { block.Settings[i], block.Settings[j] = block.Settings[j], block.Settings[i] })
	leg.Begin, leg.Tasks = []journal.Block{block}, tasksOf(block)
	return leg
}
