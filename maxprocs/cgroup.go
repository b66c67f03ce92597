package maxprocs

import (
	"fmt"
	"path"
	"sort"
	"strings"
)

// readCgroup finds the process's group and reads the limits from it upwards.
func readCgroup(t tree, pid int) (Cgroup, []Limit) {
	mounts, mountFact := readMounts(t, pid)
	c := Cgroup{Mode: ModeUnknown}
	if mountFact.State == Known {
		c.Mode = modeOf(mounts)
	}
	file := procDir(pid) + "/cgroup"
	fail := func(s State, raw, reason string) (Cgroup, []Limit) {
		c.Fact = Fact{State: s, File: file, Raw: raw, Error: reason}
		return c, []Limit{}
	}
	b, err := t.readFile(file)
	if err != nil {
		c.Fact = failed(file, err)
		return c, []Limit{}
	}
	m, err := parseProcCgroup(b)
	if err != nil {
		return fail(Malformed, "", file+": "+err.Error())
	}
	c.Version, c.Path = m.version, m.path
	if m.version == 0 {
		return fail(Absent, "", "")
	}
	candidates := candidateMounts(mounts, m)
	if len(candidates) == 0 {
		switch mountFact.State {
		case Absent:
			return fail(Unreadable, m.line, mountFact.File+" is missing, so where cgroups are mounted is unknown")
		case Known:
			return fail(Unreadable, m.line, fmt.Sprintf("no mount in %s shows the v%d group %s", mountFact.File, m.version, m.path))
		}
		return fail(mountFact.State, m.line, mountFact.Error)
	}
	for _, mnt := range candidates {
		dir, _ := mnt.dir(m.path)
		if !t.exists(path.Join(dir, "cgroup.procs")) {
			continue // a later mount hides this one, or the group is gone
		}
		c.Fact = Fact{State: Known, File: file, Raw: m.line}
		c.Mount, c.MountRoot = mnt.point, mnt.root
		c.RootSeen = isHierarchyRoot(t, mnt)
		return c, readLimits(t, m.version, dir, mnt.point)
	}
	dir, _ := candidates[0].dir(m.path)
	return fail(Unreadable, m.line, "there is no cgroup at "+dir)
}

// readMounts reads one's own mounts, also for another process: the paths in
// its /proc/PID/cgroup are shown in the reader's cgroup namespace, and it is
// the reader who opens the files. A recorded tree may have no /proc/self.
func readMounts(t tree, pid int) ([]mount, Fact) {
	file := "/proc/self/mountinfo"
	if !t.exists("/proc/self") {
		file = procDir(pid) + "/mountinfo"
	}
	b, err := t.readFile(file)
	if err != nil {
		return nil, failed(file, err)
	}
	mounts, err := parseMountinfo(b)
	if err != nil {
		return mounts, Fact{State: Malformed, File: file, Error: file + ": " + err.Error()}
	}
	return mounts, Fact{State: Known, File: file}
}

func modeOf(mounts []mount) Mode {
	v1, v2 := false, false
	for _, m := range mounts {
		v1 = v1 || m.version == 1
		v2 = v2 || m.version == 2
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

// candidateMounts are the mounts that show the group, those that show most of
// its ancestors first, else in mountinfo's order.
func candidateMounts(mounts []mount, m membership) []mount {
	var out []mount
	for _, mnt := range mounts {
		if _, ok := mnt.dir(m.path); ok && mnt.version == m.version && (m.version == 2 || mnt.cpu) {
			out = append(out, mnt)
		}
	}
	depth := func(m mount) int { return strings.Count(strings.TrimSuffix(m.root, "/"), "/") }
	sort.SliceStable(out, func(i, j int) bool { return depth(out[i]) < depth(out[j]) })
	return out
}

// isHierarchyRoot tells the hierarchy's root from the root of a cgroup
// namespace by files that the kernel makes only in the one or the other.
func isHierarchyRoot(t tree, m mount) bool {
	if m.version == 1 {
		return t.exists(m.point + "/release_agent")
	}
	return !t.exists(m.point + "/cgroup.events")
}

// readLimits reads the groups from dir up to the mount point.
func readLimits(t tree, version int, dir, top string) []Limit {
	limits := []Limit{}
	for {
		if version == 1 {
			limits = append(limits, readCFS(t, dir))
		} else {
			limits = append(limits, readCPUMax(t, dir))
		}
		if dir == top || dir == "/" {
			return limits
		}
		dir = path.Dir(dir)
	}
}

func readCPUMax(t tree, dir string) Limit {
	file := path.Join(dir, "cpu.max")
	b, err := t.readFile(file)
	if err != nil {
		// Absent in the hierarchy's root and where the parent does not hand
		// on the cpu controller: no limit is possible there.
		return Limit{Dir: dir, Fact: failed(file, err)}
	}
	cpus, limited, err := parseCPUMax(b)
	return Limit{Dir: dir, Fact: limitFact(file, b, cpus, limited, err)}
}

func readCFS(t tree, dir string) Limit {
	file, periodFile := path.Join(dir, "cpu.cfs_quota_us"), path.Join(dir, "cpu.cfs_period_us")
	b, err := t.readFile(file)
	if err != nil {
		// Absent in a kernel without CONFIG_CFS_BANDWIDTH.
		return Limit{Dir: dir, Fact: failed(file, err)}
	}
	period, err := t.readFile(periodFile)
	l := Limit{Dir: dir, PeriodFile: periodFile, PeriodRaw: string(period)}
	cpus, limited, parseErr := parseCFS(b, period)
	switch {
	case parseErr == nil, err == nil:
		l.Fact = limitFact(file, b, cpus, limited, parseErr)
	default: // a quota without its period is no ratio
		l.Fact = Fact{State: Unreadable, File: file, Raw: string(b), Error: "its period: " + err.Error()}
	}
	return l
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
