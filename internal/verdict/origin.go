package verdict

import (
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
