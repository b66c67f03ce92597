package plan

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/procfit/procfit/internal/show/sorting"
	"github.com/procfit/procfit/internal/verdict/journal"
)

// maxProcs bounds a value of GOMAXPROCS under test. The runtime itself takes more
// (2^32 on 64 bits since Go 1.10), but a typing error should not start it.
const maxProcs = 4096

const maxSettings = 256

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
