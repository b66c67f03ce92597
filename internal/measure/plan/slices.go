package plan

import (
	"slices"
	"strings"
	"time"

	"github.com/procfit/procfit/internal/verdict/contest"
	"github.com/procfit/procfit/internal/verdict/contest/race"
	"github.com/procfit/procfit/internal/verdict/journal"
)

// sliced reports whether slices of one start choose the values that are measured. They need a
// server of which procfit offers the load and chooses rate and values, few values, and one group:
// what a CPU limit does to a program takes many of its periods to see.
func (s Spec) sliced(p journal.Plan) bool {
	few := len(p.Settings) <= mostSliced+1 // with the default
	limited := slices.ContainsFunc(s.Quotas, func(q *float64) bool { return q != nil }) || s.Limited
	return s.Slices && few && s.Budget != nil && s.Procs.Auto && p.Pilots > 0 && strings.HasPrefix(s.Target.URL, "http") && s.Load.Duration >= slicedFrom &&
		s.Target.Pods == nil && s.Target.Attach == nil && s.Target.Beside == nil && !s.Target.AnyProgram && len(s.Target.Against) == 0 &&
		len(s.Vary) == 0 && !limited && len(s.groups()) == 1 && slices.Equal(s.Replicas, []int{1})
}

const (
	mostSliced = 6                      // values: of more, slices chose too large ones in the simulations
	slicedFrom = time.Second            // of --trial-time: slices take less time than they save
	sliceFor   = 200 * time.Millisecond // of a slice's closed loop
	sliceTakes = 300 * time.Millisecond // about, with the call that sets its value
	pilotLeast = 500 * time.Millisecond // of a pilot's closed loop, to show what other programs used
)

// Slices is how many slices of one start there are, and about how long they take.
func Slices(p journal.Plan) (n int, take time.Duration) {
	n = race.SlicesEach * (len(p.Settings) - 1) // all but the default, which runs as its number
	return n, time.Duration(n) * sliceTakes
}

// InOneStart is the Spec for a pilot, or a slice, in a start that it shares: its loop is shorter.
func (s Spec) InOneStart(t Task) Spec {
	s.Load.Stretch, s.Load.Duration = false, 2*sliceFor
	if t.Pilot() {
		s.Load.Duration = 2 * pilotLeast
	}
	return s
}

func (r Record) slices(p journal.Plan, c *contest.Contest) (tasks []Task) {
	block := 0
	for _, t := range r.Slices {
		block = max(block, t.Block+1)
	}
	for i, n := range c.NextSlices() {
		tasks = append(tasks, Task{Setting: withProcs(p.Settings[0], &n, ""), Role: journal.RoleSlice, Block: block, Order: i, OneStart: true})
	}
	return tasks
}

func (r Record) starts() (n int) {
	for _, t := range r.Slices {
		if t.Start != nil {
			n = max(n, *t.Start+1)
		}
	}
	return n
}

func (r Record) took() float64 {
	return contest.Seconds(r.Trials) + contest.Seconds(r.Slices)
}
