package migrate

import (
	"fmt"
	"slices"
	"strings"

	"github.com/procfit/procfit/internal/check"
	"github.com/procfit/procfit/internal/check/manifest"
	"github.com/procfit/procfit/internal/check/source"
	"github.com/procfit/procfit/internal/program/rule"
	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/maxprocs/facts"
)

// Effect is what happens to a GOMAXPROCS.
type Effect string

const (
	EffectSame    Effect = "same"
	EffectLower   Effect = "lower"
	EffectHigher  Effect = "higher"
	EffectUnknown Effect = "unknown" // the value before or after is not known
)

func (e Effect) changes() bool { return e == EffectLower || e == EffectHigher }

// Cause is why a value changes.
type Cause string

const (
	CauseNone     Cause = ""
	CauseLeast    Cause = "limit_of_one" // the runtime uses at least 2 under a limit of one CPU or less
	CauseFraction Cause = "fraction"     // the runtime rounds a limit up
	CauseIgnored  Cause = "limit_ignored"
	CauseOptions  Cause = "options"  // Min of automaxprocs chose more
	CauseAffinity Cause = "affinity" // automaxprocs does not read it
)

// Change is a GOMAXPROCS with automaxprocs and without it.
type Change struct {
	Before *int     `json:"before"` // null: all CPUs of the machine, or not known
	After  *int     `json:"after"`
	Effect Effect   `json:"effect"`
	Cause  Cause    `json:"cause,omitempty"`
	Why    string   `json:"why,omitempty"` // it is not known
	Keep   []string `json:"keep"`          // what keeps the value, in the order of preference

	before, after string // in words
}

// Workload is a container that runs a program of the module.
type Workload struct {
	rule.Place
	Limit *float64 `json:"limit_cpus"` // null: none is known
	Change
	Notes []string `json:"notes"`

	program string // the main package that it runs; "": the user has named it, and it may run any
}

// LimitRow is a limit that any container may have.
type LimitRow struct {
	Limit *float64       `json:"limit_cpus"` // null: no limit
	Calls source.SetCall `json:"calls"`
	Change
}

func (p Program) follows() bool {
	return subject(p, manifest.Limited(64)).FollowsLimit()
}

func subject(p Program, o rule.Observed) rule.Subject {
	o.Facts.GoVersion, o.Facts.DefaultGODEBUG, o.Language, o.MaySet = p.version, p.godebug, p.language, p.maySet
	return rule.NewSubject(o)
}

func change(s rule.Subject, calls source.SetCall, unless string) Change {
	before := facts.Decide(s.Facts, facts.Automaxprocs{Language: s.Language, Min: calls.Min})
	after := s.Go
	c := Change{Effect: EffectSame, Keep: []string{}, before: words(s, before), after: words(s, after)}
	c.Before, c.After = procs(s, before), procs(s, after)
	set := s.Facts.Env.State == facts.Known
	switch {
	case s.Facts.Env.State == facts.Unreadable:
		return c.unknown("GOMAXPROCS comes from elsewhere (%s): if it is set, removing automaxprocs changes nothing", s.Facts.Env.Error)
	case !set && calls.Open != "":
		c.Before = nil
		c.before = "not known"
		return c.unknown("%s", calls.Open)
	case !set && unless != "":
		return c.unknown("the values hold unless %s", unless)
	case !set && s.MaySet != "":
		c.Before, c.After, c.before, c.after = nil, nil, "not known", "not known"
		return c.unknown("the program may set GOMAXPROCS itself: %s", s.MaySet)
	case before.Procs == after.Procs:
		return c
	case before.Procs > after.Procs:
		c.Effect = EffectLower
	default:
		c.Effect = EffectHigher
	}
	c.Cause = cause(s, calls, before.Procs, after.Procs)
	c.Keep = keep(s, before.Procs)
	return c
}

func (c Change) unknown(why string, args ...any) Change {
	c.Effect, c.Why = EffectUnknown, fmt.Sprintf(why, args...)
	return c
}

func cause(s rule.Subject, calls source.SetCall, before, after int) Cause {
	own, _ := s.Facts.Own()
	switch {
	case after < before && calls.Min == 0:
		return CauseAffinity
	case after < before:
		return CauseOptions
	case !s.FollowsLimit():
		return CauseIgnored
	case own.CPUs <= 1:
		return CauseLeast
	}
	return CauseFraction
}

// keep are the ways to keep a value, each of which is tried against the facts.
func keep(s rule.Subject, before int) []string {
	ways := []string{}
	fits := func(p facts.Fit) bool { return facts.Decide(s.Facts, p).Procs == before }
	if !s.FollowsLimit() && fits(facts.Fit{}) {
		ways = append(ways, `import _ "github.com/procfit/procfit/maxprocs/auto"`)
	}
	switch {
	case fits(facts.Fit{}):
		ways = append(ways, "maxprocs.Set()")
	case fits(facts.Fit{Rounding: facts.Floor}):
		ways = append(ways, "maxprocs.Set(maxprocs.Round(maxprocs.Floor))")
	case fits(facts.Fit{Min: before}):
		ways = append(ways, fmt.Sprintf("maxprocs.Set(maxprocs.Min(%d))", before))
	}
	return append(ways, fmt.Sprintf("GOMAXPROCS=%d", before))
}

func procs(s rule.Subject, d facts.Decision) *int {
	if d.Outcome == facts.Dies || s.EveryCPU(d.Procs) {
		return nil
	}
	return &d.Procs
}

func words(s rule.Subject, d facts.Decision) string {
	switch {
	case d.Outcome == facts.Dies:
		return "crashes"
	case s.EveryCPU(d.Procs):
		return "all CPUs"
	}
	return fmt.Sprint(d.Procs)
}

func workload(v check.Value, calls source.SetCall) Workload {
	s := rule.NewSubject(v.Unit.Observed)
	w := Workload{Place: v.Place, Change: change(s, calls, v.Unit.Open), Notes: []string{}, program: v.Unit.From}
	own, found := s.Facts.Own()
	if found && own.State == facts.Known {
		w.Limit = &own.CPUs
	}
	if tight, ok := s.Facts.Tightest(); ok && (w.Limit == nil || tight.CPUs < *w.Limit) {
		w.Notes = append(w.Notes, fmt.Sprintf("neither automaxprocs nor the runtime reads the limit of %s that %s has; maxprocs/auto does", number.CPUs(tight.CPUs), tight.Dir))
	}
	if s.FollowsChanges() && w.Limit != nil && s.Facts.Env.State == facts.Absent {
		w.Notes = append(w.Notes, follow)
		if strings.HasPrefix(v.Object, "Service/") {
			w.Notes = append(w.Notes, boosted)
		}
	}
	return w
}

const (
	follow  = "after a resize in place the value follows the limit; with automaxprocs it stayed"
	boosted = "with a CPU boost at startup, automaxprocs kept the value of the boost, and the runtime returns to the limit within seconds, in an idle program within a minute"
)

var typical = []float64{0.25, 0.5, 1, 1.5, 2, 2.5, 3, 4, 7.5, 8, 0}

func (r *Report) limits() {
	var done []string
	for _, p := range r.Programs {
		key := fmt.Sprint(p.Calls, p.follows(), p.maySet)
		if !p.Runs || slices.Contains(done, key) {
			continue
		}
		done = append(done, key)
		for _, cpus := range typical {
			row := LimitRow{Calls: p.Calls, Change: change(subject(p, manifest.Limited(cpus)), p.Calls, "")}
			if cpus > 0 {
				row.Limit = &cpus
			}
			r.Limits = append(r.Limits, row)
		}
	}
}

// Differ are the limits at which values change, of the workloads if these are known.
func (r *Report) Differ() (limits []float64) {
	add := func(c Change, limit *float64) {
		if c.Effect.changes() && limit != nil {
			limits = append(limits, *limit)
		}
	}
	for _, w := range r.Workloads {
		add(w.Change, w.Limit)
	}
	for _, l := range r.Limits {
		if !r.manifests {
			add(l.Change, l.Limit)
		}
	}
	slices.Sort(limits)
	return slices.Compact(limits)
}
