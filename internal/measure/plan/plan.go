// Package plan says what is to be measured, plans it and carries it out.
//
// A [Spec] is a whole sweep, typed and checked: the program, its load, the settings
// under test and how often. It becomes a journal.Plan, which [Next] continues
// from whatever the journal holds: a grid has every setting in every block, and one
// setting of each group twice, so that the noise is known; a race asks the trials so
// far what to measure next, within a budget. Either draws the order within a block from
// a seed, so that a drift of the machine affects all settings equally, and either gives
// the same for the same journal. A [Runner], which lives elsewhere (this machine, pods,
// a model), turns one [Task] into one trial; [Execution] hands it what the journal
// still lacks and appends what comes back. The package starts no process and offers no
// load.
package plan

import "github.com/procfit/procfit/internal/verdict/journal"

// pilots find a group's capacity. A gate has one of each program, which makes the same number.
const pilots, gatePilots = 2, 1

// Plan multiplies the settings out for that many CPUs. seed counts where the Spec has none.
func (s Spec) Plan(hostCPUs float64, seed uint64) journal.Plan {
	against := len(s.Target.Against) > 0
	p := journal.Plan{
		Blocks: s.Repeats, Seed: seed, Margin: s.Margin, MarginP99: s.MarginP99,
		SmallestFor: s.Load.Rate > 0 && s.Load.SLO == nil && len(s.Vary) == 0 && !against, GateAgainst: against, SLO: s.Load.SLO,
		Vary: s.Vary, MaxMemoryBytes: s.MaxMemory,
	}
	if s.Seed != nil {
		p.Seed = *s.Seed
	}
	if a := s.Target.Attach; a != nil {
		p.SmallestFor, p.Settings = false, []journal.Setting{a.setting()}
		return p
	}
	if s.OpenLoop() && s.Load.Rate == 0 && s.Load.SLO == nil {
		p.Pilots = pilots
		if against {
			p.Pilots = gatePilots
		}
	}
	for _, group := range s.groups() {
		values := s.values(s.effective(group, hostCPUs))
		for _, n := range values {
			p.Settings = append(p.Settings, withProcs(group, n, ""))
			if against {
				p.Settings = append(p.Settings, withProcs(group, n, journal.VariantAgainst))
			}
		}
		p.AA = append(p.AA, withProcs(group, values[0], ""))
	}
	if len(p.Vary) > 0 && s.Budget == nil {
		s.lines(&p)
	}
	if s.Budget != nil {
		s.Budget.govern(&p, !s.Procs.Auto)
	}
	p.Slices = s.sliced(p)
	return p
}

func (s Spec) values(effective float64) []*int {
	switch auto := s.Procs.Auto; {
	case auto && len(s.Target.Against) > 0:
		return []*int{nil} // a gate compares programs, not settings
	case auto && s.Budget != nil:
		return everyValue(effective)
	}
	return s.Procs.For(effective)
}

func (s Spec) effective(group journal.Setting, hostCPUs float64) float64 {
	if n := len(s.TargetCPUs()); n > 0 {
		hostCPUs = min(hostCPUs, float64(n))
	}
	if group.QuotaCPUs != nil {
		hostCPUs = min(hostCPUs, *group.QuotaCPUs)
	}
	return hostCPUs
}

// groups are settings without a value of GOMAXPROCS: one per quota, number of replicas and version.
func (s Spec) groups() (list []journal.Setting) {
	quotas, versions := s.Quotas, s.GoVersions
	if len(quotas) == 0 {
		quotas = []*float64{nil}
	}
	if len(versions) == 0 {
		versions = []string{""}
	}
	start := journal.Plan{Vary: s.Vary}.Start()
	for _, version := range versions {
		for _, quota := range quotas {
			for _, n := range s.Replicas {
				list = append(list, journal.Setting{QuotaCPUs: quota, Replicas: max(1, n), GoVersion: version, Variables: start})
			}
		}
	}
	return list
}

func withProcs(group journal.Setting, procs *int, variant string) journal.Setting {
	group.Procs, group.Variant, group.Label = procs, variant, journal.LabelOf(procs)
	if variant != "" {
		group.Label = "old " + group.Label
	}
	return group
}

// Task is one trial to be run.
type Task struct {
	Setting       journal.Setting
	Role          journal.Role
	Block         int
	Order         int
	RatePerSecond *float64 // of the open loop; nil: a pilot, which finds it, or there is no such loop
	// Collections is how many garbage collections a second the pilots had, if each takes
	// so long that a loop needs several of them; 0: they do not matter, or are not known.
	Collections float64
	OneStart    bool // the process is left running for the next task that has OneStart, too
	SawGo       bool // a trial of the journal read a Go program: one that reads none proves nothing
	Tried       int  // trials of it that the journal has already: they proved nothing
}

// Pilot reports whether the task only finds the rate.
func (t Task) Pilot() bool { return t.Role == journal.RolePilot }

// Slice reports whether the task is one of many in one start.
func (t Task) Slice() bool { return t.Role == journal.RoleSlice }

// Repeat reports whether it measures the default once more.
func (t Task) Repeat() bool { return t.Role == journal.RoleAA }
