package journal

import (
	"fmt"
	"slices"
	"strings"
)

// Compared are what a plan compares, in words: values of GOMAXPROCS, as --procs takes them,
// and those of variables.
func (p Plan) Compared() string {
	text := "GOMAXPROCS " + p.procs()
	for _, axis := range p.Vary {
		text += ", then " + axis.Name + " " + strings.Join(axis.Values, ", ")
	}
	if first := p.Settings[0]; first.Compares != "" { // a grid of one variable
		_, variable, _ := strings.Cut(text, ", then ")
		return variable + " and GOMAXPROCS " + LabelOf(first.Procs)
	}
	return text
}

func (p Plan) procs() string {
	list := p.Labels()
	if p.Racing() && !p.Listed && len(list) > 2 {
		most := 0 // of the group that has the most
		for _, a := range p.Settings {
			if a.Procs != nil {
				most = max(most, *a.Procs)
			}
		}
		return fmt.Sprintf("%s, 1..%d", Default, most)
	}
	return strings.Join(list, ", ")
}

// Labels are those of the plan's settings, each once, without those of an old version.
func (p Plan) Labels() (list []string) {
	for _, a := range p.Settings {
		if a.Variant != VariantAgainst && !slices.Contains(list, a.Label) {
			list = append(list, a.Label)
		}
	}
	return list
}

// Suffix is what distinguishes the settings of one group from those of another, after a label.
func (g GroupKey) Suffix() (s string) {
	if g.Limited {
		s += fmt.Sprintf(" limit %g", g.QuotaCPUs)
	}
	if g.GoVersion != "" {
		s += " go" + g.GoVersion
	}
	if g.Procs > 0 {
		s += fmt.Sprintf(" GOMAXPROCS %d", g.Procs)
	}
	if g.Variables != "" {
		s += " " + g.Variables
	}
	if g.Replicas > 1 {
		s += fmt.Sprintf(" × %d", g.Replicas)
	}
	return s
}

// Name is the setting's label, and what distinguishes its group.
func (a Setting) Name() string { return a.Label + a.Group().Suffix() }

// Title is the same with what the label is a value of: "GOMAXPROCS 2 limit 0.5", or "GOGC=50".
func (a Setting) Title() string {
	if a.Compares == "" {
		return "GOMAXPROCS " + a.Name()
	}
	return a.Name()
}

// Each is what a plan measures its values with, where there are several of it: " with each of
// 2 CPU limits and 3 numbers of replicas"; empty: there are not.
func (p Plan) Each() string {
	groups := p.Groups()
	var list []string
	for _, of := range []struct {
		noun string
		key  func(GroupKey) any
	}{
		{"CPU limits", func(g GroupKey) any { return [2]any{g.Limited, g.QuotaCPUs} }},
		{"numbers of replicas", func(g GroupKey) any { return g.Replicas }},
		{"Go versions", func(g GroupKey) any { return g.GoVersion }},
	} {
		seen := map[any]bool{}
		for _, g := range groups {
			seen[of.key(g)] = true
		}
		if len(seen) > 1 {
			list = append(list, fmt.Sprintf("%d %s", len(seen), of.noun))
		}
	}
	switch {
	case list != nil:
		return " with each of " + strings.Join(list, " and ")
	case len(groups) > 1:
		return fmt.Sprintf(" in each of %d groups", len(groups))
	}
	return ""
}

// VersionName is one of two compared programs: "old", "new at GOMAXPROCS 2 limit 0.5".
func (a Setting) VersionName() string {
	s := "new"
	if a.Variant == VariantAgainst {
		s = "old"
	}
	if a.Procs != nil {
		s += fmt.Sprintf(" at GOMAXPROCS %d", *a.Procs)
	}
	return s + a.Group().Suffix()
}
