package verdict

import (
	"slices"

	"github.com/procfit/procfit/internal/verdict/contest"
	"github.com/procfit/procfit/internal/verdict/journal"
)

// OriginMixed is of trials that were not all made in one way. Those of a model and
// measured ones are never compared.
const OriginMixed journal.Origin = "mixed"

// originOf is where trials came from; empty of none.
func originOf(trials []*journal.Trial) journal.Origin {
	var origin journal.Origin
	for _, t := range trials {
		switch of := t.Origin; {
		case of == "":
		case origin == "":
			origin = of
		case origin != of:
			return OriginMixed
		}
	}
	return origin
}

// program fills in what ran where the header does not say it: the Go version and the
// main module that most trials saw.
func program(h journal.Header, trials []journal.Trial) journal.Target {
	t := h.Target
	for _, a := range h.Plan.Settings {
		if a.GoVersion != "" {
			return t // each group has its own
		}
	}
	versions, modules := map[string]int{}, map[string]int{}
	for i := range trials {
		if v := trials[i].ObservedGoVersion; v != "" && trials[i].Setting.Variant == "" {
			versions[v]++
		}
		if m := trials[i].ObservedMainModule; m != "" && trials[i].Setting.Variant == "" {
			modules[m]++
		}
	}
	if t.GoVersion == "" {
		t.GoVersion = contest.MostOften(versions)
	}
	if t.MainModule == "" {
		t.MainModule = contest.MostOften(modules)
	}
	return t
}

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
