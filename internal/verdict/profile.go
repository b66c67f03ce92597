package verdict

import (
	"cmp"
	"math"
	"slices"

	"github.com/procfit/procfit/internal/show/sorting"
	"github.com/procfit/procfit/internal/verdict/journal"
	"github.com/procfit/procfit/internal/verdict/stat"
)

const topFunctions = 5

// ToProfile are the settings whose profiles say what the verdict is about: the default, and what
// the verdict names where that is another setting. The run has one group.
func (r *Result) ToProfile() []journal.Setting {
	if len(r.Best) > 0 {
		return r.Best[0].toProfile()
	}
	own := slices.IndexFunc(r.Plan.Settings, func(a journal.Setting) bool { return a.Variant == "" })
	if own < 0 || len(r.Groups) == 0 {
		return nil
	}
	standard := withValue(r.Plan.Settings[own], nil)
	if named := r.Groups[0].named(); named != nil {
		return []journal.Setting{standard, withValue(standard, named)}
	}
	return []journal.Setting{standard}
}

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
			own := g.Default.Procs != nil && !g.Default.Predicted && a.Procs != nil && *g.Default.Procs == *a.Procs
			if a.Label == label && a.Variant == "" && a.Procs != nil && !own {
				return a.Procs
			}
		}
	}
	return nil
}

func (b *Best) toProfile() []journal.Setting {
	standard := withValue(b.Setting, nil)
	standard.Variables = b.Start
	pair := []journal.Setting{standard}
	if b.Confidence != "" && (b.Procs != nil || !slices.Equal(b.Start, b.Variables)) {
		pair = append(pair, withValue(b.Setting, b.Procs))
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
	var of []journal.Profiled // the last line of each setting
	for _, a := range r.ToProfile() {
		own := slices.DeleteFunc(slices.Clone(list), func(p journal.Profiled) bool { return p.Setting.Key() != a.Key() })
		if len(own) == 0 {
			continue
		}
		p := own[len(own)-1]
		none := p.CPU == nil && p.Allocations == nil
		if p.Missing != "" {
			r.Warnings = append(r.Warnings, Warning{Remark: NotProfiled{AtSetting{p.Setting.Label}, p.Missing, none && r.Target.Kind == journal.KindServer}})
		}
		if !none {
			of = append(of, p)
		}
	}
	if len(of) == 0 {
		return
	}
	var cpu, memory []*journal.Profile
	for _, p := range of {
		cpu, memory = append(cpu, p.CPU), append(memory, p.Allocations)
	}
	r.Profiled = &Profile{of, tableOf(cpu), tableOf(memory)}
	if r.Profiled.CPU == nil && r.Profiled.Allocations == nil {
		return
	}
	for i := range r.Groups {
		rec := &r.Groups[i].Recommendation
		rec.Next = slices.DeleteFunc(rec.Next, func(s Step) bool { return s.Code == StepProfile })
	}
}

// tableOf has the functions that differ most between two settings, or of one the largest. It is nil
// where no setting has a profile with a sample.
func tableOf(of []*journal.Profile) *ProfileTable {
	t := &ProfileTable{Functions: []ProfileRow{}}
	seen := map[string]bool{}
	for _, p := range of {
		if p == nil || !(p.Total > 0) || math.IsInf(p.Total, 0) {
			t.Taken = append(t.Taken, nil)
			continue
		}
		t.Taken = append(t.Taken, p)
		for _, f := range p.Functions {
			if !seen[f.Name] {
				seen[f.Name] = true
				t.Functions = append(t.Functions, ProfileRow{Name: f.Name})
			}
		}
	}
	if cmp.Or(t.Taken...) == nil {
		return nil
	}
	for i := range t.Functions {
		row := &t.Functions[i]
		for _, p := range t.Taken {
			row.Shares = append(row.Shares, p.Share(row.Name))
		}
	}
	// A share that is not known is below the smallest known one: for the order it is 0.
	differs := func(r ProfileRow) float64 {
		if len(r.Shares) > 1 {
			return math.Abs(stat.OrZero(r.Shares[0]) - stat.OrZero(r.Shares[1]))
		}
		return 0
	}
	largest := func(r ProfileRow) float64 { return stat.OrZero(r.Shares[0]) }
	sorting.Stable(t.Functions, func(a, b ProfileRow) int {
		return cmp.Or(cmp.Compare(differs(b), differs(a)), cmp.Compare(largest(b), largest(a)))
	})
	t.Functions = t.Functions[:min(topFunctions, len(t.Functions))]
	return t
}
