package local

import (
	"fmt"
	"path/filepath"
	"time"

	"github.com/procfit/procfit/internal/cgroup"
	"github.com/procfit/procfit/internal/journal"
	"github.com/procfit/procfit/internal/observe"
)

// oneProcs is the live GOMAXPROCS of one replica, or why it could not be read.
type oneProcs struct {
	live observe.Live
	err  error
}

// procsReading is that of each replica.
type procsReading []oneProcs

func (r *Runner) procsOf(pid int) oneProcs {
	if pid == 0 {
		return oneProcs{err: fmt.Errorf("no Go program among the target's processes")}
	}
	live, err := r.reader.Procs(pid)
	return oneProcs{live, err}
}

// judge records what the target ran at and says whether that is what the arm
// wants. after is a second reading from before the stop. What could not be read
// is neither a match nor a fault: the trial stays valid and says that it is not
// proven.
func (p procsReading) judge(arm journal.Arm, after procsReading, t *journal.Trial) error {
	t.ObservedProcs = make([]*int, len(p))
	for i, now := range p {
		if now.err != nil {
			t.Warnings = append(t.Warnings, journal.Warning{Code: journal.WarnProcsUnproven, Detail: now.err.Error()})
			continue
		}
		n := now.live.Procs
		t.ObservedProcs[i] = &n
		t.ObservedSource, t.ObservedGoVersion = string(now.live.Source), now.live.GoVersion
		if arm.Procs != nil && n != *arm.Procs {
			return invalidf("the target ran at GOMAXPROCS=%d, not at %d: it does not take the value from the environment (a call of runtime.GOMAXPROCS, automaxprocs, or a wrapper that clears the environment)", n, *arm.Procs)
		}
		if i >= len(after) || after[i].err != nil || after[i].live.Procs == n {
			continue
		}
		if arm.Procs != nil {
			return invalidf("the target changed its GOMAXPROCS from %d to %d during the trial", n, after[i].live.Procs)
		}
		t.Warnings = append(t.Warnings, journal.Warning{Code: journal.WarnProcsChanged, From: &n, To: &after[i].live.Procs})
	}
	return nil
}

// measurement is the kernel's counters over a stretch of a trial.
type measurement struct {
	fleet   fleet
	began   time.Time
	span    *observe.Span
	machine observe.CPU
	groups  []cgroup.Stats
	err     error
}

// begin starts counting.
func (r *Runner) begin(arm journal.Arm, f fleet) *measurement {
	m := &measurement{fleet: f, began: time.Now()}
	m.span, m.err = r.sampler.Start(f.pids())
	if m.err == nil {
		m.machine, m.err = observe.MachineCPU()
	}
	if arm.QuotaCPUs != nil {
		m.groups = f.throttling()
	}
	return m
}

// end writes what was counted since begin into the trial.
func (m *measurement) end(t *journal.Trial) {
	t.MeasuredSeconds = time.Since(m.began).Seconds()
	if m.err != nil {
		t.Warnings = append(t.Warnings, journal.Warning{Code: journal.WarnCounters, Detail: m.err.Error()})
		return
	}
	m.span.Look(m.fleet.pids())
	record(m.span.Delta(), t)
	if now, err := observe.MachineCPU(); err == nil {
		use := now.Since(m.machine)
		t.HostUse = &journal.HostUse{StealSeconds: use.Steal.Seconds(), BusyRatio: use.BusyRatio}
	}
	t.Cgroup = throttledSince(m.groups, m.fleet.throttling())
}

func record(use observe.Use, t *journal.Trial) {
	if use.Processes == 0 {
		return
	}
	t.CPUSeconds = &journal.CPUSeconds{User: use.User.Seconds(), System: use.System.Seconds()}
	t.ThreadsMax = &use.ThreadsMax
	if use.Uncounted < use.Processes {
		wait := use.RunQueueWait.Seconds()
		t.ContextSwitches = &journal.ContextSwitches{Voluntary: use.Voluntary, Involuntary: use.Involuntary}
		t.RunQueueWaitSeconds = &wait
	}
}

// throttling reads the accounting of every replica's group; nil without groups
// or where it cannot be read.
func (f fleet) throttling() []cgroup.Stats {
	var all []cgroup.Stats
	for _, one := range f {
		if one.group == nil {
			return nil
		}
		s, err := one.group.Stats()
		if err != nil {
			return nil
		}
		all = append(all, s)
	}
	return all
}

func throttledSince(before, after []cgroup.Stats) *journal.Cgroup {
	if before == nil || len(before) != len(after) {
		return nil
	}
	c := &journal.Cgroup{}
	for i, now := range after {
		c.Periods += now.Periods - before[i].Periods
		c.ThrottledPeriods += now.ThrottledPeriods - before[i].ThrottledPeriods
		c.ThrottledSeconds += (now.Throttled - before[i].Throttled).Seconds()
	}
	return c
}

// judgeLoad says whether the trial's answers can count, and who was the limit.
// failures is in words what went wrong with requests.
func (r *Runner) judgeLoad(t *journal.Trial, failures string) error {
	var answered, failed int64
	for _, p := range t.Phases {
		answered += p.Requests
		failed += p.Errors
	}
	if failures == "" {
		failures = "no more is known"
	}
	if answered == 0 {
		return invalidf("no request was answered: %s", failures)
	}
	if share := float64(failed) / float64(max(answered, failed)); share > r.config.MaxErrors {
		return invalidf("%.3g %% of the requests failed (%s), more than --max-errors %g %%", 100*share, failures, 100*r.config.MaxErrors)
	}
	t.Warnings = append(t.Warnings, r.limits(t)...)
	return nil
}

const (
	engineLimit = 0.90 // of a CPU in the busiest engine thread
	machineFull = 0.95 // of all CPU time
	loadShare   = 0.05 // of all CPU time: below it the load disturbs little
)

// limits is the warnings about who was the bottleneck.
func (r *Runner) limits(t *journal.Trial) []journal.Warning {
	var warnings []journal.Warning
	if t.Load != nil && t.Load.ThreadBusiestRatio != nil && *t.Load.ThreadBusiestRatio >= engineLimit {
		warnings = append(warnings, journal.Warning{Code: journal.WarnLoadLimited, Value: t.Load.ThreadBusiestRatio})
	}
	if t.Load != nil && t.HostUse != nil && r.config.LoadOnThisMachine() && t.HostUse.BusyRatio >= machineFull && t.MeasuredSeconds > 0 {
		cpus := t.Load.CPUSeconds / t.MeasuredSeconds
		if cpus >= loadShare {
			warnings = append(warnings, journal.Warning{Code: journal.WarnLoadTook, Value: &cpus})
		}
	}
	if t.Saturated {
		warnings = append(warnings, journal.Warning{Code: journal.WarnSaturated})
	}
	if l := t.Load; l != nil && l.SendLagP99Seconds != nil && t.LatencySeconds != nil && t.LatencySeconds.P99 != nil {
		if lag := *l.SendLagP99Seconds; lag > 1e-3 && lag > *t.LatencySeconds.P99/4 {
			warnings = append(warnings, journal.Warning{Code: journal.WarnSentLate, Value: &lag})
		}
	}
	return warnings
}

// relativeLog is a log's path within the results directory.
func relativeLog(path string) string {
	return filepath.Join(filepath.Base(filepath.Dir(path)), filepath.Base(path))
}
