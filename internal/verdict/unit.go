package verdict

import "github.com/procfit/procfit/internal/verdict/journal"

func (g *group) unit() string {
	for _, a := range g.settings {
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
	for _, a := range g.settings {
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
