package observe

import (
	"cmp"
	"context"
	"slices"

	"github.com/procfit/procfit/internal/program/rule"
	"github.com/procfit/procfit/internal/show/sorting"
)

// sharers are the programs among the rest, without procfit at work, if one of those that were
// looked at has a limit that they may share.
func (s *Scanner) sharers(ctx context.Context, seen []sight, rest []int, shared *shared) (all []*rule.Subject) {
	if s.Unjudged || !slices.ContainsFunc(seen, func(one sight) bool { return one.process != nil && limited(one.process.Subject) }) {
		return nil
	}
	for _, one := range s.lookAtAll(ctx, rest, shared) {
		if one.process != nil && one.unreadable == nil && !one.atWork {
			all = append(all, &one.process.Subject)
		}
	}
	return all
}

func limited(s rule.Subject) bool {
	_, yes := s.Facts.Tightest()
	return yes
}

// judge finds what is wrong with each, and with those that share a limit.
func judge(processes []Process, sharers []*rule.Subject) {
	subjects := sharers
	for i := range processes {
		subjects = append(subjects, &processes[i].Subject)
	}
	sorting.Stable(subjects, func(a, b *rule.Subject) int { return cmp.Compare(a.PID, b.PID) })
	rule.Gather(subjects, func(string) bool { return true })
	for i := range processes {
		processes[i].Findings = rule.Judge(processes[i].Subject)
	}
}
