package journal

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/procfit/procfit/internal/host/cpuset"
	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/internal/spec"
)

// VariantAgainst marks the settings of a gate's old command.
const VariantAgainst = "against"

// Default is what the setting without GOMAXPROCS in its environment is called.
const Default = "default"

// LabelOf is what a value of GOMAXPROCS is called; nil is the program's default.
func LabelOf(procs *int) string {
	if procs == nil {
		return Default
	}
	return strconv.Itoa(*procs)
}

// Setting is one setting under test.
type Setting struct {
	Label     string   `json:"label"`
	Procs     *int     `json:"procs"`      // null: GOMAXPROCS not in the environment
	QuotaCPUs *float64 `json:"quota_cpus"` // null: no limit of ours
	Replicas  int      `json:"replicas"`
	GoVersion string   `json:"go_version,omitempty"` // the toolchain of --go; empty: as the program came
	Variant   string   `json:"variant,omitempty"`    // "against" for the old command of a gate
	// Variables are those of the environment that --vary sets, in the order of the plan. One
	// with the value "unset" is taken out of the environment.
	Variables []Variable `json:"variables,omitempty"`
	// Compares is the variable whose values the setting's group compares; empty: GOMAXPROCS.
	Compares string `json:"compares,omitempty"`
}

// GroupKey is what settings must share to be compared with each other.
type GroupKey struct {
	Limited   bool // there is a quota
	QuotaCPUs float64
	Replicas  int
	GoVersion string
	// Variables are those that all settings of the group have, as text. Compares is the
	// variable whose values they compare, and Procs the GOMAXPROCS that they then have.
	Variables string
	Compares  string
	Procs     int
}

// SettingKey identifies a setting. Two settings of one key are one setting, whatever
// their labels say.
type SettingKey struct {
	Group   GroupKey
	Procs   int // 0: the default
	Variant string
	Value   string // of the variable that the group compares
}

// Group is the group that the setting belongs to.
func (a Setting) Group() GroupKey {
	g := GroupKey{Replicas: max(1, a.Replicas), GoVersion: a.GoVersion}
	if a.QuotaCPUs != nil {
		g.Limited, g.QuotaCPUs = true, *a.QuotaCPUs
	}
	g.Variables, _ = a.variables()
	if g.Compares = a.Compares; g.Compares != "" && a.Procs != nil {
		g.Procs = *a.Procs
	}
	return g
}

// Key is the setting's identity.
func (a Setting) Key() SettingKey {
	k := SettingKey{Group: a.Group(), Variant: a.Variant}
	_, k.Value = a.variables()
	if a.Procs != nil {
		k.Procs = *a.Procs
	}
	return k
}

// Block is what a race, or a grid that was given more, runs next. It is written before the first of
// its trials, so that a run that continues completes the block that was started, whatever it would
// choose today.
type Block struct {
	Kind     string    `json:"kind"`
	Block    int       `json:"block"`    // from 0, over all groups
	Settings []Setting `json:"settings"` // in the order to run; of a race all are of one group
	Why      string    `json:"why"`      // a code: the question that the block is to answer; empty: of a grid
}

// Budget is what a race may take from here on, where it continues with another than it
// began with. A reader has it in the header's plan.
type Budget struct {
	Kind       string  `json:"kind"`
	Goal       Goal    `json:"goal"`
	MaxTrials  int     `json:"max_trials"`
	MaxSeconds float64 `json:"max_seconds"` // 0: any
}

// Budget is the plan's.
func (p Plan) Budget() Budget {
	return Budget{Kind: KindBudget, Goal: p.Goal, MaxTrials: p.MaxTrials, MaxSeconds: p.MaxSeconds}
}

// since are the flags that ask for the budget in place of another one.
func (b Budget) since(before Budget) (list []spec.Change) {
	if b.Goal != before.Goal {
		list = append(list, spec.Part("until", "", string(b.Goal)))
	}
	if b.MaxTrials != before.MaxTrials {
		list = append(list, spec.Part("until", "trials", strconv.Itoa(b.MaxTrials)))
	}
	switch {
	case b.MaxSeconds == before.MaxSeconds:
	case b.MaxSeconds > 0:
		list = append(list, spec.Set("for", number.Typed(time.Duration(b.MaxSeconds*float64(time.Second)))))
	default:
		list = append(list, spec.Unset("for"))
	}
	return list
}

// With is the plan of a race with another budget.
func (p Plan) With(b Budget) Plan {
	if !p.Racing() {
		return p // a grid has none
	}
	p.Goal, p.MaxTrials, p.MaxSeconds = b.Goal, b.MaxTrials, b.MaxSeconds
	return p
}

// Sizing is what the load cost in the trials that chose its CPUs, before the pilots:
// target and load still shared all CPUs then.
type Sizing struct {
	RequestsPerSecond    float64 `json:"requests_per_second"`     // the most that a trial answered
	CPUSecondsPerRequest float64 `json:"cpu_seconds_per_request"` // of the load, the most of a trial
}

// Arranged is how load and target share CPUs; "" where there is no load.
func (l Load) Arranged() Arrangement {
	if l.Arrangement == nil {
		return ""
	}
	return *l.Arrangement
}

// Shared reports whether the load ran on CPUs of the target.
func (l Load) Shared() bool { return l.Arranged() == ArrangementShared }

// OnTargetHost reports whether the load ran on the machine of the target.
func (l Load) OnTargetHost() bool { return l.Shared() || l.Arranged() == ArrangementApart }

// Tunnelled reports whether the load came through a cluster's API server, which was measured too.
func (l Load) Tunnelled() bool { return l.Arranged() == ArrangementTunnel }

// Arrange is the arrangement of a target and a load on one machine, by their
// CPUs. An empty list means all CPUs.
func Arrange(target, load cpuset.Set) Arrangement {
	if len(target) > 0 && len(load) > 0 && !target.Overlaps(load) {
		return ArrangementApart
	}
	return ArrangementShared
}

// Had are the CPUs that the target ran on; none: all that procfit had.
func (t Target) Had() cpuset.Set {
	if len(t.CPUs) > 0 {
		return t.CPUs
	}
	return t.ServerCPUs
}

// Had are the CPUs that the load generator ran on; none: all that procfit had.
func (l Load) Had() cpuset.Set {
	if len(l.CPUs) > 0 {
		return l.CPUs
	}
	return l.LoadCPUs
}

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
