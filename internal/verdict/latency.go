package verdict

import (
	"github.com/procfit/procfit/internal/verdict/contest"
	"github.com/procfit/procfit/internal/verdict/journal"
)

// judgeLatency finds which latency the group's settings are compared by. A gate keeps to
// the quantile that it was asked to hold, however that strays.
func (g *group) judgeLatency(gate bool) contest.Latency {
	if gate {
		return contest.LatencyOf(g.key, g.trials())
	}
	return contest.SteadyLatencyOf(g.key, g.trials())
}

// judgedIfValid is that of a valid trial, as JSON can hold it.
func (g *group) judgedIfValid(t *journal.Trial) *float64 {
	if x := g.latency.Of(t); t.Valid && x != nil && finitePositive(*x) {
		return x
	}
	return nil
}

// lateTrials counts those of a row whose generator was late, of the valid ones.
func lateTrials(a *ArmResult) (late, of int) {
	for _, p := range a.Points {
		if p.Late {
			late++
		}
		if p.Valid {
			of++
		}
	}
	return late, of
}
