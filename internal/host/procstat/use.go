// Package procstat reads the kernel's counters of processes and of the machine.
//
// A Span counts what a set of processes did between two moments, over all their
// threads: CPU time, context switches, the time that threads were runnable and
// waited for a CPU. CPU time comes from /proc/PID/stat, which counts exited
// threads too. The rest comes from taskstats (netlink), exited threads included,
// where that is allowed (CAP_NET_ADMIN, with some kernels in the initial network
// namespace only); elsewhere from /proc/PID/task/TID, where what a thread did
// between the last look at it and its exit is lost. /proc/PID/status and schedstat
// themselves are not used: they count the main thread alone.
//
// ParseStat is procfit's one reader of /proc/PID/stat: github.com/prometheus/procfs
// takes three times as long (23 µs and 30 allocations against 8 and 6, v0.23.0),
// which a scan of thousands of processes once a second would feel.
//
// Limits: CPU time has a resolution of 10 ms a process. Run-queue wait includes
// the time that a CFS quota kept threads off the CPU, so read it together with the
// cgroup's throttled time. A process that begins and ends between two looks is
// not seen; its CPU time is in Use.WithChildren. Needs Linux.
package procstat

import (
	"bytes"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"time"
)

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
	tree         Times         // the same with Stat.Reaped, as far as that is known of all
	// Counters of the processes; those of Uncounted ones are missing from them.
	Voluntary, Involuntary int64         // context switches
	RunQueueWait           time.Duration // includes throttling by a CFS quota
	Uncounted              int

	MajorFaults int64    // page faults that had to read from a disk
	Faults      FaultUse // what these held; only of a Span
}

// WithChildren is the use with the CPU time of children that started and ended between two looks, and that a process of
// the set waited for. The set must have all children of its processes: what another one used before the span, too, would
// be added when it ends.
func (u Use) WithChildren() Use {
	u.User, u.System = max(u.User, u.tree.User), max(u.System, u.tree.System)
	return u
}

// HostUse is the state of the machine, or of some of its CPUs, over a span.
type HostUse struct {
	Steal     time.Duration // over all CPUs
	Busy      time.Duration // over all CPUs: what programs and the kernel used, without Steal
	BusyRatio float64       // of all CPU time, not idle; 0 for an empty span
}

// Since returns what happened between two readings. Idle time can run backwards
// by a little (proc_stat(5)), so differences are at least 0.
func (c CPU) Since(before CPU) HostUse {
	use := HostUse{Steal: max(0, c.Steal-before.Steal), Busy: max(0, c.busy()-before.busy())}
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

// Reading is the counters of one process at one instant.
type Reading struct {
	Stat
	At     time.Time
	ticks  uint64 // At, as Stat.Started
	source Source
	tasks  map[int]counters // by thread, or one sum; nil: not readable
}

// Total is what the process did from its beginning to the reading. Counted
// thread by thread, what threads did that have ended is missing.
func (r Reading) Total() Use {
	u := r.since(Reading{Stat: Stat{Started: r.Started}})
	u.Duration = time.Duration(max(0, int64(r.ticks)-int64(r.Started))) * tick // its age
	return u
}

// Since is what the process did since an earlier reading of it; everything, for
// a reading of an earlier process of the same PID.
func (r Reading) Since(before Reading) Use {
	if before.Started != r.Started {
		return r.Total()
	}
	if before.tasks == nil { // so what there is now is of longer than that
		r.tasks = nil
	}
	u := r.since(before)
	u.Duration = r.At.Sub(before.At)
	return u
}

// since counts from base, which is zero for everything. A thread id that is used
// again meanwhile can make a difference negative; it then counts as 0.
func (r Reading) since(base Reading) Use {
	u := Use{Source: r.source, Processes: 1, ThreadsMax: r.Threads}
	u.User = max(0, r.User-base.User)
	u.System = max(0, r.System-base.System)
	u.MajorFaults = max(0, int64(r.MajorFaults-base.MajorFaults))
	if r.tasks == nil {
		u.Uncounted = 1
	}
	for tid, c := range r.tasks {
		was := base.tasks[tid]
		u.Voluntary += max(0, c.voluntary-was.voluntary)
		u.Involuntary += max(0, c.involuntary-was.involuntary)
		u.RunQueueWait += time.Duration(max(0, c.wait-was.wait))
	}
	return u
}

type process struct {
	old        bool // was there before the span: what it did until the first look does not count
	base, last Reading
}

// look adds a reading. Threads that have ended keep what was last seen of them.
func (p *process) look(r Reading) {
	if p.old && p.base.tasks == nil {
		p.base.tasks = r.tasks // could not be read until now
	}
	seen := p.last.tasks
	if seen == nil {
		seen = maps.Clone(r.tasks)
	} else {
		maps.Copy(seen, r.tasks)
	}
	p.last = r
	p.last.tasks = seen
}

func (p *process) addTo(u *Use) {
	one := p.last.since(p.base)
	u.Processes++
	u.Uncounted += one.Uncounted
	u.User += one.User
	u.System += one.System
	u.MajorFaults += one.MajorFaults
	u.Voluntary += one.Voluntary
	u.Involuntary += one.Involuntary
	u.RunQueueWait += one.RunQueueWait
}

// CPU is CPU time since boot, summed over CPUs. The kernel counts it in ticks, by
// what it finds running when one ends, so a short span is only roughly right.
type CPU struct {
	Total time.Duration
	Idle  time.Duration // iowait included
	Steal time.Duration // a CPU wanted to run, the hypervisor ran something else
}

// After is the reading as it would be if what happened between two later ones had happened before it.
func (c CPU) After(from, to CPU) CPU {
	return CPU{Total: c.Total + to.Total - from.Total, Idle: c.Idle + to.Idle - from.Idle, Steal: c.Steal + to.Steal - from.Steal}
}

func (c CPU) busy() time.Duration { return c.Total - c.Idle - c.Steal }

// parseCPU reads /proc/stat (proc_stat(5)): the sum over all CPUs in its first
// line, or the lines of those that are named, each once. An offline CPU has no line.
func parseCPU(b []byte, cpus []int) (CPU, error) {
	if len(cpus) == 0 {
		line, _, _ := bytes.Cut(b, []byte("\n"))
		return parseCPULine(line, "cpu")
	}
	want := slices.Compact(slices.Sorted(slices.Values(cpus)))
	var sum CPU
	for line := range bytes.Lines(b) {
		name, _, _ := bytes.Cut(line, []byte(" "))
		digits, ok := bytes.CutPrefix(name, []byte("cpu"))
		n, err := strconv.Atoi(string(digits))
		if !ok || err != nil {
			continue
		}
		i, found := slices.BinarySearch(want, n)
		if !found {
			continue
		}
		want = slices.Delete(want, i, i+1)
		c, err := parseCPULine(line, string(name))
		if err != nil {
			return CPU{}, err
		}
		if sum.Total > math.MaxInt64-c.Total {
			return CPU{}, fmt.Errorf("/proc/stat: %q: %w", clip(line), strconv.ErrRange)
		}
		sum.Total, sum.Idle, sum.Steal = sum.Total+c.Total, sum.Idle+c.Idle, sum.Steal+c.Steal
	}
	if len(want) > 0 {
		return CPU{}, fmt.Errorf("/proc/stat: no line of CPU %d: there is none such, or it is offline", want[0])
	}
	return sum, nil
}

// parseCPULine reads user, nice, system, idle, iowait, irq, softirq, steal; guest
// times follow and are part of user.
func parseCPULine(line []byte, name string) (CPU, error) {
	f := bytes.Fields(line)
	if len(f) < 9 || string(f[0]) != name {
		return CPU{}, fmt.Errorf("/proc/stat: line %q, want %s and eight numbers", clip(line), name)
	}
	p := numbers{fields: f}
	var v [9]time.Duration
	var c CPU
	for i := 1; i <= 8; i++ {
		v[i] = time.Duration(p.at(i, maxTicks/8)) * tick
		c.Total += v[i]
	}
	if p.err != nil {
		return CPU{}, fmt.Errorf("/proc/stat: %q: %w", clip(line), p.err)
	}
	c.Idle, c.Steal = v[4]+v[5], v[8]
	return c, nil
}
