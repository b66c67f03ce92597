package procstat

import (
	"errors"
	"fmt"
	"maps"
	"time"
)

// ErrUnsupported is what everything here returns on a system without /proc.
var ErrUnsupported = fmt.Errorf("counters of processes need Linux: %w", errors.ErrUnsupported)

// Source is where context switches and run-queue wait came from.
type Source string

const (
	Taskstats Source = "taskstats" // the kernel's sum, exited threads included
	Tasks     Source = "tasks"     // thread by thread; what threads did after the last look at them is missing
)

// Use is what a set of processes did over a span.
type Use struct {
	Source     Source
	Duration   time.Duration // from the start of the span to the last look
	Processes  int           // that were seen
	ThreadsMax int           // the most seen at once, over all processes

	User, System time.Duration // CPU time
	// Counters of the processes; those of Uncounted ones are missing from them.
	Voluntary, Involuntary int64         // context switches
	RunQueueWait           time.Duration // includes throttling by a CFS quota
	Uncounted              int
}

// HostUse is the state of the machine over a span.
type HostUse struct {
	Steal     time.Duration // over all CPUs
	BusyRatio float64       // of all CPU time, not idle; 0 for an empty span
}

// Since returns what happened between two readings. Idle time can run backwards
// by a little (proc_stat(5)), so differences are at least 0.
func (c CPU) Since(before CPU) HostUse {
	use := HostUse{Steal: max(0, c.Steal-before.Steal)}
	if total := c.Total - before.Total; total > 0 {
		idle := min(max(0, c.Idle-before.Idle), total)
		use.BusyRatio = float64(total-idle) / float64(total)
	}
	return use
}

// HostInfo is what the journal says of the machine.
type HostInfo struct {
	Hostname    string
	CPUModel    string // empty where the kernel does not tell
	CPUs        int    // online
	Kernel      string // release
	MemoryBytes int64
}

// process is one process within a span.
type process struct {
	old        bool // was there before the span: what it did until the first look does not count
	base, last Stat // base is zero unless old
	baseTask   map[int]counters
	lastTask   map[int]counters // nil: never read
}

// look adds a reading of the threads.
func (p *process) look(tasks map[int]counters) {
	if p.lastTask == nil {
		p.lastTask = make(map[int]counters)
		if p.old {
			p.baseTask = tasks
		}
	}
	maps.Copy(p.lastTask, tasks)
}

// addTo adds what the process did to the use. A thread id that is used again
// within the span can make a difference negative; it then counts as 0.
func (p *process) addTo(u *Use) {
	u.Processes++
	u.User += max(0, p.last.User-p.base.User)
	u.System += max(0, p.last.System-p.base.System)
	if p.lastTask == nil {
		u.Uncounted++
		return
	}
	for tid, c := range p.lastTask {
		base := p.baseTask[tid]
		u.Voluntary += max(0, c.voluntary-base.voluntary)
		u.Involuntary += max(0, c.involuntary-base.involuntary)
		u.RunQueueWait += time.Duration(max(0, c.wait-base.wait))
	}
}
