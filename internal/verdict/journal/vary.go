package journal

import (
	"slices"
	"strings"
)

// Unset is the value of a variable that is not in the environment.
const Unset = "unset"

// Variable is one of the environment with its value.
type Variable struct {
	Name  string `json:"name"`
	Value string `json:"value"` // "unset": it is not in the environment
}

// String is the variable as a shell sets it.
func (v Variable) String() string { return v.Name + "=" + v.Value }

// Axis is a variable of the environment whose values are compared.
type Axis struct {
	Name   string   `json:"name"`
	Values []string `json:"values"` // the preferred first: that of the least memory
	Start  string   `json:"start"`  // the value of the first trials
}

// variables are those that the setting's whole group has, as text, and its value of the
// variable that the group compares.
func (a Setting) variables() (common, value string) {
	var list []string
	for _, v := range a.Variables {
		if v.Name == a.Compares {
			value = v.Value
		} else {
			list = append(list, v.String())
		}
	}
	return strings.Join(list, " "), value
}

// Base is the group without what --vary changes: the part that the trials of one load, with
// one rate, share.
func (g GroupKey) Base() GroupKey {
	g.Variables, g.Compares, g.Procs = "", "", 0
	return g
}

// Rank is the place of a value among those of the axis, from 1; 0: it is none of them.
func (a Axis) Rank(value string) int { return slices.Index(a.Values, value) + 1 }

// Axis is the variable of a name; its values are none where the plan does not have it.
func (p Plan) Axis(name string) Axis {
	i := slices.IndexFunc(p.Vary, func(a Axis) bool { return a.Name == name })
	if i < 0 {
		return Axis{Name: name}
	}
	return p.Vary[i]
}

// Of are the settings that a group may measure. Those of a group that is not among the
// plan's own follow from its variables.
func (p Plan) Of(g GroupKey) (list []Setting) {
	for _, a := range p.Settings {
		if len(p.Vary) == 0 {
			if a.Group() == g {
				list = append(list, a)
			}
			continue
		}
		if a.Group().Base() != g.Base() {
			continue
		}
		if a.Variables = p.variables(g.Variables); g.Compares == "" {
			list = append(list, a)
			continue
		}
		return p.line(a, g)
	}
	return list
}

// line are the settings of a group that compares a variable: like the setting but for its
// value.
func (p Plan) line(like Setting, g GroupKey) (list []Setting) {
	like.Compares, like.Procs = g.Compares, nil
	if g.Procs > 0 {
		like.Procs = new(g.Procs)
	}
	for _, value := range p.Axis(g.Compares).Values {
		a := like
		a.Variables = p.with(like.Variables, Variable{g.Compares, value})
		a.Label = a.Compares + "=" + value
		list = append(list, a)
	}
	return list
}

// variables reads the text of a GroupKey.
func (p Plan) variables(text string) (list []Variable) {
	for _, word := range strings.Fields(text) {
		name, value, _ := strings.Cut(word, "=")
		list = append(list, Variable{name, value})
	}
	return list
}

// with has one variable changed or added, in the order of the plan.
func (p Plan) with(list []Variable, v Variable) (out []Variable) {
	for _, axis := range p.Vary {
		if axis.Name == v.Name {
			out = append(out, v)
		} else if i := slices.IndexFunc(list, func(o Variable) bool { return o.Name == axis.Name }); i >= 0 {
			out = append(out, list[i])
		}
	}
	return out
}

// Start is where every variable of the plan starts.
func (p Plan) Start() (list []Variable) {
	for _, axis := range p.Vary {
		list = append(list, Variable{axis.Name, axis.Start})
	}
	return list
}
