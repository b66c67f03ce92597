package facts

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/procfit/procfit/maxprocs/internal/cgfs"
)

// readCgroup finds the process's cgroup and reads the limits from it upwards.
func readCgroup(t tree, pid int) (Cgroup, []Limit) {
	c, dirs := findCgroup(t, pid, cgfs.CPU)
	if c.Sight.ProcCgroup != nil {
		own := c.Sight.Dir
		c.Sight = sightOf(t, "", c.Sight.ProcCgroup, c.Sight.Mountinfo)
		c.Sight.Dir = own
	}
	limits := []Limit{}
	for _, dir := range dirs {
		l := readLimit(t, c.Version, dir)
		l.from = t
		if l.State == Known {
			l.Burst = readBurst(t, c.Version, l)
		}
		limits = append(limits, l)
	}
	return c, limits
}

// findCgroup finds the process's cgroup in the hierarchy of the controller, and the
// directories of all visible cgroups that limit it, from its own upwards.
func findCgroup(t tree, pid int, controller string) (c Cgroup, dirs []string) {
	mounts, text, mountFact := readMounts(t, pid)
	c = Cgroup{Mode: ModeUnknown, Sight: Sight{Mountinfo: text}}
	if mountFact.State == Known {
		c.Mode = modeOf(mounts)
	}
	file := procDir(pid) + "/cgroup"
	b, err := t.readFile(file)
	if err != nil {
		if c.Fact = failed(file, err); c.State == Absent {
			c.Fact = noGroup(file, mounts, mountFact)
		}
		return c, nil
	}
	c.Sight.ProcCgroup = notNil(b)
	m, err := cgfs.ParseMembership(string(b), controller)
	if err != nil {
		c.Fact = Fact{State: Malformed, File: file, Error: file + ": " + err.Error()}
		return c, nil
	}
	c.Version, c.Path = m.Version, m.Path
	if m.Version == 0 {
		c.Fact = Fact{State: Absent, File: file}
		return c, nil
	}
	mnt, dir, missing := findGroup(t, m, mounts, mountFact)
	if missing != nil {
		c.Fact = *missing
		c.File = file
		return c, above(t, m, mounts)
	}
	c.Fact = Fact{State: Known, File: file, Raw: m.Line}
	c.Mount, c.MountRoot, c.Sight.Dir = mnt.Point, mnt.Root, dir
	dirs = upwards(dir, mnt.Point)
	if outer := above(t, m, mounts); len(outer) > 0 {
		dirs = append(dirs, outer...)
		mnt.Root = "/.." // the outer mounts show what is above the namespace
	}
	c.RootSeen = isHierarchyRoot(t, mnt, dirs)
	return c, dirs
}

// findGroup returns the first mount that shows the cgroup and is not hidden by a later
// one, and the cgroup's directory, or why there is none.
func findGroup(t tree, m cgfs.Membership, mounts []cgfs.Mount, mountFact Fact) (mnt cgfs.Mount, dir string, missing *Fact) {
	missing = &Fact{State: Unreadable, Raw: m.Line}
	for _, mnt := range m.Showing(mounts) {
		dir, _ := mnt.Dir(m.Path)
		err := lookGroup(t, dir)
		if err == nil {
			return mnt, dir, nil
		}
		file := path.Join(dir, groupFile)
		switch fact := failed(file, err); {
		case fact.State != Absent:
			missing.Error = fact.Error // it may be there
		case missing.Error == "": // a later mount hides this one, or the group is gone
			missing.Error = "there is no cgroup at " + dir + ": " + file + " is missing"
		}
	}
	switch {
	case missing.Error != "":
	case mountFact.State == Absent:
		missing.Error = mountFact.File + " is missing, so the cgroup mounts are unknown"
	case mountFact.State == Known:
		missing.Error = fmt.Sprintf("no mount in %s shows the v%d cgroup %s", mountFact.File, m.Version, m.Path)
	default:
		missing.State, missing.Error = mountFact.State, mountFact.Error
	}
	return cgfs.Mount{}, "", missing
}

// groupFile is in every cgroup. Its directory could also be one that hides a mount.
const groupFile = "cgroup.procs"

// lookGroup returns nil if there is a cgroup in the directory. The file of a limit proves
// it too: a tree that was recorded may hold that file alone.
func lookGroup(t tree, dir string) error {
	err := t.look(path.Join(dir, groupFile))
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, limit := range []string{"cpu.max", quotaName, "memory.max", "memory.limit_in_bytes"} {
		if t.look(path.Join(dir, limit)) == nil {
			return nil
		}
	}
	return err
}

// upwards returns the cgroups from dir to the mount point.
func upwards(dir, top string) []string {
	dirs := []string{dir}
	for dir != top && dir != "/" {
		dir = path.Dir(dir)
		dirs = append(dirs, dir)
	}
	return dirs
}

// above returns the cgroups above the root of the reader's cgroup namespace that limit the
// process, if older mounts show them. Of several mounts with the same root it uses the
// first one that is visible.
func above(t tree, m cgfs.Membership, mounts []cgfs.Mount) (dirs []string) {
	seen := map[string]bool{}
	for _, mnt := range m.Above(mounts) {
		if !seen[mnt.Root] && lookGroup(t, mnt.Point) == nil {
			seen[mnt.Root] = true
			dirs = append(dirs, mnt.Point)
		}
	}
	return dirs
}

// readMounts reads the reader's own mounts, also for another process: the kernel shows the
// paths in /proc/PID/cgroup in the reader's cgroup namespace, and the reader opens the
// files. A recorded tree may have no /proc/self.
func readMounts(t tree, pid int) ([]cgfs.Mount, []byte, Fact) {
	file := "/proc/self/mountinfo"
	if t.look("/proc/self") != nil {
		file = procDir(pid) + "/mountinfo"
	}
	b, err := t.readFile(file)
	if err != nil {
		return nil, nil, failed(file, err)
	}
	mounts, err := cgfs.ParseMountinfo(string(b))
	if err != nil {
		return mounts, notNil(b), Fact{State: Malformed, File: file, Error: file + ": " + err.Error()}
	}
	return mounts, notNil(b), Fact{State: Known, File: file}
}

// notNil distinguishes an empty file from one that could not be read.
func notNil(b []byte) []byte {
	if b == nil {
		return []byte{}
	}
	return b
}

func modeOf(mounts []cgfs.Mount) Mode {
	v1, v2 := false, false
	for _, m := range mounts {
		v1 = v1 || m.Version == 1
		v2 = v2 || m.Version == 2
	}
	switch {
	case v1 && v2:
		return ModeHybrid
	case v1:
		return ModeV1
	case v2:
		return ModeV2
	}
	return ModeNone
}

// isHierarchyRoot distinguishes the hierarchy's root from the root of a cgroup namespace
// or of a bind mount, by files that the kernel makes only in one of them: release_agent of
// v1 in the root, cgroup.events and cpu.max of v2 everywhere else. A recorded tree without
// cgroup.events in the process's own cgroup, below the topmost one, proves nothing.
func isHierarchyRoot(t tree, m cgfs.Mount, dirs []string) bool {
	has := func(dir, file string) bool { return t.look(path.Join(dir, file)) == nil }
	own, top := dirs[0], dirs[len(dirs)-1]
	switch {
	case m.Version == 1:
		return has(top, "release_agent")
	case strings.Trim(m.Root, "/.") != "" || has(top, "cgroup.events") || has(top, "cpu.max"):
		return false
	}
	return own == top || has(own, "cgroup.events")
}

func readLimit(t tree, version int, dir string) Limit {
	if version == 1 {
		return readCFS(t, dir)
	}
	return readCPUMax(t, dir)
}

func readCPUMax(t tree, dir string) Limit {
	file := path.Join(dir, "cpu.max")
	b, err := t.readFile(file)
	if err != nil {
		// Absent in the hierarchy's root, and if the parent does not enable
		// the cpu controller: no limit is possible there.
		return Limit{Dir: dir, Fact: failed(file, err)}
	}
	cpus, limited, err := cgfs.ParseCPUMax(string(b))
	return Limit{Dir: dir, Fact: limitFact(file, b, cpus, limited, err)}
}

func readCFS(t tree, dir string) Limit {
	file, periodFile := path.Join(dir, quotaName), path.Join(dir, periodName)
	b, err := t.readFile(file)
	if err != nil {
		// Absent in a kernel without CONFIG_CFS_BANDWIDTH.
		return Limit{Dir: dir, Fact: failed(file, err)}
	}
	period, err := t.readFile(periodFile)
	l := Limit{Dir: dir, PeriodFile: periodFile, PeriodRaw: string(period)}
	cpus, limited, parseErr := cgfs.ParseCFS(string(b), string(period))
	switch {
	case parseErr == nil, err == nil:
		l.Fact = limitFact(file, b, cpus, limited, parseErr)
	default: // a quota without its period is no ratio
		l.Fact = Fact{State: Unreadable, File: file, Raw: string(b), Error: "its period: " + err.Error()}
		if why := failed(periodFile, err); why.State == Malformed {
			l.State = Malformed
		}
	}
	return l
}

func readBurst(t tree, version int, l Limit) Fact {
	file, period := path.Join(l.Dir, "cpu.max.burst"), cgfs.Period(l.Raw)
	if version == 1 {
		file, period = path.Join(l.Dir, "cpu.cfs_burst_us"), l.PeriodRaw
	}
	b, err := t.readFile(file)
	if err != nil {
		return failed(file, err)
	}
	cpus, err := cgfs.ParseBurst(string(b), period)
	return limitFact(file, b, cpus, true, err)
}

func limitFact(file string, raw []byte, cpus float64, limited bool, err error) Fact {
	f := Fact{State: Known, CPUs: cpus, File: file, Raw: string(raw)}
	switch {
	case err != nil:
		f.State, f.Error = Malformed, file+": "+err.Error()
	case !limited:
		f.State = NoLimit
	}
	return f
}
