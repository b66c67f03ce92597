package facts

import (
	"errors"
	"io/fs"
	"path"

	"github.com/procfit/procfit/maxprocs/internal/cgfs"
)

// Sight is what a process itself can see of its cgroups, for policies that look
// in ways of their own. Its paths are those of the process.
type Sight struct {
	ProcCgroup, Mountinfo []byte  // the whole texts of /proc/self; nil: not readable
	Dir                   string  // its own group, by the search of this package; "": not found
	Limits                []Limit // at each place where a policy looks for the limit of its own group
}

// sightOf reads what is at the places that the policies go and automaxprocs look
// at. root is before the process's paths in the tree.
func sightOf(t tree, root string, procCgroup, mountinfo []byte) Sight {
	s := Sight{ProcCgroup: procCgroup, Mountinfo: mountinfo}
	look := func(version int, dir string) {
		for _, l := range s.Limits {
			if l.Dir == dir && (l.PeriodFile != "") == (version == 1) {
				return
			}
		}
		l := readLimit(t, version, root+path.Clean(dir)) // a process does not see above its root
		l.Dir, l.File = dir, limitFile(version, dir)
		if version == 1 {
			l.PeriodFile = path.Join(dir, periodName)
		}
		s.Limits = append(s.Limits, l)
	}
	for _, minor := range []int{minorContainer, minorGroupFirst} {
		if p := findGo(minor, procCgroup, mountinfo); p.why == "" {
			look(p.version, p.dir)
		}
	}
	if p := findAutomaxprocs(mountinfo, procCgroup); p.why == "" {
		look(p.version, p.dir)
	}
	return s
}

// at is the limit of the directory, or false where no policy looks.
func (s Sight) at(version int, dir string) (Limit, bool) {
	for _, l := range s.Limits {
		if l.Dir == dir && (l.PeriodFile != "") == (version == 1) {
			return l, true
		}
	}
	return Limit{}, false
}

// seen is what the process sees, as far as that is known: by its view where it
// has one of its own, else as the reader does. ok is false of facts that were not
// read.
func (f Facts) seen() (s Sight, ok bool) {
	c := f.Cgroup
	if v := c.View; v != nil && v.State != Unreadable {
		return v.Sight, v.Sight.ProcCgroup != nil || v.Sight.Mountinfo != nil
	}
	return c.Sight, c.Sight.ProcCgroup != nil || c.Sight.Mountinfo != nil
}

const (
	quotaName  = "cpu.cfs_quota_us"
	periodName = "cpu.cfs_period_us"
)

func limitFile(version int, dir string) string {
	if version == 1 {
		return path.Join(dir, quotaName)
	}
	return path.Join(dir, "cpu.max")
}

// noGroup says why there is no cgroup to be found where /proc/self/cgroup is
// missing. A kernel without cgroups has /proc all the same, and no cgroup mount;
// where /proc itself is not to be seen, as in a chroot, nothing is known.
func noGroup(file string, mounts []cgfs.Mount, mountinfo Fact) Fact {
	switch {
	case mountinfo.State == Known && len(mounts) == 0:
		return Fact{State: Absent, File: file}
	case mountinfo.State == Absent:
		return Fact{State: Unreadable, File: file, Error: file + " is missing, as is all of its directory: /proc is not mounted here"}
	}
	return Fact{State: Unreadable, File: file, Error: file + " is missing, though there are cgroups"}
}

// View is where another process itself finds its group. It differs from what a
// reader outside finds when the process has mounts of its own (a container, a
// bind mount) or a cgroup namespace that is younger than its mounts; its runtime
// goes by its own view.
type View struct {
	Fact             // Known: it finds its group; Absent: it does not; Unreadable: that is not known
	MountRoot string // the group that its mount shows as its root
	Sight     Sight
}

// viewOf is the view that follows from the process's own texts. root is before
// its paths in the tree.
func viewOf(t tree, root string, procCgroup, mountinfo []byte) *View {
	v := &View{Sight: sightOf(t, root, procCgroup, mountinfo)}
	m, err := cgfs.ParseProcCgroup(string(procCgroup))
	if err != nil {
		v.Fact = Fact{State: Malformed, Error: err.Error()}
		return v
	}
	mounts, err := cgfs.ParseMountinfo(string(mountinfo))
	if err != nil {
		v.Fact = Fact{State: Malformed, Error: err.Error()}
		return v
	}
	v.State, v.Raw = Absent, m.Line
	for _, mnt := range m.Showing(mounts) {
		dir, _ := mnt.Dir(m.Path)
		switch err := t.look(root + path.Join(dir, "cgroup.procs")); {
		case err == nil:
			v.State, v.MountRoot, v.Sight.Dir, v.Error = Known, mnt.Root, dir, ""
			return v
		case !errors.Is(err, fs.ErrNotExist):
			v.State, v.Error = Unreadable, failed(dir, err).Error
		}
	}
	return v
}

// SeenRoot is the mount root that the program's own runtime goes by.
func (c Cgroup) SeenRoot() string {
	if c.View != nil && c.View.State == Known {
		return c.View.MountRoot
	}
	return c.MountRoot
}
