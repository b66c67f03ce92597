package facts

import (
	"fmt"
	"math"
	"os"
)

// State says what is known of a fact.
type State string

const (
	Known      State = "known"
	NoLimit    State = "no_limit"   // a limit's file says that there is none
	Absent     State = "absent"     // there is no such file, variable or group
	Unreadable State = "unreadable" // it is there, or may be, and could not be read
	Malformed  State = "malformed"  // it was read and makes no sense
)

// Fact is one observation with its provenance.
type Fact struct {
	State State
	CPUs  float64 // positive when the fact is a known number of CPUs
	File  string  // the file, system call or variable
	Raw   string  // what it held, byte for byte
	Error string  // why it is unreadable or malformed
}

// Limit is the CPU limit of one cgroup: quota ÷ period.
type Limit struct {
	Fact
	Dir        string // the group's directory
	PeriodFile string // v1 only, where Fact has the quota's file
	PeriodRaw  string

	from tree // that it was read from; nil: it was made by hand
}

// Mode is the way cgroups are mounted.
type Mode string

const (
	ModeV1      Mode = "v1"
	ModeV2      Mode = "v2"
	ModeHybrid  Mode = "hybrid"  // v1 and v2 side by side; the cpu controller is in one of them
	ModeNone    Mode = "none"    // no cgroup file system is mounted
	ModeUnknown Mode = "unknown" // mountinfo could not be read, or not all of it
)

// Cgroup is where the process stands in the hierarchy of the cpu controller.
type Cgroup struct {
	Fact      // of finding it; File and Raw are those of the line in /proc/PID/cgroup
	Mode      Mode
	Version   int    // 1 or 2
	Path      string // as the reader's cgroup namespace shows it
	Mount     string // where the hierarchy is mounted
	MountRoot string // the group that the mount shows as its root
	RootSeen  bool   // the topmost group read is the hierarchy's own root
	View      *View  // of another process, by ReadPID; nil: as the reader sees it
	Sight     Sight  // as the reader sees it
}

// Facts is all that bears on a program's GOMAXPROCS.
type Facts struct {
	PID      int  // 0: a tree's /proc/self
	Affinity Fact // CPUs that the process may run on
	Online   Fact // CPUs of the machine that are online
	Cgroup   Cgroup
	Limits   []Limit // from the process's own group upwards; where Cgroup is not Known, of ancestors alone
	Env      Fact    // GOMAXPROCS; Raw is the value as written
	GODEBUG  Fact    // the variable

	// GoVersion ("go1.26.8"), DefaultGODEBUG (the settings that the linker baked
	// in for the module's go line) and GOARCH are those of the program. Read fills
	// them in; for another process they are in its executable, which this
	// package does not open: debug/buildinfo reads them.
	GoVersion      string
	DefaultGODEBUG string
	GOARCH         string // "" is amd64
}

// CgroupMode says how cgroups are mounted: v1, v2, hybrid, none or unknown.
func (f Facts) CgroupMode() Mode { return f.Cgroup.Mode }

// AffinityCPUs is the number of CPUs that the process may run on, limits
// aside; the online CPUs where the affinity is not known, 0 where neither is.
func (f Facts) AffinityCPUs() int {
	n, ok := f.cpus()
	if !ok {
		return 0
	}
	return toInt(n.CPUs)
}

// Own is the limit of the process's own group, or false where that group was not
// found.
func (f Facts) Own() (Limit, bool) {
	if f.Cgroup.State != Known || len(f.Limits) == 0 {
		return Limit{}, false
	}
	return f.Limits[0], true
}

// Tightest is the smallest known limit, or false when no limit is known. Of
// equal ones it is the one nearest to the process.
func (f Facts) Tightest() (Limit, bool) {
	best, found := Limit{}, false
	for _, l := range f.Limits {
		if l.State == Known && (!found || l.CPUs < best.CPUs) {
			best, found = l, true
		}
	}
	return best, found
}

// EffectiveCPUs is the smaller of the affinity and the tightest limit, in
// CPUs; 0 when neither is known. Unknown says what it could not take into
// account.
func (f Facts) EffectiveCPUs() float64 {
	cpus := math.Inf(1)
	if n, ok := f.cpus(); ok {
		cpus = n.CPUs
	}
	if l, ok := f.Tightest(); ok {
		cpus = math.Min(cpus, l.CPUs)
	}
	if math.IsInf(cpus, 1) {
		return 0
	}
	return cpus
}

// cpus is the affinity, or the online CPUs where the affinity is not known.
func (f Facts) cpus() (Fact, bool) {
	if f.Affinity.State == Known {
		return f.Affinity, true
	}
	return f.Online, f.Online.State == Known
}

// Unknown lists, in words, what should have been read and was not, so that a
// number drawn from these facts may be too high.
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
