package verdict

import (
	"cmp"
	"math"
	"slices"

	"github.com/procfit/procfit/internal/show/sorting"
	"github.com/procfit/procfit/internal/verdict/journal"
)

const topFunctions = 5 // of each setting

// ToProfile are the settings whose profiles say what the verdict is about: the default of each
// group, and what the verdict names where that is another setting.
func (r *Result) ToProfile() (pairs [][]journal.Setting) {
	for i := range r.Best {
		pairs = append(pairs, r.Best[i].toProfile())
	}
	if pairs != nil {
		return pairs
	}
	for i := range r.Groups {
		g := &r.Groups[i]
		own := slices.IndexFunc(r.Plan.Settings, func(a journal.Setting) bool { return a.Group() == g.key() && a.Variant == "" })
		if own < 0 {
			continue
		}
		standard := withValue(r.Plan.Settings[own], nil)
		pair := []journal.Setting{standard}
		if named := g.named(); named != nil {
			pair = append(pair, withValue(standard, named))
		}
		pairs = append(pairs, pair)
	}
	return pairs
}

// withValue is a setting at another value of GOMAXPROCS.
func withValue(a journal.Setting, procs *int) journal.Setting {
	a.Procs, a.Label = procs, journal.LabelOf(procs)
	return a
}

// named is the value that the verdict names, of a trade-off one of its two; nil: it names
// none but the default.
func (g *Group) named() *int {
	rec := &g.Recommendation
	for _, label := range []string{rec.Setting, rec.BestThroughput, rec.BestP99} {
		for _, a := range g.Settings {
			if a.Label == label && a.Variant == "" && a.Procs != nil && !g.isDefault(*a.Procs) {
				return a.Procs
			}
		}
	}
	return nil
}

// isDefault reports whether the default comes to a value.
func (g *Group) isDefault(procs int) bool {
	return g.Default.Procs != nil && !g.Default.Predicted && *g.Default.Procs == procs
}

func (b *Best) toProfile() []journal.Setting {
	a := journal.Setting{QuotaCPUs: b.QuotaCPUs, Replicas: b.Replicas, GoVersion: b.GoVersion, SetLive: b.SetLive, Variables: b.Start}
	pair := []journal.Setting{withValue(a, nil)}
	if a = withValue(a, b.Procs); b.Confidence != "" && (b.Procs != nil || !slices.Equal(b.Start, b.Variables)) {
		a.Variables = b.Variables
		pair = append(pair, a)
	}
	return pair
}

// canProfile reports whether procfit sweep --profile can profile the target.
func canProfile(h journal.Header) bool {
	kind := h.Target.Kind
	return h.Target.Attached == nil && !h.Plan.GateAgainst && h.Plan.SLO == nil && (kind == journal.KindServer || kind == journal.KindGoBench)
}

// NotProfiled is that a setting has no profile, or not all of one.
type NotProfiled struct {
	AtSetting
	Why     string
	Serving bool // the program is a server, and serves none
}

func (NotProfiled) Code() Code { return "no_profile" }

// Profile adds the profiles of a journal. Then nobody needs the advice to take them.
func (r *Result) Profile(list []journal.Profiled) {
	for _, pair := range r.ToProfile() {
		var of []journal.Profiled
		for _, a := range pair {
			if one := lastProfiled(list, a); one != nil {
				of = append(of, *one)
			}
		}
		for i := range of {
			if p := &of[i]; p.Missing != "" {
				none := p.CPU == nil && p.Allocations == nil
				r.Warnings = append(r.Warnings, Warning{Remark: NotProfiled{AtSetting{p.Setting.Label}, p.Missing, none && r.Target.Kind == journal.KindServer}})
			}
		}
		of = slices.DeleteFunc(of, func(p journal.Profiled) bool { return p.CPU == nil && p.Allocations == nil })
		if len(of) > 0 {
			r.Profiles = append(r.Profiles, profileOf(of))
		}
	}
	for i := range r.Groups {
		if rec := &r.Groups[i].Recommendation; len(r.Profiles) > 0 {
			rec.Next = slices.DeleteFunc(rec.Next, func(s Step) bool { return s.Code == StepProfile })
		}
	}
}

// ProfileOf is the profile of a group; nil: there is none.
func (r *Result) ProfileOf(g *Group) *Profile {
	for i := range r.Profiles {
		if r.Profiles[i].Settings[0].Group() == g.key() {
			return &r.Profiles[i]
		}
	}
	return nil
}

// lastProfiled is the last line of a setting; nil: there is none.
func lastProfiled(list []journal.Profiled, a journal.Setting) *journal.Profiled {
	for i := len(list) - 1; i >= 0; i-- {
		if list[i].Setting.Key() == a.Key() {
			return &list[i]
		}
	}
	return nil
}

func profileOf(of []journal.Profiled) Profile {
	var p Profile
	var cpu, memory []*journal.Profile
	for i := range of {
		s := ProfiledSetting{Setting: of[i].Setting, ResolvedProcs: of[i].ObservedProcs, Files: []string{}}
		for _, one := range []*journal.Profile{of[i].CPU, of[i].Allocations} {
			if one != nil {
				s.Files = append(s.Files, one.File)
			}
		}
		p.Settings, cpu, memory = append(p.Settings, s), append(cpu, of[i].CPU), append(memory, of[i].Allocations)
	}
	p.CPU, p.Allocations = tableOf(cpu), tableOf(memory)
	return p
}

// tableOf is nil where a setting has no profile, or one without a sample.
func tableOf(of []*journal.Profile) *ProfileTable {
	t := &ProfileTable{Functions: []ProfileRow{}}
	var names []string
	for _, p := range of {
		if p == nil || !(p.Total > 0) || math.IsInf(p.Total, 0) {
			return nil
		}
		t.Seconds = append(t.Seconds, p.Seconds)
		for _, f := range p.Functions[:min(topFunctions, len(p.Functions))] {
			if !slices.Contains(names, f.Name) {
				names = append(names, f.Name)
			}
		}
	}
	for _, name := range names {
		row := ProfileRow{Name: name}
		for _, p := range of {
			row.Shares = append(row.Shares, p.Share(name))
		}
		t.Functions = append(t.Functions, row)
	}
	largest := func(r ProfileRow) (most float64) {
		for _, share := range r.Shares {
			most = max(most, orZero(share))
		}
		return most
	}
	sorting.Stable(t.Functions, func(a, b ProfileRow) int { return cmp.Compare(largest(b), largest(a)) })
	return t
}
