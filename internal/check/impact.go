package check

import (
	"maps"
	"slices"

	"github.com/procfit/procfit/maxprocs/facts"
)

// Impact is what CRI-O's injection changes of all containers of a Report.
type Impact struct {
	By         facts.CRIO // its floor and its formula
	Values     []*Value   // that have an Injection, in the order of the Report
	Total      Totals
	Namespaces []Totals // in the order of their names
	Patches    int      // containers known by a patch only, in no total
}

// Totals count workloads and containers: of a namespace, or of all.
type Totals struct {
	Namespace  string
	Workloads  Affected
	Containers Affected
	KnownGo    int            // affected containers that are known to run Go
	Effects    map[Effect]int // containers
	Kept       map[Kept]int   // containers
	Unread     Hole
	Unfollowed Hole
}

// Affected is how many of all get another value. Where the value now is no number that is
// known, an injected one counts as another.
type Affected struct{ All, Affected int }

// Share is the affected part of all; 0 of none.
func (a Affected) Share() float64 {
	if a.All == 0 {
		return 0
	}
	return float64(a.Affected) / float64(a.All)
}

// Hole counts containers that an injection does not help: those of Totals.Unread have a CPU
// limit, which their Go does not read, and get nothing; those of Totals.Unfollowed get a
// variable, with which their Go does not follow a limit that is set later.
type Hole struct {
	Known    int
	Possible int // their Go version is not known
}

// add counts a container by whether its Go reads the limit.
func (h *Hole) add(i *Injection, known Reads) {
	switch i.Reads {
	case known:
		h.Known += i.Copies
	case ReadsUnknown:
		h.Possible += i.Copies
	}
}

// Impact adds up what an injection changes, which the Checkers were asked for.
func (r *Report) Impact(by facts.CRIO) Impact {
	total, byName := newTally(""), map[string]*tally{}
	out := Impact{By: by}
	for i := range r.Values {
		v := &r.Values[i]
		switch {
		case v.Injection == nil:
			continue
		case v.Injection.Patch:
			out.Patches++
			continue
		}
		name := v.Injection.Namespace
		if byName[name] == nil {
			byName[name] = newTally(name)
		}
		out.Values = append(out.Values, v)
		total.add(v)
		byName[name].add(v)
	}
	out.Total = total.Totals
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		out.Namespaces = append(out.Namespaces, byName[name].Totals)
	}
	return out
}

// tally is Totals while they are added up.
type tally struct {
	Totals
	workloads map[workload]bool // whether it is affected
}

// workload is what the user deploys: an object of a file, or of a cluster's namespace.
type workload struct{ path, namespace, object string }

func newTally(namespace string) *tally {
	return &tally{Totals{Namespace: namespace, Effects: map[Effect]int{}, Kept: map[Kept]int{}}, map[workload]bool{}}
}

// add counts a container.
func (t *tally) add(v *Value) {
	i, effect := v.Injection, v.Effect()
	t.Containers.All += i.Copies
	t.Effects[effect] += i.Copies
	key := workload{v.Path, i.Namespace, v.Object}
	affected, known := t.workloads[key]
	if !known {
		t.Workloads.All++
	}
	t.workloads[key] = affected || effect.Affects()
	if effect.Affects() {
		t.Containers.Affected += i.Copies
		if !affected {
			t.Workloads.Affected++
		}
		if v.Go {
			t.KnownGo += i.Copies
		}
	}
	switch i.Kept {
	case "":
		t.Unfollowed.add(i, ReadsFollows)
		return
	case KeptLimit:
		t.Unread.add(i, ReadsNever)
	}
	t.Kept[i.Kept] += i.Copies
}
