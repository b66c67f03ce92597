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

// maxProcs bounds a value of GOMAXPROCS under test. The runtime itself takes more
// (2^32 on 64 bits since Go 1.10), but a typing error should not start it.
const maxProcs = 4096

const maxSettings = 256 // of one range

// Procs is which values of GOMAXPROCS to sweep.
type Procs struct {
	Auto   bool
	Values []*int // nil: the default
}

// ParseProcs reads "auto", or a list of "default", numbers and ranges such as 1..8 or
// 1-8. Duplicates count once. The error names every item that is wrong.
func ParseProcs(s string) (Procs, error) {
	if strings.TrimSpace(s) == "auto" {
		return Procs{Auto: true}, nil
	}
	var p Procs
	var wrong []string
	for item := range strings.SplitSeq(s, ",") {
		item = strings.TrimSpace(item)
		lowest, highest, ok := parseRange(item)
		switch {
		case item == journal.Default:
			p.add(nil)
		case !ok || lowest < 1 || highest < lowest || highest > maxProcs || highest-lowest >= maxSettings:
			wrong = append(wrong, strconv.Quote(cmp.Or(item, s))) // a comma too many is found in the whole
		default:
			for n := lowest; n <= highest; n++ {
				p.add(&n)
			}
		}
	}
	if wrong != nil {
		return Procs{}, fmt.Errorf("%s: expected auto, or default, whole numbers from 1 to %d and ranges, such as default,1,2,4 or 1..8", strings.Join(wrong, ", "), maxProcs)
	}
	return p, nil
}

// text are the values as ParseProcs reads them, in their order; a range takes four or more.
func (p Procs) text() string {
	if p.Auto {
		return "auto"
	}
	var words []string
	list := sorted(p.Values)
	for i := 0; i < len(list); i++ {
		n := i // the last of a range
		for list[i] != nil && n+1 < len(list) && *list[n+1] == *list[n]+1 {
			n++
		}
		switch {
		case list[i] == nil:
			words = append(words, journal.Default)
		case n-i < 3:
			words = append(words, strconv.Itoa(*list[i]))
		default:
			words, i = append(words, fmt.Sprintf("%d..%d", *list[i], *list[n])), n
		}
	}
	return strings.Join(words, ",")
}

func parseRange(item string) (lowest, highest int, ok bool) {
	from, to, isRange := strings.Cut(item, "..")
	if !isRange {
		from, to, isRange = strings.Cut(item, "-")
	}
	lowest, err := strconv.Atoi(from)
	if err != nil || !isRange {
		return lowest, lowest, err == nil
	}
	highest, err = strconv.Atoi(to)
	return lowest, highest, err == nil
}

func (p *Procs) add(v *int) {
	if !slices.ContainsFunc(p.Values, func(have *int) bool { return equal(have, v) }) {
		p.Values = append(p.Values, v)
	}
}

// For returns the values for a target that may use effective CPUs, unset first
// and then by size. Auto is unset, 1, the powers of two up to twice the effective CPUs,
// the effective CPUs themselves (rounded up), and one less and one more, which are often
// advised; at least five settings, since a curve of fewer says little.
func (p Procs) For(effective float64) []*int {
	if !p.Auto {
		return sorted(p.Values)
	}
	const fewest = 5
	cpus := max(1, int(math.Ceil(effective)))
	auto := Procs{Values: []*int{nil}}
	for _, n := range []int{cpus, cpus - 1, cpus + 1} {
		if n >= 1 {
			auto.add(&n)
		}
	}
	for n := 1; n <= 2*cpus || len(auto.Values) < fewest; n *= 2 {
		auto.add(&n)
	}
	return sorted(auto.Values)
}

// fewestValues is how many numbers a race has at least to choose from: with one CPU,
// or a part of one, a program that waits may still want several Ps.
const fewestValues = 5

// everyValue is what a race may measure of a target that may use effective CPUs: unset
// and every number up to twice the CPUs. Beyond that no P finds a CPU even while half of
// them wait, and the runtime's own default, which may be more, is a candidate anyway.
func everyValue(effective float64) []*int {
	cpus := max(1, int(math.Ceil(effective)))
	list := []*int{nil}
	for n := 1; n <= min(maxProcs, max(fewestValues, 2*cpus)); n++ {
		list = append(list, &n)
	}
	return list
}

func sorted(values []*int) []*int {
	out := slices.Clone(values)
	sorting.Stable(out, func(a, b *int) int { return value(a) - value(b) })
	return out
}

// value is 0 for unset.
func value(v *int) int {
	if v == nil {
		return 0
	}
	return *v
}

func equal[T comparable](a, b *T) bool {
	return a == b || a != nil && b != nil && *a == *b
}

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
		return axis, &field.Mistake{Text: text, Reason: "expected two values or more to compare; --env sets one", Example: axis.Name + "=" + axis.Values[0] + "," + another(axis)}
	case n > mostVariedValues:
		return axis, fmt.Errorf("%s has %d values: expected at most %d", axis.Name, n, mostVariedValues)
	}
	axis.Start = starts(axis)
	sorting.Stable(axis.Values, func(a, b string) int { return cmp.Compare(memoryOrder(axis.Name, a), memoryOrder(axis.Name, b)) })
	return axis, nil
}

// another is a value to compare the only one of an axis with: not one that means the same.
func another(a journal.Axis) string {
	other := map[string]string{"GOGC": "50", "GOMEMLIMIT": "1GiB"}[a.Name]
	switch {
	case other != "" && a.Values[0] != other:
		return other
	case a.Values[0] == journal.Unset:
		return "1"
	}
	return journal.Unset
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
		// The runtime reads 32 bits, and takes 100 for what is more (runtime/mgcpacer.go, readGOGC).
		if n, err := strconv.Atoi(value); value != "off" && (err != nil || n < 1 || n > math.MaxInt32) {
			return wrong("expected whole numbers above zero and below 2^31, off or unset", "50,100,off")
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
