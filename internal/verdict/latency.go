package verdict

import "github.com/procfit/procfit/internal/verdict/journal"

// judgedIfValid is that of a valid trial, as JSON can hold it.
func (g *group) judgedIfValid(t *journal.Trial) *float64 {
	if x := g.contest.Latency.Of(t); t.Valid && x != nil && finitePositive(*x) {
		return x
	}
	return nil
}

// lateTrials counts those of a row whose generator was late, of the valid ones.
func lateTrials(a *SettingResult) (late, of int) {
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
