package rule

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/show/sorting"
	"github.com/procfit/procfit/maxprocs/facts"
)

// Together is a CPU limit with the programs under it whose Ps add up to more than it.
type Together struct {
	Limit    facts.Limit
	Programs []Sharer // the most Ps first, two at least
}

// Sharer is one of the programs under a limit.
type Sharer struct {
	Name  string // of the process or the container
	Procs int
}

// Gather finds the limits that several of the programs are under and that are lower than
// the sum of their Ps. It gives each to the program with the most Ps, the first among
// equals. A program that has too many Ps by itself is left out: that is the finding.
// Shared tells of the place of a limit whether several programs can be under it.
func Gather(list []*Subject, shared func(dir string) bool) {
	under, of := map[string][]*Subject{}, map[string]facts.Limit{}
	for _, s := range list {
		if n, known := s.Procs(); s.NotGo || !known || s.EveryCPU(n) || s.tooMany() {
			continue
		}
		for _, l := range s.Facts.Limits {
			if l.State == facts.Known && shared(l.Dir) && (!s.seesMachine() || l.CPUs < float64(s.Facts.AffinityCPUs())) {
				under[l.Dir], of[l.Dir] = append(under[l.Dir], s), l
			}
		}
	}
	for _, dir := range slices.Sorted(maps.Keys(under)) {
		t := Together{Limit: of[dir]}
		subjects := under[dir]
		sorting.Stable(subjects, func(a, b *Subject) int { return cmp.Compare(orZero(b), orZero(a)) })
		for _, s := range subjects {
			t.Programs = append(t.Programs, Sharer{cmp.Or(s.Container, s.Name), orZero(s)})
		}
		if first := subjects[0]; len(subjects) > 1 && float64(t.procs()) > math.Ceil(t.Limit.CPUs) &&
			(first.Together == nil || t.Limit.CPUs < first.Together.Limit.CPUs) {
			first.Together = &t
		}
	}
}

func orZero(s *Subject) int {
	n, _ := s.Procs()
	return n
}

// procs is the sum.
func (t Together) procs() (sum int) {
	for _, p := range t.Programs {
		sum += p.Procs
	}
	return sum
}

// shares divides the limit by the Ps, in hundredths of a CPU, rounded down.
func (t Together) shares() string {
	var all []string
	for _, p := range t.Programs {
		cpus := math.Floor(t.Limit.CPUs*float64(p.Procs)/float64(t.procs())*100) / 100
		all = append(all, phrase.Clean(p.Name)+" "+number.BareCPUs(cpus))
	}
	return phrase.And(all)
}

// checkTogether judges the sum of the Ps under a limit. Where the throttling of the
// limit was measured, a limit that throttled nothing is no finding.
func checkTogether(s Subject) []Finding {
	t := s.Together
	if t == nil {
		return nil
	}
	message := fmt.Sprintf("%s under %s together use GOMAXPROCS %d: %s", phrase.Count(len(t.Programs), "Go program"), t.where(), t.procs(), t.listed())
	if s.Live != nil {
		by, _, throttled := s.throttled()
		if !throttled || by.Dir != t.Limit.Dir {
			return nil
		}
		message += "; it throttled them in " + number.Share(by.Ratio()) + " of periods"
	}
	fix := fmt.Sprintf("if they are busy at the same time, give each a CPU limit of its own, for example %s CPUs", t.shares())
	if t.Programs[0].Procs > 1 {
		fix += ", or a lower GOMAXPROCS"
	}
	return []Finding{{Message: message, Fix: fix}}
}

func (t Together) where() string {
	return fmt.Sprintf("the limit of %s (%s)", t.Limit.Dir, number.CPUs(t.Limit.CPUs))
}

// listed names the programs with their Ps.
func (t Together) listed() string {
	var all []string
	for _, p := range t.Programs {
		all = append(all, fmt.Sprintf("%s %d", phrase.Clean(p.Name), p.Procs))
	}
	return strings.Join(all, ", ")
}
