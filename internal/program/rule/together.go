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

// Together is a CPU limit with the programs under it that can use more CPUs than it has.
type Together struct {
	Limit    facts.Limit
	Programs []Sharer // the most Ps first, two at least
}

// Sharer is one of the programs under a limit.
type Sharer struct {
	Name  string // of the process or the container
	Procs int
}

// Gather finds the limits that several of the programs are under. Each of these programs
// is Shared. If together they can use more CPUs than a limit has, the program with the
// most Ps, the first among equals, gets it as Together. A program can use as many CPUs as
// it has Ps, and no more than a limit of its own. One that has too many Ps by itself is not
// in the sum: that is the finding. The function shared tells of the place of a limit whether
// several programs can be under it.
func Gather(list []*Subject, shared func(dir string) bool) {
	under, of := map[string][]*Subject{}, map[string]facts.Limit{}
	for _, s := range list {
		if _, known := s.Procs(); s.NotGo || !known {
			continue
		}
		for _, l := range s.Facts.Limits {
			if l.State == facts.Known && shared(l.Dir) && (!s.seesMachine() || l.CPUs < float64(s.Facts.AffinityCPUs())) {
				under[l.Dir], of[l.Dir] = append(under[l.Dir], s), l
			}
		}
	}
	for _, dir := range slices.Sorted(maps.Keys(under)) {
		t, subjects := Together{Limit: of[dir]}, under[dir]
		if len(subjects) < 2 {
			continue
		}
		for _, s := range subjects {
			s.Shared = true
		}
		subjects = slices.DeleteFunc(subjects, func(s *Subject) bool { return s.tooMany() })
		if len(subjects) < 2 {
			continue
		}
		sorting.Stable(subjects, func(a, b *Subject) int { return cmp.Compare(orZero(b), orZero(a)) })
		use := 0.0
		for _, s := range subjects {
			use += s.without(dir)
			t.Programs = append(t.Programs, Sharer{cmp.Or(s.Container, s.Name), orZero(s)})
		}
		if first := subjects[0]; use > math.Ceil(t.Limit.CPUs) && (first.Together == nil || t.Limit.CPUs < first.Together.Limit.CPUs) {
			first.Together = &t
		}
	}
}

// without is how many CPUs it could use if the limit of dir were not.
func (s Subject) without(dir string) float64 {
	use := float64(orZero(&s))
	for _, l := range s.Facts.Limits {
		if l.State == facts.Known && l.Dir != dir {
			use = min(use, l.CPUs)
		}
	}
	return use
}

func orZero(s *Subject) int {
	n, _ := s.Procs()
	return n
}

// values divides the whole CPUs of the limit by the Ps: one for each program at least;
// nil: there are more programs.
func (t Together) values() []int {
	left := int(t.Limit.CPUs) - len(t.Programs)
	if left < 0 {
		return nil
	}
	values := make([]int, len(t.Programs))
	for i := range values {
		values[i] = 1
	}
	for ; left > 0; left-- {
		most := 0
		for i, p := range t.Programs {
			if p.Procs*values[most] > t.Programs[most].Procs*values[i] {
				most = i
			}
		}
		values[most]++
	}
	return values
}

// fix is what to do where all are busy at the same time.
func (t Together) fix() string {
	limits := fmt.Sprintf("give each a CPU limit of its own, together at most %s", number.CPUs(t.Limit.CPUs))
	values := t.values()
	if values == nil {
		return limits
	}
	var all []string
	for i, p := range t.Programs {
		all = append(all, fmt.Sprintf("%d in %s", values[i], phrase.Clean(p.Name)))
	}
	return "set GOMAXPROCS=" + phrase.And(all) + ", or " + limits
}

// checkTogether judges the sum of the Ps under a limit. Where the throttling of the
// limit was measured, a limit that throttled nothing is no finding.
func checkTogether(s Subject) []Finding {
	t := s.Together
	if t == nil {
		return nil
	}
	sum, all := 0, []string{}
	for _, p := range t.Programs {
		sum, all = sum+p.Procs, append(all, fmt.Sprintf("%s %d", phrase.Clean(p.Name), p.Procs))
	}
	message := fmt.Sprintf("%s under the limit of %s (%s) together use GOMAXPROCS %d: %s", phrase.Count(len(t.Programs), "Go program"), t.Limit.Dir, number.CPUs(t.Limit.CPUs), sum, strings.Join(all, ", "))
	if s.Live != nil {
		by, _, throttled := s.throttled()
		if !throttled || by.Dir != t.Limit.Dir {
			return nil
		}
		message += "; it throttled them in " + number.Share(by.Ratio()) + " of periods"
	}
	return []Finding{{Message: message, Fix: "if they are busy at the same time, " + t.fix()}}
}
