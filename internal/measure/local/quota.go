package local

import (
	"fmt"
	"maps"
	"runtime"
	"slices"
	"time"

	"github.com/procfit/procfit/internal/host/cgroup"
	"github.com/procfit/procfit/internal/host/supervisor"
	"github.com/procfit/procfit/internal/measure/trial"
	"github.com/procfit/procfit/internal/program/observe"
	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/internal/verdict/journal"
	"github.com/procfit/procfit/maxprocs/facts"
)

// limited is what is to stay in a group with a quota: a replica, or the neighbour.
type limited struct {
	who   string // as a message names it
	quota float64
	group *cgroup.Group
	pids  func() []int
}

// limited are the replicas of a fleet where the setting has a quota.
func (r *run) limited(f fleet) (list []limited) {
	q := r.Setting.QuotaCPUs
	if q == nil {
		return nil
	}
	for i, one := range f {
		list = append(list, limited{trial.Replica(i, len(f)), *q, one.group, one.pids})
	}
	return list
}

// limited is the neighbour, if there is one and it has a quota.
func (n *neighbour) limited() (list []limited) {
	if n != nil && n.quota != nil && *n.quota > 0 {
		list = append(list, limited{"the --beside program", *n.quota, n.group, n.pids})
	}
	return list
}

// newGroup creates the group of a program that is about to be started, with shares and a limit of
// its own (0 and nil: none); nil where nothing of the sweep has any. With an error there may be one.
func (r *run) newGroup(of string, spec *supervisor.Spec, shares int64, quota *float64) (g *cgroup.Group, err error) {
	if r.groups == nil {
		return nil, nil
	}
	if g, err = r.groups.New(); err != nil {
		return nil, fmt.Errorf("cannot create a cgroup for %s: %w", of, err)
	}
	spec.ProcsFiles = []string{g.ProcsFile()}
	if shares != 0 {
		err = g.SetShares(shares)
	}
	if err == nil && quota != nil && *quota > 0 {
		err = g.SetQuota(*quota)
	}
	return g, err
}

func checkQuotas(all []limited) error {
	for _, l := range all {
		if err := l.left(l.pids()); err != nil {
			return err
		}
	}
	return nil
}

// movedAdvice says what moves a program out of its group, and what helps.
const movedAdvice = "start the program directly, without sudo, su, runuser, systemd-run or a script that moves it to another cgroup"

// left looks for a process outside the group of the quota: it would be measured as if it were inside.
func (l limited) left(pids []int) error {
	for _, pid := range pids {
		in, err := l.group.Outside(pid)
		if err != nil || in == "" { // what cannot be read proves nothing
			continue
		}
		name := ""
		if found, err := observe.Stand(pid); err == nil {
			name = " (" + found.Name + ")"
		}
		return trial.Invalid(journal.InvalidOutside, "%s runs outside the CPU limit of %g: its process %d%s is in the cgroup %s; %s", l.who, l.quota, pid, name, in, movedAdvice)
	}
	return nil
}

// cgroup is the directory of the cgroup that a replica starts in: its own, or procfit's; empty: not known.
func (one *replica) cgroup() string {
	if one.group != nil {
		return one.group.Dir()
	}
	f := facts.Read()
	if one.attached != nil {
		var err error
		if f, err = new(facts.Reader).ReadPID(one.attached.PID); err != nil {
			return ""
		}
	}
	if len(f.Limits) == 0 {
		return ""
	}
	return f.Limits[0].Dir // its own comes first
}

// around is the CPU limits of a cgroup, and of its parents up to the root, at one time.
type around struct {
	dir   string
	texts map[string]string // see cgroup.LimitsFrom
}

func limitsAround(dir string) around { return around{dir, cgroup.LimitsFrom(dir)} }

// kept makes a Failure of a limit that has changed: what was measured meanwhile had two limits.
func (a around) kept() error {
	now := cgroup.LimitsFrom(a.dir)
	for _, dir := range slices.Sorted(maps.Keys(a.texts)) {
		if before := a.texts[dir]; now[dir] != before {
			return trial.Invalid(journal.InvalidLimitChanged, "something changed the CPU limit of the cgroup %s during the trial, from %q to %q; find out what manages this cgroup, and keep it from doing so while procfit measures", dir, before, now[dir])
		}
	}
	return nil
}

func (f fleet) limitsKept() error {
	for _, one := range f {
		if err := one.limits.kept(); err != nil {
			return err
		}
	}
	return nil
}

const (
	// emptyPeriods is how many periods a group may have counted in which nothing ran: the
	// kernel starts the clock when the quota is set, and stops it two periods later.
	emptyPeriods = 2
	// slack is how much more CPU time than its quota a group may use on each CPU in so
	// short a time, where the kernel charges it late.
	slack = 50 * time.Millisecond
)

// quotaSpan is what the groups of quotas had counted, and their processes used, as a stretch of a trial began.
type quotaSpan struct {
	limited []limited
	periods []int64
	cpu     []time.Duration
}

func begin(all []limited) quotaSpan {
	s := quotaSpan{limited: all}
	for _, l := range s.limited {
		stats, err := l.group.Stats()
		if err != nil {
			stats.Periods = -1
		}
		s.periods, s.cpu = append(s.periods, stats.Periods), append(s.cpu, observe.TreeCPU(l.pids()))
	}
	return s
}

// end makes a Failure of a group that counted hardly any period although its processes used
// CPU time since: they were elsewhere whenever one looked.
func (s quotaSpan) end() error {
	for i, l := range s.limited {
		if s.periods[i] < 0 {
			continue
		}
		if err := l.idle(s.periods[i], observe.TreeCPU(l.pids())-s.cpu[i]); err != nil {
			return err
		}
	}
	return nil
}

// inEmptyPeriods is the most CPU time that a group uses while it counts no more than emptyPeriods.
func (l limited) inEmptyPeriods() time.Duration {
	return time.Duration((emptyPeriods+2)*l.quota*float64(cgroup.Period)) + slack*time.Duration(runtime.NumCPU())
}

// idle makes a Failure where the processes that belong into a group used more CPU time since
// an earlier reading than the group allows in the periods that it counted: hardly any.
func (l limited) idle(periods int64, used time.Duration) error {
	counted := int64(0)
	if used <= l.inEmptyPeriods() {
		return nil
	}
	for _, wait := range []time.Duration{0, 2 * cgroup.Period} { // the period in which they ran may not be over
		time.Sleep(wait)
		now, err := l.group.Stats()
		if counted = now.Periods - periods; err != nil || counted > emptyPeriods {
			return nil
		}
	}
	return trial.Invalid(journal.InvalidOutside, "%s ran outside the CPU limit of %g: it used %s of CPU time, but the limit's cgroup counted %d periods of %s; %s",
		l.who, l.quota, number.Duration(used), counted, number.Duration(cgroup.Period), movedAdvice)
}
