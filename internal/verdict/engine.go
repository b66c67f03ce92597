package verdict

import (
	"slices"

	"github.com/procfit/procfit/internal/verdict/journal"
)

// Engine is one of procfit's own that offered the load of some trials, what it spoke
// and what that cost.
type Engine struct {
	Name                 string   `json:"name"`
	Protocol             string   `json:"protocol"`
	Trials               int      `json:"trials"`
	CPUSecondsPerRequest *float64 `json:"cpu_seconds_per_request"` // the engine's own, in the closed loop; the median
}

// engines are those of the valid trials, in the order in which they appear. There is
// none in a journal of before, and of another generator.
func engines(trials []journal.Trial) []Engine {
	var list []Engine
	costs := map[int][]float64{} // by index
	for i := range trials {
		t := &trials[i]
		if !t.Valid || len(t.Phases) == 0 || t.Phases[0].Engine == "" {
			continue
		}
		p := &t.Phases[0]
		at := slices.IndexFunc(list, func(e Engine) bool { return e.Name == p.Engine && e.Protocol == p.Protocol })
		if at < 0 {
			at, list = len(list), append(list, Engine{Name: p.Engine, Protocol: p.Protocol})
		}
		list[at].Trials++
		if t.Load != nil && p.Requests > 0 {
			costs[at] = append(costs[at], t.Load.CPUSeconds/float64(p.Requests))
		}
	}
	for at, each := range costs {
		slices.Sort(each)
		list[at].CPUSecondsPerRequest = new(median(each))
	}
	return list
}
