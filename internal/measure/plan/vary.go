package plan

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/procfit/procfit/internal/measure/plan/field"
	"github.com/procfit/procfit/internal/show/pattern"
	"github.com/procfit/procfit/internal/show/secret"
	"github.com/procfit/procfit/internal/show/sorting"
	"github.com/procfit/procfit/internal/verdict/journal"
	"github.com/procfit/procfit/maxprocs/memlimit"
)

const (
	mostVaried       = 4  // variables
	mostVariedValues = 16 // of one
)

var variableName = pattern.Of(`^[A-Za-z_][A-Za-z0-9_]*$`)

// Axis reads NAME=VALUE,VALUE… of --vary. The values are put in the order in which they are
// preferred: by the memory that they allow, where the variable is one of the runtime's.
func (f *Flags) axis(text string) (axis journal.Axis, err error) {
	name, list, ok := strings.Cut(text, "=")
	axis.Name = strings.TrimSpace(name)
	switch {
	case !ok || !variableName().MatchString(axis.Name):
		return axis, &field.Mistake{Text: text, Reason: "expected a variable and its values", Example: "GOGC=50,100,200,off"}
	case misspelt(axis.Name) != "":
		own := misspelt(axis.Name)
		return axis, &field.Mistake{Text: text, Reason: "the variable of the Go runtime is " + own, Example: own + "=" + list}
	case secret.Text(text) != text: // no message has the values either
		return axis, fmt.Errorf("%[1]s: its values may be credentials, and every file of the results would have them; give one value to each of two runs, --env %[1]s=VALUE (the value is not recorded), and compare their folders: procfit compare results/A results/B", axis.Name)
	case axis.Name == "GOMAXPROCS":
		return axis, fmt.Errorf("GOMAXPROCS: name its values with --procs")
	case slices.ContainsFunc(f.Vary, func(a journal.Axis) bool { return a.Name == axis.Name }):
		return axis, fmt.Errorf("%s is there twice: give all its values at once", axis.Name)
	case len(f.Vary) >= mostVaried:
		return axis, fmt.Errorf("%s: expected at most %d variables", axis.Name, mostVaried)
	}
	for value := range strings.SplitSeq(list, ",") {
		value = strings.TrimSpace(value)
		if err := checkValue(axis.Name, value); err != nil {
			return axis, err
		}
		if !slices.Contains(axis.Values, value) {
			axis.Values = append(axis.Values, value)
		}
	}
	switch n := len(axis.Values); {
	case n < 2:
		return axis, &field.Mistake{Text: text, Reason: "expected two values or more to compare; --env sets one", Example: axis.Name + "=" + axis.Values[0] + "," + journal.Unset}
	case n > mostVariedValues:
		return axis, fmt.Errorf("%s has %d values: expected at most %d", axis.Name, n, mostVariedValues)
	}
	axis.Start = starts(axis)
	sorting.Stable(axis.Values, func(a, b string) int { return cmp.Compare(memoryOrder(axis.Name, a), memoryOrder(axis.Name, b)) })
	return axis, nil
}

// misspelt is the variable of the Go runtime that a name has but for its case; empty: none.
func misspelt(name string) string {
	for _, own := range []string{"GOGC", "GOMEMLIMIT", "GOMAXPROCS", "GODEBUG"} {
		if name != own && strings.EqualFold(name, own) {
			return own
		}
	}
	return ""
}

// checkValue refuses what no program would start with, or a list cannot hold.
func checkValue(name, value string) error {
	wrong := func(reason, example string) error {
		return &field.Mistake{Text: name + "=" + value, Reason: reason, Example: name + "=" + example}
	}
	switch {
	case value == "" || strings.ContainsFunc(value, func(r rune) bool { return r <= ' ' || r == 0x7f }):
		return wrong("expected values without spaces, with commas between them", "a,b")
	case value == journal.Unset:
	case name == "GOGC":
		if n, err := strconv.Atoi(value); value != "off" && (err != nil || n < 1) {
			return wrong("expected whole numbers above zero, off or unset", "50,100,off")
		}
	case name == "GOMEMLIMIT":
		if _, ok := memlimit.Parse(value); !ok {
			return wrong("expected sizes with B, KiB, MiB, GiB or TiB, off or unset", "64MiB,off")
		}
	}
	return nil
}

// starts is the value of the first trials: as without procfit, if that is among them, else the first one.
func starts(a journal.Axis) string {
	own := map[string]string{"GOGC": "100", "GOMEMLIMIT": "off"}[a.Name]
	for _, value := range []string{journal.Unset, own} {
		if slices.Contains(a.Values, value) {
			return value
		}
	}
	return a.Values[0]
}

// memoryOrder sorts values by the memory that they allow; those of other variables stay in their order.
func memoryOrder(name, value string) float64 {
	switch name {
	case "GOGC":
		if value == journal.Unset {
			return 100
		}
		if n, err := strconv.Atoi(value); err == nil {
			return float64(n)
		}
		return math.Inf(1)
	case "GOMEMLIMIT":
		if n, _ := memlimit.Parse(value); value != journal.Unset {
			return float64(n)
		}
		return memlimit.NoLimit
	}
	return 0
}

// size reads an amount of memory, as GOMEMLIMIT has it, or as Kubernetes does. It must have a
// unit: a number alone is bytes to both, and hardly ever meant.
func size(text string) (int64, error) {
	n, ok := memlimit.Parse(text)
	if text != "" && text[len(text)-1] >= '0' && text[len(text)-1] <= '9' {
		ok = false
	}
	if strings.HasSuffix(text, "i") {
		n, ok = memlimit.Parse(text + "B")
	}
	if !ok || n <= 0 || n == memlimit.NoLimit {
		return 0, &field.Mistake{Text: text, Reason: "expected a size with B, KiB, MiB, GiB or TiB", Example: "512MiB"}
	}
	return n, nil
}

func (s Spec) checkVary() *FieldError {
	for _, a := range s.Vary {
		if slices.ContainsFunc(s.Target.Env, func(v string) bool { return strings.HasPrefix(v, a.Name+"=") }) {
			return Wrong("vary", " %s: --env sets it too; name all its values with --vary", a.Name)
		}
	}
	switch {
	case len(s.Vary) == 0:
	case s.Load.SLO != nil:
		return Wrong("vary", " %s cannot be combined with --slo: compare its values at one rate", s.Vary[0].Name)
	case s.Budget == nil && (len(s.Vary) > 1 || s.Procs.Auto || len(s.Procs.Values) > 1):
		return Wrong("vary", " with --repeats measures one variable at one value of GOMAXPROCS: add --procs default and give one --vary, or remove --repeats")
	}
	return nil
}

// lines makes a grid's settings those of the one variable that it varies.
func (s Spec) lines(p *journal.Plan) {
	var list, again []journal.Setting
	for _, a := range p.Settings {
		a.Compares = p.Vary[0].Name
		all := p.Of(a.Group())
		list, again = append(list, all...), append(again, all[p.Vary[0].Rank(p.Vary[0].Start)-1])
	}
	p.Settings, p.AA = list, again
}
