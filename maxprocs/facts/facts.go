// Package facts finds out how many CPUs a Go program may use and which GOMAXPROCS follows
// from that, with every reason.
//
// # Model
//
// Observing and deciding are separate. [Read], [ReadPID] and [ReadFS] read [Facts]: the CPUs in the affinity mask, the online CPUs, every CPU limit
// from the program's own cgroup to the root of its hierarchy, and the
// environment, each as a [Fact] with its file and the raw text. [Decide] turns Facts into
// a [Decision] by a [Policy] and changes nothing: [Go] does what the runtime of a given
// version does, [Automaxprocs] and [JVM] do what these do, and [Fit] is the policy of
// package maxprocs.
//
// Known, no limit, absent, unreadable and malformed are five different states. A limit
// that could not be read is not the same as no limit: [Facts.Unknown] lists what is
// missing, and a Decision repeats it.
//
// # Cgroups
//
// The cpu controller is in one hierarchy: the v1 hierarchy that names it in
// /proc/PID/cgroup, or else the v2 hierarchy. The package finds the mount of that
// hierarchy in mountinfo and reads the limit of each cgroup between the process and the
// root of the mount: cpu.max and cpu.max.burst on v2, cpu.cfs_quota_us, cpu.cfs_period_us
// and cpu.cfs_burst_us on v1. The kernel enforces all of them, so the tightest one decides.
//
// # Memory
//
// [ReadMemory], [ReadMemoryFS] and a Reader read [Memory] in the same way: the limits of
// the memory controller, for package memlimit.
//
// # Limits
//
//   - Parent cgroups outside a container's cgroup namespace or bind mount cannot be
//     seen from inside it; see Cgroup.RootSeen.
//   - Another process is read through the reader's mounts and cgroup namespace; its
//     own mounts may show less.
//   - The affinity is the current one. The runtime read its own when the program
//     started.
//   - CPU shares and weights are not limits and are not read.
//   - Outside Linux, the affinity is runtime.NumCPU and there are no cgroups.
package facts

import (
	"fmt"
	"os"

	"github.com/procfit/procfit/maxprocs/internal/fit"
)

// State is what is known about a fact.
type State string

const (
	Known      State = "known"
	NoLimit    State = "no_limit"   // the limit file says that there is no limit
	Absent     State = "absent"     // there is no such file, variable or cgroup
	Unreadable State = "unreadable" // it exists, or may exist, but could not be read
	Malformed  State = "malformed"  // it was read, but is not valid
)

// Fact is one observation and its source.
type Fact struct {
	State State
	CPUs  float64 // positive if the fact is a known number of CPUs; of a burst 0 or more
	File  string  // the file, system call or variable
	Raw   string  // its content, byte for byte
	Error string  // why it is unreadable or malformed
}

// Limit is the CPU limit of one cgroup: quota ÷ period.
type Limit struct {
	Fact
	Dir        string // the cgroup's directory
	PeriodFile string // v1 only, where Fact is about the quota's file
	PeriodRaw  string

	// Burst is how much quota the kernel saves up from periods that did not use it, as
	// CPUs of one period: with a limit of 2 and a burst of 0.5 the cgroup can use 2.5
	// CPUs in a period after quieter ones. It is Known and 0 without a burst, Absent with a
	// kernel before 5.14, and read only together with a Known limit.
	Burst Fact

	from tree // that it was read from; nil: it was made by hand
}

// Mode is how cgroups are mounted.
type Mode string

const (
	ModeV1      Mode = "v1"
	ModeV2      Mode = "v2"
	ModeHybrid  Mode = "hybrid"  // both v1 and v2; the cpu controller is in one of them
	ModeNone    Mode = "none"    // no cgroup file system is mounted
	ModeUnknown Mode = "unknown" // mountinfo could not be read completely
)

// Cgroup is the place of the process in the hierarchy of the cpu controller.
type Cgroup struct {
	Fact      // whether it was found; File and Raw are those of the line in /proc/PID/cgroup
	Mode      Mode
	Version   int    // 1 or 2
	Path      string // as the reader's cgroup namespace shows it
	Mount     string // where the hierarchy is mounted
	MountRoot string // the cgroup that the mount shows as its root
	RootSeen  bool   // the topmost cgroup that was read is the root of the hierarchy
	View      *View  // what another process sees, by ReadPID; nil: the same as the reader
	Sight     Sight  // what the reader sees
}

// Facts is everything that decides a program's GOMAXPROCS.
type Facts struct {
	PID      int  // 0: a tree's /proc/self
	Affinity Fact // CPUs that the process may run on
	Online   Fact // CPUs of the machine that are online
	Cgroup   Cgroup
	Limits   []Limit // from the process's own cgroup upwards; if Cgroup is not Known, only of its parents
	Env      Fact    // GOMAXPROCS; Raw is the value as written
	GODEBUG  Fact    // the variable

	// Variables are those that Reader.Variables names, in that order.
	Variables []Fact

	// GoVersion ("go1.26.8"), DefaultGODEBUG (the settings that the linker wrote for the
	// module's go line) and GOARCH are those of the program. Read fills them in. For
	// another process they are in its executable, which this package does not open: use
	// debug/buildinfo.
	GoVersion      string
	DefaultGODEBUG string
	GOARCH         string // "" is amd64
}

// CgroupMode returns how cgroups are mounted: v1, v2, hybrid, none or unknown.
func (f Facts) CgroupMode() Mode { return f.Cgroup.Mode }

// AffinityCPUs is the number of CPUs that the process may run on, without its limits. If
// the affinity is not known it is the online CPUs, and 0 if these are not known either.
func (f Facts) AffinityCPUs() int {
	n, ok := f.cpus()
	if !ok {
		return 0
	}
	return fit.Int(n.CPUs)
}

// Own is the limit of the process's own cgroup, or false if that cgroup was not found.
func (f Facts) Own() (Limit, bool) {
	if f.Cgroup.State != Known || len(f.Limits) == 0 {
		return Limit{}, false
	}
	return f.Limits[0], true
}

// Tightest is the smallest known limit, or false if no limit is known. Of equal limits
// it is the one nearest to the process.
func (f Facts) Tightest() (Limit, bool) {
	best, found := Limit{}, false
	for _, l := range f.Limits {
		if l.State == Known && (!found || l.CPUs < best.CPUs) {
			best, found = l, true
		}
	}
	return best, found
}

// EffectiveCPUs is the smaller of the affinity and the tightest limit, in CPUs; 0 if
// neither is known. Unknown lists what could not be used.
func (f Facts) EffectiveCPUs() float64 {
	n, seen := f.cpus()
	l, limited := f.Tightest()
	switch {
	case limited && (!seen || l.CPUs < n.CPUs):
		return l.CPUs
	case seen:
		return n.CPUs
	}
	return 0
}

// cpus is the affinity, or the online CPUs if the affinity is not known.
func (f Facts) cpus() (Fact, bool) {
	if f.Affinity.State == Known {
		return f.Affinity, true
	}
	return f.Online, f.Online.State == Known
}

// Unknown lists, in words, what could not be read. A number from these facts may then be
// too high.
func (f Facts) Unknown() []string {
	var out []string
	note := func(what string, fact Fact) {
		if fact.State == Unreadable || fact.State == Malformed {
			out = append(out, fmt.Sprintf("%s is %s: %s", what, fact.State, fact.Error))
		}
	}
	if f.Affinity.State != Known {
		out = append(out, fmt.Sprintf("the CPU affinity is %s%s", f.Affinity.State, because(f.Affinity)))
	}
	note("the CPU cgroup", f.Cgroup.Fact)
	for _, l := range f.Limits {
		note("the CPU limit of "+l.Dir, l.Fact)
	}
	return out
}

func because(f Fact) string {
	if f.Error == "" {
		return ""
	}
	return ": " + f.Error
}

func ownEnv(name string) Fact {
	f := Fact{State: Absent, File: "environment"}
	if value, ok := os.LookupEnv(name); ok {
		f.State, f.Raw = Known, value
	}
	return f
}
