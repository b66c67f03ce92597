package verdict

import (
	"slices"

	"github.com/procfit/procfit/internal/verdict/journal"
)

// plainUnits are what is counted where no figure of the program's own is.
var plainUnits = []string{"requests", "runs"}

// mixedUnits is trials that are left out since their throughput is in another unit
// than that of their group.
type mixedUnits struct {
	count      int64
	unit, left string // of the group, and of the first that was left out
}

// oneUnit makes trials invalid whose throughput is in another unit than their group's:
// rows a second and runs a second cannot be compared. Journals of the first version
// may hold both, where the figure that was asked for was missing from some trials; then
// the unit that is the program's own is the group's.
func oneUnit(h journal.Header, trials []journal.Trial) mixedUnits {
	counts := map[journal.GroupKey]map[string]int{}
	for i := range trials {
		if t := &trials[i]; t.Valid && t.Role != journal.RolePilot && t.ThroughputUnit != "" {
			k := t.Arm.Group()
			if counts[k] == nil {
				counts[k] = map[string]int{}
			}
			counts[k][t.ThroughputUnit]++
		}
	}
	var m mixedUnits
	for i := range trials {
		t := &trials[i]
		of := counts[t.Arm.Group()]
		if !t.Valid || t.Role == journal.RolePilot || t.ThroughputUnit == "" || len(of) < 2 {
			continue
		}
		if unit := unitOf(of, len(h.Load.Metrics) > 0); t.ThroughputUnit != unit {
			if m.count++; m.count == 1 {
				m.unit, m.left = unit, t.ThroughputUnit
			}
			t.Valid, t.InvalidCode = false, journal.InvalidUnit
		}
	}
	return m
}

// unitOf is the unit of most trials; of those of its own, where the user asked for one.
func unitOf(count map[string]int, asked bool) string {
	own := map[string]int{}
	for unit, n := range count {
		if !slices.Contains(plainUnits, unit) {
			own[unit] = n
		}
	}
	if asked && len(own) > 0 {
		return mostOften(own)
	}
	return mostOften(count)
}

func (g *group) unit() string {
	for _, a := range g.arms {
		for _, t := range a.measure {
			if t.Valid && t.ThroughputUnit != "" {
				return t.ThroughputUnit
			}
		}
	}
	return ""
}

// rate is the open loop's, as the first valid trial offered it.
func (g *group) rate() *float64 {
	for _, a := range g.arms {
		for _, t := range a.measure {
			for i := range t.Phases {
				if p := &t.Phases[i]; t.Valid && p.Mode == journal.ModeOpen && p.RatePerSecond != nil {
					return p.RatePerSecond
				}
			}
		}
	}
	return nil
}
